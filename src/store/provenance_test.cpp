#include "subfleet/store/provenance.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"

namespace subfleet {
namespace {

Provenance some_provenance() {
  return {.data = {.source = "idx", .clients = 548, .fingerprint = 0x00ab12cd34ef5678},
          .initial = Provenance::Initial{.file = "a \"quoted\" file", .fingerprint = 0xffffffffffffffff},
          .sessions = {{.from_round = 7,
                        .version = "0.1.0",
                        .device = "cpu",
                        .kernels = "avx512",
                        .threads = 2,
                        .ranks = 3}}};
}

TEST(Provenance, ReadsBackAsItWas) {
  const std::string text = to_json(some_provenance());
  const Provenance got = parse_provenance(text, "p");
  EXPECT_EQ(to_json(got), text);
  EXPECT_EQ(got.data.fingerprint, 0x00ab12cd34ef5678u);
  EXPECT_EQ(got.initial->fingerprint, 0xffffffffffffffffu);
  EXPECT_EQ(got.sessions[0].ranks, 3u);
}

TEST(Provenance, AnythingElseIsAnError) {
  const std::string good = to_json(some_provenance());
  for (const std::string bad : {"", "{}", "[]", "{\"data\": 3}"})
    EXPECT_THROW(parse_provenance(bad, "p"), Error);
  for (const char* word : {"548", "00ab12cd34ef5678", "\"sessions\""}) {
    std::string bad = good;
    bad.replace(bad.find(word), std::string_view(word).size(), "\"?\"");
    EXPECT_THROW(parse_provenance(bad, "p"), Error) << word;
  }
}

TEST(Provenance, OfANewerFormatIsRefusedAndOfNoneIsRead) {
  const std::string good = to_json(some_provenance()), format = "\"format\": 1,";
  const size_t at = good.find(format);
  ASSERT_NE(at, std::string::npos);
  const std::string old = std::string(good).erase(at, format.size());
  EXPECT_EQ(to_json(parse_provenance(old, "p")), good);
  try {
    parse_provenance(std::string(good).replace(at, format.size(), "\"format\": 3,"), "p");
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "p: written by a newer Subfleet (format 3; this one reads up to 1): update Subfleet");
  }
}

TEST(Provenance, GoesOnWithASessionMoreAndOnlyWithTheSameData) {
  Provenance now = some_provenance();
  now.sessions[0].device = "reference";
  const Provenance both = go_on(some_provenance(), now, 12, "run");
  ASSERT_EQ(both.sessions.size(), 2u);
  EXPECT_EQ(both.sessions[0].from_round, 7u);
  EXPECT_EQ(both.sessions[1].from_round, 12u);
  EXPECT_EQ(both.sessions[1].device, "reference");
  now.data.fingerprint += 1;
  EXPECT_THROW(go_on(some_provenance(), now, 12, "run"), Error);
}

}  // namespace
}  // namespace subfleet

#include "subfleet/store/event_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// A reader of its own, after the formats' descriptions.
template <typename Number>
Number little(std::string_view bytes) {
  Number number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);  // on a little-endian machine
  return number;
}

uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char letter : bytes) {
    crc ^= static_cast<uint8_t>(letter);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78 & (0 - (crc & 1)));
  }
  return ~crc;
}

uint32_t masked(std::string_view bytes) {
  const uint32_t crc = slow_crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

uint64_t take_varint(std::string_view& rest) {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.at(0));
    rest.remove_prefix(1);
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
}

// The fields of a message by their numbers; the bytes of each, a varint's as eight.
std::multimap<uint64_t, std::string> fields_of(std::string_view rest) {
  std::multimap<uint64_t, std::string> fields;
  while (!rest.empty()) {
    const uint64_t key = take_varint(rest);
    size_t size = 0;
    if ((key & 7) == 0) {
      const uint64_t value = take_varint(rest);
      fields.emplace(key >> 3, std::string(reinterpret_cast<const char*>(&value), sizeof value));
      continue;
    }
    if ((key & 7) == 1) size = 8;
    if ((key & 7) == 2) size = take_varint(rest);
    if ((key & 7) == 5) size = 4;
    fields.emplace(key >> 3, rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return fields;
}

struct ReadEvent {
  double time = 0;
  uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
  bool operator==(const ReadEvent& other) const {  // apart from the time
    return step == other.step && version == other.version && scalars == other.scalars;
  }
};

std::vector<ReadEvent> read_events(std::string_view rest) {
  std::vector<ReadEvent> events;
  while (!rest.empty()) {
    const auto length = little<uint64_t>(rest);
    EXPECT_EQ(little<uint32_t>(rest.substr(8)), masked(rest.substr(0, 8)));
    const std::string_view message = rest.substr(12, length);
    EXPECT_EQ(little<uint32_t>(rest.substr(12 + length)), masked(message));
    rest.remove_prefix(16 + length);
    const auto fields = fields_of(message);
    ReadEvent& event = events.emplace_back();
    event.time = std::bit_cast<double>(little<uint64_t>(fields.find(1)->second));
    if (fields.contains(2)) event.step = little<uint64_t>(fields.find(2)->second);
    if (fields.contains(3)) event.version = fields.find(3)->second;
    if (!fields.contains(5)) continue;
    for (const auto& [number, value] : fields_of(fields.find(5)->second)) {
      const auto scalar = fields_of(value);
      event.scalars[scalar.find(1)->second] = std::bit_cast<float>(little<uint32_t>(scalar.find(2)->second));
    }
  }
  return events;
}

RoundRecord record_of(uint32_t round) {
  return {.round = round,
          .bytes_down = 300,
          .bytes_up = 100,
          .train_loss = 2.0 / round,
          .train_accuracy_median = 0.1 * round,
          .seconds = 10,
          .test_accuracy = round % 2 == 0 ? std::optional(0.2 * round) : std::nullopt};
}

TEST(EventFile, CrcIsCastagnolis) { EXPECT_EQ(slow_crc32c("123456789"), 0xe3069283U); }

TEST(EventFile, ScalarsReadBackWithStepAndVersion) {
  const auto events = read_events(events_beginning(5) + round_event(record_of(300), 1200, 7.5));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[0].time, 5);
  EXPECT_EQ(events[1].step, 300U);
  EXPECT_EQ(events[1].time, 7.5);
  EXPECT_EQ(events[1].scalars, (std::map<std::string, float>{{"accuracy/test", 60.0f},
                                                             {"accuracy/train", 30.0f},
                                                             {"loss/train", static_cast<float>(2.0 / 300)},
                                                             {"bytes/exchanged", 1200.0f}}));
  RoundRecord diverged = record_of(1);
  diverged.train_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(read_events(round_event(diverged, 1, 0)).at(0).scalars.contains("loss/train"));
}

TEST(EventFile, AResumedRunHasTheEventsOfOneThatWasNeverStopped) {
  const TemporaryFolder whole, broken;
  const auto content = [](const TemporaryFolder& folder) {
    return read_events(read_file(folder / EventFile::kName));
  };
  {
    EventFile events(whole / "", {});
    for (uint32_t round = 1; round <= 4; ++round) events.append(record_of(round));
  }
  {
    EventFile events(broken / "", {});
    for (uint32_t round = 1; round <= 3; ++round) events.append(record_of(round));
  }
  write_file(broken / EventFile::kName, read_file(broken / EventFile::kName) + "torn");
  {  // its last checkpoint was of round 2
    EventFile events(broken / "", std::vector{record_of(1), record_of(2)});
    for (uint32_t round = 3; round <= 4; ++round) events.append(record_of(round));
  }
  const auto expected = content(whole), found = content(broken);
  EXPECT_EQ(found, expected);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found.back().scalars.at("bytes/exchanged"), 1600);
  EXPECT_NEAR(found[2].time - found[1].time, 10, 1e-6) << "rounds keep their length";
}

}  // namespace
}  // namespace subfleet

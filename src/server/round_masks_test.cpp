#include "subfleet/round_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr uint64_t kSeed = 5;
constexpr uint32_t kRows = 9;

const ModelSpec& emnist_cnn() {
  static const ModelSpec model = find_model("emnist-cnn");
  return model;
}

bool nested(const std::vector<uint32_t>& inner, const std::vector<uint32_t>& outer) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

TEST(RoundMasks, WithoutTiersAClientKeepsItsWholeCodeWord) {
  const RoundMasks masks(emnist_cnn(), {}, kSeed, 1, kRows);
  ASSERT_EQ(masks.books().size(), 2u);
  for (uint32_t row = 0; row < kRows; ++row) {
    const auto kept = masks.kept(row, 100 + row);
    for (size_t layer = 0; layer < 2; ++layer) EXPECT_EQ(kept[layer], masks.books()[layer].kept(row));
  }
}

TEST(RoundMasks, ALayersOwnCodeChangesThatLayerAlone) {
  const CodeOptions plain{.family = "cwc", .keep = 0.5};
  CodeOptions own = plain;
  own.layers["conv2"] = {.family = "random", .keep = 0.75};
  const RoundMasks masks(emnist_cnn(), own, kSeed, 1, kRows);
  EXPECT_EQ(masks.books()[1], RoundMasks(emnist_cnn(), plain, kSeed, 1, kRows).books()[1]);
  EXPECT_EQ(masks.books()[0],
            RoundMasks(emnist_cnn(), {.family = "random", .keep = 0.75}, kSeed, 1, kRows).books()[0]);
  for (uint32_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(masks.kept(row, 0)[0].size(), 48u);
    EXPECT_EQ(masks.kept(row, 0)[1].size(), 1024u);
  }

  own.layers["conv2"] = {.family =
                             "none"};  // the kept fraction is still code.keep, which `none` does not mind
  EXPECT_EQ(RoundMasks(emnist_cnn(), own, kSeed, 1, kRows).kept(0, 0)[0].size(), 64u);
  own.layers["conv2"] = {.keep = 0.25};
  EXPECT_EQ(RoundMasks(emnist_cnn(), own, kSeed, 1, kRows).kept(0, 0)[0].size(), 16u);
}

TEST(RoundMasks, AWeakerTiersUnitsAreNestedInTheStrongersAndInTheCodeWord) {
  for (const CodeFamily* family : code_families()) {
    const std::string name(family->name());
    CodeOptions code{.family = name};
    try {
      check_code(emnist_cnn(), code);
    } catch (const Error&) {
      continue;  // a family that has no words for these layers
    }
    std::vector<std::vector<std::vector<uint32_t>>> kept;  // by tier; of one client in one row
    for (const double share : {1.0, 0.5, 0.2, 1e-9}) {
      code.tiers = {share};
      const RoundMasks masks(emnist_cnn(), code, kSeed, 4, kRows);
      kept.push_back(masks.kept(3, 77));
      for (size_t layer = 0; layer < 2; ++layer) {
        const size_t weight = masks.books()[layer].weight(3);
        const auto count = static_cast<size_t>(std::llround(share * static_cast<double>(weight)));
        EXPECT_EQ(kept.back()[layer].size(), std::max<size_t>(1, count)) << name << " " << share;
        EXPECT_TRUE(nested(kept.back()[layer], kept[kept.size() > 1 ? kept.size() - 2 : 0][layer])) << name;
      }
    }
    code.tiers.clear();
    EXPECT_EQ(kept[0], RoundMasks(emnist_cnn(), code, kSeed, 4, kRows).kept(3, 77)) << name;
  }
}

TEST(RoundMasks, TiersOfPrefixArePrefixesAndOfRollingWindows) {
  const CodeOptions prefix{.family = "prefix", .keep = 1.0, .tiers = {0.25}};
  std::vector<uint32_t> quarter(16);
  std::iota(quarter.begin(), quarter.end(), 0u);
  EXPECT_EQ(RoundMasks(emnist_cnn(), prefix, kSeed, 3, kRows).kept(1, 1)[0], quarter);

  const CodeOptions rolling{.family = "rolling", .keep = 0.5, .tiers = {0.125}};
  EXPECT_EQ(RoundMasks(emnist_cnn(), rolling, kSeed, 62, kRows).kept(1, 1)[0],
            (std::vector<uint32_t>{0, 1, 62, 63}));
}

TEST(RoundMasks, OtherFamiliesGiveUpOtherUnitsEachRound) {
  const CodeOptions code{.family = "none", .tiers = {0.5}};
  std::vector<int> held(64, 0);
  for (uint32_t round = 1; round <= 200; ++round) {
    const auto kept = RoundMasks(emnist_cnn(), code, kSeed, round, 1).kept(0, 0);
    for (const uint32_t unit : kept[0]) ++held[unit];
  }
  for (const int count : held) EXPECT_NEAR(count, 100, 4 * std::sqrt(50.0));
}

TEST(RoundMasks, AClientStaysInItsTierAndTheTiersAreEquallyLarge) {
  constexpr uint32_t kClients = 9000;
  std::vector<double> members(3, 0);
  for (uint32_t client = 0; client < kClients; ++client) {
    const size_t tier = client_tier(3, kSeed, client);
    ASSERT_LT(tier, 3u);
    ++members[tier];
  }
  for (const double count : members) EXPECT_NEAR(count, 3000, 4 * std::sqrt(2000.0));

  const CodeOptions code{.tiers = {1.0, 0.5, 0.25}};
  std::set<size_t> sizes;
  for (uint32_t client = 0; client < 30; ++client) {
    const size_t expected = std::vector<size_t>{32, 16, 8}[client_tier(3, kSeed, client)];
    for (const uint32_t round : {1u, 2u}) {
      EXPECT_EQ(RoundMasks(emnist_cnn(), code, kSeed, round, kRows).kept(client % kRows, client)[0].size(),
                expected);
    }
    sizes.insert(expected);
  }
  EXPECT_EQ(sizes.size(), 3u);
}

TEST(RoundMasks, SubModelsAreThoseOfTheMasks) {
  const CodeOptions code{.tiers = {1.0, 0.5}};
  const std::vector<uint32_t> clients{12, 3, 40, 7, 8};
  const auto submodels = draw_submodels(emnist_cnn(), code, kSeed, 2, clients);
  const RoundMasks masks(emnist_cnn(), code, kSeed, 2, 5);
  std::set<size_t> sizes;
  for (uint32_t row = 0; row < 5; ++row) {
    const SubModel expected(emnist_cnn(), masks.kept(row, clients[row]));
    EXPECT_EQ(submodels[row].size(), expected.size());
    for (size_t t = 0; t < expected.tensors().size(); ++t) {
      EXPECT_EQ(submodels[row].tensors()[t].rows, expected.tensors()[t].rows);
    }
    sizes.insert(submodels[row].size());
  }
  EXPECT_EQ(sizes.size(), 2u);
}

TEST(RoundMasks, ARescaledSubModelsFactorsAreThoseOfItsClientsOwnUnits) {
  const CodeOptions code{
      .family = "random", .layers = {{"conv2", {.keep = 0.75}}}, .tiers = {1.0, 0.3}, .rescale = true};
  const std::vector<uint32_t> clients{12, 3, 40, 7, 8};
  const auto submodels = draw_submodels(emnist_cnn(), code, kSeed, 2, clients);
  std::set<float> factors;
  for (size_t row = 0; row < clients.size(); ++row) {
    const bool strong = client_tier(2, kSeed, clients[row]) == 0;
    for (const LayerSpec& layer : submodels[row].spec().layers) {
      float expected = 1;
      if (layer.name == "conv2") expected = strong ? 64.0f / 48 : 64.0f / 14;
      if (layer.name == "dense1") expected = strong ? 2 : 2048.0f / 307;
      EXPECT_EQ(layer.output_scale, expected) << layer.name;
      factors.insert(layer.output_scale);
    }
  }
  EXPECT_EQ(factors.size(), 5u) << "both tiers";
}

std::string complaint(const ModelSpec& model, const CodeOptions& code) {
  try {
    RoundMasks(model, code, kSeed, 1, kRows);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "none";
}

TEST(RoundMasks, MistakesNameWhatWouldBeRight) {
  CodeOptions code;
  code.layers["conv1"] = {.keep = 0.75};
  EXPECT_EQ(complaint(emnist_cnn(), code),
            "code.layers: unknown 'conv1'; nearest: conv2 (known: conv2, dense1)");
  EXPECT_EQ(complaint(find_model("emnist-linear"), code),
            "code.layers: emnist-linear has no droppable layers");
  code.layers = {{"conv2", {.family = "golden"}}};
  EXPECT_NE(complaint(emnist_cnn(), code).find("nearest: gold"), std::string::npos);
  code.layers = {{"conv2", {.keep = 0.75}}};
  EXPECT_NE(complaint(emnist_cnn(), code).find("cwc and random take any"), std::string::npos);
  for (const double share : {0.0, -0.5, 1.5, std::nan("")}) {
    EXPECT_NE(complaint(emnist_cnn(), {.tiers = {1.0, share}}).find("is not a fraction above 0 and up to 1"),
              std::string::npos)
        << share;
  }
}

// A family of the program's own, which can break its contract. It stays registered, so later tests see it as
// it should be.
class OwnFamily final : public CodeFamily {
 public:
  enum class Fault { kNone, kShortBook, kHeavyWords, kNoOrder };
  static inline Fault fault = Fault::kNone;

  std::string_view name() const override { return "test-own"; }
  std::string_view summary() const override { return "for a test"; }
  size_t weight(size_t length, double) const override { return (length + 1) / 2; }
  CodeBook draw(const BookRequest& request) const override {
    if (fault == Fault::kShortBook) return {request.rows, 1};
    CodeBook book(request.rows, request.length);
    const size_t ones = fault == Fault::kHeavyWords ? request.length : weight(request.length, request.keep);
    for (size_t row = 0; row < request.rows; ++row) {
      for (size_t unit = 0; unit < ones; ++unit) book.set_bit(row, unit, true);
    }
    return book;
  }
  std::vector<uint32_t> order(const BookRequest& request) const override {
    if (fault != Fault::kNoOrder) return CodeFamily::order(request);
    std::vector<uint32_t> none_of_them(request.length, static_cast<uint32_t>(request.length));
    return none_of_them;
  }
};

std::string complaint_about(OwnFamily::Fault fault) {
  OwnFamily::fault = fault;
  std::string complaint;
  try {
    const RoundMasks masks(emnist_cnn(), {.family = "test-own", .tiers = {1, 0.5}}, kSeed, 1, kRows);
    EXPECT_EQ(masks.kept(0, 0).size(), 2u);
  } catch (const Error& error) {
    complaint = error.what();
  }
  OwnFamily::fault = OwnFamily::Fault::kNone;
  return complaint;
}

TEST(RoundMasks, AFamilyOfTheProgramsOwnIsUsedOrRefused) {
  register_code_family(std::make_unique<OwnFamily>());
  EXPECT_EQ(complaint_about(OwnFamily::Fault::kNone), "");
  EXPECT_EQ(complaint_about(OwnFamily::Fault::kShortBook),
            "code family 'test-own': draw() gives 9 rows of 1 bits; 9 of 64 were asked for");
  EXPECT_EQ(
      complaint_about(OwnFamily::Fault::kHeavyWords),
      "code family 'test-own': row 0 of draw() has 64 ones; weight() says 32, and at least 1 is needed");
  EXPECT_EQ(complaint_about(OwnFamily::Fault::kNoOrder),
            "code family 'test-own': order() has to name each of the 64 units once");
}

}  // namespace
}  // namespace subfleet

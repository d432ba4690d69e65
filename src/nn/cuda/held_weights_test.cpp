#include "nn/cuda/held_weights.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>

#include "nn/cuda/gpu_testing.h"
#include "nn/trainer_testing.h"
#include "subfleet/random.h"

namespace subfleet::cuda {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Jobs of one cohort with what they have trained, here and on the GPU.
struct HeldCohortOf {
  ModelSpec model;
  std::vector<float> whole;
  std::deque<SubModel> submodels;
  std::vector<uint32_t> examples;
  std::vector<std::vector<float>> trained;
  std::vector<double> losses;

  Stream stream;
  Buffer<float> gpu_whole;
  std::vector<Buffer<float>> gpu_values;
  Buffer<double> gpu_losses;
  HeldWeights held;

  explicit HeldCohortOf(const ModelSpec& of) : model(of), whole(random_weights(of)) {}

  void add(const SubModel& submodel, uint32_t count) {
    Random random({.seed = 77, .client = static_cast<uint32_t>(submodels.size())});
    submodels.push_back(submodel);
    examples.push_back(count);
    losses.push_back(0.5);
    std::vector<float>& values = trained.emplace_back(submodel.size());
    submodel.gather(whole, values);
    for (float& value : values) value += static_cast<float>(random.normal() * 0.01);
  }

  void upload() {
    gpu_whole = Buffer<float>(whole.size());
    gpu_whole.upload(whole, stream);
    gpu_losses = Buffer<double>(losses.size());
    gpu_losses.upload(losses, stream);
    gpu_values.clear();
    std::vector<HeldJob> jobs;
    for (size_t j = 0; j < submodels.size(); ++j) {
      gpu_values.emplace_back(trained[j].size());
      gpu_values[j].upload(trained[j], stream);
      jobs.push_back({.submodel = &submodels[j], .values = gpu_values[j].data(), .examples = examples[j]});
    }
    held.set(jobs, stream);
  }

  template <typename T>
  std::vector<T> download(const T* from, size_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "a test");
    stream.wait();
    return values;
  }
  std::vector<uint32_t> refused() const { return download(held.refused(), submodels.size()); }

  // What a sum that held something before becomes.
  struct Sum {
    std::vector<int64_t> sums;
    std::vector<uint32_t> holders;
    bool operator==(const Sum&) const = default;
  };
  PartialSum sum_before() const {
    PartialSum sum(whole.size());
    Random random({.seed = 4});
    for (int64_t& value : sum.sums()) value = static_cast<int64_t>(random.below(1000)) - 500;
    for (uint32_t& value : sum.holders()) value = random.below(9);
    return sum;
  }
  Sum merged(const float* from) {
    const PartialSum before = sum_before();
    Buffer<int64_t> sums(whole.size());
    Buffer<uint32_t> holders(whole.size());
    sums.upload(before.sums(), stream);
    holders.upload(before.holders(), stream);
    held.merge(from, sums.data(), holders.data(), stream);
    return {download(sums.data(), whole.size()), download(holders.data(), whole.size())};
  }
  // PartialSum's, of those jobs whose loss is finite; `difference` or the values themselves.
  Sum expected(bool difference) const {
    PartialSum sum = sum_before();
    for (size_t j = 0; j < submodels.size(); ++j) {
      if (examples[j] == 0 || !std::isfinite(losses[j])) continue;
      const bool added = difference ? sum.add_difference(submodels[j], whole, trained[j], examples[j])
                                    : sum.add(submodels[j], trained[j], examples[j]);
      EXPECT_EQ(added, refused()[j] == 0) << "job " << j;
    }
    return {{sum.sums().begin(), sum.sums().end()}, {sum.holders().begin(), sum.holders().end()}};
  }
};

void fill_small(HeldCohortOf& cohort) {
  const SmallRound round(cohort.model);
  for (size_t j = 0; j < round.submodels.size(); ++j) {
    cohort.add(round.submodels[j], static_cast<uint32_t>(round.examples.clients[j].count()));
  }
}

// More jobs than a block looks up at a time where `jobs` says so.
void fill_with_random_halves(HeldCohortOf& cohort, size_t jobs) {
  Random random({.seed = 12});
  for (size_t j = 0; j < jobs; ++j) {
    std::vector<std::vector<uint32_t>> kept;
    for (const UnitGroup& group : droppable_groups(cohort.model)) {
      std::vector<uint32_t>& units = kept.emplace_back();
      for (uint32_t unit = 0; unit < group.units; ++unit) {
        if (random.below(2) == 0) units.push_back(unit);
      }
      if (units.empty()) units.push_back(0);
    }
    cohort.add(SubModel(cohort.model, kept), static_cast<uint32_t>(20 + j));
  }
  cohort.add(whole_model(cohort.model), 3);
}

void expect_host_results(HeldCohortOf& cohort) {
  cohort.upload();
  for (const bool difference : {true, false}) {
    const float* from = difference ? cohort.gpu_whole.data() : nullptr;
    cohort.held.inspect(from, cohort.gpu_losses.data(), true, cohort.stream);
    EXPECT_EQ(cohort.refused(), std::vector<uint32_t>(cohort.submodels.size(), 0));
    EXPECT_TRUE(cohort.merged(from) == cohort.expected(difference)) << cohort.model.name;

    const auto norms = cohort.download(cohort.held.squared_norms(), cohort.submodels.size());
    for (size_t j = 0; j < cohort.submodels.size(); ++j) {
      std::vector<float> given(cohort.submodels[j].size(), 0.0f);
      if (difference) cohort.submodels[j].gather(cohort.whole, given);
      long double exact = 0;
      for (size_t i = 0; i < given.size(); ++i) {
        const float update = cohort.trained[j][i] - given[i];
        exact += static_cast<double>(update) * static_cast<double>(update);
      }
      const auto norm = static_cast<double>(exact);
      EXPECT_NEAR(norms[j], norm, 1e-12 * norm) << cohort.model.name << ", job " << j;
    }
  }
  cohort.held.gather(cohort.gpu_whole.data(), cohort.stream);
  for (size_t j = 0; j < cohort.submodels.size(); ++j) {
    std::vector<float> given(cohort.submodels[j].size());
    cohort.submodels[j].gather(cohort.whole, given);
    EXPECT_TRUE(cohort.download(cohort.gpu_values[j].data(), given.size()) == given)
        << cohort.model.name << ", job " << j;
  }
}

TEST(CudaHeldWeights, AreThoseOfTheHostForSmallModels) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  for (const ModelSpec& model : small_droppable_models()) {
    HeldCohortOf cohort(model);
    fill_small(cohort);
    expect_host_results(cohort);
  }
}

TEST(CudaHeldWeights, AreThoseOfTheHostForMoreJobsThanABlockSeesAtOnce) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  HeldCohortOf cohort(small_cnn());
  fill_with_random_halves(cohort, 150);
  expect_host_results(cohort);
}

TEST(CudaHeldWeights, AreThoseOfTheHostForRandomHalvesOfALargeModel) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  HeldCohortOf cohort(find_model("emnist-cnn"));
  fill_with_random_halves(cohort, 6);
  expect_host_results(cohort);
}

TEST(CudaHeldWeights, RefusedJobsAddNothing) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  HeldCohortOf cohort(small_cnn());
  fill_with_random_halves(cohort, 7);
  cohort.trained[1].back() = kNan;
  std::vector<float> given(cohort.submodels[3].size());
  cohort.submodels[3].gather(cohort.whole, given);
  cohort.trained[3][5] = given[5] - 65.0f;
  cohort.losses[4] = std::numeric_limits<double>::infinity();
  cohort.trained[6][0] = std::numeric_limits<float>::infinity();
  cohort.upload();
  const float* from = cohort.gpu_whole.data();
  cohort.held.inspect(from, cohort.gpu_losses.data(), false, cohort.stream);
  EXPECT_EQ(cohort.refused(), (std::vector<uint32_t>{0, 1, 0, 1, 1, 0, 1, 0}));
  EXPECT_TRUE(cohort.merged(from) == cohort.expected(true));
}

// Without `whole` the values are the update, so that the bound can be met exactly.
TEST(CudaHeldWeights, AnUpdateOf64IsRefusedAndOneBelowIsNot) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  HeldCohortOf cohort(small_cnn());
  fill_with_random_halves(cohort, 2);
  cohort.trained[0][0] = -64.0f;
  cohort.trained[1][0] = std::nextafter(64.0f, 0.0f);
  cohort.upload();
  cohort.held.inspect(nullptr, cohort.gpu_losses.data(), false, cohort.stream);
  EXPECT_EQ(cohort.refused(), (std::vector<uint32_t>{1, 0, 0}));
  EXPECT_TRUE(cohort.merged(nullptr) == cohort.expected(false));
}

TEST(CudaHeldWeights, CanBeSetAgainAndToNothing) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  HeldCohortOf cohort(small_cnn());
  fill_with_random_halves(cohort, 9);
  cohort.losses[2] = kNan;
  cohort.upload();
  cohort.held.inspect(nullptr, cohort.gpu_losses.data(), false, cohort.stream);
  EXPECT_EQ(cohort.refused()[2], 1u);
  cohort.upload();
  EXPECT_EQ(cohort.refused()[2], 0u) << "none is refused before the next inspection";
  cohort.losses[2] = 1;
  expect_host_results(cohort);

  const PartialSum before = cohort.sum_before();
  cohort.held.set({}, cohort.stream);
  cohort.held.gather(cohort.gpu_whole.data(), cohort.stream);
  cohort.held.inspect(nullptr, cohort.gpu_losses.data(), true, cohort.stream);
  const HeldCohortOf::Sum after = cohort.merged(nullptr);
  EXPECT_TRUE(std::ranges::equal(after.sums, before.sums()));
  EXPECT_TRUE(std::ranges::equal(after.holders, before.holders()));
}

}  // namespace
}  // namespace subfleet::cuda

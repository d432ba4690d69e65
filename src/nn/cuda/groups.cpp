#include "nn/cuda/groups.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "nn/jobs.h"
#include "subfleet/error.h"

namespace subfleet::cuda {
namespace {

constexpr size_t kLanes = 3, kJobsPerLane = 6;  // of one shape; with more shapes, each has fewer
constexpr size_t kLongestHistory = 400;  // rows of a job's round that a layer may keep instead of stepping

// The weights that a job shares with the other jobs of its run for the whole round; its layers may then delay
// their steps. Null unless the job has the whole model, codecs are lossless, the round is short and the steps
// are plain.
const float* shared_weights(const Cohort& cohort, const Place& place) {
  const bool whole = cohort.jobs[place.job].submodel->size() == state_of(cohort.state).size();
  const bool exact = is_lossless(cohort.wire);
  const bool is_short = size_t{place.steps} * cohort.how.batch <= kLongestHistory;
  const bool plain = ClientRule(cohort.how).is_plain();
  return whole && exact && is_short && plain ? state_of(cohort.state).device_weights() : nullptr;
}

}  // namespace

CudaState& state_of(ServerState* state) {
  auto* mine = dynamic_cast<CudaState*>(state);
  if (mine == nullptr) throw failure("train", "the state was made by another device");
  return *mine;
}

size_t wave_size(std::span<const Cohort> cohorts, std::span<const Place> places, size_t bytes) {
  constexpr size_t kMostJobs = 12'000;
  size_t taken = 0, count = 0, of_one = 0;
  const Place* like = nullptr;  // the last whose bytes were counted
  for (const Place& place : places) {
    const Cohort& cohort = cohorts[place.cohort];
    const SubModel& submodel = *cohort.jobs[place.job].submodel;
    const bool whole = shared_weights(cohort, place) != nullptr;
    if (like == nullptr || like->cohort != place.cohort ||
        cohort.jobs[like->job].submodel->size() != submodel.size() ||
        (shared_weights(cohort, *like) != nullptr) != whole) {
      const size_t arrays = (is_lossless(cohort.wire) ? 1 : 2) + ClientRule(cohort.how).arrays();
      of_one = arrays * submodel.size() * sizeof(float) +
               network_bytes_per_job(submodel.spec(), static_cast<int>(cohort.how.batch), true,
                                     whole ? kLongestHistory : 0);
    }
    like = &place;
    taken += of_one;
    if (count > 0 && (taken > bytes || count == kMostJobs)) break;
    ++count;
  }
  return count;
}

std::vector<Group> groups_of(std::span<const Cohort> cohorts, std::span<const Place> places) {
  std::vector<Group> shapes;
  std::vector<const ModelSpec*> specs;
  for (size_t i = 0; i < places.size(); ++i) {
    const Cohort& cohort = cohorts[places[i].cohort];
    const ModelSpec& spec = cohort.jobs[places[i].job].submodel->spec();
    const float* whole = shared_weights(cohort, places[i]);
    size_t found = 0;
    while (found < shapes.size() &&
           !(shapes[found].whole == whole && shapes[found].rule == ClientRule(cohort.how) &&
             shapes[found].key.rows == cohort.how.batch && specs[found]->layers == spec.layers &&
             specs[found]->input == spec.input))
      ++found;
    if (found == shapes.size()) {
      shapes.emplace_back();
      shapes.back().key = {network_key(spec), cohort.how.batch, 0, whole == nullptr ? 0 : kLongestHistory};
      shapes.back().whole = whole;
      shapes.back().rule = ClientRule(cohort.how);
      specs.push_back(&spec);
    }
    shapes[found].places.push_back(i);
  }
  // More streams than keep the GPU busy only make more launches.
  const size_t most_lanes = (kLanes + shapes.size() - 1) / std::max<size_t>(1, shapes.size());
  std::vector<Group> groups;
  for (Group& shape : shapes) {
    std::ranges::stable_sort(shape.places, std::greater{}, [&](size_t i) { return places[i].steps; });
    // Cohorts that share no weights are apart already, and need networks of their own.
    const auto alike = std::ranges::count_if(std::span(shapes.data(), &shape), [&](const Group& other) {
      return other.key.model == shape.key.model && other.key.rows == shape.key.rows &&
             other.key.history == shape.key.history;
    });
    const size_t first_lane = static_cast<size_t>(alike) * kLanes;
    const size_t lanes = std::clamp<size_t>(shape.places.size() / kJobsPerLane, 1, most_lanes);
    for (size_t lane = 0; lane < lanes; ++lane) {
      Group group = shape;
      group.key.lane = first_lane + lane;
      group.places.clear();
      for (size_t i = lane; i < shape.places.size(); i += lanes) group.places.push_back(shape.places[i]);
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace subfleet::cuda

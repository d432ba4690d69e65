#include "nn/cuda/held_weights.h"

#include <algorithm>
#include <vector>

#include "subfleet/error.h"

namespace subfleet::cuda {
namespace {

uint32_t narrow(size_t value) { return static_cast<uint32_t>(value); }

std::vector<HeldTensor> tensors_of(const SubModel& submodel) {
  std::vector<HeldTensor> tensors;
  uint32_t tiles = 0;
  const std::vector<TensorPlan>& plans = submodel.tensors();
  for (size_t i = 0; i < plans.size(); ++i) {
    const size_t end = i + 1 < plans.size() ? plans[i + 1].full_offset : submodel.whole_size();
    size_t columns = plans[i].full_columns * plans[i].inner;
    size_t rows = (end - plans[i].full_offset) / columns;
    if (columns == 1) std::swap(rows, columns);
    const size_t across = (columns + kHeldTileColumns - 1) / kHeldTileColumns;
    const size_t count = across * ((rows + kHeldTileRows - 1) / kHeldTileRows);
    tensors.push_back({.offset = plans[i].full_offset,
                       .rows = narrow(rows),
                       .columns = narrow(columns),
                       .first_tile = tiles,
                       .end_tile = tiles + narrow(count),
                       .tiles_across = narrow(across)});
    tiles = tensors.back().end_tile;
  }
  return tensors;
}

void check_one_model(std::span<const HeldJob> jobs) {
  const SubModel& first = *jobs.front().submodel;
  for (const HeldJob& job : jobs) {
    if (job.submodel->whole_size() != first.whole_size() ||
        job.submodel->tensors().size() != first.tensors().size())
      throw failure("train", "a cohort's sub-models are of different models");
  }
}

// Arrays one after another in host memory that is copied to the GPU as a whole. For each array it knows where
// it lies here and where it will lie there.
class Layout {
 public:
  template <typename T>
  struct Array {
    T* here = nullptr;
    const T* there = nullptr;
  };

  // First with null pointers, to learn the size.
  Layout(std::byte* here, const std::byte* there) : here_(here), there_(there) {}

  template <typename T>
  Array<T> array(size_t count) {
    bytes_ = (bytes_ + alignof(T) - 1) / alignof(T) * alignof(T);
    Array<T> array;
    if (here_ != nullptr) {
      array = {reinterpret_cast<T*>(here_ + bytes_), reinterpret_cast<const T*>(there_ + bytes_)};
    }
    bytes_ += count * sizeof(T);
    return array;
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* here_;
  const std::byte* there_;
  size_t bytes_ = 0;
};

struct Sizes {
  size_t jobs = 0, tensors = 0, rows = 0, runs = 0;
};

struct Tables {
  Tables(Layout& layout, const Sizes& sizes)
      : tensors(layout.array<HeldTensor>(sizes.tensors)),
        parts(layout.array<HeldPart>(sizes.tensors * sizes.jobs)),
        indices(layout.array<HeldIndices>(sizes.tensors * sizes.jobs)),
        examples(layout.array<uint32_t>(sizes.jobs)),
        runs(layout.array<HeldRun>(sizes.runs)),
        rows(layout.array<uint32_t>(sizes.rows)) {}

  Layout::Array<HeldTensor> tensors;
  Layout::Array<HeldPart> parts;
  Layout::Array<HeldIndices> indices;
  Layout::Array<uint32_t> examples;
  Layout::Array<HeldRun> runs;
  Layout::Array<uint32_t> rows;
};

HeldRun* copy_runs(const TensorPlan& plan, HeldRun* to) {
  uint32_t held = 0;
  for (const ColumnRun& run : plan.runs) {
    const uint32_t count = narrow(run.count * plan.inner);
    *to++ = {.from = narrow(run.from * plan.inner), .held_from = held, .count = count};
    held += count;
  }
  return to;
}

}  // namespace

void HeldWeights::set(std::span<const HeldJob> jobs, cudaStream_t stream) {
  cohort_ = {};
  if (jobs.empty()) return;
  check_one_model(jobs);

  const std::vector<HeldTensor> tensors = tensors_of(*jobs.front().submodel);
  Sizes sizes{.jobs = jobs.size(), .tensors = tensors.size()};
  for (const HeldJob& job : jobs) {
    for (const TensorPlan& plan : job.submodel->tensors()) {
      sizes.rows += plan.rows.size();
      sizes.runs += plan.runs.size();
    }
  }
  size_t map_size = 0;  // of one job
  for (const HeldTensor& tensor : tensors) map_size += size_t{tensor.rows} + tensor.columns;

  Layout measure(nullptr, nullptr);
  const Tables measured(measure, sizes);
  std::byte* here = staging_.take(measure.bytes());
  tables_.grow(staging_.size());
  maps_.grow(map_size * jobs.size());
  refused_.grow(jobs.size());
  Layout layout(here, tables_.data());
  const Tables tables(layout, sizes);

  std::ranges::copy(tensors, tables.tensors.here);
  uint32_t* map = maps_.data();
  uint32_t* row = tables.rows.here;
  HeldRun* run = tables.runs.here;
  for (size_t j = 0; j < jobs.size(); ++j) {
    tables.examples.here[j] = jobs[j].examples;
    for (size_t t = 0; t < tensors.size(); ++t) {
      const TensorPlan& plan = jobs[j].submodel->tensors()[t];
      uint32_t *rows = map, *columns = map + tensors[t].rows;
      map = columns + tensors[t].columns;
      const bool turned = plan.full_columns * plan.inner == 1;
      tables.parts.here[t * jobs.size() + j] = {.values = jobs[j].values + plan.sub_offset,
                                                .rows = rows,
                                                .columns = columns,
                                                .row_length = narrow(plan.sub_columns * plan.inner)};
      tables.indices.here[t * jobs.size() + j] = {.map_of_list = turned ? columns : rows,
                                                  .map_of_runs = turned ? rows : columns,
                                                  .list = tables.rows.there + (row - tables.rows.here),
                                                  .runs = tables.runs.there + (run - tables.runs.here),
                                                  .list_count = narrow(plan.rows.size()),
                                                  .run_count = narrow(plan.runs.size())};
      row = std::ranges::copy(plan.rows, row).out;
      run = copy_runs(plan, run);
    }
  }
  staging_.upload(tables_, layout.bytes(), stream);
  check(cudaMemsetAsync(maps_.data(), 0xFF, map_size * jobs.size() * sizeof(uint32_t), stream),
        "clearing memory");
  refused_.zero(stream);

  cohort_ = {.jobs = narrow(jobs.size()),
             .tensors = narrow(tensors.size()),
             .tiles = tensors.back().end_tile,
             .tensor = tables.tensors.there,
             .parts = tables.parts.there,
             .indices = tables.indices.there,
             .examples = tables.examples.there};
  launch_fill_maps(cohort_, stream);
}

void HeldWeights::gather(const float* whole, cudaStream_t stream) { launch_gather(cohort_, whole, stream); }

void HeldWeights::inspect(const float* whole, const double* losses, bool squared_norms, cudaStream_t stream) {
  if (squared_norms) {
    tile_norms_.grow(size_t{cohort_.jobs} * cohort_.tiles);
    squared_norms_.grow(cohort_.jobs);
  }
  launch_inspect(cohort_,
                 {.whole = whole,
                  .losses = losses,
                  .refused = refused_.data(),
                  .tile_norms = squared_norms ? tile_norms_.data() : nullptr,
                  .squared_norms = squared_norms_.data()},
                 stream);
}

void HeldWeights::merge(const float* whole, int64_t* sums, uint32_t* holders, cudaStream_t stream) {
  launch_merge(cohort_, {.whole = whole, .refused = refused_.data(), .sums = sums, .holders = holders},
               stream);
}

}  // namespace subfleet::cuda

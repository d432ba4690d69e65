#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// A stretch of columns that is contiguous both in the whole tensor and in the sub-model's.
struct ColumnRun {
  uint32_t from = 0;   // in the whole tensor
  uint32_t count = 0;  // columns
};

// Which part of one tensor a sub-model holds: all (row, column) pairs of the two index sets.
struct TensorPlan {
  size_t full_offset = 0, sub_offset = 0;
  size_t full_columns = 0, sub_columns = 0, inner = 1;
  std::vector<uint32_t> rows = {};
  std::vector<ColumnRun> runs = {};
};

// What one client gets: a genuinely smaller model, and where its weights lie in the whole one.
class SubModel {
 public:
  // `kept[i]` holds the kept units of the i-th of droppable_groups(), ascending. Throws Error if a set is
  // empty or out of range. With `rescale`, units of which only some are kept are divided by the kept part, as
  // in inverted dropout, where a layer mixes them: LayerSpec::input_scale of spec(). Where only ReLU, pools
  // and flatten stand between, it is the output_scale of the layer that makes them, which is the same.
  SubModel(const ModelSpec& whole, std::span<const std::vector<uint32_t>> kept, bool rescale = false);

  // One that is put together again from what another says of itself.
  SubModel(ModelSpec spec, std::vector<std::vector<uint32_t>> kept, bool rescaled, size_t size,
           size_t whole_size, std::vector<std::vector<uint32_t>> channel_groups,
           std::vector<TensorPlan> tensors)
      : spec_(std::move(spec)),
        kept_(std::move(kept)),
        rescaled_(rescaled),
        size_(size),
        whole_size_(whole_size),
        channel_groups_(std::move(channel_groups)),
        tensors_(std::move(tensors)) {}

  const ModelSpec& spec() const { return spec_; }                           // the smaller model
  const std::vector<std::vector<uint32_t>>& kept() const { return kept_; }  // of each droppable group
  bool rescaled() const { return rescaled_; }
  size_t size() const { return size_; }              // its parameters
  size_t whole_size() const { return whole_size_; }  // those of the model that it was taken from
  const std::vector<TensorPlan>& tensors() const { return tensors_; }

  // For each groupnorm layer, in order: where the kept channels of each of the whole model's groups end. Two
  // sub-models of the same spec() may differ in it. A group may have lost all of its channels.
  const std::vector<std::vector<uint32_t>>& channel_groups() const { return channel_groups_; }

  // Copies the held weights out of the whole model, and back into it. Both are exact copies.
  void gather(std::span<const float> whole, std::span<float> sub) const;
  void scatter(std::span<const float> sub, std::span<float> whole) const;

  // Calls visit(full_index, sub_index, count) for every stretch of weights that is contiguous in both.
  template <typename Visit>
  void for_each_run(Visit&& visit) const {
    for (const TensorPlan& t : tensors_) {
      size_t sub = t.sub_offset;
      for (const uint32_t row : t.rows) {
        const size_t row_start = t.full_offset + size_t{row} * t.full_columns * t.inner;
        for (const ColumnRun& run : t.runs) {
          const size_t count = run.count * t.inner;
          visit(row_start + run.from * t.inner, sub, count);
          sub += count;
        }
      }
    }
  }

 private:
  void hold(const ParameterSpec& tensor, std::vector<uint32_t> rows, const std::vector<uint32_t>& columns);

  ModelSpec spec_;
  std::vector<std::vector<uint32_t>> kept_;
  bool rescaled_ = false;
  size_t size_ = 0, whole_size_ = 0;
  std::vector<std::vector<uint32_t>> channel_groups_;
  std::vector<TensorPlan> tensors_;
};

// What units are multiplied by when only some are kept and they are rescaled.
inline float output_scale(size_t units, size_t kept) {
  return static_cast<float>(static_cast<double>(units) / static_cast<double>(kept));
}

// The sub-model that keeps every unit.
SubModel whole_model(const ModelSpec& model);

}  // namespace subfleet

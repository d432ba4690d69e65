#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace subfleet {

// Labelled examples, one after the other: inputs[i * features ...] belongs to labels[i].
struct Examples {
  size_t features = 0;  // values per example, in C,H,W order
  std::vector<float> inputs;
  std::vector<int32_t> labels;

  size_t count() const { return labels.size(); }
  std::span<const float> input(size_t index) const { return {inputs.data() + index * features, features}; }
  // Becomes empty, ready for `count` examples of `values` values each. Keeps its memory.
  void reset(size_t values, size_t count) {
    features = values;
    inputs.clear();
    labels.clear();
    inputs.reserve(count * values);
    labels.reserve(count);
  }
  void append(std::span<const float> input, int32_t label) {
    inputs.insert(inputs.end(), input.begin(), input.end());
    labels.push_back(label);
  }
};

// Where a trainer finds examples. They never change, so a trainer may keep what it has read. Every method may
// be called from several threads at once.
class ExampleSource {
 public:
  virtual ~ExampleSource() = default;
  // The training examples of a client, in place of what is in `into`, whose memory is used again.
  virtual void read_train(uint32_t client, Examples& into) const = 0;
  // What models are tested with.
  virtual const Examples& test_set() const = 0;
};

}  // namespace subfleet

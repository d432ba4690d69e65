#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/round.h"
#include "subfleet/round_masks.h"
#include "subfleet/submodel.h"

namespace subfleet {

// What travels to a client: which sub-model it gets, by the few numbers that name it (never as bits), how to
// train it, and its weights as the codec `down` has encoded them.
struct JobMessage {
  std::string model;  // a name of the zoo, or a model file's text
  CodeOptions code;
  uint64_t seed = 0;
  uint32_t draw = 0;
  uint32_t rows = 0;  // clients of the round
  uint32_t row = 0;   // this one's
  uint32_t client = 0;
  LocalTraining local;
  std::string down, up;  // codecs
  std::vector<std::byte> weights;
};

// What travels back: the client's result, and the f32 difference of its trained and its given weights as the
// codec `up` has encoded it.
template <typename Bytes>
struct BasicUpdate {
  uint32_t draw = 0;
  uint32_t row = 0;
  uint32_t examples = 0;
  double loss = 0;
  double accuracy = 0;
  Bytes update;
};
using UpdateMessage = BasicUpdate<std::vector<std::byte>>;
using UpdateView = BasicUpdate<std::span<const std::byte>>;  // its update lies in the encoded message

// The message to the first row of a cohort, without weights; the others differ in row, client and weights.
// `model` is the model_text() of the cohort's.
JobMessage job_message(const Cohort& cohort, std::string model);
JobMessage job_message(const Cohort& cohort);

// The version of the messages' layouts (docs/formats.md); a node and a server with different versions refuse
// each other. Increase it with every change of a layout. All layouts before 2 called themselves 1.
inline constexpr int kMessageFormat = 3;

std::vector<std::byte> encode(const JobMessage& message);
std::vector<std::byte> encode(const UpdateMessage& message);
// Both throw Error if malformed, or if of another format: then the line says who must update.
JobMessage decode_job(std::span<const std::byte> bytes);
UpdateMessage decode_update(std::span<const std::byte> bytes);
UpdateView view_update(std::span<const std::byte> bytes);

// Throws Error, in a line that says who must update, unless the number of the sender's `what` ("format") is
// the reader's.
void check_peer(std::string_view what, int64_t number, int64_t readers, std::string_view sender,
                std::string_view reader);

// The bytes of a message around its encoded weights or update.
size_t envelope_size(const JobMessage& message);
size_t envelope_size(const UpdateMessage& message);

// A model as it is named in a message, and back.
std::string model_text(const ModelSpec& model);
ModelSpec named_model(const std::string& text);

// What a message says of its cohort: all but the model, the jobs and the state.
Cohort cohort_of(const JobMessage& message);

// The sub-model that a job message names: what a device rebuilds from it.
SubModel named_submodel(const JobMessage& message);

// The same as named_submodel(), with masks that are drawn once for messages of the same round in a row.
class NamedSubModels {
 public:
  SubModel of(const JobMessage& message);

 private:
  JobMessage last_;  // whose masks these are; without weights
  std::optional<RoundMasks> masks_;
};

}  // namespace subfleet

#include "subfleet/server/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "subfleet/error.h"
#include "subfleet/server/model_texts.h"

namespace subfleet {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are little-endian");

// A message begins with three letters for its kind and one for its format: '0' + kMessageFormat.
struct Kind {
  std::string_view letters, sender, reader;
};
constexpr Kind kJob{"SFJ", "server", "node"};
constexpr Kind kUpdate{"SFU", "node", "server"};
constexpr size_t kMagicBytes = 4;

// The three ways to walk over a message: count its bytes, write them, read them. Each has the same call
// operator, so that a message's layout is written down once.
struct Counter {
  size_t bytes = 0;
  template <typename T>
  void operator()(const T&) {
    bytes += sizeof(T);
  }
  void operator()(const std::string& text) { bytes += sizeof(uint32_t) + text.size(); }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    bytes += sizeof(uint64_t) + values.size() * sizeof(T);
  }
};

struct Writer {
  std::vector<std::byte> bytes;
  void raw(const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  }
  template <typename T>
  void operator()(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    raw(&value, sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& values) {
    (*this)(uint64_t{values.size()});
    raw(values.data(), values.size() * sizeof(T));
  }
};

struct Reader {
  std::span<const std::byte> bytes;
  const std::byte* take(uint64_t size) {
    if (size > bytes.size()) throw bad_request("message", "truncated");
    const std::byte* data = bytes.data();
    bytes = bytes.subspan(size);
    return data;
  }
  template <typename T>
  void operator()(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    if constexpr (std::is_same_v<T, bool>) {
      const std::byte byte = *take(1);
      if (byte > std::byte{1}) throw bad_request("message", "has a flag that is neither 0 nor 1");
      value = byte != std::byte{0};
    } else {
      std::memcpy(&value, take(sizeof value), sizeof value);
    }
  }
  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    text.assign(reinterpret_cast<const char*>(take(size)), size);
  }
  template <typename T>
  void operator()(std::vector<T>& values) {
    uint64_t count = 0;
    (*this)(count);
    if (count > bytes.size() / sizeof(T)) throw bad_request("message", "truncated");
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), take(count * sizeof(T)), count * sizeof(T));
  }
  void operator()(std::span<const std::byte>& values) {
    uint64_t count = 0;
    (*this)(count);
    values = {take(count), count};
  }
};

// A map travels as its size and its entries.
using Layers = std::map<std::string, LayerCode>;
template <typename Walk>
void walk(Walk& field, const Layers& layers) {
  field(static_cast<uint32_t>(layers.size()));
  for (const auto& [name, code] : layers) {
    field(name);
    field(code.family);
    field(code.keep);
  }
}
void walk(Reader& field, Layers& layers) {
  uint32_t count = 0;
  field(count);
  for (std::string name; count > 0; --count) {
    field(name);
    if (!layers.empty() && name <= layers.rbegin()->first)
      throw bad_request("message", "names layers twice or out of order");
    LayerCode& code = layers[name];
    field(code.family);
    field(code.keep);
  }
}

template <typename T>
concept IsUpdate = requires(T message) {
  message.update;
};

// The layouts. `m` is const for Counter and Writer.
template <typename Walk>
void walk(Walk& field, auto& m) requires std::is_same_v<std::remove_cvref_t<decltype(m)>, JobMessage> {
  field(m.model);
  field(m.code.family);
  field(m.code.keep);
  walk(field, m.code.layers);
  field(m.code.tiers);
  field(m.code.rescale);
  field(m.seed);
  field(m.draw);
  field(m.rows);
  field(m.row);
  field(m.client);
  field(m.local.epochs);
  field(m.local.batch);
  field(m.local.client_lr);
  field(m.local.momentum);
  field(m.local.weight_decay);
  field(m.local.proximal);
  field(m.local.shuffle);
  field(m.local.flip);
  field(m.local.crop);
  field(m.down);
  field(m.up);
  field(m.weights);
}

template <typename Walk>
void walk(Walk& field, auto& m) requires IsUpdate<decltype(m)> {
  field(m.draw);
  field(m.row);
  field(m.examples);
  field(m.loss);
  field(m.accuracy);
  field(m.update);
}

void check_magic(const Kind& kind, const std::byte* magic) {
  const size_t letters = kind.letters.size();
  const auto format = static_cast<int>(magic[letters]) - '0';
  if (std::memcmp(magic, kind.letters.data(), letters) != 0 || format < 1)
    throw bad_request("message", "not one of Subfleet's, or of another kind");
  check_peer("format", format, kMessageFormat, kind.sender, kind.reader);
}

template <typename Message>
size_t size_of(const Message& message) {
  Counter counter{.bytes = kMagicBytes};
  walk(counter, message);
  return counter.bytes;
}

template <typename Message>
std::vector<std::byte> encode_with(const Kind& kind, const Message& message) {
  Writer writer;
  writer.bytes.reserve(size_of(message));
  writer.raw(kind.letters.data(), kind.letters.size());
  writer(static_cast<uint8_t>('0' + kMessageFormat));
  walk(writer, message);
  return std::move(writer.bytes);
}

template <typename Message>
Message decode_with(const Kind& kind, std::span<const std::byte> bytes) {
  Reader reader{bytes};
  check_magic(kind, reader.take(kMagicBytes));
  Message message;
  walk(reader, message);
  if (!reader.bytes.empty()) throw bad_request("message", "has bytes behind its end");
  return message;
}

}  // namespace

std::vector<std::byte> encode(const JobMessage& message) { return encode_with(kJob, message); }
std::vector<std::byte> encode(const UpdateMessage& message) { return encode_with(kUpdate, message); }

JobMessage decode_job(std::span<const std::byte> bytes) { return decode_with<JobMessage>(kJob, bytes); }
UpdateMessage decode_update(std::span<const std::byte> bytes) {
  return decode_with<UpdateMessage>(kUpdate, bytes);
}
UpdateView view_update(std::span<const std::byte> bytes) { return decode_with<UpdateView>(kUpdate, bytes); }

void check_peer(std::string_view what, int64_t number, int64_t readers, std::string_view sender,
                std::string_view reader) {
  if (number == readers) return;
  const bool newer = number > readers;
  throw bad_request("message", fmt::format("{0} {1} of {2} {3}; this {4} speaks {0} {5}: update the {6}",
                                           what, number, newer ? "a newer" : "an older", sender, reader,
                                           readers, newer ? reader : sender));
}

size_t envelope_size(const JobMessage& message) { return size_of(message) - message.weights.size(); }
size_t envelope_size(const UpdateMessage& message) { return size_of(message) - message.update.size(); }

JobMessage job_message(const Cohort& cohort) { return job_message(cohort, model_text(*cohort.model)); }

JobMessage job_message(const Cohort& cohort, std::string model) {
  return {.model = std::move(model),
          .code = cohort.code,
          .seed = cohort.seed,
          .draw = cohort.draw,
          .rows = cohort.rows,
          .row = 0,
          .client = 0,
          .local = cohort.how,
          .down = std::string(cohort.wire.down->name()),
          .up = std::string(cohort.wire.up->name()),
          .weights = {}};
}

std::string model_text(const ModelSpec& model) {
  const std::vector<std::string> zoo = model_names();
  const bool known = std::ranges::find(zoo, model.name) != zoo.end() && find_model(model.name) == model;
  return known ? model.name : model_toml(model);
}

ModelSpec named_model(const std::string& text) {
  return text.find('\n') == std::string::npos ? find_model(text) : parse_model(text, "message");
}

Cohort cohort_of(const JobMessage& message) {
  return {.code = message.code,
          .seed = message.seed,
          .draw = message.draw,
          .rows = message.rows,
          .jobs = {},
          .how = message.local,
          .wire = {.down = &find_codec(message.down), .up = &find_codec(message.up)}};
}

SubModel named_submodel(const JobMessage& message) { return NamedSubModels().of(message); }

const std::string& ModelTexts::of(const ModelSpec& model) {
  if (model_ != model) {
    text_ = model_text(model);
    model_ = model;
  }
  return text_;
}

SubModel NamedSubModels::of(const JobMessage& m) {
  if (m.row >= m.rows) throw bad_request("message", "names a row that its book does not have");
  const auto names = [](auto& of) { return std::tie(of.model, of.code, of.seed, of.draw, of.rows); };
  if (!masks_ || names(last_) != names(m)) {
    masks_.reset();
    masks_.emplace(named_model(m.model), m.code, m.seed, m.draw, m.rows);
    names(last_) = names(m);
  }
  return masks_->submodel(m.row, m.client);
}

}  // namespace subfleet

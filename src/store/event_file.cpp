// TensorBoard's format: records of a protobuf message each, tensorflow.Event with a tensorflow.Summary
// (tensorflow/core/util/event.proto, framework/summary.proto), framed as in TFRecord files. Few enough fields
// to be written by hand.

#include "subfleet/store/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

#include "subfleet/base/file.h"

namespace subfleet {
namespace {

// CRC-32C (Castagnoli), reflected, bit by bit from a table of bytes.
uint32_t crc32c(std::string_view bytes) {
  static constexpr auto kTable = [] {
    constexpr uint32_t kPolynomial = 0x82f63b78;
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char letter : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(letter)) & 0xff];
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8; }

template <typename Number>  // unsigned, as little-endian bytes
std::string fixed(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Number); ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

std::string varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>((number & 0x7f) | 0x80);
  return bytes + static_cast<char>(number);
}

// The fields of a protobuf message: a key of number and wire type, and the value.
std::string key(uint32_t number, uint32_t type) { return varint(number << 3 | type); }
std::string field(uint32_t number, uint64_t value) { return key(number, 0) + varint(value); }
std::string field(uint32_t number, double value) {
  return key(number, 1) + fixed(std::bit_cast<uint64_t>(value));
}
std::string field(uint32_t number, std::string_view value) {
  return key(number, 2) + varint(value.size()) + std::string(value);
}
std::string field(uint32_t number, float value) {
  return key(number, 5) + fixed(std::bit_cast<uint32_t>(value));
}

std::string framed(std::string_view event) {
  const std::string length = fixed(uint64_t{event.size()});
  return length + fixed(masked_crc32c(length)) + std::string(event) + fixed(masked_crc32c(event));
}

// The numbers of the fields in TensorBoard's messages.
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;  // Event
constexpr uint32_t kValue = 1;                                                // Summary
constexpr uint32_t kTag = 1, kSimpleValue = 2;                                // Summary.Value

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string events_beginning(double time) {
  return framed(field(kWallTime, time) + field(kFileVersion, std::string_view("brain.Event:2")));
}

std::string round_event(const RoundRecord& record, uint64_t bytes, double time) {
  std::string summary;
  const auto scalar = [&](std::string_view tag, std::optional<double> value) {
    if (!value || !std::isfinite(*value)) return;
    summary += field(kValue, field(kTag, tag) + field(kSimpleValue, static_cast<float>(*value)));
  };
  scalar("accuracy/test", record.test_accuracy);
  scalar("accuracy/train", record.train_accuracy_median);
  scalar("loss/test", record.test_loss);
  scalar("loss/train", record.train_loss);
  for (const auto& [name, value] : record.metrics) scalar("metric/" + name, value);
  scalar("rate/server", record.server_rate);
  scalar("rate/client", record.client_rate);
  scalar("bytes/exchanged", static_cast<double>(bytes));
  return framed(field(kWallTime, time) + field(kStep, uint64_t{record.round}) + field(kSummary, summary));
}

EventFile::EventFile(const std::filesystem::path& folder, std::span<const RoundRecord> log)
    : path_(folder / kName) {
  double time = now();
  for (const RoundRecord& record : log) time -= std::isfinite(record.seconds) ? record.seconds : 0;
  std::string events = events_beginning(time);
  for (const RoundRecord& record : log) {
    time += std::isfinite(record.seconds) ? record.seconds : 0;
    bytes_ += record.bytes_down + record.bytes_up;
    events += round_event(record, bytes_, time);
  }
  write_file(path_, events);
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) throw cannot_write(path_, errno);
}

EventFile::~EventFile() {
  if (file_ >= 0) ::close(file_);
}

EventFile::EventFile(EventFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), bytes_(other.bytes_) {}

void EventFile::round_done(Run& /*run*/, const RoundRecord& record) { append(record); }

void EventFile::append(const RoundRecord& record) {
  bytes_ += record.bytes_down + record.bytes_up;
  append_to(file_, round_event(record, bytes_, now()), path_);
}

}  // namespace subfleet

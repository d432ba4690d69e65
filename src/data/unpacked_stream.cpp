#include "data/unpacked_stream.h"

#include <fmt/format.h>

#include <istream>
#include <new>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kInput = size_t{1} << 16;
constexpr int kGzip = 15 + 16;  // zlib's way of saying so: the largest window, a gzip header

}  // namespace

UnpackedStream::UnpackedStream(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  packed_ = in_.get() == 0x1F && in_.get() == 0x8B;
  in_.clear();
  in_.seekg(0);
  if (!packed_) return;
  input_.resize(kInput);
  if (inflateInit2(&state_, kGzip) != Z_OK) throw std::bad_alloc();
  in_member_ = true;
}

UnpackedStream::~UnpackedStream() {
  if (packed_) inflateEnd(&state_);
}

size_t UnpackedStream::read(std::span<uint8_t> room) { return packed_ ? unpack(room) : read_raw(room); }

size_t UnpackedStream::read_raw(std::span<uint8_t> room) {
  in_.read(reinterpret_cast<char*>(room.data()), static_cast<std::streamsize>(room.size()));
  if (in_.bad()) throw failure(name_, "reading it failed");
  return static_cast<size_t>(in_.gcount());
}

size_t UnpackedStream::unpack(std::span<uint8_t> room) {
  state_.next_out = room.data();
  state_.avail_out = static_cast<uInt>(room.size());
  while (state_.avail_out > 0) {
    if (state_.avail_in == 0) {
      state_.next_in = input_.data();
      state_.avail_in = static_cast<uInt>(read_raw(input_));
      if (state_.avail_in == 0 && in_member_)
        throw bad_request(name_, "is truncated: the gzip stream ends too early");
      if (state_.avail_in == 0) break;
    }
    if (!in_member_) inflateReset(&state_);
    const int code = inflate(&state_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END) {
      throw bad_request(name_, fmt::format("cannot be unpacked ({})", state_.msg ? state_.msg : "not gzip"));
    }
    in_member_ = code != Z_STREAM_END;
  }
  return room.size() - state_.avail_out;
}

}  // namespace subfleet

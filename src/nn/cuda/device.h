#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The base of this folder: errors in one line, memory that is freed by itself, one GPU per process.
namespace subfleet::cuda {

// Throws Error unless the code is success. It says what was being done, what is wrong and what would help.
void check(cudaError_t code, std::string_view doing);

// Call it after launching a kernel.
inline void check_launch(std::string_view kernel) { check(cudaGetLastError(), kernel); }

// Makes this process' GPU the current one: the first, or under mpirun the one with the rank's number on its
// machine. Throws Error if there is no usable GPU.
void use_gpu();

// Throws Error if the build has no code for the current GPU. Otherwise the first kernel would fail in the
// middle of a run.
void check_code();

// The rank's number on its machine, from the variables that mpirun and others set; 0 if none is set.
int local_rank(const std::function<const char*(const char*)>& variable);

std::string gpu_name();

// Memory on the GPU. The bytes count for memory_peak().
void* allocate(size_t bytes);
void release(void* at, size_t bytes) noexcept;
uint64_t memory_peak();

// An array on the GPU, uninitialised.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t count) : at_(static_cast<T*>(allocate(count * sizeof(T)))), count_(count) {}
  Buffer(Buffer&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Buffer() { release(at_, count_ * sizeof(T)); }

  T* data() { return at_; }
  const T* data() const { return at_; }
  size_t size() const { return count_; }

  // Makes room for at least `count` values; growing loses the old content.
  void grow(size_t count) {
    if (count <= count_) return;
    *this = Buffer();  // first, so that both are never there at once
    *this = Buffer(count);
  }

  void zero(cudaStream_t stream) {
    check(cudaMemsetAsync(at_, 0, count_ * sizeof(T), stream), "clearing memory");
  }
  // The host's memory may be reused as soon as it returns.
  void upload(std::span<const T> values, cudaStream_t stream, size_t at = 0) {
    check(cudaMemcpyAsync(at_ + at, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream),
          "copying to the GPU");
  }
  // Waits for everything before it on the stream.
  void download(std::span<T> values, cudaStream_t stream, size_t at = 0) const {
    check(cudaMemcpyAsync(values.data(), at_ + at, values.size_bytes(), cudaMemcpyDeviceToHost, stream),
          "copying from the GPU");
    check(cudaStreamSynchronize(stream), "copying from the GPU");
  }

 private:
  T* at_ = nullptr;
  size_t count_ = 0;
};

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }
  // Later work on this stream begins after the work that is now on `other`.
  void follow(cudaStream_t other) {
    check(cudaEventRecord(event_, other), "ordering streams");
    check(cudaStreamWaitEvent(stream_, event_, 0), "ordering streams");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace subfleet::cuda

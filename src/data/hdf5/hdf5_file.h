#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "subfleet/error.h"

// The few parts of HDF5's C library that are used here, as values that close themselves, with one-line errors
// that name the file. The library is not thread-safe.
namespace subfleet {

// Closes what the library has opened.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;

  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  // The names of the members of the group "/a/b", in increasing order.
  std::vector<std::string> members(const std::string& group) const;

  // The sizes of a data set. Throws unless its values are of that class, lie in this file, and are stored in
  // chunks of reasonable size.
  std::vector<uint64_t> sizes(const std::string& name, H5T_class_t type) const;

  // A stretch of a data set's outermost slices: pictures, if its sizes are [pictures, height, width].
  struct Slices {
    uint64_t first, count;
  };
  // The values of a data set whose sizes() are known, converted to the result's type.
  std::vector<float> floats(const std::string& name, const std::vector<uint64_t>& sizes,
                            const Slices& slices) const;
  std::vector<int64_t> integers(const std::string& name, uint64_t count) const;

 private:
  Hdf5Handle open_dataset(const std::string& name) const;
  void require_own(const std::string& name) const;
  Error unreadable(const std::string& name) const;

  std::string path_;
  Hdf5Handle file_;
};

}  // namespace subfleet

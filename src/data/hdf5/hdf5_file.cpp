#include "data/hdf5/hdf5_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <numeric>

#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr uint64_t kMostChunkBytes = uint64_t{1} << 26;

// What the library says about the last call that failed, innermost first.
std::string last_complaint() {
  std::string complaint = "no reason given";
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* error, void* into) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
        return 0;
      },
      &complaint);
  return one_line(complaint);
}

Hdf5Handle open_file(const std::string& path, const std::string& name) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print every error
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw bad_request(name, "is not a file that can be read");
  if (H5Fis_hdf5(path.c_str()) <= 0)
    throw bad_request(name, "is not an HDF5 file; it does not begin like one");
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file) throw bad_request(name, fmt::format("cannot be opened as HDF5 ({})", last_complaint()));
  return file;
}

}  // namespace

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : path_(path_name(path)), file_(open_file(path.string(), path_)) {}

// Every part of the name is a link that stays in this file: one that leads elsewhere could read anything.
void Hdf5File::require_own(const std::string& name) const {
  for (size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
    const std::string part = name.substr(0, slash);
    H5L_info_t link{};
    if (H5Lexists(file_.id(), part.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(file_.id(), part.c_str(), &link, H5P_DEFAULT) < 0) {
      throw bad_request(path_, fmt::format("has no {}", one_line(part)));
    }
    if (link.type != H5L_TYPE_HARD) {
      throw bad_request(path_, fmt::format("{} leads elsewhere; it must be in this file", one_line(part)));
    }
    if (slash == std::string::npos) return;
  }
}

std::vector<std::string> Hdf5File::members(const std::string& group) const {
  require_own(group);
  const Hdf5Handle opened(H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened) throw bad_request(path_, fmt::format("{} is not a group", one_line(group)));
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(into)->emplace_back(name);
      return 0;
    } catch (const std::bad_alloc&) {
      return -1;
    }
  };
  if (H5Literate(opened.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &names) < 0) {
    throw bad_request(path_, fmt::format("{} cannot be read ({})", one_line(group), last_complaint()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Hdf5Handle Hdf5File::open_dataset(const std::string& name) const {
  require_own(name);
  Hdf5Handle set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) throw unreadable(name);
  return set;
}

std::vector<uint64_t> Hdf5File::sizes(const std::string& name, H5T_class_t type) const {
  const Hdf5Handle set = open_dataset(name);
  const Hdf5Handle values(H5Dget_type(set.id()), H5Tclose);
  if (!values || H5Tget_class(values.id()) != type || H5Tget_size(values.id()) > sizeof(double)) {
    throw bad_request(path_, fmt::format("{} is not of {} of at most 64 bits", one_line(name),
                                         type == H5T_FLOAT ? "floating-point numbers" : "whole numbers"));
  }
  const Hdf5Handle layout(H5Dget_create_plist(set.id()), H5Pclose);
  const H5D_layout_t kind = layout ? H5Pget_layout(layout.id()) : H5D_LAYOUT_ERROR;
  if ((kind != H5D_COMPACT && kind != H5D_CONTIGUOUS && kind != H5D_CHUNKED) ||
      H5Pget_external_count(layout.id()) != 0) {
    throw bad_request(path_, fmt::format("{} is stored elsewhere; it must be in this file", one_line(name)));
  }
  const Hdf5Handle space(H5Dget_space(set.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> extent{};
  const int rank = space ? H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr) : -1;
  if (rank < 0) throw bad_request(path_, fmt::format("{} has no sizes", one_line(name)));
  if (kind == H5D_CHUNKED) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int sides = H5Pget_chunk(layout.id(), H5S_MAX_RANK, chunk.data());
    auto bytes = static_cast<double>(H5Tget_size(values.id()));
    for (int i = 0; i < sides; ++i) bytes *= static_cast<double>(chunk[static_cast<size_t>(i)]);
    if (bytes > kMostChunkBytes) {
      throw bad_request(path_, fmt::format("{} is stored in chunks of {:.0f} bytes; expected at most {}",
                                           one_line(name), bytes, kMostChunkBytes));
    }
  }
  return {extent.begin(), extent.begin() + rank};
}

Error Hdf5File::unreadable(const std::string& name) const {
  return bad_request(path_, fmt::format("{} cannot be read ({})", one_line(name), last_complaint()));
}

std::vector<float> Hdf5File::floats(const std::string& name, const std::vector<uint64_t>& sizes,
                                    const Slices& slices) const {
  std::vector<hsize_t> start(sizes.size(), 0), count(sizes.begin(), sizes.end());
  start[0] = slices.first;
  count[0] = slices.count;
  const hsize_t total = std::accumulate(count.begin(), count.end(), hsize_t{1}, std::multiplies<>());
  const Hdf5Handle set = open_dataset(name);
  const Hdf5Handle there(H5Dget_space(set.id()), H5Sclose),
      here(H5Screate_simple(1, &total, nullptr), H5Sclose);
  std::vector<float> values(total);
  if (!there || !here ||
      H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
      H5Dread(set.id(), H5T_NATIVE_FLOAT, here.id(), there.id(), H5P_DEFAULT, values.data()) < 0) {
    throw unreadable(name);
  }
  return values;
}

std::vector<int64_t> Hdf5File::integers(const std::string& name, uint64_t count) const {
  std::vector<int64_t> values(count);
  if (count == 0) return values;
  const Hdf5Handle set = open_dataset(name);
  if (H5Dread(set.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw unreadable(name);
  return values;
}

}  // namespace subfleet

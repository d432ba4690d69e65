#include <hdf5.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "../temporary_folder.h"
#include "files.h"
#include "fuzz.h"

// The input says what a well-formed HDF5 file holds: groups, data sets, their types, sizes and values. The
// bytes of the file are left to HDF5 itself, which reads beyond its buffers where those are malformed.
namespace subfleet::fuzz {
namespace {

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  uint8_t next() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

 private:
  std::string_view bytes_;
};

// A data set whose kind, sizes and values are the next bytes'. Kind: 2 bits of type, 2 of rank, 1 each of
// compression, a fitting first size, and other sides of 28.
void write_set(hid_t group, const char* name, Bytes& bytes) {
  const std::array<hid_t, 4> types{H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I32LE, H5T_STD_U64BE};
  const uint8_t kind = bytes.next();
  const int rank = kind >> 2 & 3;
  std::array<hsize_t, 3> sizes{};
  hsize_t count = 1;
  for (int i = 0; i < rank; ++i) {
    hsize_t& size = sizes[static_cast<size_t>(i)];
    size = i == 0 && (kind & 32) != 0 ? 2 : bytes.next() % 32;
    if (i > 0 && (kind & 64) != 0) size = 28;
    count *= size;
  }
  const hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, sizes.data(), nullptr);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
  if ((kind & 16) != 0 && rank > 0 && count > 0) {
    H5Pset_chunk(layout, rank, sizes.data());
    H5Pset_deflate(layout, 1);
  }
  const hid_t set = H5Dcreate2(group, name, types[kind & 3], space, H5P_DEFAULT, layout, H5P_DEFAULT);
  const double scale = kind < 128 ? 255 : 4;
  std::vector<double> values(count, bytes.next() / scale);
  for (double& value : std::span(values).first(std::min<size_t>(count, 4))) value = bytes.next() / scale;
  if (count > 0) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Pclose(layout);
  H5Sclose(space);
}

}  // namespace

std::vector<std::string> seeds() {
  // One user with two pictures, plain and compressed; two users; one whose labels are 0.
  const std::string pixels = "\x6C\x80\x01\x02\x03\x04", packed = "\x7D\x80\x01\x02\x03\x04";
  const std::string labels = "\xA6\x04\x08\x0C\x10\x14";
  return {"\x01\x03" + pixels + labels, "\x01\x03" + packed + labels,
          "\x02\x03" + pixels + labels + "\x03" + packed + labels, "\x01\x01" + pixels, "\x01\x02" + labels};
}

void try_input(std::string_view input) {
  static const TemporaryFolder folder;
  const std::string path = (folder / "train.h5").string();
  Bytes bytes(input);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t examples = H5Gcreate2(file, "examples", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const int users = bytes.next() % 4;
  for (int user = 0; user < users; ++user) {
    const hid_t group =
        H5Gcreate2(examples, std::to_string(user).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const uint8_t sets = bytes.next();
    if ((sets & 1) != 0) write_set(group, "pixels", bytes);
    if ((sets & 2) != 0) write_set(group, "label", bytes);
    H5Gclose(group);
  }
  H5Gclose(examples);
  H5Fclose(file);
  const auto data = open_federation({.source = "hdf5", .path = path});
  expect(data->clients() == static_cast<uint32_t>(users), "every group is a client");
  check_federation(*data);
}

}  // namespace subfleet::fuzz

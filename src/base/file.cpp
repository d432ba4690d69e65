#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {
namespace {

// Where a write to `path` ends up: links are followed, and only a plain file is ever replaced.
std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, code);
  if (code) throw cannot_write(path, code.value());
  const auto status = std::filesystem::status(target, code);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw failure(path.string(), "cannot be written: what is there is not a plain file");
  }
  return target;
}

constexpr std::string_view kTemporary = ".tmp";  // and the process's number

// A file under a temporary name; gone again unless commit() is reached.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target_of(target)), name_(target_.string() + fmt::format("{}{}", kTemporary, ::getpid())) {
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) throw cannot_write(target_, errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!committed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw cannot_write(target_, errno);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
  }

  void commit() {
    if (::fsync(descriptor_) != 0) throw cannot_write(target_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) throw cannot_write(target_, errno);
    if (std::rename(name_.c_str(), target_.c_str()) != 0) throw cannot_write(target_, errno);
    committed_ = true;
  }

 private:
  std::filesystem::path target_;
  std::string name_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace

Error cannot_write(const std::filesystem::path& path, int code) {
  return failure(path.string(), fmt::format("cannot be written ({})", std::generic_category().message(code)));
}

void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  TemporaryFile file(path);
  for (const auto part : parts) file.append(part);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  const std::array parts{std::as_bytes(std::span(text))};
  write_file(path, parts);
}

bool is_half_written(std::string_view name, std::span<const std::string_view> files) {
  return std::ranges::any_of(files, [&](std::string_view file) {
    return name.starts_with(file) && name.substr(file.size()).starts_with(kTemporary) &&
           name.find_first_not_of("0123456789", file.size() + kTemporary.size()) == std::string_view::npos;
  });
}

void remove_half_written(const std::filesystem::path& folder, std::span<const std::string_view> files) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_half_written(entry.path().filename().string(), files)) std::filesystem::remove(entry.path());
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw bad_request(path.string(), "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw bad_request(path.string(), fmt::format("cannot be read ({})", std::strerror(errno)));
  std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) throw failure(path.string(), "reading it failed");
  return content;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw failure(path.string(), fmt::format("the folder cannot be made ({})", code.message()));
}

}  // namespace subfleet

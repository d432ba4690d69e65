#include "subfleet/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

// A file that is read to its end, whatever size it claims to have.
class InputFile {
 public:
  enum class Kind { kPlain, kPlainOrPipe };

  InputFile(const std::filesystem::path& path, Kind kind) : name_(path.string()) {
    // Without waiting for the other end of a pipe.
    descriptor_ = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) throw bad_request(name_, fmt::format("cannot be read ({})", message_of(errno)));
    try {
      check_kind(kind);
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
  }
  ~InputFile() { ::close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::string read(size_t most) {
    if (size_ > most) throw too_long(most);
    std::string content;
    content.reserve(size_);
    for (std::array<char, kChunk> chunk;;) {
      const size_t got = read_some(chunk);
      if (got == 0) break;
      if (got > most - content.size()) throw too_long(most);
      content.append(chunk.data(), got);
    }
    if (pipe_ && content.empty()) throw bad_request(name_, "is a pipe that nobody writes to");
    return content;
  }

  std::string read_start(size_t bytes) {
    std::string content(std::min(bytes, size_), '\0');
    size_t filled = 0;
    while (filled < content.size()) {
      const size_t got = read_some(std::span(content).subspan(filled));
      if (got == 0) break;
      filled += got;
    }
    content.resize(filled);
    return content;
  }

 private:
  static constexpr size_t kChunk = size_t{1} << 16;
  static constexpr int kPatience = 10'000;  // milliseconds

  static std::string message_of(int code) { return std::generic_category().message(code); }

  void check_kind(Kind kind) {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw failure(name_, message_of(errno));
    if (S_ISDIR(status.st_mode)) throw bad_request(name_, "is a folder, not a file");
    pipe_ = S_ISFIFO(status.st_mode);
    if (!S_ISREG(status.st_mode) && !(pipe_ && kind == Kind::kPlainOrPipe))
      throw bad_request(name_, "is not a plain file");
    if (!pipe_) size_ = static_cast<size_t>(status.st_size);
  }

  Error too_long(size_t most) const {
    return bad_request(name_, fmt::format("is longer than {} bytes", most));
  }

  // 0 at the end.
  size_t read_some(std::span<char> room) {
    for (;;) {
      const ssize_t got = ::read(descriptor_, room.data(), room.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EAGAIN) {
        wait();
      } else if (errno != EINTR) {
        throw failure(name_, fmt::format("reading it failed ({})", message_of(errno)));
      }
    }
  }

  void wait() {
    pollfd poll{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (::poll(&poll, 1, kPatience) == 0)
      throw failure(name_, fmt::format("is a pipe to which nothing came for {} s", kPatience / 1000));
  }

  std::string name_;
  int descriptor_ = -1;
  bool pipe_ = false;
  size_t size_ = 0;
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

void append_to(int file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
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

std::string read_file(const std::filesystem::path& path, size_t most) {
  return InputFile(path, InputFile::Kind::kPlain).read(most);
}

std::string read_file_start(const std::filesystem::path& path, size_t bytes) {
  return InputFile(path, InputFile::Kind::kPlain).read_start(bytes);
}

std::string read_file_or_pipe(const std::filesystem::path& path, size_t most) {
  return InputFile(path, InputFile::Kind::kPlainOrPipe).read(most);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) throw failure(path.string(), fmt::format("the folder cannot be made ({})", code.message()));
}

}  // namespace subfleet

#include "subfleet/store/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using FileId = std::pair<uint64_t, uint64_t>;  // device and number

FileId id_of(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  return {status.st_dev, status.st_ino};
}

// The lock files that this process holds.
std::mutex held_mutex;
std::set<FileId>& held() {
  static std::set<FileId> all;
  return all;
}

}  // namespace

void check_empty(const std::filesystem::path& folder,
                 const std::function<bool(const std::filesystem::directory_entry&)>& may_stay) {
  if (!std::filesystem::exists(folder)) return;
  if (!std::filesystem::is_directory(folder)) throw failure(folder.string(), "is a file, not a folder");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == kLockFile || may_stay(entry)) continue;
    throw bad_request(folder.string(),
                      fmt::format("is not empty: it holds '{}'; choose another folder", name));
  }
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kLockFile;
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw cannot_write(path, errno);
  const std::lock_guard lock(held_mutex);
  file_ = id_of(descriptor_);
  process_ = ::getpid();
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw bad_request(folder.string(), held().contains(file_)
                                           ? "this process is at work in this folder already"
                                           : "another process is at work in this folder");
  }
  held().insert(file_);
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  const std::lock_guard lock(held_mutex);
  held().erase(file_);
  if (process_ == ::getpid()) ::flock(descriptor_, LOCK_UN);  // for its children too
  ::close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      file_(std::move(other.file_)),
      process_(other.process_) {}

}  // namespace subfleet

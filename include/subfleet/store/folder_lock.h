#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>

namespace subfleet {

// Throws Error unless the folder is new, or empty but for what may stay: the traces of one that never came to
// begin.
void check_empty(const std::filesystem::path& folder,
                 const std::function<bool(const std::filesystem::directory_entry&)>& may_stay);

// Keeps other processes out of a folder while it lives, by its file kLockFile.
class FolderLock {
 public:
  // Throws Error if another process holds it, or another FolderLock of this one.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  int descriptor_ = -1;
  std::pair<uint64_t, uint64_t> file_{};  // device and number
  int64_t process_ = 0;                   // that made it; a child of fork() has the descriptor too
};
constexpr auto kLockFile = ".lock";

}  // namespace subfleet

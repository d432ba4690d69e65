#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "subfleet/error.h"

namespace subfleet {

// "PATH: cannot be written (why)", from an errno.
Error cannot_write(const std::filesystem::path& path, int code);

// Writes a file so that a reader, or a crash, sees either the old content or the new: to a temporary name in
// the same folder, flushed to the disk, then renamed. Parts are written one after the other. Throws Error,
// removing the temporary file, if anything fails. A link is followed; what is there must be a plain file.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
void write_file(const std::filesystem::path& path, std::string_view text);

// Writes all of the text to an open file; `path` is for the Error if it fails.
void append_to(int file, std::string_view text, const std::filesystem::path& path);

// Whether a file of that name is what a process leaves that was killed while it wrote one of `files`:
// NAME.tmp and digits.
bool is_half_written(std::string_view name, std::span<const std::string_view> files);
void remove_half_written(const std::filesystem::path& folder, std::span<const std::string_view> files);

inline constexpr size_t kMostFileBytes = size_t{1} << 34;
inline constexpr size_t kMostTextBytes = size_t{1} << 20;  // of a file that people write by hand

// The whole content of a plain file (links are followed) of at most `most` bytes; throws Error. Devices and
// pipes are refused: a device may have no end, and a pipe no writer.
std::string read_file(const std::filesystem::path& path, size_t most = kMostFileBytes);

// The first bytes of a plain file, at most `bytes`; throws Error.
std::string read_file_start(const std::filesystem::path& path, size_t bytes);

// The same as read_file for a file that is named on the command line: a pipe is read too, as in `subfleet
// train <(...)`, for as long as something comes.
std::string read_file_or_pipe(const std::filesystem::path& path, size_t most);

// Makes the folder and its parents where needed; throws Error.
void make_folder(const std::filesystem::path& path);

}  // namespace subfleet

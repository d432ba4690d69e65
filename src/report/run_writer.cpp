#include "report/run_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "report/page.h"
#include "report/run_folder.h"
#include "server/checkpoint.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"

namespace subfleet {
namespace {

constexpr auto kConfig = "config.toml";
constexpr auto kLog = "rounds.jsonl";
constexpr auto kCheckpoint = "checkpoint.safetensors";
constexpr auto kModel = "model.safetensors";
constexpr auto kReport = "report.html";
constexpr auto kLock = ".lock";

Error cannot_write(const std::filesystem::path& path) {
  return failure(path.string(),
                 fmt::format("cannot be written ({})", std::generic_category().message(errno)));
}

int open_or_throw(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) throw cannot_write(path);
  return descriptor;
}

// What a killed process may have left half-written.
void remove_temporary_files(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension().string().starts_with(".tmp")) std::filesystem::remove(entry.path());
  }
}

}  // namespace

RunWriter::RunWriter(std::filesystem::path folder) : folder_(std::move(folder)) {
  lock_ = open_or_throw(file(kLock), O_RDWR | O_CREAT);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw bad_request(folder_.string(), "another process is training this run");
  }
}

RunWriter::~RunWriter() {
  if (log_ >= 0) ::close(log_);
  if (lock_ >= 0) ::close(lock_);
}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::exchange(other.lock_, -1)),
      log_(std::exchange(other.log_, -1)) {}

RunWriter RunWriter::begin(const std::filesystem::path& folder, const Config& config, const Run& run) {
  make_folder(folder);
  RunWriter writer(folder);
  if (std::filesystem::exists(writer.file(kConfig))) {
    throw bad_request(folder.string(),
                      fmt::format("holds a run already; go on with --resume {}, or choose another folder",
                                  folder.string()));
  }
  remove_temporary_files(folder);
  save_checkpoint(writer.file(kCheckpoint), run);
  write_file(writer.file(kLog), "");
  write_file(writer.file(kConfig), to_toml(config));  // last: from here on the folder can be resumed
  writer.log_ = open_or_throw(writer.file(kLog), O_WRONLY | O_APPEND);
  return writer;
}

RunWriter RunWriter::reopen(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kConfig)) {
    throw bad_request(folder.string(), fmt::format("holds no run to resume (no {})", kConfig));
  }
  RunWriter writer(folder);
  remove_temporary_files(folder);
  return writer;
}

Config RunWriter::config() const { return parse_config(read_file(file(kConfig)), file(kConfig).string()); }

uint64_t RunWriter::restore(const Config& config, Run& run) {
  load_checkpoint(file(kCheckpoint), run);
  std::string kept;
  uint64_t bytes = 0;
  uint32_t rounds = 0;
  for (const RoundRecord& record : read_round_log(file(kLog))) {
    if (record.round > run.round()) break;
    kept += to_json_line(record);
    bytes += record.bytes_down + record.bytes_up;
    ++rounds;
  }
  if (rounds != run.round()) {
    throw bad_request(file(kLog).string(),
                      fmt::format("has {} rounds, but the checkpoint is of round {}", rounds, run.round()));
  }
  write_file(file(kLog), kept);
  write_file(file(kConfig), to_toml(config));
  log_ = open_or_throw(file(kLog), O_WRONLY | O_APPEND);
  return bytes;
}

void RunWriter::append(const RoundRecord& record) {
  const std::string line = to_json_line(record);
  if (::write(log_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw cannot_write(file(kLog));
}

void RunWriter::checkpoint(const Run& run) {
  // The log first: a checkpoint never knows of a round that the log does not.
  if (::fsync(log_) != 0) throw cannot_write(file(kLog));
  save_checkpoint(file(kCheckpoint), run);
}

void RunWriter::finish(const Run& run) {
  checkpoint(run);
  save_safetensors(file(kModel), named_weights(run.model(), run.weights()),
                   {{"model", run.model().name}, {"round", std::to_string(run.round())}});
  const std::array runs{load_run(folder_)};
  write_file(file(kReport), report_page(runs));
}

}  // namespace subfleet

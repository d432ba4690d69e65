#include "report/run_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>
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

int open_or_throw(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) throw cannot_write(path, errno);
  return descriptor;
}

// What a process that was killed while it wrote one of the run's files leaves: NAME.tmp and digits.
bool is_half_written(const std::string& name) {
  for (const std::string file : {kConfig, kLog, kCheckpoint, kModel, kReport}) {
    if (name.starts_with(file + ".tmp") &&
        name.find_first_not_of("0123456789", file.size() + 4) == std::string::npos) {
      return true;
    }
  }
  return false;
}

void remove_half_written(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (is_half_written(entry.path().filename().string())) std::filesystem::remove(entry.path());
  }
}

// A new run wants a folder of its own: empty, but for what a run that never came to begin may have left.
void check_empty(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return;
  if (!std::filesystem::is_directory(folder)) throw failure(folder.string(), "is a file, not a folder");
  if (std::filesystem::exists(folder / kConfig)) {
    throw bad_request(folder.string(),
                      fmt::format("holds a run already; go on with --resume {}, or choose another folder",
                                  folder.string()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == kLock || name == kCheckpoint || is_half_written(name)) continue;
    if (name == kLog && std::filesystem::file_size(entry.path()) == 0) continue;
    throw bad_request(folder.string(),
                      fmt::format("is not empty: it holds '{}'; choose another folder", name));
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
  check_empty(folder);
  make_folder(folder);
  RunWriter writer(folder);
  remove_half_written(folder);
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
  remove_half_written(folder);
  return writer;
}

Config RunWriter::config() const { return parse_config(read_file(file(kConfig)), file(kConfig).string()); }

uint64_t RunWriter::restore(const Config& config, Run& run) {
  load_checkpoint(file(kCheckpoint), run);
  if (config.run.rounds < run.round()) {
    throw bad_request("run.rounds", fmt::format("{} of them are done already; {} would undo some",
                                                run.round(), config.run.rounds));
  }
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
  const std::string text = to_json_line(record);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(log_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw cannot_write(file(kLog), errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

void RunWriter::checkpoint(const Run& run) {
  // The log first: a checkpoint never knows of a round that the log does not.
  if (::fsync(log_) != 0) throw cannot_write(file(kLog), errno);
  save_checkpoint(file(kCheckpoint), run);
}

void RunWriter::finish(const Run& run) {
  checkpoint(run);
  std::map<std::string, std::string> metadata{{"model", run.model().name},
                                              {"round", std::to_string(run.round())}};
  if (!run.model().vocabulary.empty()) metadata["vocabulary"] = run.model().vocabulary;
  save_safetensors(file(kModel), named_weights(run.model(), run.weights()), metadata);
  const std::array runs{load_run(folder_)};
  write_file(file(kReport), report_page(runs));
}

}  // namespace subfleet

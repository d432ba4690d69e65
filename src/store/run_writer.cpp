#include "store/run_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "store/checkpoint.h"
#include "store/event_file.h"
#include "store/saved_config.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"

namespace subfleet {
namespace {

constexpr auto kConfig = "config.toml";
constexpr auto kLog = "rounds.jsonl";
constexpr auto kCheckpoint = "checkpoint.safetensors";
constexpr auto kModel = "model.safetensors";
constexpr auto kProvenance = "provenance.json";
constexpr std::array<std::string_view, 8> kFiles{
    kConfig, kModelFile, kLog, kCheckpoint, kModel, kProvenance, RunWriter::kPage, EventFile::kName};

int open_or_throw(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) throw cannot_write(path, errno);
  return descriptor;
}

// A new run wants a folder of its own.
void check_free(const std::filesystem::path& folder) {
  if (RunWriter::has_begun(folder)) {
    throw bad_request(folder.string(),
                      fmt::format("holds a run already; go on with --resume {}, or choose another folder",
                                  folder.string()));
  }
  check_empty(folder, [](const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name == kCheckpoint || name == kProvenance || name == kModelFile ||
           is_half_written(name, kFiles) || (name == kLog && std::filesystem::file_size(entry.path()) == 0);
  });
}

}  // namespace

RunWriter::RunWriter(std::filesystem::path folder) : folder_(std::move(folder)), lock_(folder_) {
  remove_half_written(folder_, kFiles);
}

RunWriter::~RunWriter() {
  if (log_ >= 0) ::close(log_);
}

RunWriter::RunWriter(RunWriter&& other) noexcept
    : folder_(std::move(other.folder_)),
      lock_(std::move(other.lock_)),
      log_(std::exchange(other.log_, -1)),
      saved_round_(other.saved_round_) {}

RunWriter RunWriter::begin(const std::filesystem::path& folder, const Run& run, const Provenance& now) {
  check_free(folder);
  make_folder(folder);
  RunWriter writer(folder);
  save_checkpoint(writer.file(kCheckpoint), run);
  write_file(writer.file(kLog), "");
  write_file(writer.file(kProvenance), to_json(now));
  save_config(writer.file(kConfig), run.config());  // last: from here on the folder can be resumed
  writer.log_ = open_or_throw(writer.file(kLog), O_WRONLY | O_APPEND);
  return writer;
}

RunWriter RunWriter::reopen(const std::filesystem::path& folder) {
  if (!has_begun(folder)) {
    throw bad_request(folder.string(), fmt::format("holds no run to resume (no {})", kConfig));
  }
  return RunWriter(folder);
}

bool RunWriter::has_begun(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / kConfig);
}

bool RunWriter::can_go_on(const std::filesystem::path& folder) {
  return has_begun(folder) && std::filesystem::exists(folder / kCheckpoint);
}

bool RunWriter::is_finished(const std::filesystem::path& folder) {
  return has_begun(folder) && std::filesystem::exists(folder / kModel);
}

Provenance RunWriter::provenance(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kProvenance;
  return parse_provenance(read_file(file, kMostTextBytes), file.string());
}

void RunWriter::give_up(const std::filesystem::path& folder) {
  if (!can_go_on(folder)) return;
  const int log = open_or_throw(folder / kLog, O_WRONLY);
  const bool flushed = ::fsync(log) == 0;
  ::close(log);
  if (!flushed) throw cannot_write(folder / kLog, EIO);
  std::filesystem::remove(folder / kCheckpoint);
}

void RunWriter::move(const std::filesystem::path& from, const std::filesystem::path& to) {
  const Config config = load_config(from / kConfig);
  write_file(to / kLog, read_file(from / kLog));
  write_file(to / kProvenance, read_file(from / kProvenance));
  if (std::filesystem::exists(from / kCheckpoint))  // else it has been moved before, and the rest was not
    std::filesystem::rename(from / kCheckpoint, to / kCheckpoint);
  save_config(to / kConfig, config);  // last, as in begin()
}

Config RunWriter::config(const std::filesystem::path& folder) { return load_config(folder / kConfig); }

std::vector<float> RunWriter::weights(const std::filesystem::path& folder, const ModelSpec& model) {
  if (!is_finished(folder)) {
    throw bad_request(folder.string(), fmt::format("has no {}: the run has not come to its end; go on with "
                                                   "'subfleet train --resume {}'",
                                                   kModel, folder.string()));
  }
  const std::filesystem::path file = folder / kModel;
  return weights_from(load_safetensors(file), model, file.string());
}

std::vector<RoundRecord> RunWriter::log(const std::filesystem::path& folder) {
  return read_round_log(folder / kLog);
}

uint64_t RunWriter::restore(Run& run, const Provenance& now) {
  load_checkpoint(file(kCheckpoint), run);
  if (run.config().run.rounds < run.round()) {
    throw bad_request("run.rounds", fmt::format("{} of them are done already; {} would undo some",
                                                run.round(), run.config().run.rounds));
  }
  const Provenance all = go_on(provenance(folder_), now, run.round(), folder_.string());
  std::string kept;
  uint64_t bytes = 0;
  uint32_t rounds = 0;
  for (const RoundRecord& record : log()) {
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
  write_file(file(kProvenance), to_json(all));
  save_config(file(kConfig), run.config());
  log_ = open_or_throw(file(kLog), O_WRONLY | O_APPEND);
  saved_round_ = run.round();
  return bytes;
}

void RunWriter::round_done(Run& run, const RoundRecord& record) {
  append(record);
  if (record.round % run.config().run.checkpoint_every == 0) checkpoint(run);
}

void RunWriter::append(const RoundRecord& record) { append_to(log_, to_json_line(record), file(kLog)); }

void RunWriter::checkpoint(const Run& run) {
  // The log first: a checkpoint never knows of a round that the log does not.
  if (::fsync(log_) != 0) throw cannot_write(file(kLog), errno);
  save_checkpoint(file(kCheckpoint), run);
  saved_round_ = run.round();
}

void RunWriter::finish(const Run& run) {
  if (saved_round_ != run.round()) checkpoint(run);
  save_model(run);
}

void RunWriter::finish_for_good(const Run& run) {
  save_model(run);
  give_up(folder_);
}

void RunWriter::save_model(const Run& run) const {
  std::map<std::string, std::string> metadata{{"model", run.model().name},
                                              {"round", std::to_string(run.round())}};
  if (!run.model().vocabulary.empty()) metadata["vocabulary"] = run.model().vocabulary;
  save_safetensors(file(kModel), named_weights(run.model(), run.weights()), metadata);
}

}  // namespace subfleet

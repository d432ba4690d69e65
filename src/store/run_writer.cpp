#include "subfleet/store/run_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/toml_text.h"
#include "store/checkpoint.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/event_file.h"
#include "subfleet/store/saved_config.h"

namespace subfleet {
namespace {

constexpr auto kConfig = "config.toml";
constexpr auto kLog = "rounds.jsonl";
constexpr auto kCheckpoint = "checkpoint.safetensors";
constexpr auto kModel = "model.safetensors";
constexpr auto kProvenance = "provenance.json";
constexpr std::array<std::string_view, 8> kFiles{
    kConfig, kModelFile, kLog, kCheckpoint, kModel, kProvenance, RunWriter::kPage, EventFile::kName};

// Throws Error if the folder has a newer format; a run that has just begun may not have written it yet.
void check_format(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / kProvenance)) RunWriter::provenance(folder);
}

int open_or_throw(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0) throw cannot_write(path, errno);
  return descriptor;
}

// A new run needs a folder of its own.
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

// The round that a model or a checkpoint names; empty if there is no such file, or if it names none.
std::optional<uint32_t> round_in(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    const auto metadata = load_safetensors_metadata(file);
    const auto text = metadata.find("round");
    uint32_t round = 0;
    if (text == metadata.end()) return std::nullopt;
    const char* const end = text->second.data() + text->second.size();
    const auto read = std::from_chars(text->second.data(), end, round);
    return read.ec == std::errc() && read.ptr == end ? std::optional(round) : std::nullopt;
  } catch (const Error&) {  // damaged
    return std::nullopt;
  }
}

// How far a folder's files have come.
struct Rounds {
  uint32_t log = 0;
  std::optional<uint32_t> checkpoint, model;
  bool keeps_checkpoint = false;

  bool agree() const { return model && log == model && (!keeps_checkpoint || checkpoint == model); }
  // The run's round: if the log ends with the model's round, the checkpoint may still differ.
  std::optional<uint32_t> run() const { return log != model ? std::optional(log) : checkpoint; }
};

Rounds rounds_of(const std::filesystem::path& folder) {
  Rounds rounds;
  rounds.model = round_in(folder / kModel);
  if (!rounds.model) return rounds;
  if (const auto log = RunWriter::log(folder); !log.empty()) rounds.log = log.back().round;
  rounds.keeps_checkpoint = std::filesystem::exists(folder / kCheckpoint);
  rounds.checkpoint = round_in(folder / kCheckpoint);
  return rounds;
}

std::string round_text(std::optional<uint32_t> round) {
  return round ? fmt::format("round {}", *round) : "a round that it does not say";
}

void refuse_undone(uint32_t done, uint32_t rounds) {
  if (rounds >= done) return;
  throw bad_request("run.rounds",
                    fmt::format("{} of them are done already; {} would undo some", done, rounds));
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
      saved_round_(other.saved_round_),
      has_model_(other.has_model_) {}

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
  check_format(folder);
  return RunWriter(folder);
}

bool RunWriter::has_begun(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / kConfig);
}

bool RunWriter::can_go_on(const std::filesystem::path& folder) {
  return has_begun(folder) && std::filesystem::exists(folder / kCheckpoint);
}

std::optional<uint32_t> RunWriter::model_round(const std::filesystem::path& folder) {
  const Rounds rounds = rounds_of(folder);
  return rounds.agree() ? rounds.model : std::nullopt;
}

bool RunWriter::is_finished(const std::filesystem::path& folder) {
  if (!has_begun(folder)) return false;
  const toml::table config = parse_toml(read_file(folder / kConfig, kMostTextBytes), kConfig);
  return model_round(folder) == config.at_path("run.rounds").value_or(Config().run.rounds);
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

Config RunWriter::config(const std::filesystem::path& folder) {
  check_format(folder);
  return load_config(folder / kConfig);
}

std::vector<float> RunWriter::weights(const std::filesystem::path& folder, const ModelSpec& model) {
  const std::filesystem::path file = folder / kModel;
  if (!has_begun(folder) || !std::filesystem::exists(file)) {
    throw bad_request(folder.string(), fmt::format("has no {}: the run has not come to its end; go on with "
                                                   "'subfleet train --resume {}'",
                                                   kModel, folder.string()));
  }
  if (const Rounds rounds = rounds_of(folder); !rounds.agree()) {
    throw bad_request(file.string(),
                      fmt::format("is of {}, but the run is at {}; go on with 'subfleet "
                                  "train --resume {}'",
                                  round_text(rounds.model), round_text(rounds.run()), folder.string()));
  }
  return weights_from(load_safetensors(file), model, file.string());
}

std::vector<RoundRecord> RunWriter::log(const std::filesystem::path& folder) {
  check_format(folder);
  return read_round_log(folder / kLog);
}

uint64_t RunWriter::restore(Run& run, const Provenance& now) {
  if (!can_go_on(folder_)) {
    throw bad_request(folder_.string(),
                      fmt::format("has no {}: the run was given up or finished for good; start a new one, or "
                                  "remove the folder",
                                  kCheckpoint));
  }
  load_checkpoint(file(kCheckpoint), run);
  refuse_undone(run.round(), run.config().run.rounds);
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
  has_model_ = round_in(file(kModel)) == run.round();
  if (!has_model_) std::filesystem::remove(file(kModel));
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

void RunWriter::append(const RoundRecord& record) {
  remove_model();
  append_to(log_, to_json_line(record), file(kLog));
}

void RunWriter::checkpoint(const Run& run) {
  // The log first: a checkpoint never knows of a round that the log does not.
  if (::fsync(log_) != 0) throw cannot_write(file(kLog), errno);
  save_checkpoint(file(kCheckpoint), run);
  saved_round_ = run.round();
}

void RunWriter::replace_weights(const Run& run) {
  remove_model();
  checkpoint(run);
}

void RunWriter::check_rounds(const std::filesystem::path& folder, uint32_t rounds) {
  if (!can_go_on(folder)) return;
  if (const auto done = round_in(folder / kCheckpoint)) refuse_undone(*done, rounds);
}

void RunWriter::finish(const Run& run) {
  if (saved_round_ != run.round()) checkpoint(run);
  save_model(run);
}

void RunWriter::finish_for_good(const Run& run) {
  save_model(run);
  give_up(folder_);
}

void RunWriter::remove_model() {
  if (std::exchange(has_model_, false)) std::filesystem::remove(file(kModel));
}

void RunWriter::save_model(const Run& run) {
  std::map<std::string, std::string> metadata{{"model", run.model().name},
                                              {"round", std::to_string(run.round())}};
  if (!run.model().vocabulary.empty()) metadata["vocabulary"] = run.model().vocabulary;
  save_safetensors(file(kModel), named_weights(run.model(), run.tested_weights()), metadata);
  has_model_ = true;
}

}  // namespace subfleet

// Writes jobs of one round of generated handwriting: for node_test.py several, with what a node has to answer
// to each; for bench/node_memory.py one, whole.job and so on.
//   flower_jobs FOLDER [NAME KEEP DOWN UP DRAW]
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "subfleet/base/file.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/fleet/remote/node_data.h"
#include "subfleet/random.h"
#include "subfleet/server/message.h"
#include "subfleet/trainer.h"

namespace {

using namespace subfleet;

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> job(uint32_t row, const std::string& down, const std::string& up, double keep = 0.5,
                           uint32_t draw = 2) {
  JobMessage message;
  message.model = "emnist-cnn";
  message.code.family = keep == 1 ? "none" : "cwc";
  message.code.keep = keep;
  message.code.rescale = true;
  message.seed = 5;
  message.draw = draw;
  message.rows = 4;
  message.row = message.client = row;
  message.down = down;
  message.up = up;
  const SubModel submodel = named_submodel(message);
  std::vector<float> held(submodel.size());
  submodel.gather(initial_weights(find_model(message.model), message.seed), held);
  find_codec(down).encode(
      held, {.seed = message.seed, .round = message.draw, .client = row, .purpose = Purpose::kWireDown},
      message.weights);
  return encode(message);
}

void write(const std::filesystem::path& folder) {
  const NodeData data(open_split_federation({}), ClientRange{0, 1});
  const std::vector<std::string> devices = trainer_names();
  const bool has_cpu = std::ranges::find(devices, "cpu") != devices.end();
  JobRunner runner(data, has_cpu ? "cpu" : "reference");  // as the node chooses
  const auto add = [&](const std::string& name, const std::vector<std::byte>& message) {
    write_file(folder / (name + ".job"), text(message));
    write_file(folder / (name + ".update"), text(runner.run(message).update));
  };
  add("f32", job(0, "f32", "f32"));
  add("rot", job(1, "rot4", "rot1"));
  write_file(folder / "stranger.job", text(job(2, "rot1", "rot1")));  // a client that the node does not have
  write_file(folder / "garbage.job", "no job at all");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 7)
    throw subfleet::bad_request("flower_jobs", "wants FOLDER [NAME KEEP DOWN UP DRAW]");
  if (argc == 2) {
    write(argv[1]);
  } else {
    write_file(
        std::filesystem::path(argv[1]) / (std::string(argv[2]) + ".job"),
        text(job(0, argv[4], argv[5], std::stod(argv[3]), static_cast<uint32_t>(std::stoul(argv[6])))));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

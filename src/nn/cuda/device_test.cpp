#include "nn/cuda/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "nn/cuda/gpu_testing.h"
#include "nn/cuda/held_weights.h"
#include "nn/trainer_testing.h"
#include "nn/trainers.h"
#include "program.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet::cuda {
namespace {

std::string words_for(cudaError_t code) {
  try {
    check(code, "doing this");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kFailure);
    return error.what();
  }
  return {};
}

TEST(CudaDevice, EveryTroubleIsOneLineWithARemedy) {
  const std::map<cudaError_t, std::string> remedies{
      {cudaErrorMemoryAllocation, "fewer clients per round or a smaller batch need less"},
      {cudaErrorNoDevice, "no NVIDIA GPU is visible here"},
      {cudaErrorInsufficientDriver, "driver"},
      {cudaErrorStubLibrary, "driver"},
      {cudaErrorNoKernelImageForDevice, "CMAKE_CUDA_ARCHITECTURES=native"},
      {cudaErrorInvalidDeviceFunction, "CMAKE_CUDA_ARCHITECTURES=native"},
      {cudaErrorUnsupportedPtxVersion, "CMAKE_CUDA_ARCHITECTURES=native"},
      {cudaErrorDevicesUnavailable, "try again later"},
      {cudaErrorLaunchFailure, "from its last checkpoint with --resume"},
      {cudaErrorIllegalAddress, "from its last checkpoint with --resume"},
      {cudaErrorECCUncorrectable, "from its last checkpoint with --resume"},
      {cudaErrorUnknown, "from its last checkpoint with --resume"},
  };
  for (const auto& [code, remedy] : remedies) {
    const std::string words = words_for(code);
    EXPECT_EQ(words.rfind("device cuda: doing this: ", 0), 0u) << words;
    EXPECT_EQ(words.find('\n'), std::string::npos) << words;
    EXPECT_NE(words.find(cudaGetErrorName(code)), std::string::npos) << words;
    EXPECT_NE(words.find(remedy), std::string::npos) << words;
    EXPECT_TRUE(words.ends_with("--device cpu")) << words;
  }
  EXPECT_EQ(words_for(cudaSuccess), "");
}

// Whatever the machine has: asking does not throw, and only what is there can be made.
TEST(CudaDevice, CanBeAskedForWhereThereIsNone) {
  EXPECT_FALSE(gpu_name().empty());
  ThreadPool pool(1);
  const ReadyExamples examples;
  if (has_cuda_trainer()) {
    EXPECT_NE(gpu_name(), "no GPU");
    return;
  }
  EXPECT_EQ(gpu_name(), "no GPU");
  EXPECT_THROW(make_cuda_trainer(pool, examples), Error);
  EXPECT_EQ(memory_peak(), 0u);
}

TEST(CudaDevice, ARanksNumberOnItsMachineIsWhatMpirunSays) {
  const auto rank_with = [](const std::map<std::string, std::string>& variables) {
    return local_rank([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(rank_with({}), 0);
  EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", "3"}}), 3);
  EXPECT_EQ(rank_with({{"MPI_LOCALRANKID", "2"}}), 2);
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "12"}}), 12);
  EXPECT_EQ(rank_with({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}), 1)
      << "mpirun inside a job of Slurm knows its own ranks";
  for (const char* nonsense : {"", "-1", "one", "1x", " 1", "99999999999999999999"}) {
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", nonsense}}), 0) << nonsense;
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_LOCAL_RANK", nonsense}, {"SLURM_LOCALID", "1"}}), 1) << nonsense;
  }
}

TEST(CudaDevice, MemoryThatIsNotThereIsAnErrorAndNothingElse) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const SmallRound round;
  const LocalTraining how{.epochs = 1, .batch = 10, .client_lr = 0.1f};
  ThreadPool pool(2);
  const auto trainer = make_trainer("cuda", pool, round.examples);
  const Trained before = round.train(*trainer, how);
  Buffer<std::byte> some(1 << 20);
  const uint64_t peak = memory_peak();
  try {
    some.grow(size_t{1} << 45);
    FAIL() << "took 35 TB";
  } catch (const Error& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("taking 35184372.1 MB of the GPU's memory: too little memory is left"),
              std::string::npos)
        << words;
    EXPECT_NE(words.find("are free"), std::string::npos) << words;
  }
  EXPECT_EQ(some.size(), 0u);
  EXPECT_EQ(memory_peak(), peak) << "only what was given counts";
  EXPECT_EQ(round.train(*trainer, how).sum, before.sum);
}

// All that can be had of the GPU's memory.
std::vector<Buffer<std::byte>> take_all_memory() {
  std::vector<Buffer<std::byte>> all;
  for (size_t piece = size_t{16} << 30; piece >= size_t{4} << 20; piece /= 2) {
    try {
      while (true) all.emplace_back(piece);
    } catch (const Error&) {  // no such piece is left
    }
  }
  return all;
}

TEST(CudaDevice, ARoundThatDoesNotFitIsAnErrorAndTheNextOneWorks) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const ModelSpec model = find_model("emnist-cnn");
  const SubModel whole = whole_model(model);
  const std::vector<float> weights = random_weights(model);
  ReadyExamples examples;
  examples.clients.push_back(random_examples(model, 3, 1));
  std::vector<Job> jobs;
  for (uint32_t client = 0; client < 8; ++client)
    jobs.push_back({.client = client, .row = client, .submodel = &whole});
  const Cohort cohort{.model = &model,
                      .code = {},
                      .rows = 8,
                      .jobs = jobs,
                      .how = {.epochs = 1, .batch = 10, .client_lr = 0.1f},
                      .wire = exact_wire()};
  ThreadPool pool(2);
  const auto trainer = make_trainer("cuda", pool, examples);
  {
    const auto others = take_all_memory();
    try {
      train_cohort(*trainer, cohort, weights);
      FAIL() << "there was memory left";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("too little memory is left"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(train_cohort(*trainer, cohort, weights).sum,
            train_cohort(*make_trainer("cuda", pool, examples), cohort, weights).sum);
}

// What a run meets when others have the GPU: it says so, and goes on elsewhere from where it was.
TEST(CudaDevice, ARunThatFindsNoMemoryGoesOnWithoutTheGpu) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const Outcome begun =
      run_program({"train", "--device", "cuda", "--out", run, "--set", "model.name=emnist-mlp", "--set",
                   "data.writers=12", "--set", "round.clients=4", "--set", "run.rounds=2"});
  ASSERT_EQ(begun.status, 0) << begun.err;
  const std::vector<std::string> resume{"train", "--resume", run, "--set", "run.rounds=3"};
  {
    const auto others = take_all_memory();
    expect_one_line_error(run_program(resume), 1, "device cuda: ");
  }
  const Outcome moved = run_program(with(resume, {"--device", has_cpu_trainer() ? "cpu" : "reference"}));
  EXPECT_EQ(moved.status, 0) << moved.err;
}

// A kernel that writes where there is no memory is lost with all that the process has on the GPU.
[[noreturn]] void lose_the_gpu_in_a_round() {
  std::string words;
  {
    const SmallRound round;
    const LocalTraining how{.epochs = 1, .batch = 10, .client_lr = 0.1f};
    ThreadPool pool(2);
    const auto trainer = make_trainer("cuda", pool, round.examples);
    round.train(*trainer, how);
    const auto state = state_of(*trainer, round.model, round.weights);
    Cohort cohort = round.cohort(how);
    cohort.state = state.get();
    const Stream stream;
    Buffer<float> whole(round.weights.size());
    whole.upload(round.weights, stream);
    HeldWeights held;
    const HeldJob nowhere{
        .submodel = &round.submodels[0], .values = reinterpret_cast<float*>(256), .examples = 1};
    held.set({&nowhere, 1}, stream);
    held.gather(whole.data(), stream);
    cudaStreamSynchronize(stream);  // fails, as does every call from here on
    try {
      trainer->train({&cohort, 1});
    } catch (const Error& error) {
      words = error.what();
    }
  }
  std::fprintf(stderr, "%s\n", words.c_str());
  std::exit(words.empty() ? 0 : 1);
}

TEST(CudaDeathTest, AGpuThatIsLostIsOneLine) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // CUDA does not survive a fork
  EXPECT_EXIT(
      lose_the_gpu_in_a_round(), testing::ExitedWithCode(1),
      "^device cuda: [^\n]*; a run goes on from its last checkpoint with --resume and --device cpu\n$");
}

}  // namespace
}  // namespace subfleet::cuda

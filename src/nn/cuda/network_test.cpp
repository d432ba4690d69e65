#include "nn/cuda/network.h"

#include "nn/network_testing.h"

namespace subfleet::cuda {
namespace {

// Needs no GPU: how many jobs train at once, and how many chunks are tested at once, is decided by it.
TEST(CudaNetworkBytes, CountWhatLayersKeep) {
  // Two LSTM layers of 256 units keep gates and their gradients, cells and outputs of 80 steps.
  constexpr size_t kLstms = size_t{10} * 80 * 10 * (256 + 256) * sizeof(float);
  EXPECT_GE(network_bytes_per_job(find_model("char-lstm"), 10, true, 0), kLstms);
  EXPECT_GE(network_bytes_per_job(find_model("char-lstm"), 10, false, 0), kLstms);

  // Without a history dense1 keeps nothing; with one, as many rows of what comes in and goes out.
  const ModelSpec cnn = find_model("emnist-cnn");
  const size_t plain = network_bytes_per_job(cnn, 10, true, 0);
  EXPECT_GE(network_bytes_per_job(cnn, 10, true, 400), plain + size_t{400} * (3136 + 2048) * sizeof(float));
  EXPECT_GT(plain, network_bytes_per_job(cnn, 10, false, 0));
  EXPECT_GT(network_bytes_per_job(cnn, 20, true, 0), plain);
}

TEST(CudaMisfit, NamesTheLayerThatIsNotTrainedOnAGpu) {
  for (const ModelSpec& model : small_models()) EXPECT_EQ(cuda_misfit(model), "") << model.name;
  for (const ModelSpec& model : small_graphs()) EXPECT_NE(cuda_misfit(model), "") << model.name;
  EXPECT_EQ(cuda_misfit(find_model("resnet18")),
            "layer 1 (conv1) is not trained on a GPU yet; use --device cpu");
}

}  // namespace
}  // namespace subfleet::cuda

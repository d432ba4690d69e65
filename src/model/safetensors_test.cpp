#include "subfleet/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

TEST(Safetensors, AModelComesBackBitForBit) {
  const TemporaryFolder folder;
  const ModelSpec model = find_model("emnist-mlp");
  const std::vector<float> weights = initial_weights(model, 1);
  save_safetensors(folder / "m.safetensors", named_weights(model, weights), {{"who", "test"}});
  const TensorFile file = load_safetensors(folder / "m.safetensors");
  EXPECT_EQ(file.metadata.at("who"), "test");
  EXPECT_EQ(weights_from(file, model, "m"), weights);
}

// The format as its specification writes it down: 8 bytes of length, a JSON header, the data.
TEST(Safetensors, TheBytesAreTheFormats) {
  const TemporaryFolder folder;
  const std::vector<float> values{1.5f, -2.0f};
  const std::vector<TensorView> tensors{{"a", {2, 1}, values}};
  save_safetensors(folder / "a", tensors, {});
  const std::string content = read_file(folder / "a");
  std::string header = R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  uint64_t length = 0;
  std::memcpy(&length, content.data(), 8);
  EXPECT_EQ(length, header.size());
  EXPECT_EQ(content.substr(8, length), header);
  std::vector<float> stored(2);
  std::memcpy(stored.data(), content.data() + 8 + length, 8);
  EXPECT_EQ(stored, values);
  EXPECT_EQ(content.size(), 8 + length + 8);
}

TEST(Safetensors, MissingOrMisshapenTensorsAreNamed) {
  const TemporaryFolder folder;
  const ModelSpec model = find_model("emnist-mlp");
  const std::vector<float> weights(parameter_count(model), 0.0f);
  auto tensors = named_weights(model, weights);
  const auto complaint = [&] {
    save_safetensors(folder / "m", tensors, {});
    try {
      weights_from(load_safetensors(folder / "m"), model, "m");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint(), "none");
  std::vector<float> broken = weights;
  broken[5] = std::numeric_limits<float>::quiet_NaN();
  tensors = named_weights(model, broken);
  EXPECT_EQ(complaint(), "m: 'dense1.weight' holds values that are not finite");
  tensors[0].shape = {784, 128};
  EXPECT_EQ(complaint(), "m: 'dense1.weight' is [784, 128]; emnist-mlp needs [128, 784]");
  tensors.erase(tensors.begin());
  EXPECT_EQ(complaint(), "m: has no tensor 'dense1.weight', which emnist-mlp needs");
}

TEST(Safetensors, EveryTruncationAndEveryBadHeaderIsAnErrorNotACrash) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2, 3, 4};
  save_safetensors(folder / "good", std::vector<TensorView>{{"a", {4}, values}}, {{"k", "v"}});
  const std::string good = read_file(folder / "good");
  for (size_t length = 0; length < good.size(); ++length) {
    write_file(folder / "bad", good.substr(0, length));
    EXPECT_THROW(load_safetensors(folder / "bad"), Error) << length;
  }
  const auto with_header = [](const std::string& header) {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(16, 'x');
  };
  for (const char* header :
       {"", "[]x", "3", R"({"a":3})", R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,16]}})",
        R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}})",
        R"({"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})",
        R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})",
        R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[8,24]}})",
        R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
        R"({"__metadata__":{"k":1}})"}) {
    write_file(folder / "bad", with_header(header));
    EXPECT_THROW(load_safetensors(folder / "bad"), Error) << header;
  }
}

std::string tensor_file(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}

std::string complaint_of_header(const std::string& header, size_t data_bytes) {
  try {
    parse_safetensors(tensor_file(header, data_bytes), "f");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Safetensors, TensorsLieEndToEndAndFillTheFile) {
  const std::string a = entry("a", "2", "0,8");
  EXPECT_EQ(complaint_of_header("{" + entry("b", "1,1", "8,12") + "," + a + "}", 12), "none")
      << "in any order";
  EXPECT_EQ(complaint_of_header("{" + a + "," + entry("b", "0,7", "8,8") + "}", 8), "none");
  const auto refused = [&](const std::string& header, size_t bytes, const std::string& why) {
    EXPECT_NE(complaint_of_header(header, bytes).find(why), std::string::npos)
        << header << ": " << complaint_of_header(header, bytes);
  };
  refused("{" + a + "," + entry("b", "2", "0,8") + "}", 8, "'b': its bytes 0 to 8 do not follow");
  refused("{" + a + "," + entry("b", "2", "4,12") + "}", 12, "'b': its bytes 4 to 12 do not follow");
  refused("{" + a + "," + entry("b", "1", "12,16") + "}", 16, "'b': its bytes 12 to 16 do not follow");
  refused("{" + a + "}", 9, "1 bytes behind the last tensor");
  refused("{}", 1, "1 bytes behind the last tensor");
  refused("{" + a + "}", 4, "leave the file");
}

TEST(Safetensors, SizesAreWholeNumbersAndNoKeyComesTwice) {
  for (const std::string& header :
       {"{" + entry("a", "2.0", "0,8") + "}", "{" + entry("a", "-2", "0,8") + "}",
        "{" + entry("a", "2e0", "0,8") + "}", "{" + entry("a", "2", "0,8.0") + "}",
        "{" + entry("a", "2", "0,8,8") + "}", "{" + entry("a", "2", "8") + "}",
        "{" + entry("a", "2", "0,8") + "," + entry("a", "2", "0,8") + "}",
        std::string(R"({"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}})"),
        R"({"__metadata__":{"k":"v","k":"w"},)" + entry("a", "2", "0,8") + "}",
        std::string(R"({"a":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})"),
        std::string(R"({"a":{"dtype":"F32","shape":[2]}})"), "[" + std::string(100'000, '[')}) {
    EXPECT_NE(complaint_of_header(header, 8), "none") << header.substr(0, 100);
  }
}

TEST(Safetensors, OnlyTheTensorsThatAreNeededMustBeF32) {
  const ModelSpec model = find_model("emnist-mlp");
  const TemporaryFolder folder;
  const std::vector<float> weights(parameter_count(model), 0.5f);
  save_safetensors(folder / "m", named_weights(model, weights), {});
  std::string content = read_file(folder / "m");
  uint64_t length = 0;
  std::memcpy(&length, content.data(), 8);
  std::string header = content.substr(8, length);
  const size_t bytes = weights.size() * sizeof(float);
  const auto with_header = [&](const std::string& text, size_t extra) {
    std::string file = tensor_file(text, 0) + content.substr(8 + length) + std::string(extra, 'x');
    return parse_safetensors(file, "f");
  };
  const std::string steps =
      entry("steps", "2", std::to_string(bytes) + "," + std::to_string(bytes + 16), "I64");
  EXPECT_EQ(weights_from(with_header("{" + steps + "," + header.substr(1), 16), model, "f"), weights);

  header.replace(header.find("F32"), 3, "I32");
  try {
    weights_from(with_header(header, 0), model, "f");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "f: 'dense1.weight' is I32; only F32 is read");
  }
}

}  // namespace
}  // namespace subfleet

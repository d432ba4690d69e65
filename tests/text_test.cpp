// Text and the character model, as a user meets them.

#include <gtest/gtest.h>

#include "program.h"
#include "subfleet/base/file.h"
#include "subfleet/safetensors.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

class TextProgram : public ::testing::Test {
 protected:
  TextProgram() {
    make_folder(texts_);
    for (const char* name : {"ann.txt", "bob.txt", "eve.txt"}) {
      std::string text = name;
      while (text.size() < 200) text += " to be, or not to be: that is the question";
      write_file(texts_ / name, text);
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path texts_ = folder_ / "texts";
};

TEST_F(TextProgram, StatsCountsAndShowSaysThatItDrawsImages) {
  const Outcome stats =
      run_program({"data", "stats", "--set", "data.source=text", "--set", "data.path=" + texts_.string()});
  EXPECT_EQ(stats.status, 0) << stats.err;
  EXPECT_NE(stats.out.find("clients             3"), std::string::npos) << stats.out;
  const std::string png = (folder_ / "sheet.png").string();
  const Outcome show = run_program(
      {"data", "show", "--set", "data.source=text", "--set", "data.path=" + texts_.string(), "--out", png});
  EXPECT_EQ(show.status, 2);
  EXPECT_NE(show.err.find("draws images only"), std::string::npos) << show.err;
  EXPECT_FALSE(std::filesystem::exists(png));
}

TEST_F(TextProgram, ARunSavesTheVocabularyWithTheModel) {
  const std::string out = (folder_ / "run").string();
  const Outcome train =
      run_program({"train", "--quiet", "--out", out, "--set", "model.name=char-lstm", "--set",
                   "data.source=text", "--set", "data.path=" + texts_.string(), "--set", "round.clients=2",
                   "--set", "run.rounds=1", "--set", "data.window_step=40"});
  ASSERT_EQ(train.status, 0) << train.err;
  const TensorFile file = load_safetensors(folder_ / "run/model.safetensors");
  const ModelSpec model = find_model("char-lstm");
  EXPECT_EQ(file.metadata.at("vocabulary"), model.vocabulary);
  EXPECT_EQ(weights_from(file, model, "model").size(), parameter_count(model));

  TensorFile other = file;
  other.metadata["vocabulary"] = "abc";
  EXPECT_ANY_THROW(weights_from(other, model, "model"));
}

}  // namespace
}  // namespace subfleet

#include <fmt/format.h>

#include <span>

#include "base/hash.h"
#include "data/glyph_raster.h"
#include "data/glyph_strokes.h"
#include "data/glyph_writer.h"
#include "data/sources.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// The most writers whose numbers of samples are looked up: about 1 s and 40 MB.
constexpr uint32_t kMostFiltered = 10'000'000;

// Generated handwriting. Only the alphabet is kept; a writer's samples are drawn whenever they are needed.
class Glyphs final : public Federation {
 public:
  explicit Glyphs(const DataOptions& options)
      : alphabet_(glyph_alphabet()), seed_(options.seed), writers_(options.writers) {
    if (writers_ == 0) throw bad_request("data.writers", "0 writers cannot train; at least 1 is needed");
    if (options.min_samples <= GlyphWriter::kFewestSamples) return;
    if (writers_ > kMostFiltered) {
      throw bad_request(
          "data.min_samples",
          fmt::format("{} is asked of {} writers; with more than {} of them, {} at most", options.min_samples,
                      writers_, kMostFiltered, GlyphWriter::kFewestSamples));
    }
    filtered_ = true;
    for (uint32_t writer = 0; writer < writers_; ++writer) {
      if (GlyphWriter::samples(seed_, writer) >= options.min_samples) kept_.push_back(writer);
    }
    if (kept_.empty()) {
      throw bad_request("data.min_samples",
                        fmt::format("none of the {} writers has {} samples; the most any can have is {}",
                                    writers_, options.min_samples, GlyphWriter::kMostSamples));
    }
  }

  uint32_t clients() const override { return filtered_ ? static_cast<uint32_t>(kept_.size()) : writers_; }
  Shape input() const override { return {1, kGlyphSide, kGlyphSide}; }
  uint32_t classes() const override { return kGlyphClasses; }
  uint32_t samples(uint32_t client) const override { return GlyphWriter::samples(seed_, writer_of(client)); }
  std::string class_name(uint32_t label) const override { return character_name(label); }

  // Everything follows from the seed and which writers are kept. The first writer's samples are hashed too,
  // in case a later version draws them differently.
  uint64_t fingerprint() const override {
    const Examples page = load(0);
    return Hash()
        .add(seed_)
        .add(writers_)
        .add_values(kept_)
        .add_values(page.inputs)
        .add_values(page.labels)
        .value();
  }

  void read(uint32_t client, Examples& into) const override {
    const size_t count = samples(client);
    GlyphWriter writer(alphabet_, seed_, writer_of(client));
    into.reset(kGlyphPixels, count);
    into.inputs.resize(count * kGlyphPixels);
    for (size_t i = 0; i < count; ++i) {
      const std::span image(into.inputs.data() + i * kGlyphPixels, kGlyphPixels);
      into.labels.push_back(static_cast<int32_t>(writer.draw(static_cast<uint32_t>(i), image)));
    }
  }

 private:
  uint32_t writer_of(uint32_t client) const { return filtered_ ? kept_.at(client) : client; }

  GlyphAlphabet alphabet_;
  uint64_t seed_;
  uint32_t writers_;
  bool filtered_ = false;  // only then is there a list of writers
  std::vector<uint32_t> kept_;
};

}  // namespace

std::unique_ptr<Federation> open_glyphs(const DataOptions& options) {
  return std::make_unique<Glyphs>(options);
}

}  // namespace subfleet

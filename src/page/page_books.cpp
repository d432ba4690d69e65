#include <fmt/format.h>

#include <set>
#include <tuple>

#include "page/layer_bytes.h"
#include "page/page_parts.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/book_picture.h"
#include "subfleet/codes/quality.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "subfleet/run.h"

namespace subfleet {
namespace {

constexpr size_t kMostPictures = 12;  // about 50 kB each

std::string caption_of(const BookQuality& quality) {
  std::string text =
      quality.least_weight == quality.largest_weight
          ? fmt::format("Every client keeps {} of {} units", quality.least_weight, quality.length)
          : fmt::format("Clients keep {} to {} of {} units", quality.least_weight, quality.largest_weight,
                        quality.length);
  if (quality.mean_overlap && quality.largest_overlap && quality.correlation) {
    text += fmt::format(
        "; two share {:.1f} on average and {} at most; correlation at most {} ({:.3f} of the length)",
        *quality.mean_overlap, *quality.largest_overlap, *quality.correlation,
        static_cast<double>(*quality.correlation) / static_cast<double>(quality.length));
  }
  return text + ".";
}

// Draws the books of the first round of runs, each book once.
class BookPictures {
 public:
  std::string figures_of(const Config& config) {
    const ModelSpec model = resolve_model(config.model);
    const std::vector<UnitGroup> droppable = droppable_groups(model);
    const uint32_t draw = draw_of_round(config, 1);
    std::string figures;
    std::vector<CodeBook> books;
    for (size_t i = 0; i < droppable.size(); ++i) {
      const UnitGroup& layer = droppable[i];
      const LayerCode code = config.code.of(layer.name);
      if (code.family == "none" ||
          !drawn_.emplace(code.family, code.keep, layer.units, config.round.clients, config.run.seed, draw, i)
               .second)
        continue;
      if (++count_ > kMostPictures) continue;
      if (books.empty())
        books = RoundMasks(model, config.code, config.run.seed, draw, config.round.clients).books();
      figures += figure(books[i], layer.name, code, config.run.seed);
    }
    return figures;
  }

  size_t left_out() const { return count_ > kMostPictures ? count_ - kMostPictures : 0; }

 private:
  static std::string figure(const CodeBook& book, const std::string& layer, const LayerCode& code,
                            uint64_t seed) {
    const BookQuality quality = measure(book, Shifts::kNone);
    const std::string title = fmt::format("{}: {}, {} clients x {} units, keep {}, seed {}, round 1", layer,
                                          code.family, book.rows(), book.length(), code.keep, seed);
    const ColourImage picture =
        book_picture(title, {.name = code.family, .book = book, .quality = quality}, nullptr);
    return fmt::format(
        "<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\"/><figcaption>{}</figcaption></figure>\n",
        escape_markup(title), base64(encode_png(picture)), caption_of(quality));
  }

  // family, keep, length, rows, seed, draw, layer
  std::set<std::tuple<std::string, double, size_t, uint32_t, uint64_t, uint32_t, size_t>> drawn_;
  size_t count_ = 0;
};

}  // namespace

std::string books_part(const PageRuns& shown) {
  BookPictures pictures;
  std::string part;
  for (size_t i = 0; i < shown.groups.size(); ++i) {
    const auto& config = shown.first_of(i).parsed_config;
    if (!config || !quickly_drawn(*config)) continue;
    std::string figures;
    try {
      figures = pictures.figures_of(*config);
    } catch (const Error&) {
      continue;  // settings of another version, or a model file that is gone
    }
    if (figures.empty()) continue;
    part +=
        fmt::format("<details class=\"card\" data-s=\"{}\"{}><summary>{} <i>{}</i></summary>\n{}</details>\n",
                    i, shown.groups.size() == 1 ? " open=\"\"" : "", escape_markup(shown.groups[i].name),
                    escape_markup(code_name(shown.first_of(i))), figures);
  }
  if (part.empty()) return "";
  if (const size_t left = pictures.left_out(); left > 0) {
    part += fmt::format(
        "<p class=\"note\">{} more books are not drawn here; 'subfleet codes FAMILY --png' "
        "draws any.</p>\n",
        left);
  }
  return "<h2>Code books</h2>\n<p>Which units each client of the first round keeps; runs with the same books "
         "show them once.</p>\n" +
         part;
}

}  // namespace subfleet

#include "codes/lexicode.h"

#include <algorithm>
#include <vector>

#include "codes/words.h"

namespace subfleet {

CodeBook lexicode(const LexicodeRequest& request, Random& random) {
  const CodeBook words = lexicographic_words(request.length, request.weight);
  const size_t largest_distance = 2 * std::min(request.weight, request.length - request.weight);
  const auto random_word = [&] { return random.below(static_cast<uint32_t>(words.rows())); };

  size_t least_distance = request.length;
  std::vector<size_t> chosen{random_word()};
  // The paper's filtered set is the rest of `words` from `next` on: words before it are too near to a chosen
  // word, and stay so.
  size_t next = least_distance > largest_distance ? words.rows() : 0;
  for (size_t step = 0; step < request.most_steps && chosen.size() < request.rows; ++step) {
    const auto far_enough = [&](size_t word) {
      return std::ranges::all_of(chosen, [&](size_t c) { return words.distance(word, c) >= least_distance; });
    };
    while (next < words.rows() && !far_enough(next)) ++next;
    if (next < words.rows()) {
      chosen.push_back(next++);
    } else {
      least_distance -= 2;
      chosen = {random_word()};
      next = least_distance > largest_distance ? words.rows() : 0;
    }
  }

  CodeBook book(chosen.size(), request.length);
  for (size_t row = 0; row < chosen.size(); ++row) {
    std::ranges::copy(words.row(chosen[row]), book.row(row).begin());
  }
  return book;
}

}  // namespace subfleet

#include "subfleet/random.h"

#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/word_pool.h"
#include "codes/words.h"

namespace subfleet {
namespace {

class RandomWords final : public CodeFamily {
 public:
  std::string_view name() const override { return "random"; }
  std::string_view summary() const override { return "a different random word for each client"; }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    const size_t ones = weight(request.length, request.keep);
    if (count_words(request.length, ones) < request.rows) {
      return deal(request, lexicographic_words(request.length, ones));
    }
    Random random({request.seed, request.round, request.layer, Purpose::kCodeWords});
    return random_words(request.length, ones, request.rows, random);
  }
};

}  // namespace

const CodeFamily& random_family() {
  static const RandomWords family;
  return family;
}

}  // namespace subfleet

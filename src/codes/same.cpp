#include <algorithm>

#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/words.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

class Same final : public CodeFamily {
 public:
  std::string_view name() const override { return "same"; }
  std::string_view summary() const override { return "one random word for all: baseline federated dropout"; }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    const size_t ones = weight(request.length, request.keep);
    Random random({request.seed, request.round, request.layer, Purpose::kCodeWords});
    const CodeBook word = random_words(request.length, ones, 1, random);
    CodeBook book(request.rows, request.length);
    for (size_t row = 0; row < request.rows; ++row) std::ranges::copy(word.row(0), book.row(row).begin());
    return book;
  }
};

}  // namespace

const CodeFamily& same_family() {
  static const Same family;
  return family;
}

}  // namespace subfleet

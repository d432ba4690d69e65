#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/window.h"

namespace subfleet {
namespace {

class None final : public CodeFamily {
 public:
  std::string_view name() const override { return "none"; }
  std::string_view summary() const override { return "every client keeps the whole layer"; }

  size_t weight(size_t length, double) const override { return kept_units(name(), length, 1.0); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    return same_window(request, 0, request.length);
  }
};

}  // namespace

const CodeFamily& none_family() {
  static const None family;
  return family;
}

}  // namespace subfleet

#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/window.h"

namespace subfleet {
namespace {

// Alam et al., FedRolex, NeurIPS 2022.
class Rolling final : public CodeFamily {
 public:
  std::string_view name() const override { return "rolling"; }
  std::string_view summary() const override {
    return "a window for all that moves one unit each round (FedRolex)";
  }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    return same_window(request, request.round % request.length, weight(request.length, request.keep));
  }

  std::vector<uint32_t> order(const BookRequest& request) const override {
    return window_order(request.length, request.round % request.length);
  }
};

}  // namespace

const CodeFamily& rolling_family() {
  static const Rolling family;
  return family;
}

}  // namespace subfleet

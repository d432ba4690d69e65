#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/window.h"

namespace subfleet {
namespace {

// Diao et al., HeteroFL, ICLR 2021.
class Prefix final : public CodeFamily {
 public:
  std::string_view name() const override { return "prefix"; }
  std::string_view summary() const override { return "the first units for all (HeteroFL)"; }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    return same_window(request, 0, weight(request.length, request.keep));
  }

  std::vector<uint32_t> order(const BookRequest& request) const override {
    return window_order(request.length, 0);
  }
};

}  // namespace

const CodeFamily& prefix_family() {
  static const Prefix family;
  return family;
}

}  // namespace subfleet

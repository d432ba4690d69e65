#include "together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "checks.h"

namespace subfleet::cli {

void TogetherOption::add_to(CLI::App& command) {
  command
      .add_option(
          "--together", given,
          "train so many runs, which differ in their seeds alone, side by side; the results are the same "
          "for any number [5 on a GPU, else 1]")
      ->type_name("UINT")
      ->check(whole_number(1, 100));
}

std::string group_title(size_t done, size_t all, const std::string& name, std::span<const uint64_t> seeds) {
  const bool alone = seeds.size() == 1;
  return fmt::format("{}{}/{} {}, {} {}", done + 1, alone ? "" : fmt::format("-{}", done + seeds.size()), all,
                     name, alone ? "seed" : "seeds", fmt::join(seeds, ", "));
}

}  // namespace subfleet::cli

#include "together.h"

#include "checks.h"

namespace subfleet::cli {

void TogetherOption::add_to(CLI::App& command) {
  command
      .add_option(
          "--together", given,
          "train this many runs that differ only in their seeds side by side; the results are the same "
          "for any number [5 on a GPU, else 1]")
      ->type_name("UINT")
      ->check(whole_number(1, 100));
}

}  // namespace subfleet::cli

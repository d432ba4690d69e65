#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

#include "optimizers/averaged.h"
#include "optimizers/fedadagrad.h"
#include "optimizers/fedadam.h"
#include "optimizers/fedavg.h"
#include "optimizers/fedexp.h"
#include "optimizers/fedyogi.h"
#include "subfleet/error.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// Every server optimizer: what it does to one weight, written once for the host's loops and the GPU's
// kernels, which give the same bits. A new one is a header with such a class and a word in this list; no
// device needs more. It has
//   kName, kDefaultLr, kWantsSquaredNorms, kMoments (the names of what it keeps per weight);
//   a constructor from OptimizerOptions, whose lr is the round's and never 0 there; only plain numbers as
//   members, because it is copied to the GPU;
//   operator()(sum, holders, weight, moments...) const, SUBFLEET_HOST_DEVICE, arithmetic only, without
//   branches and in double;
//   or, where kWantsSquaredNorms, of_round(results, squared_norm_of_mean), the rule that moves the round's
//   weights, in place of operator().
using ServerRules = std::tuple<FedAvg, FedAdam, FedAdagrad, FedYogi, FedExp>;

// Calls visit.operator()<Rule>() for each, in the order of the list.
template <typename Visit>
void for_each_rule(Visit&& visit) {
  [&]<typename... Rules>(std::type_identity<std::tuple<Rules...>>) {
    (visit.template operator()<Rules>(), ...);
  }(std::type_identity<ServerRules>());
}

// make.operator()<Rule>() of the rule that the options choose, Averaged where they want a mean of the
// weights; throws Error naming the nearest.
template <typename Product, typename Make>
std::unique_ptr<Product> make_from_rule(const OptimizerOptions& options, Make&& make) {
  std::unique_ptr<Product> made;
  for_each_rule([&]<typename Rule>() {
    if (Rule::kName != options.optimizer) return;
    if (options.average > 0) {
      made = make.template operator()<Averaged<Rule>>();
    } else {
      made = make.template operator()<Rule>();
    }
  });
  if (made == nullptr && own_optimizer(options.optimizer)) {
    throw bad_request("server.optimizer", options.optimizer +
                                              " is this program's own, which steps on the host; "
                                              "choose another device");
  }
  if (made == nullptr) throw unknown_name("server.optimizer", options.optimizer, server_optimizer_names());
  return made;
}

// The rule that moves this round's weights; squared_norm_of_mean() is called where the rule wants it.
template <typename Rule, typename Norm>
auto rule_of_round(OptimizerOptions options, const ServerRound& round, Norm&& squared_norm_of_mean) {
  if constexpr (requires { typename Rule::Plain; }) {
    return Averaged(rule_of_round<typename Rule::Plain>(options, round, squared_norm_of_mean),
                    round.keep_average);
  } else {
    options.lr = round.lr == 0 ? Rule::kDefaultLr : round.lr;
    const Rule rule(options);
    if constexpr (Rule::kWantsSquaredNorms) {
      return rule.of_round(round.results, squared_norm_of_mean());
    } else {
      return rule;
    }
  }
}

}  // namespace subfleet

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "subfleet/store/run_folder.h"

namespace subfleet {

inline constexpr std::string_view kCsvHead =
    "run,seed,family,keep,round,bytes,test_accuracy,train_accuracy,test_loss,train_loss\n";

// One line per run and test, in the notation of RFC 4180; what is not known is empty. Bytes are those
// exchanged so far in both directions and in the search before; the training accuracy is the clients' median.
std::string report_csv(std::span<const RunSummary> runs);

}  // namespace subfleet

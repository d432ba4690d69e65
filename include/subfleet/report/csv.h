#pragma once

#include <span>
#include <string>
#include <string_view>

#include "subfleet/report/reported_run.h"

namespace subfleet {

inline constexpr std::string_view kCsvHead =
    "run,seed,family,keep,round,bytes,test_accuracy,train_accuracy,test_loss,train_loss\n";

// One line per run and test, in the notation of RFC 4180; what is not known is empty. Bytes are those
// exchanged so far in both directions and in the search before; the training accuracy is the clients' median.
std::string report_csv(std::span<const ReportedRun> runs);

}  // namespace subfleet

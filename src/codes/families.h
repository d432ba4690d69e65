#pragma once

#include "subfleet/codes.h"

// One file per family in this folder, and one line in families.cpp.
namespace subfleet {

const CodeFamily& none_family();
const CodeFamily& same_family();
const CodeFamily& random_family();
const CodeFamily& gold_family();
const CodeFamily& cwc_family();
const CodeFamily& kasami_family();
const CodeFamily& walsh_family();
const CodeFamily& prefix_family();
const CodeFamily& rolling_family();
const CodeFamily& balanced_family();
const CodeFamily& legendre_family();

}  // namespace subfleet

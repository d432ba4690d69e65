#pragma once

#include "subfleet/model.h"
#include "subfleet/round.h"

namespace subfleet {

// Whether examples are mirrored or moved before they are seen.
inline bool is_augmented(const LocalTraining& how) { return how.flip || how.crop > 0; }

// Throws Error, in one line, for a model whose examples cannot be: texts, and pictures that are too small.
void check_augmentation(const LocalTraining& how, const ModelSpec& model);

}  // namespace subfleet

#pragma once

#include "subfleet/model.h"

namespace subfleet {

// Floating-point operations that training takes on one example, forward and back: two for every weight an
// input meets, twice more for the two gradients, and no input gradient before the first weights. Inputs that
// are padding count nothing; neither do activations, pooling and the loss.
double training_operations(const ModelSpec& model);

}  // namespace subfleet

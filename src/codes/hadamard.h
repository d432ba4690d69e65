#pragma once

#include <cstddef>
#include <optional>

#include "subfleet/codes.h"

namespace subfleet {

// Whether i has an odd number of neighbouring ones in binary. Complementing those rows of a Hadamard matrix
// (the Rudin-Shapiro signs) keeps every distance and leaves no column constant.
bool rudin_shapiro(size_t i);

// Words any two of which differ in half of the order, at least: `rows` of the non-constant rows of a Hadamard
// matrix (Sylvester's, or its product with Paley's of order q + 1, q a prime), then their complements. For
// length = order and half of it ones, up to 2 (order - 1) words; for length = order - 1 and (length +- 1) / 2
// ones, where the rows lack a column in which they agree, up to order - 1. Nothing for any other request.
std::optional<CodeBook> hadamard_words(size_t length, size_t weight, size_t rows);

}  // namespace subfleet

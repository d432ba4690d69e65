#pragma once

#include <cstdint>

#include "subfleet/base/png.h"
#include "subfleet/data.h"

namespace subfleet {

struct ContactSheetOptions {
  uint32_t first = 0;  // the client of the first row
  uint32_t rows = 24;  // how many clients, at most
  uint32_t scale = 1;  // screen pixels a pixel
};

// A picture of the data, ink on paper: one row per client and one column per class. Each field has the
// client's first example of that class, or a dot if it has no such example; colours are shown as grey. The
// classes' names stand above. Throws Error if there is no such client.
GreyImage contact_sheet(const Federation& data, const ContactSheetOptions& options);

}  // namespace subfleet

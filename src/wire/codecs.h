#pragma once

#include "subfleet/codec.h"

namespace subfleet {

// One line each in codecs.cpp's table.
const Codec& f32_codec();

}  // namespace subfleet

#pragma once

#include "subfleet/codec.h"

namespace subfleet {

// The codecs in codecs.cpp's table.
const Codec& f32_codec();
const Codec& f16_codec();
const Codec& int8_codec();
const Codec& rot_codec(int bits);  // 1 to 8

}  // namespace subfleet

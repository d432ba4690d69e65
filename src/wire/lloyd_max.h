#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"

namespace subfleet {

constexpr int kMostBits = 8;

// The positive centroids of the quantisers of the normal distribution with the least squared error (Lloyd
// 1957, Max 1960), for 1 to 8 bits, one after the other; the negative centroids mirror them.
// scripts/lloyd_max.py prints this table.
// clang-format off
constexpr std::array<float, 255> kLloydMaxCentroids{
    // 1 bit: distortion 0.36338
    0.797884561f,
    // 2 bits: distortion 0.117482
    0.452780035f, 1.51041761f,
    // 3 bits: distortion 0.0345478
    0.245094179f, 0.756005281f, 1.34390928f, 2.15194570f,
    // 4 bits: distortion 0.00950101
    0.128395030f, 0.388048299f, 0.656759119f, 0.942340456f, 1.25623120f, 1.61804639f, 2.06901723f, 2.73258957f,
    // 5 bits: distortion 0.00250467
    0.0658896598f, 0.198051830f, 0.331378306f, 0.466699523f, 0.604933624f, 0.747135704f, 0.894565117f, 1.04878332f,
    1.21180438f, 1.38634034f, 1.57622808f, 1.78723322f, 2.02872840f, 2.31773940f, 2.69111958f, 3.26073249f,
    // 6 bits: distortion 0.00064424
    0.0334095064f, 0.100278289f, 0.167296903f, 0.234566985f, 0.302192846f, 0.370282645f, 0.438949672f, 0.508313781f,
    0.578503031f, 0.649655581f, 0.721921941f, 0.795467656f, 0.870476587f, 0.947154945f, 1.02573635f, 1.10648824f,
    1.18972014f, 1.27579449f, 1.36514102f, 1.45827637f, 1.55583122f, 1.65858890f, 1.76754188f, 1.88397724f,
    2.00961104f, 2.14681022f, 2.29898121f, 2.47130480f, 2.67227384f, 2.91740679f, 3.24043706f, 3.74410127f,
    // 7 bits: distortion 0.000163478
    0.0168281695f, 0.0504908640f, 0.0841726421f, 0.117886282f, 0.151644648f, 0.185460721f, 0.219347640f, 0.253318733f,
    0.287387558f, 0.321567943f, 0.355874025f, 0.390320296f, 0.424921650f, 0.459693429f, 0.494651480f, 0.529812212f,
    0.565192654f, 0.600810526f, 0.636684311f, 0.672833333f, 0.709277847f, 0.746039137f, 0.783139616f, 0.820602955f,
    0.858454207f, 0.896719957f, 0.935428490f, 0.974609974f, 1.01429667f, 1.05452319f, 1.09532672f, 1.13674739f,
    1.17882859f, 1.22161742f, 1.26516511f, 1.30952762f, 1.35476629f, 1.40094856f, 1.44814893f, 1.49645000f,
    1.54594375f, 1.59673313f, 1.64893391f, 1.70267702f, 1.75811144f, 1.81540771f, 1.87476255f, 1.93640456f,
    2.00060177f, 2.06767148f, 2.13799338f, 2.21202752f, 2.29033916f, 2.37363427f, 2.46281143f, 2.55904052f,
    2.66388654f, 2.77951426f, 2.90904707f, 3.05724615f, 3.23193320f, 3.44743027f, 3.73493664f, 4.18969416f,
    // 8 bits: distortion 4.11851e-5
    0.00844619322f, 0.0253393831f, 0.0422349838f, 0.0591346043f, 0.0760398564f, 0.0929523554f, 0.109873722f, 0.126805581f,
    0.143749568f, 0.160707322f, 0.177680496f, 0.194670749f, 0.211679755f, 0.228709200f, 0.245760782f, 0.262836217f,
    0.279937235f, 0.297065586f, 0.314223039f, 0.331411380f, 0.348632422f, 0.365887997f, 0.383179964f, 0.400510208f,
    0.417880642f, 0.435293207f, 0.452749878f, 0.470252661f, 0.487803597f, 0.505404764f, 0.523058279f, 0.540766299f,
    0.558531025f, 0.576354701f, 0.594239620f, 0.612188126f, 0.630202613f, 0.648285532f, 0.666439391f, 0.684666759f,
    0.702970268f, 0.721352620f, 0.739816586f, 0.758365009f, 0.777000815f, 0.795727007f, 0.814546679f, 0.833463011f,
    0.852479283f, 0.871598873f, 0.890825266f, 0.910162056f, 0.929612959f, 0.949181811f, 0.968872581f, 0.988689374f,
    1.00863644f, 1.02871819f, 1.04893919f, 1.06930417f, 1.08981807f, 1.11048599f, 1.13131325f, 1.15230539f,
    1.17346818f, 1.19480761f, 1.21632997f, 1.23804179f, 1.25994992f, 1.28206150f, 1.30438402f, 1.32692533f,
    1.34969366f, 1.37269763f, 1.39594633f, 1.41944929f, 1.44321656f, 1.46725873f, 1.49158699f, 1.51621314f,
    1.54114966f, 1.56640979f, 1.59200755f, 1.61795784f, 1.64427649f, 1.67098037f, 1.69808745f, 1.72561696f,
    1.75358945f, 1.78202694f, 1.81095309f, 1.84039334f, 1.87037512f, 1.90092806f, 1.93208422f, 1.96387840f,
    1.99634845f, 2.02953567f, 2.06348518f, 2.09824651f, 2.13387415f, 2.17042825f, 2.20797546f, 2.24658993f,
    2.28635445f, 2.32736193f, 2.36971713f, 2.41353874f, 2.45896213f, 2.50614256f, 2.55525940f, 2.60652147f,
    2.66017397f, 2.71650758f, 2.77587065f, 2.83868579f, 2.90547290f, 2.97688213f, 3.05374202f, 3.13713253f,
    3.22850021f, 3.32984847f, 3.44407168f, 3.57558797f, 3.73166626f, 3.92563778f, 4.18659544f, 4.60353561f,
};
// clang-format on

// A quantiser as a binary tree, stored like a heap. Nodes 1 to levels - 1 hold the thresholds between the
// levels of a magnitude, midway between their centroids; nodes levels to 2 levels - 1 hold the centroids,
// smallest first. It has only plain numbers, so it can be a kernel's argument or lie in a GPU's shared
// memory.
struct Quantiser {
  uint32_t levels = 1;  // of a magnitude; the sign is one more bit
  float nodes[256] = {};

  // The node of the magnitude's centroid. Its level is the number of thresholds that do not exceed the
  // magnitude, and 0 for NaN; the lower bits of the node are the level.
  SUBFLEET_HOST_DEVICE uint32_t node_of(float magnitude) const {
    uint32_t node = 1;
    while (node < levels) node = 2 * node + (magnitude >= nodes[node] ? 1 : 0);
    return node;
  }
};

constexpr Quantiser lloyd_max(int bits) {
  Quantiser made;
  made.levels = uint32_t{1} << (bits - 1);
  const float* centroids = kLloydMaxCentroids.data() + made.levels - 1;
  for (uint32_t level = 0; level < made.levels; ++level) made.nodes[made.levels + level] = centroids[level];
  for (uint32_t first = 1; first < made.levels; first *= 2) {  // a row of the tree
    const uint32_t below = made.levels / first;                // centroids below each of its nodes
    for (uint32_t i = 0; i < first; ++i) {
      const uint32_t level = below * i + below / 2;
      made.nodes[first + i] = (centroids[level - 1] + centroids[level]) * 0.5f;
    }
  }
  return made;
}

}  // namespace subfleet

#include "subfleet/charts/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace subfleet {
namespace {

constexpr std::array kNice{1.0, 2.0, 5.0};

std::vector<double> multiples(double step, double low, double high) {
  constexpr double kSlack = 1e-9;  // a tick at the very end is inside
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - kSlack); i <= high / step + kSlack; i += 1)
    ticks.push_back(i * step);
  return ticks;
}

}  // namespace

double Axis::place(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<double> linear_ticks(double low, double high, size_t most) {
  most = std::max<size_t>(most, 2);
  double power = std::pow(10, std::floor(std::log10((high - low) / static_cast<double>(most))));
  for (;; power *= 10) {
    for (const double factor : kNice) {
      auto ticks = multiples(factor * power, low, high);
      if (ticks.size() <= most) return ticks;
    }
  }
}

std::vector<double> log_ticks(double low, double high, size_t most) {
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::ceil(std::log10(high)));
  const auto inside = [&](auto factors, int stride) {
    std::vector<double> ticks;
    for (int exponent = first; exponent <= last; exponent += stride) {
      for (const double factor : factors) {
        const double tick = factor * std::pow(10, exponent);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  if (high / low < 10) return linear_ticks(low, high, most);
  auto ticks = inside(kNice, 1);
  for (int stride = 1; ticks.size() > std::max<size_t>(most, 2); ++stride)
    ticks = inside(std::array{1.0}, stride);
  return ticks;
}

Axis make_axis(const AxisRequest& request) {
  Axis axis{.low = request.low, .high = request.high, .log = request.log, .unit = request.unit, .ticks = {}};
  if (axis.log) {
    if (axis.high < axis.low * 1.01) axis.high = axis.low * 10;
    axis.ticks = log_ticks(axis.low, axis.high, request.most_ticks);
  } else {
    const double least = std::max({std::abs(axis.low), std::abs(axis.high), 1e-12}) * 1e-6;
    if (axis.high - axis.low < least) axis.high = axis.low + std::max(std::abs(axis.low), 1e-6);
    axis.ticks = linear_ticks(axis.low, axis.high, request.most_ticks);
  }
  if (axis.unit == Unit::kCount) {
    std::erase_if(axis.ticks, [](double tick) { return std::abs(tick - std::round(tick)) > 1e-9; });
  }
  return axis;
}

std::string tick_label(double value, Unit unit) {
  if (std::abs(value) < 1e-300) value = 0;
  if (unit == Unit::kPercent) return fmt::format("{:.4g} %", value * 100);
  if (unit != Unit::kBytes)
    return std::abs(value) < 1e6 ? fmt::format("{:.6g}", value) : fmt::format("{:.3g}", value);
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (value == 0) return "0";
  size_t step = 0;
  while (std::abs(value) >= 999.9999 && step + 1 < kUnits.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.4g} {}", value, kUnits[step]);
}

}  // namespace subfleet

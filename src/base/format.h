#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace subfleet {

// Throws Error, in a line that says who must update, for a file of a newer format than `newest`.
void check_format(uint64_t format, uint32_t newest, std::string_view name);

// The number of the layouts of results as JSON (docs/formats.md): "format" in each. Without it, it is 0.
inline constexpr uint32_t kResultFormat = 1;
void check_result_format(const nlohmann::json& result, std::string_view name);

}  // namespace subfleet

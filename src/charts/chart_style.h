#pragma once

#include <cstddef>
#include <string_view>

namespace subfleet {

// Okabe and Ito's colours, which people of any colour vision can tell apart; a little lighter on dark pages.
// After seven lines, dashes are used.
inline constexpr size_t kChartColours = 7;
inline constexpr std::string_view kChartStyle = R"css(
.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12.5px}
.chart .paper{fill:#fff;stroke:#e3e6ea}
.chart text{fill:#57606a}
.chart .title{font-size:16px;font-weight:600;fill:#1f2328}
.chart .name{font-size:13px;fill:#1f2328}
.chart .grid{stroke:#e9ecef;stroke-width:1}
.chart .axis{stroke:#8c959f;stroke-width:1}
.chart .line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}
.chart .dot{stroke:none;fill-opacity:0}
.chart .dot:hover{fill-opacity:1}
.chart .end{stroke:#fff;stroke-width:1.5}
.chart .level{stroke:#1f2328;stroke-width:1.25;stroke-dasharray:5 4}
.chart .over{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.chart .band{stroke:none;fill-opacity:.13}
.chart .error{fill:none;stroke-width:1.5;stroke-opacity:.75}
.chart .outer{stroke:none;fill-opacity:.07}
.chart .s0{stroke:#0072b2}.chart .d0{fill:#0072b2}
.chart .s1{stroke:#d55e00}.chart .d1{fill:#d55e00}
.chart .s2{stroke:#009e73}.chart .d2{fill:#009e73}
.chart .s3{stroke:#b5548a}.chart .d3{fill:#b5548a}
.chart .s4{stroke:#c98a00}.chart .d4{fill:#c98a00}
.chart .s5{stroke:#3a9bd9}.chart .d5{fill:#3a9bd9}
.chart .s6{stroke:#6e7781}.chart .d6{fill:#6e7781}
)css";

inline constexpr std::string_view kDarkChartStyle = R"css(@media screen and (prefers-color-scheme:dark){
.chart .paper{fill:#12161c;stroke:#2a313a}
.chart text{fill:#9aa4af}
.chart .title,.chart .name{fill:#e6edf3}
.chart .grid{stroke:#232a33}
.chart .axis{stroke:#56606b}
.chart .end{stroke:#12161c}
.chart .level{stroke:#e6edf3}
.chart .over{stroke:#12161c}
.chart .s0{stroke:#4aa8e8}.chart .d0{fill:#4aa8e8}
.chart .s1{stroke:#ff8a3d}.chart .d1{fill:#ff8a3d}
.chart .s2{stroke:#2fc79a}.chart .d2{fill:#2fc79a}
.chart .s3{stroke:#e08fbd}.chart .d3{fill:#e08fbd}
.chart .s4{stroke:#f0b429}.chart .d4{fill:#f0b429}
.chart .s5{stroke:#86cbf5}.chart .d5{fill:#86cbf5}
.chart .s6{stroke:#aab4be}.chart .d6{fill:#aab4be}
}
)css";

}  // namespace subfleet

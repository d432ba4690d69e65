#include "page/page_parts.h"

namespace subfleet {

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark;--page:#f6f8fa;--card:#fff;--edge:#dfe3e8;--ink:#1f2328;--soft:#57606a;--bar:#cfe6f5;--key:#0072b2;--hover:#eef2f6}
@media screen and (prefers-color-scheme:dark){:root{--page:#0b0e13;--card:#12161c;--edge:#2a313a;--ink:#e6edf3;--soft:#9aa4af;--bar:#15415f;--key:#4aa8e8;--hover:#1a2029}
figure img{filter:brightness(.88)}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1320px;margin:0 auto;padding:36px 24px 48px}
header{margin-bottom:22px}
h1{font-size:26px;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em;overflow-wrap:anywhere}
header p{margin:0;color:var(--soft)}
header .headline{margin-top:12px;font-size:18px;color:var(--ink)}
header .headline b{color:var(--key)}
h2{font-size:17px;margin:34px 0 10px}
h2+p{margin:-6px 0 12px;color:var(--soft)}
.card{background:var(--card);border:1px solid var(--edge);border-radius:10px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:14px;margin-bottom:20px}
.tile{padding:14px 18px}
.tile b{display:block;font-size:24px;line-height:1.3;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
.wide{overflow:auto;margin-bottom:20px;max-height:640px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:13.5px}
th,td{padding:8px 8px;text-align:right;white-space:nowrap}
thead th{position:sticky;top:0;background:var(--card);box-shadow:inset 0 -1px var(--edge);z-index:1}
th{font-weight:500;font-size:13px;color:var(--soft);vertical-align:bottom}
tbody tr+tr td{border-top:1px solid var(--edge)}
tbody tr:hover td{background:var(--hover)}
th.t,td.t{text-align:left}
th:first-child,td:first-child{padding-left:18px}
th:last-child,td:last-child{padding-right:18px}
td.run{font-weight:600;max-width:300px;overflow:hidden;text-overflow:ellipsis}
td.run svg{margin-right:9px;vertical-align:middle}
td i{font-style:normal;color:var(--soft)}
td .bar{display:block;height:4px;border-radius:2px;background:var(--bar);margin:3px 0 0 auto}
.js .sortable th{cursor:pointer;user-select:none}
.js .sortable th:hover{color:var(--ink)}
th[aria-sort=ascending]::after{content:" ▲";font-size:10px}
th[aria-sort=descending]::after{content:" ▼";font-size:10px}
.filter{display:none;margin:0 0 10px;padding:7px 12px;width:min(100%,380px);font:inherit;font-size:14px;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:8px}
.js .filter{display:block}
.legend{display:flex;flex-wrap:wrap;gap:2px 6px;padding:8px 12px;margin-bottom:14px;position:sticky;top:0;z-index:3;max-height:108px;overflow:auto}
.legend button{display:inline-flex;align-items:center;gap:7px;max-width:300px;padding:2px 8px;border:0;border-radius:6px;background:none;color:inherit;font:inherit;font-size:13px}
.legend button span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.legend svg{flex:none}
.js .legend button{cursor:pointer}
.js .legend button:hover{background:var(--hover)}
.legend:has(button:only-child){display:none}
.legend .off{opacity:.4;text-decoration:line-through}
.out{display:none!important}
.charts g.off{display:none}
tr.off td{opacity:.45}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:18px}
.charts .card{padding:8px 6px 2px;position:relative}
.charts svg{display:block;width:100%;height:auto}
.many .wide{max-height:440px}
.many .charts .line{stroke-width:1.3;stroke-opacity:.6}
.many .charts .band{fill-opacity:.05}
.many .charts .end{r:2.5px;stroke-width:.75}
.charts g{transition:opacity .12s}
.focus .charts g[data-s]:not(.hot){opacity:.13}
.focus .charts g.hot .line{stroke-width:3;stroke-opacity:1}
.guide{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 3;pointer-events:none}
#tip{position:fixed;z-index:9;pointer-events:none;display:none;padding:8px 11px;font-size:12.5px;line-height:1.45;box-shadow:0 4px 18px #0003;max-width:360px}
#tip div{display:flex;align-items:center;gap:8px;font-variant-numeric:tabular-nums}
#tip span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
#tip b{margin-left:auto;padding-left:10px;white-space:nowrap}
#tip p{margin:0 0 3px;color:var(--soft)}
#tip svg{flex:none}
.bars td{padding-top:5px;padding-bottom:5px}
.bars td.draw{width:34%;text-align:left}
.bars .chart{display:block;width:100%;height:16px}
.key{display:flex;flex-wrap:wrap;gap:4px 18px;padding:10px 18px;font-size:13px}
.key span{display:inline-flex;align-items:center;gap:7px}
figure{margin:0;padding:12px 16px}
figure img{display:block;width:100%;max-width:1600px;height:auto;border-radius:6px}
.searches{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,520px),1fr));gap:18px}
.searches img{filter:none}
figcaption{color:var(--soft);font-size:13px;margin-top:8px}
details{margin-top:10px}
summary{cursor:pointer;padding:10px 18px;font-weight:600;overflow-wrap:anywhere}
summary i{font-style:normal;font-weight:400;color:var(--soft)}
pre{margin:0;padding:4px 18px 14px;overflow-x:auto;font:12.5px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre.command{white-space:pre-wrap;overflow-wrap:anywhere;padding:10px 14px;margin:0 18px 10px;background:var(--page);border:1px solid var(--edge);border-radius:8px}
.note{padding:12px 18px;color:var(--soft);margin-bottom:20px}
footer{margin-top:34px;color:var(--soft);font-size:13px}
@media print{
@page{margin:14mm}
body{background:none;font-size:12px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main{max-width:none;padding:0}
.card,figure,tr,pre.command{break-inside:avoid}
h2{break-after:avoid}
.filter,#tip,.guide{display:none!important}
.wide,.legend{max-height:none;overflow:visible;position:static}
.charts{grid-template-columns:1fr 1fr}
table{font-size:10px}
th,td{padding:4px 5px}
th{font-size:9.5px;white-space:normal}
td.run{max-width:180px}
thead th{position:static;background:none}
pre{font-size:9px;white-space:pre-wrap}
details.card{break-inside:auto}
details pre:not(.command){columns:3}
}
)css";
}

}  // namespace subfleet

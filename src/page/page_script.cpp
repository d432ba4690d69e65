#include "page/page_parts.h"

namespace subfleet {

// Hides and shows groups (legend, filter), sorts tables, and shows values under the pointer. Text from files
// reaches the page as text alone (textContent). What the reader chose survives a reload.
std::string_view page_script() {
  return R"js(
(() => {
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const body = document.body, key = "subfleet " + location.pathname;
const chosen = { hidden: [], filter: "", sort: {}, open: {} };
try { Object.assign(chosen, JSON.parse(sessionStorage.getItem(key) || "{}")); } catch (e) { /* no storage */ }
const save = () => { try { sessionStorage.setItem(key, JSON.stringify(chosen)); } catch (e) { /* no storage */ } };
document.documentElement.classList.add("js");

// Which groups are shown.
const rows = all("table.runs tbody tr");
const words = new Map(rows.map(row => [row.dataset.s, row.textContent.toLowerCase()]));
const wanted = s => chosen.filter.toLowerCase().split(/\s+/).every(word => (words.get(s) || "").includes(word));
const shown = s => wanted(s) && !chosen.hidden.includes(s);
const show = () => {
  for (const e of all("[data-s]")) {
    const s = e.dataset.s, inChart = e.tagName === "g";
    e.classList.toggle("off", inChart ? !shown(s) : chosen.hidden.includes(s));
    if (!inChart) e.classList.toggle("out", !wanted(s));
    if (e.tagName === "BUTTON") e.setAttribute("aria-pressed", String(shown(s)));
  }
  save();
};
for (const button of all(".legend button")) {
  const s = button.dataset.s;
  button.onclick = () => {
    chosen.hidden = chosen.hidden.includes(s) ? chosen.hidden.filter(h => h !== s) : [...chosen.hidden, s];
    show();
  };
  button.ondblclick = () => {
    const others = all(".legend button").map(b => b.dataset.s).filter(o => o !== s);
    chosen.hidden = others.every(o => chosen.hidden.includes(o)) ? [] : others;
    show();
  };
}
for (const input of all(".filter")) {
  input.value = chosen.filter;
  input.oninput = () => { chosen.filter = input.value; show(); };
}

// The line under the pointer stands out.
const focus = s => {
  body.classList.toggle("focus", s !== undefined);
  for (const g of all(".charts g[data-s]")) g.classList.toggle("hot", g.dataset.s === s);
};
for (const e of all(".legend button, tr[data-s]")) {
  e.onmouseenter = () => { if (shown(e.dataset.s)) focus(e.dataset.s); };
  e.onmouseleave = () => focus();
}

// Tables, sorted by the column whose head is clicked.
all("table.sortable").forEach((table, number) => {
  const heads = all("th", table), part = table.tBodies[0], before = [...part.rows];
  const value = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent;
    return text !== "" && isFinite(text) ? +text : text;
  };
  const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
  const sort = () => {
    const [column, way] = chosen.sort[number] || [];
    heads.forEach((head, i) => way && i === column
      ? head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending") : head.removeAttribute("aria-sort"));
    part.append(...(way ? [...before].sort((a, b) => way * compare(value(a, column), value(b, column))) : before));
  };
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.onclick = () => {
      const [last, way] = chosen.sort[number] || [];
      chosen.sort[number] = last !== column ? [column, 1] : way > 0 ? [column, -1] : [];
      sort();
      save();
    };
    head.onkeydown = event => { if (event.key === "Enter") head.onclick(); };
  });
  sort();
});
all("details").forEach((details, number) => {
  if (number in chosen.open) details.open = chosen.open[number];
  details.ontoggle = () => { chosen.open[number] = details.open; save(); };
});

// On paper everything is unfolded, unless that would take many pages.
let folded = [];
addEventListener("beforeprint", () => {
  folded = body.classList.contains("many") ? [] : all("details:not([open])");
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => { for (const details of folded) details.open = false; });

// Values under the pointer.
const units = ["B", "kB", "MB", "GB", "TB", "PB"];
const text = (value, unit) => {
  if (unit === 2) return (100 * value).toFixed(1) + " %";
  if (unit !== 3) return String(+value.toPrecision(4));
  let i = 0;
  for (; value >= 999.5 && i + 1 < units.length; ++i) value /= 1000;
  return +value.toPrecision(3) + " " + units[i];
};
const tip = document.createElement("div");
tip.id = "tip";
tip.className = "card";
body.append(tip);
const axis = data => {
  const [low, high, log, unit, from, to] = data.split(" ").map(Number), f = log ? Math.log : v => v;
  return { unit, place: v => from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from) };
};
const samples = new Map(all(".legend button").map(b => [b.dataset.s, b]));
for (const svg of all(".charts svg")) {
  const x = axis(svg.dataset.x), y = axis(svg.dataset.y);
  const guide = document.createElementNS(svg.namespaceURI, "path");
  guide.setAttribute("class", "guide");
  let lines;
  const read = () => all("g[data-s]", svg).map(g => {
    const v = (g.querySelector("[data-v]")?.dataset.v || "").split(" ").map(Number), points = [];
    for (let i = 0; i + 1 < v.length; i += 2)
      points.push({ s: g.dataset.s, x: v[i], y: v[i + 1], px: x.place(v[i]), py: y.place(v[i + 1]) });
    return points;
  }).filter(points => points.length);
  svg.onmousemove = event => {
    lines ??= read();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const reach = 24;
    let near = lines.filter(points => shown(points[0].s)).map(points =>
      points.reduce((a, b) => Math.abs(b.px - at.x) < Math.abs(a.px - at.x) ? b : a));
    const closest = near.reduce((a, b) => !a || Math.abs(b.px - at.x) < Math.abs(a.px - at.x) ? b : a, null);
    if (!closest || Math.abs(closest.px - at.x) > 60) return svg.onmouseleave();
    near = near.filter(p => Math.abs(p.px - closest.px) < reach).sort((a, b) => Math.abs(a.py - at.y) - Math.abs(b.py - at.y));
    const first = near[0], most = 12, left = near.length - most;
    focus(Math.abs(first.py - at.y) < reach && lines.length > 1 ? first.s : undefined);
    guide.setAttribute("d", `M${first.px} ${svg.dataset.y.split(" ")[4]}V${svg.dataset.y.split(" ")[5]}`);
    svg.append(guide);
    const head = document.createElement("p");
    head.textContent = `${svg.dataset.label} ${text(first.x, x.unit)}`;
    tip.replaceChildren(head, ...near.slice(0, most).sort((a, b) => b.y - a.y).map(p => {
      const line = document.createElement("div"), name = document.createElement("span"), value = document.createElement("b");
      const sample = samples.get(p.s)?.querySelector("svg");
      name.textContent = samples.get(p.s)?.textContent || "";
      value.textContent = text(p.y, y.unit) + (p.x !== first.x ? ` (${text(p.x, x.unit)})` : "");
      line.append(...(sample ? [sample.cloneNode(true)] : []), name, value);
      return line;
    }));
    if (left > 0) tip.append(Object.assign(document.createElement("p"), { textContent: `and ${left} more` }));
    tip.style.display = "block";
    const box = tip.getBoundingClientRect(), gap = 16;
    tip.style.left = Math.max(4, event.clientX + gap + box.width > innerWidth ? event.clientX - gap - box.width : event.clientX + gap) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + gap, innerHeight - box.height - 4)) + "px";
  };
  svg.onmouseleave = () => { tip.style.display = "none"; guide.remove(); focus(); };
}
show();
})();
)js";
}

}  // namespace subfleet

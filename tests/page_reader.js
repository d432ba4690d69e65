// Uses a report's page as a reader would. Put at the page's end by scripts/page-test, which reads what it leaves there: one
// line per check, "ok ..." or "FAILED ...". Reloads the page once, on its way. An address that ends in #dark asks for dark colours.
(() => {
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const first = selector => document.querySelector(selector);
const seen = e => getComputedStyle(e).display !== "none";
const found = JSON.parse(sessionStorage.getItem("found") || "[]");
const check = (what, holds) => found.push(`${holds ? "ok" : "FAILED"} ${what}`);

const rows = () => all("table.runs tbody tr");
const legend = all(".legend button");
const lines = s => all(`.charts g[data-s="${s}"]`);
const charts = all(".charts svg");

function looks() {
  check("nothing is loaded from elsewhere", performance.getEntriesByType("resource").every(e => e.name.startsWith("data:")));
  check("four groups of runs, each with a row and with lines",
        rows().length === 4 && legend.length === 4 &&
        legend.every(b => lines(b.dataset.s).length >= 4 && lines(b.dataset.s).every(seen)));
  check("seeds are a band", lines(legend[0].dataset.s).some(g => g.querySelector(".band")));
  check("pictures of code books are drawn", all("figure img").length > 0 && all("img").every(i => i.complete && i.naturalWidth > 0));
  check("nothing sticks out at the side", document.documentElement.scrollWidth <= innerWidth);
  const light = colour => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + part / 765, 0);
  const style = getComputedStyle(document.body), ground = light(style.backgroundColor), ink = light(style.color);
  check("light or dark as asked", location.hash === "#dark" ? ground < 0.2 && ink > 0.8 : ground > 0.8 && ink < 0.2);
}

function points() {
  const tip = first("#tip");
  for (const svg of charts) {
    const s = legend[0].dataset.s, end = svg.querySelector(`g[data-s="${s}"] .end`);
    if (!end) continue;
    const box = end.getBoundingClientRect(), title = svg.dataset.label;
    svg.dispatchEvent(new MouseEvent("mousemove", { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true }));
    const tipped = tip.getBoundingClientRect();
    check(`values show under the pointer, over ${title}`,
          seen(tip) && tip.textContent.includes(legend[0].textContent.trim()) && /\d/.test(tip.querySelector("b").textContent));
    check(`and stay within the window, over ${title}`,
          tipped.left >= 0 && tipped.right <= innerWidth + 1 && tipped.top >= 0 && tipped.bottom <= innerHeight + 1);
    svg.dispatchEvent(new MouseEvent("mouseleave"));
    check(`and go with it, over ${title}`, !seen(tip));
  }
}

function clicks() {
  const [one, ...others] = legend.map(b => b.dataset.s);
  const hidden = s => lines(s).every(g => !seen(g)), shown = s => lines(s).every(seen);
  legend[0].click();
  check("a click hides a line", hidden(one) && others.every(shown) &&
        legend[0].getAttribute("aria-pressed") === "false");
  legend[0].click();
  check("another shows it", shown(one));
  legend[0].dispatchEvent(new MouseEvent("dblclick"));
  check("a double click shows a line alone", shown(one) && others.every(hidden));
  legend[0].dispatchEvent(new MouseEvent("dblclick"));
  check("another shows all", [one, ...others].every(shown));
}

function sorts() {
  const order = () => rows().map(r => r.dataset.s).join(), before = order(), orders = new Set();
  all("table.runs th").forEach((head, column) => {
    const values = () => rows().map(r => r.cells[column].dataset.v ?? r.cells[column].textContent).filter(v => v !== "" && isFinite(v));
    const rises = numbers => numbers.every((v, i) => i === 0 || +numbers[i - 1] <= +v);
    head.click();
    orders.add(order());
    check(`${head.textContent}: sorts upwards`, rises(values()) && head.getAttribute("aria-sort") === "ascending");
    head.click();
    orders.add(order());
    check(`${head.textContent}: then downwards`, rises(values().reverse()) && head.getAttribute("aria-sort") === "descending");
    head.click();
    check(`${head.textContent}: then as before`, order() === before && !first("th[aria-sort]"));
  });
  check("the orders differ", orders.size > 1);
}

function filters(word) {
  const input = first(".filter");
  input.value = word;
  input.dispatchEvent(new Event("input"));
}

function filtered() {
  const left = rows().filter(seen);
  return left.length === 1 && left[0].textContent.includes("gold") && lines(left[0].dataset.s).every(seen) &&
         rows().filter(r => r !== left[0]).every(r => lines(r.dataset.s).every(g => !seen(g)));
}

function prints() {
  const folded = all("details:not([open])").length;
  dispatchEvent(new Event("beforeprint"));
  check("paper shows what is folded", folded > 0 && all("details:not([open])").length === 0);
  dispatchEvent(new Event("afterprint"));
  check("and the screen as before", all("details:not([open])").length === folded);
}

function commands() {
  const said = all("pre.command").map(e => e.textContent);
  check("every run has its command", said.length >= 8 && said.every(c => /^subfleet (train|tune) /.test(c.trim())));
}

if (!sessionStorage.getItem("found")) {
  for (const part of [looks, points, clicks, sorts, prints, commands]) {
    try { part(); } catch (error) { check(`${part.name}: ${error}`, false); }
  }
  filters("GOLD");
  check("a filter leaves what has its words", filtered());
  sessionStorage.setItem("found", JSON.stringify(found));
  location.reload();
} else {
  check("a reload keeps the filter", first(".filter").value === "GOLD" && filtered());
  filters("");
  check("without a filter all are back", rows().every(seen));
  const pre = document.createElement("pre");
  pre.id = "found";
  pre.textContent = found.join("\n");
  document.body.append(pre);
}
})();

/** How a study was done: the table, the settings, the certificate, the tolerance, and code that repeats it. */

import type { PageData, Tolerance } from "./data";
import { button, h, note, s } from "./dom";
import { axes, figure, path } from "./figure";
import { percent, short } from "./format";
import { extent, padded } from "./scale";

export function doneView(data: PageData): HTMLElement {
  return h("div", {}, h("h3", {}, "The table"), facts(data.table), h("h3", {}, "The steps"), h("p", {}, data.done.text),
    data.tolerance && tolerancePart(data.tolerance),
    h("h3", {}, "Settings, versions and certificate"), facts(data.done.facts),
    h("h3", {}, "To repeat this study"), code("in Python", data.done.python.join("\n")),
      code("on the command line", data.done.shell));
}

function facts(pairs: [string, string][]): HTMLElement {
  return h("dl", { class: "facts" }, pairs.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
}

/** Lines of code with a button that copies them. */
export function code(name: string, text: string): HTMLElement {
  const copy = button("Copy", () => void navigator.clipboard?.writeText(text)
    .then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Select and copy"; }),
    { "aria-label": `Copy the code ${name}` });
  return h("div", { class: "code" }, h("p", { class: "note" }, name, " ", copy), h("pre", { tabindex: 0 }, text));
}

function tolerancePart(tolerance: Tolerance): HTMLElement {
  const { columns, curve, best, choice } = tolerance;
  const made = axes({
    x: padded(extent(curve.map((line) => line[0] ?? 0)), 0.03),
      y: padded(extent(curve.flatMap((line) => line.slice(1))), 0.08), xLabel: "tolerance", yLabel: "error",
    xFormat: (value) => percent(value, 0), yFormat: (value) => short(value, 3), label: "Error over the tolerance",
  });
  const { svg, x, y, frame } = made;
  [1, 2].forEach((column) =>
    svg.append(s("path", { d: path(curve.map((line) => [x(line[0] ?? 0), y(line[column] ?? 0)])), class: column === 2
    ? "curve strong-line" : "curve plain-line" })));
  svg.append(s("line", { x1: x(best), x2: x(best), y1: frame.top, y2: frame.height - frame.bottom, class: "dashed" }));
  return h("div", {}, h("h3", {}, "How much the metric may change"),
    note(`The error of the smallest map within each tolerance: ${columns[2]} (dark) and ${columns[1]} (light). The intervals use ${percent(best, 0)}: the largest that predicts held-out cases as well as the learned map, within a standard error, and at least 5%. ${choice}`),
    h("div", { class: "narrow" }, figure(null, svg)));
}

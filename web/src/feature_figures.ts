/** Figures of many features at once: all of them in the order of the table, and their relevance in each class. */

import { VERDICT_CLASS } from "./colours";
import { describeFeature, VERDICTS, VERDICT_ORDER, verdictOf, type PageData } from "./data";
import { button, h, note, s, scrolled } from "./dom";
import { axes, figure, hideTip, path, showTip } from "./figure";
import { count, short } from "./format";
import { extent } from "./scale";
import type { Store } from "./selection";

const MOST_CLASSES = 20; // columns
const MOST_PROFILES = 30; // lines
const REACH = 2; // pixels
const MOST_DOTS = 200; // of one verdict
const MOST_STEPS = 480; // of the drawn outline; more would be thinner than what a screen shows

/** The feature at a place along the axis: of several within reach the one that can weigh most. */
export function tallest(upper: (number | null)[], at: number, reach: number): number {
  const own = Math.max(0, Math.min(upper.length - 1, Math.floor(at)));
  let best = own;
  for (let j = Math.max(0, Math.ceil(at - reach)); j <= Math.min(upper.length - 1, at + reach - 1); j += 1) {
    if ((upper[j] ?? 0) > (upper[best] ?? 0)) best = j;
  }
  return best;
}

/** The highest of each so many values that follow one another. */
export function highest(values: (number | null)[], together: number): number[] {
  return Array.from({ length: Math.ceil(values.length / together) }, (_, k) =>
    extent([0, ...values.slice(k * together, (k + 1) * together)])[1]);
}

/** Least and most weight of every feature, in the order of the table; the pointer reads single ones. */
export function overviewFigure(data: PageData, store: Store): HTMLElement {
  const { lower, upper, names } = data.features;
  const top = extent([0, ...upper])[1] || 1;
  const drawn = axes({ width: 1000, height: 220, x: [0, names.length], y: [0, top * 1.04],
    xLabel: "in the order of the table", yLabel: "weight",
    label: `Least and most weight of ${count(names.length)} ${data.noun}s` });
  const { svg, x, y, frame } = drawn;
  const together = Math.ceil(names.length / MOST_STEPS);
  const step = (values: (number | null)[]) => highest(values, together).flatMap((value, k): [number, number][] =>
    [[x(k * together), y(value)], [x(Math.min(names.length, (k + 1) * together)), y(value)]]);
  svg.append(s("path", { d: `${path(step(upper))}L${x(names.length)} ${y(0)}L${x(0)} ${y(0)}Z`, class: "area most" }),
    s("path", { d: `${path(step(lower))}L${x(names.length)} ${y(0)}L${x(0)} ${y(0)}Z`, class: "area least" }));
  const few = VERDICT_ORDER.map((code) => ({ code, own: names.map((_, j) => j)
    .filter((j) => verdictOf(data, j) === code) }))
    .filter(({ code, own }) => code !== "n" && own.length > 0 && own.length <= MOST_DOTS);
  for (const { code, own } of [...few].reverse()) {
    own.forEach((j) => svg.append(s("circle", { cx: x(j + 0.5), cy: y(upper[j] ?? 0), r: 3.5,
      class: VERDICT_CLASS[code] })));
  }
  const pointer = s("line", { y1: frame.top, y2: frame.height - frame.bottom, class: "pointer" });
  const hit = s("rect", { x: frame.left, y: frame.top, width: frame.width - frame.left - frame.right,
    height: frame.height - frame.top - frame.bottom, class: "hit clickable" });
  const at = (event: MouseEvent) => {
    const box = hit.getBoundingClientRect();
    return tallest(upper, ((event.clientX - box.left) / box.width) * names.length, (REACH * names.length) / box.width);
  };
  hit.addEventListener("mousemove", (event) => showTip(event, describeFeature(data, at(event))));
  hit.addEventListener("mouseleave", hideTip);
  hit.addEventListener("click", (event) => store.chooseFeature(at(event)));
  svg.append(pointer, hit);
  store.follow(({ feature }) => {
    pointer.setAttribute("visibility", feature === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) pointer.setAttribute(end, String(x((feature ?? 0) + 0.5)));
  });
  return figure(`Least (dark) and most (light) weight of all ${count(names.length)} ${data.noun}s${few.length ? `; dots: ${few.map(({ code }) => VERDICTS[code]).join(", ")}` : ""}`,
    h("div", { class: "overview" }, svg));
}

/** The mean relevance of features in each class, as a table of shades. */
export function profilesTable(data: PageData, profiles: NonNullable<PageData["profiles"]>, store: Store): HTMLElement {
  const classes = profiles.classes.slice(0, MOST_CLASSES);
  const most = extent(profiles.shares.flat())[1] || 1;
  const lines = profiles.features.slice(0, MOST_PROFILES).map((j, row) => h("tr", {},
    h("th", { scope: "row" }, button(data.features.names[j] ?? "", () => store.chooseFeature(j), { class: "inline" })),
    classes.map((_, k) => {
      const share = profiles.shares[row]?.[k] ?? 0;
      return h("td", { class: "shade number", style: { "--share": (share / most).toFixed(3) } }, short(share, 2));
    })));
  const hidden = profiles.classes.length - classes.length;
  return h("div", {}, h("h3", {}, "What each class looks at"),
    note(`Mean relevance of the ${data.noun}s in each class.`, profiles.features.length > MOST_PROFILES
      && ` The first ${MOST_PROFILES} ${data.noun}s by verdict.`,
      hidden > 0 && ` ${hidden} more classes are in profiles.csv.`),
    scrolled(h("table", { class: "matrix" }, h("thead", {},
      h("tr", {}, h("td", {}), classes.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, lines))));
}

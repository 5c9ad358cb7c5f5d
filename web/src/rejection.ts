/** Which predictions can be relied on: how many of the accepted cases are right, at a threshold that can be moved. */

import { isWrong, type PageData, type Rejection } from "./data";
import { button, h, note, replace, s, table, type Child } from "./dom";
import { axes, path } from "./figure";
import { count, counted, percent } from "./format";
import type { Store } from "./selection";

const MOST_LISTED = 10;

/** The cases in the order in which they are accepted, and how many of the first k are right. */
export function acceptance(certainty: number[], wrong: (place: number) => boolean): { order: number[];
  right: number[] } {
  const order = certainty.map((_, place) => place).sort((a, b) => certainty[b]! - certainty[a]! || a - b);
  let total = 0;
  return { order, right: order.map((place) => (total += wrong(place) ? 0 : 1)) };
}

export function rejectionPart(data: PageData, rejection: Rejection, store: Store): HTMLElement {
  const { order, right } = acceptance(rejection.certainty, (place) => isWrong(data, place));
  const n = order.length;
  const first = Math.max(1, rejection.promised === null ? Math.round(0.9 * n) : n - rejection.rejected.length);
  const said = h("p", { class: "lead", role: "status" });
  const drawn = curve(right, rejection.promised === null ? null : first);
  let accepted = first;
  const show = () => {
    const wrong = accepted - right[accepted - 1]!;
    said.textContent = `Accepting the most certain ${percent(accepted / n)} of the cases, ${percent(right[accepted - 1]! / accepted)} of them are right: of ${counted(accepted, "case")}, ${count(wrong)} ${wrong === 1 ? "is" : "are"} wrong.`;
    drawn.mark(accepted);
  };
  const slider = h("input", { type: "range", id: "accepted", min: 1, max: n, step: 1, value: first,
    input: () => { accepted = Number(slider.value); show(); } });
  show();
  return h("section", { id: "rejection", "aria-label": "Rejection" }, h("h3", {}, "Which predictions can be relied on"),
    rejection.sentences.map((sentence) => h("p", {}, sentence)),
    h("div", { class: "pair" }, h("div", {}, drawn.svg,
      h("label", { class: "slider wide-slider" }, h("span", {}, "cases accepted"), slider)),
      h("div", {}, said, button("Choose the rejected cases", () =>
        store.set({ group: accepted < n ? { kind: "rows", places: order.slice(accepted) } : null, view: "map" }),
        { id: "choose-rejected" }), rejection.promises.length > 0 && promises(rejection))),
    note("Each held-out case has a certainty, the probability that its prediction is right, estimated from the others. If only the most certain cases are accepted, more of them are right. A promise holds for new cases like these, in all accepted ones together, with a confidence of 90%: in one of ten studies it may not. New cases are predicted with it by whynear predict --accuracy 0.99."),
    rejection.rejected.length > 0 && rejected(data, rejection, store));
}

/** How many are right over how many are accepted; a dashed line where the promise accepts. */
function curve(right: number[], promised: number | null): { svg: SVGSVGElement; mark: (accepted: number) => void } {
  const n = right.length;
  const shares = right.map((hits, place) => hits / (place + 1));
  const least = shares.reduce((one, other) => Math.min(one, other), 0.98);
  const { svg, x, y, frame } = axes({ left: 68, x: [0, 1], y: [least - 0.01, 1.002], xLabel: "share of cases accepted",
    yLabel: "share of them right", xFormat: (share) => percent(share, 0), yFormat: (share) => percent(share, 1),
    label: "Share of accepted cases right over the share accepted" });
  const points = shares.map((share, place): [number, number] => [x((place + 1) / n), y(share)]);
  svg.append(s("path", { d: path(points), class: "curve strong-line" }));
  if (promised !== null) svg.append(s("line", { x1: x(promised / n), x2: x(promised / n),
    y1: frame.top, y2: frame.height - frame.bottom, class: "dashed" }));
  const dot = s("circle", { r: 6, class: "replaceable" });
  svg.append(dot);
  return { svg, mark: (accepted) => { const [cx, cy] = points[accepted - 1]!; dot.setAttribute("cx", String(cx));
    dot.setAttribute("cy", String(cy)); } };
}

function promises(rejection: Rejection): HTMLElement {
  return table(["#right, at least", "#accepted", "#accepted here", "#of these wrong", "#accepted cases needed"],
    rejection.promises.map(([accuracy, given, coverage, accepted, wrong, needed]): Child[] => (given
    ? [percent(accuracy), percent(coverage), count(accepted), count(wrong), "–"]
    : [percent(accuracy), "not promised", "–", "–", needed === null ? "too many errors" : count(needed)])));
}

function rejected(data: PageData, rejection: Rejection, store: Store): HTMLElement {
  const places = new Map(data.cases.rows.map((row, place) => [row, place]));
  const more = rejection.rejected.length - MOST_LISTED;
  const list = h("div", {});
  replace(list, table(["row", "#certainty", "reason"], rejection.rejected.slice(0, MOST_LISTED)
    .map(([row, reason]): Child[] => {
    const place = places.get(row);
    return [button(row, () => store.set({ case: place ?? null, view: "case" }), { class: "inline" }),
      percent(place === undefined ? null : rejection.certainty[place]), reason];
  })));
  return h("div", {}, note(rejection.promised === null ? "Nothing is promised, so that no case is accepted. "
    : `The threshold of the promise rejects ${counted(rejection.rejected.length, "case")} of all ${count(data.cases.rows.length)}. `,
    more > 0 && `These are the ${MOST_LISTED} least certain; the file rejected.csv contains all. `,
      "Ambiguous: between classes. Outlier: farther from the nearest case or prototype than 95% of the cases."), list);
}

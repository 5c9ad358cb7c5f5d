/** The errors of a measured target: predictions over measured values, errors over predictions, the largest errors. */

import { classColour } from "./colours";
import { describeCase, type PageData, type ValueErrors } from "./data";
import { button, h, note, table, type Child } from "./dom";
import { figure } from "./figure";
import { short, signed } from "./format";
import { alike, FAINT, RING, type Looks } from "./looks";
import { Scatter } from "./scatter";
import { casesOf, type Store } from "./selection";
import type { Point } from "./geometry";
import type { Scale } from "./scale";

export function residualsView(data: PageData, errors: ValueErrors, store: Store): HTMLElement {
  const places = new Map(data.cases.rows.map((row, place) => [row, place]));
  const measured = Float32Array.from(data.cases.true);
  const predicted = Float32Array.from(data.cases.predicted);
  const wrong = Float32Array.from(data.cases.true, (value, place) => value - (data.cases.predicted[place] ?? 0));
  const worst = errors.largest.map(([row]) => places.get(row) ?? -1);
  const looksOf = (group: number[] | null): Looks => {
    const looks = alike(measured.length, [{ colour: classColour(0), shape: "circle" }]);
    worst.filter((place) => place >= 0).forEach((place) => { looks.state[place]! |= RING; });
    if (group) looks.state.forEach((_, place) => { looks.state[place]! |= FAINT; });
    for (const place of group ?? []) if (place < measured.length) looks.state[place]! &= ~FAINT;
    return looks;
  };
  const common = { text: (place: number) => describeCase(data, place), pick: (found: number[]) =>
    store.chooseCase(found[0] ?? null) };
  const across = (at: { x: Scale; y: Scale }, height: number,
    dashed: boolean) => ({ from: [at.x(predicted.reduce((a, b) => Math.min(a, b), Infinity)), at.y(height)] as Point,
    to: [at.x(predicted.reduce((a, b) => Math.max(a, b), -Infinity)), at.y(height)] as Point, dashed });
  const lower = Math.min(...measured, ...predicted);
  const upper = Math.max(...measured, ...predicted);
  const left = new Scatter({ ...common, name: "Predicted over measured values", x: measured, y: predicted,
    xLabel: `measured ${data.target}`, yLabel: "predicted",
    lines: (at) => [{ from: [at.x(lower), at.y(lower)], to: [at.x(upper), at.y(upper)], dashed: true }] });
  const right = new Scatter({ ...common, name: "Errors over predicted values", x: predicted, y: wrong,
    xLabel: `predicted ${data.target}`, yLabel: "measured − predicted",
    lines: (at) => [across(at, 0, true), ...(errors.interval ?? []).map((end) => across(at, end, false))] });
  let looks: Looks | null = null;
  store.follow((now, before) => {
    if (looks === null || now.group !== before.group) looks = looksOf(casesOf(now.group, data));
    const chosen = now.case !== null && now.case < measured.length ? now.case : null;
    [left, right].forEach((map) => map.show(looks!, chosen));
  });
  return h("div", {}, h("h3", {}, "Errors"),
    h("p", {}, `Of all held-out predictions, the typical error (root mean square) is ${short(errors.typical)}; half of them err by at most ${short(errors.median)}.`),
    errors.patterns.map((pattern) => h("p", {}, pattern)),
    h("div", { class: "pair" }, figure("predictions", left.element), figure("errors", right.element)),
    note("Each point is a row, predicted when it was held out. Left: on the dashed line, prediction and measured value are equal. Right: above the dashed line, the measured value is higher than the prediction",
      errors.interval && "; 90% of the errors lie between the dotted lines, and the intervals of new predictions are as wide",
        ". Rings mark the rows of the table below."),
    h("h3", {}, "The rows predicted worst"),
    table(["row", "#measured", "#predicted", "#measured − predicted"],
      errors.largest.map(([row, truth, value, error]): Child[] => [
      button(row, () => store.set({ case: places.get(row) ?? null, view: "case" }), { class: "inline" }), short(truth),
        short(value), signed(error, 4)])));
}

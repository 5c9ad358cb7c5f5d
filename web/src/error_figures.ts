/** ROC curves and the calibration of probabilities. */

import { classColour } from "./colours";
import type { ClassErrors } from "./data";
import { s } from "./dom";
import { answering, axes, narrow, path } from "./figure";
import { count, percent } from "./format";

const SHARES = [0, 0.25, 0.5, 0.75, 1];
const ALL: [number, number] = [0, 1];

function square(xLabel: string, yLabel: string, label: string) {
  const made = axes({ width: narrow() ? 340 : 460, height: narrow() ? 300 : 360, x: ALL, y: ALL, xTicks: SHARES,
    yTicks: SHARES, xLabel, yLabel, label, xFormat: (share) => percent(share, 0), yFormat: (share) =>
    percent(share, 0) });
  made.svg.append(s("line", { x1: made.x(0), y1: made.y(0), x2: made.x(1), y2: made.y(1), class: "dashed" }));
  return made;
}

export function rocFigure(errors: ClassErrors): SVGSVGElement {
  const { svg, x, y } = square("share of other classes above the threshold", "share of the class above it",
    `ROC curves, area ${errors.roc.area.toFixed(3)}`);
  for (const curve of errors.roc.curves) {
    const points = curve.false_rate.map((share, place): [number, number] => [x(share), y(curve.true_rate[place] ?? 0)]);
    const line = s("path", { d: path(points), class: "curve", stroke: classColour(curve.class) });
    answering(line, `${errors.classes[curve.class]}: area ${curve.area.toFixed(3)}`);
    svg.append(line);
  }
  return svg;
}

export function calibrationFigure(errors: ClassErrors): SVGSVGElement {
  const { svg, x, y } = square("probability of the prediction", "share that is right",
    `Calibration, expected error ${errors.calibration.error.toFixed(3)}`);
  for (const [probability, right, least, most, cases] of errors.calibration.bins) {
    const point = s("g", {}, s("line",
      { x1: x(probability), x2: x(probability), y1: y(least), y2: y(most), class: "whisker indispensable" }),
      s("circle", { cx: x(probability), cy: y(right), r: 5, class: "indispensable" }),
      s("text", { x: x(probability), y: y(most) - 6, "text-anchor": "middle", class: "tick" }, count(cases)));
    answering(point, `${count(cases)} predictions of probability ${percent(probability)}: ${percent(right)} are right (${percent(least)} to ${percent(most)})`);
    svg.append(point);
  }
  return svg;
}

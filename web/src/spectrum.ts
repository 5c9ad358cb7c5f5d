/** Spectra along their real axis: mean spectra, bands by verdict, and the weights of the channels. */

import { classColour, VERDICT_CLASS } from "./colours";
import { describeFeature, VERDICTS, verdictOf, type PageData, type Spectrum } from "./data";
import { button, h, note, s, table, type Child } from "./dom";
import { answering, axes, bar, figure, legendMark, path } from "./figure";
import { percent, points } from "./format";
import { extent, padded } from "./scale";
import type { Store } from "./selection";

const DASHES = ["", "7 4", "2 3", "8 3 2 3", "12 3", "1 2"];

export function spectrumView(data: PageData, spectrum: Spectrum, store: Store): HTMLElement {
  const members = data.sets.best.length < data.features.names.length ? data.sets.best : [];
  const several = spectrum.means.length > 1;
  return h("section", { id: "spectrum", "aria-label": "Spectrum" }, h("h3", {}, "Where on the spectrum"),
    note(`${data.noun === "band" ? "Features are bands" : "Bands are"}: neighbouring channels that vary together, found without the target. Above: the mean spectrum${several ? " of each class" : ""} before `,
      "preprocessing. Bands that are indispensable, replaceable or undecided are shaded; a line above marks the bands of the smallest set that suffices. Below: the weight of each ",
      `preprocessed channel in the model, per standard deviation${spectrum.upwards ? `; above zero, ${spectrum.upwards}` : ""}. `,
      "Neighbouring channels share information, so a single weight says little; the verdicts come from leaving out whole bands."),
    figure(several && h("span", { class: "legend-line" }, spectrum.means.map(([name], k) =>
      h("span", {}, legendMark("circle", classColour(k)), name))),
      drawing(data, spectrum, store, members)),
    spectrum.upwards !== "" && table(["band", "verdict", "#points lost without it", "sign of its weights"],
      spectrum.bands
      .filter(([j]) => "ir".includes(verdictOf(data, j)) || members.includes(j))
      .map(([j, , , sign]): Child[] =>
        [button(data.features.names[j] ?? "", () => store.chooseFeature(j), { class: "inline" }),
        VERDICTS[verdictOf(data, j)],
        `${points(data.features.loss[j] ?? null)} ± ${points(data.features.error[j] ?? null)}`, sign])),
    preprocessing(data, spectrum));
}

function drawing(data: PageData, spectrum: Spectrum, store: Store, members: number[]): HTMLElement {
  const { positions } = spectrum;
  const ends: [number, number] = [positions[0] ?? 0, positions[positions.length - 1] ?? 1];
  const means = spectrum.means.map(([, values]) => values);
  const upper = axes({ width: 1000, height: 260, bottom: 22, x: ends, xLabel: "", yLabel: "mean spectrum",
    y: padded(extent(means.flat()), 0.05), label: "Mean spectrum with bands" });
  const lower = axes({ width: 1000, height: 180, top: 4, x: ends, xLabel: spectrum.label, yLabel: spectrum.upwards
    ? "signed weight" : "weight", y: padded(extent([0, ...spectrum.weights]), 0.05),
    label: "Weights of the channels" });
  const bands: SVGElement[][] = spectrum.bands.map(([j, first, last]) => [upper, lower].map(({ svg, x, frame }) => {
    const [left, right] = [Math.min(x(first), x(last)), Math.max(x(first), x(last))];
    const band = s("rect", { x: left, y: frame.top, width: Math.max(0.5, right - left),
      height: frame.height - frame.top - frame.bottom, class: `band ${VERDICT_CLASS[verdictOf(data, j)]}`,
      "data-feature": j });
    answering(band, describeFeature(data, j), () => store.chooseFeature(j));
    svg.append(band);
    if (members.includes(j) && svg === upper.svg) svg.append(s("rect",
      { x: left, y: 3, width: Math.max(1, right - left), height: 5, class: "member-line" }));
    return band;
  }));
  means.forEach((values, k) => upper.svg.append(s("path", {
    d: path(values.map((value, channel) => [upper.x(positions[channel] ?? 0), upper.y(value)])), class: "curve",
      stroke: classColour(k), "stroke-dasharray": DASHES[k % DASHES.length],
  })));
  const step = Math.max(1, Math.abs(lower.x(positions[1] ?? 1) - lower.x(positions[0] ?? 0)) * 0.9);
  spectrum.weights.forEach((weight, channel) => {
    const [from, to] = [lower.y(0), lower.y(weight)];
    lower.svg.append(s("rect", { x: lower.x(positions[channel] ?? 0) - step / 2, y: Math.min(from, to), width: step,
      height: Math.abs(to - from), class: weight < 0 ? "down" : "up" }));
  });
  lower.svg.append(s("line", { x1: lower.frame.left, x2: lower.frame.width - lower.frame.right, y1: lower.y(0),
    y2: lower.y(0), class: "axis" }));
  store.follow(({ feature }) => bands.forEach((parts, k) =>
    parts.forEach((part) => part.classList.toggle("chosen", spectrum.bands[k]?.[0] === feature))));
  return h("div", { class: "spectrum" }, upper.svg, lower.svg);
}

function preprocessing(data: PageData, spectrum: Spectrum): HTMLElement {
  return h("details", {}, h("summary", {}, "How the spectra were preprocessed"),
    h("p", {}, spectrum.sentence, !spectrum.even
      && " The channels are not equally far apart, and smoothing, derivatives and baselines count them as if they were."),
    note("Scores of ridge regression on all rows, each predicted from the others. The first whose error is within a standard error, or 5%, of the best was taken. Scores of the study do not use this choice but those of its folds."),
    table(["preprocessing", `#${data.kind === "numbers" ? "variance explained" : "rows predicted right"}`, ""],
      spectrum.preprocessing.map(([name, score, chosen]): Child[] =>
        [name + (chosen ? " (chosen)" : ""), percent(score), bar(0, Math.max(0, score), [0, 1], chosen ? "strong"
        : "plain")])));
}

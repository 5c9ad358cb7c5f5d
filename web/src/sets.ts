/** The smallest sets that suffice, the score for each number of features, and who can stand in for whom. */

import { standIns, type PageData } from "./data";
import { button, h, note, s, scrolled, table, type Child } from "./dom";
import { answering, axes, figure, path } from "./figure";
import { count, listed, percent, percents, points } from "./format";
import { featureLink, withFeatures } from "./finding";
import { extent, padded, ticks } from "./scale";
import type { Store } from "./selection";

const MOST_SIZES = 8; // lines of the table of sets; the figure has all
const MOST_NAMES = 30; // lines and columns of the matrix of stand-ins

export function setsView(data: PageData, store: Store): HTMLElement {
  const { best, curve, score, all } = data.sets;
  const names = data.features.names;
  const smaller = best.length < names.length;
  const right = data.features.measure === "accuracy" ? "accuracy" : "variance explained";
  return h("div", {},
    h("p", { class: "lead" }, smaller
      ? [`${count(best.length)} of ${count(names.length)} ${data.noun}s ${best.length === 1 ? "suffices" : "suffice"}: `,
        members(data, best), `. With ${best.length === 1 ? "it" : "them"} alone ${percent(score)} (${right} on held-out rows), with all ${percent(all)}.`]
      : `No smaller set is shown to do as well as all ${count(names.length)} ${data.noun}s.`),
    curve.length > 1 && h("div", { class: "pair" }, curveFigure(data), sizesTable(data)),
    note(whoseScores(data)),
    data.sets.check && note(`${data.sets.check} The curve is judged on fewer rows.`),
    curve.length > 1 && note(`${upper(data.noun)}s were removed one after the other, the least needed first, and added one after the other. Each number of ${data.noun}s is judged on rows that did not choose them; bars are standard errors of the difference from all.`),
    data.features.stand_ins.length > 0 && standInsPart(data, store));
}

/** Scores of sets are not those of the learner, which can differ much from them: both stand side by side. */
function whoseScores(data: PageData): string {
  const refitted = "These are scores of the models that were refitted for the verdicts, of which the best may answer";
  const alike = data.kind === "numbers" || data.methods.measure === "accuracy";
  return alike ? `${refitted}; the model that predicts new cases reaches ${data.methods.score}.` : `${refitted}.`;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function members(data: PageData, features: number[]): Child[] {
  return features.flatMap((j, place): Child[] => [place ? ", " : "", featureLink(data, j)]);
}

function curveFigure(data: PageData): HTMLElement {
  const { best, curve } = data.sets;
  const all = curve[curve.length - 1]![1];
  const drawn = curve.slice(0, -1).length ? curve.slice(0, -1) : curve;
  const sizes = drawn.map(([size]) => size);
  const reach = drawn.flatMap(([, score, error]) => [score - (error ?? 0), score + (error ?? 0)]);
  const [horizontal, vertical] = [padded(extent(sizes), 0.04), padded(extent([...reach, all]), 0.06)];
  const yTicks = ticks(...vertical);
  const made = axes({
    left: 70, x: horizontal, y: vertical, xLabel: `number of ${data.noun}s`,
      yLabel: data.features.measure === "accuracy" ? "accuracy" : "R²",
    xTicks: ticks(...horizontal, 6).filter(Number.isInteger), yTicks, yFormat: percents(yTicks),
    label: `Score over the number of ${data.noun}s`,
  });
  const { svg, x, y, frame } = made;
  svg.append(s("line", { x1: frame.left, x2: frame.width - frame.right, y1: y(all), y2: y(all), class: "dashed" }),
    s("path", { d: path(drawn.map(([size, score]) => [x(size), y(score)])), class: "curve strong-line" }));
  for (const [size, score, error, features] of drawn) {
    const point = s("g", {}, s("line",
      { x1: x(size), x2: x(size), y1: y(score - (error ?? 0)), y2: y(score + (error ?? 0)),
      class: "whisker indispensable" }),
      s("circle", { cx: x(size), cy: y(score), r: size === best.length ? 7 : 4, class: size === best.length
        ? "replaceable" : "indispensable" }));
    answering(point, `${size}: ${percent(score)} ± ${percent(error)}${features.length ? `, ${listed(features.map((j) => data.features.names[j]!), 8)}` : ""}`);
    svg.append(point);
  }
  const chosen = sizes.includes(best.length) ? `The large dot is the chosen number, ${best.length}; t` : "T";
  return figure(`${chosen}he dashed line is the score with all ${count(data.features.names.length)}, ${percent(all)}`, svg);
}

function sizesTable(data: PageData): HTMLElement {
  const named = data.sets.curve.filter(([, , , features]) => features.length > 0).slice(0, MOST_SIZES);
  return table([`#${data.noun}s`, "#score", "which"], named.map(([size, score, error, features]): Child[] => [
    size, `${percent(score)}${error === null || size === data.features.names.length ? "" : ` ± ${percent(error)}`}`,
    h("span", { class: size === data.sets.best.length ? "chosen-set" : null }, size > 8
      ? listed(features.map((j) => data.features.names[j]!), 8) : members(data, features))]));
}

function standInsPart(data: PageData, store: Store): HTMLElement {
  const names = data.features.names;
  const involved = [...new Set(data.features.stand_ins.flatMap(([one, other]) => [one, other]))].slice(0, MOST_NAMES);
  const price = new Map(data.features.stand_ins.map(([one, other, points_, error]) =>
    [`${one},${other}`, [points_, error] as const]));
  const most = Math.max(1, ...data.features.stand_ins.map(([, , points_]) => Math.abs(points_)));
  const lines = involved.map((one) => h("tr", {},
    h("th", { scope: "row" }, button(names[one] ?? "", () => store.chooseFeature(one), { class: "inline" })),
    involved.map((other) => {
      const found = price.get(`${one},${other}`);
      return found ? h("td", { class: `number shade ${found[0] < 0 ? "gain" : "loss"}`,
        style: { "--share": (Math.abs(found[0]) / most).toFixed(3) }, title: `± ${points(found[1])}` },
        points(found[0])) : h("td", {});
    })));
  const without = data.sets.best.filter((j) => standIns(data, j).length === 0);
  return h("div", {}, h("h3", {}, "Who can stand in for whom"),
    note("Each pair was refitted with the one in the other's place, the rest of the smallest set unchanged."),
    h("ul", {}, data.finding.stand_ins.map((sentence) => h("li", {}, withFeatures(sentence, data)))),
    without.length > 0 && data.sets.best.length < names.length && h("p", {}, "No stand-in was found for ",
      members(data, without), "."),
    h("details", { open: involved.length <= 12 }, h("summary", {},
      `Points lost with each stand-in (line: the ${data.noun}, column: its stand-in)`),
      scrolled(h("table", { class: "matrix" }, h("thead", {},
        h("tr", {}, h("td", {}), involved.map((j) =>
        h("th", { scope: "col" }, h("span", { class: "steep" }, names[j]))))), h("tbody", {}, lines)))));
}

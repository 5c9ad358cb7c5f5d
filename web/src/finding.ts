/** The finding in words, each sentence with a link to its evidence, and the features that matter most beside it. */

import { VERDICT_CLASS } from "./colours";
import { describeFeature, ofClasses, VERDICTS, VERDICT_ORDER, verdictOf, type PageData } from "./data";
import { h, note, s, type Child } from "./dom";
import { answering, narrow } from "./figure";
import { clipped, count, points } from "./format";
import { extent, linear, ticks } from "./scale";
import type { Store } from "./selection";

const MOST_LINES = 14; // features beside the words
const EVIDENCE: Record<string, string> = { methods: "all methods", sets: "the sets", spectrum: "the spectrum" };
export const LEAST_RANGE = [-0.2, 0.6]; // points, so that losses of nothing do not look like large ones
const HALF_90 = 1.645; // standard errors on each side of a 90% interval

/** A link that chooses a feature and shows it. */
export function featureLink(data: PageData, feature: number,
  text = data.features.names[feature] ?? ""): HTMLAnchorElement {
  return h("a", { href: `#features?feature=${feature}`, title: describeFeature(data, feature) }, text);
}

/** The text, in which names of features in quotes are links to them. */
export function withFeatures(text: string, data: PageData): Child[] {
  const places = new Map(data.features.names.map((name, place) => [name, place]));
  return text.split(/(“[^”]*”)/).map((part) => {
    const place = places.get(part.replace(/^“|”$/g, ""));
    return part.startsWith("“") && place !== undefined
      ? featureLink(data, place, part)
      : part;
  });
}

export function findingView(data: PageData, store: Store): HTMLElement {
  const words = h("div", { class: "words" },
    data.finding.sentences.map(([text, evidence]) => h("p", {}, withFeatures(text, data), " ",
      h("a", { href: `#${evidence}`, class: "evidence" }, evidence === "features" ? `the ${data.noun}s`
        : EVIDENCE[evidence] ?? evidence))),
    missed(data),
    data.rejection?.sentences.slice(0, 1).map((sentence) =>
      h("p", {}, `${sentence} `, h("a", { href: "#rejection", class: "evidence" }, "the certainty"))),
    data.finding.caveats.length > 0 && h("div", { class: "caveats" }, h("h3", {}, "Caveats"),
      h("ul", {}, data.finding.caveats.map((caveat) => h("li", {}, caveat)))));
  const beside = h("div", {}, h("h3", {}, `What leaving each ${data.noun} out costs`), verdictFigure(data, store),
    legend(data),
    data.features.order.length > MOST_LINES && h("p", {},
      h("a", { href: "#features" }, `All ${count(data.features.order.length)} ${data.noun}s`)));
  return h("div", { class: "first-screen" }, words, beside);
}

/** The most frequent confusions in words; each is a selection. */
function missed(data: PageData): Child {
  if (!ofClasses(data.errors)) return null;
  const { classes, confused, by_class: byClass } = data.errors;
  if (!confused.length) return h("p", {}, "No held-out case is predicted wrong. ",
    h("a", { href: "#errors", class: "evidence" }, "the errors"));
  const lines = confused.slice(0, classes.length === 2 ? 2 : 1).map(([truth, predicted, wrong]) => {
    const [from, to] = [classes.indexOf(truth), classes.indexOf(predicted)];
    const all = byClass[from]?.[0] ?? 0;
    const words = `${count(wrong)} of ${count(all)} cases of “${truth}” ${wrong === 1 ? "is" : "are"} predicted as “${predicted}”`;
    return h("a", { href: `#errors?cell=${from},${to}` }, words);
  });
  const more = classes.length > 2 ? ", the most frequent confusion" : "";
  return h("p", {}, lines.flatMap((line, place): Child[] => (place ? ["; ", line] : [line])), `${more}. `,
    h("a", { href: "#errors", class: "evidence" }, "the errors"));
}

function legend(data: PageData): HTMLElement {
  const used = VERDICT_ORDER.filter((code) => data.features.verdict.includes(code));
  return h("div", {}, note(`Models were refitted without each ${data.noun}, and the best of them may answer. Lines are 90% intervals.`),
    h("dl", { class: "legend" }, used.map((code) =>
      [h("dt", {}, h("span", { class: `badge ${VERDICT_CLASS[code]}` }, VERDICTS[code])),
      h("dd", {}, data.features.meanings?.[code] ?? "")])));
}

/** A line per feature: the points lost without it, with a 90% interval. */
export function verdictFigure(data: PageData, store: Store): SVGSVGElement {
  const { names, loss, error, order } = data.features;
  const shown = order.slice(0, MOST_LINES);
  const low = (j: number) => (loss[j] ?? 0) - HALF_90 * (error[j] ?? 0);
  const high = (j: number) => (loss[j] ?? 0) + HALF_90 * (error[j] ?? 0);
  const [least, most] = extent([...LEAST_RANGE, ...shown.flatMap((j) => [low(j), high(j)])]);
  const [left, width, line] = narrow() ? [132, 360, 24] : [190, 520, 22];
  const height = shown.length * line + 44;
  const x = linear([least, most], [left + 8, width - 12]);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "figure", role: "group",
    "aria-label": `Points of ${data.features.measure} lost without each ${data.noun}` });
  for (const tick of ticks(least, most, 5)) {
    svg.append(s("line", { x1: x(tick), x2: x(tick), y1: 4, y2: height - 38, class: tick === 0 ? "axis" : "grid" }),
      s("text", { x: x(tick), y: height - 22, "text-anchor": "middle", class: "tick" }, points(tick)
        .replace(".0", "")));
  }
  svg.append(s("text", { x: (left + width) / 2, y: height - 5, "text-anchor": "middle", class: "axis-label" },
    `points of ${data.features.measure} lost without it`));
  const groups = shown.map((j, row) => {
    const y = 4 + line * (row + 0.5);
    const look = VERDICT_CLASS[verdictOf(data, j)];
    const group = s("g", { class: `line ${look}`, role: "button", tabindex: 0, "aria-label": describeFeature(data, j),
      "data-feature": j },
      s("rect", { x: 0, y: y - line / 2, width, height: line, class: "hit" }),
      s("text", { x: left - 6, y: y + 4, "text-anchor": "end", class: "name" },
        clipped(names[j] ?? "", narrow() ? 18 : 28)),
      s("line", { x1: x(low(j)), x2: x(high(j)), y1: y, y2: y, class: `whisker ${look}` }),
      s("circle", { cx: x(loss[j] ?? 0), cy: y, r: 5, class: look }));
    const choose = () => store.chooseFeature(j);
    answering(group, describeFeature(data, j), choose);
    group.addEventListener("keydown",
      (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } });
    return group;
  });
  svg.append(...groups);
  store.follow(({ feature }) => groups.forEach((group, row) => {
    group.classList.toggle("chosen", shown[row] === feature);
    group.setAttribute("aria-pressed", String(shown[row] === feature));
  }));
  return svg;
}

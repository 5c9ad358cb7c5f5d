/** All features: verdict, points lost, weight, stability and stand-ins; sorted, searched and filtered. */

import { VERDICT_CLASS } from "./colours";
import { describeFeature, standIns, VERDICTS, VERDICT_ORDER, verdictOf, type PageData } from "./data";
import { button, choice, h, note, replace, scrolled, type Child } from "./dom";
import { bar } from "./figure";
import { between, count, listed, percent, points } from "./format";
import { overviewFigure, profilesTable } from "./feature_figures";
import { LEAST_RANGE } from "./finding";
import { extent } from "./scale";
import type { Store } from "./selection";
import { spectrumView } from "./spectrum";

const PAGE = 40; // lines at first
const MORE = 200; // lines for each click
const HALF_90 = 1.645;

type Key = "verdict" | "name" | "loss" | "upper" | "stability";
interface Order { by: Key; down: boolean }

/** The features that a search and a filter leave, in an order. */
export function arranged(data: PageData, part: string, verdict: string, order: Order): number[] {
  const { names, loss, upper, stability, order: byVerdict } = data.features;
  const rank = new Map(byVerdict.map((feature, place) => [feature, place]));
  const wanted = part.toLowerCase();
  const found = names.map((_, j) => j).filter((j) => names[j]!.toLowerCase().includes(wanted)
    && (!verdict || data.features.verdict[j] === verdict));
  const key = (j: number): number | string => {
    if (order.by === "name") return names[j]!.toLowerCase();
    if (order.by === "verdict") return rank.get(j) ?? 0;
    return (order.by === "loss" ? loss : order.by === "upper" ? upper : stability ?? [])[j] ?? -Infinity;
  };
  const sign = order.down ? -1 : 1;
  return found.sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a - b));
}

export function featuresView(data: PageData, store: Store): HTMLElement {
  const { names } = data.features;
  let part = "";
  let verdict = "";
  let order: Order = { by: "verdict", down: false };
  let most = PAGE;
  const body = h("tbody", { class: "features" });
  const found = h("span", { class: "note", "aria-live": "polite", id: "count" });
  const more = h("p", {});
  const lossEnds = extent([...LEAST_RANGE,
    ...data.features.loss.map((loss, j) => (loss ?? 0) - HALF_90 * (data.features.error[j] ?? 0)),
    ...data.features.loss.map((loss, j) => (loss ?? 0) + HALF_90 * (data.features.error[j] ?? 0))]);
  const weightEnds = extent([0, ...data.features.upper]);
  const line = (j: number) => featureLine(data, store, j, lossEnds, weightEnds);
  const fill = () => {
    const left = arranged(data, part, verdict, order);
    replace(body, left.slice(0, most).map(line));
    found.textContent = left.length > most ? `${count(most)} of ${count(left.length)} shown`
      : `${count(left.length)} ${left.length === 1 ? data.noun : `${data.noun}s`}`;
    replace(more, left.length > most && button(`Show ${count(Math.min(MORE, left.length - most))} more`,
      () => { most += MORE; fill(); }));
    marked();
  };
  const marked = () => {
    for (const row of body.querySelectorAll("tr")) {
      const chosen = Number(row.dataset.feature) === store.now.feature;
      row.classList.toggle("chosen", chosen);
      row.querySelector("button")?.setAttribute("aria-pressed", String(chosen));
    }
  };
  const heads = headings(data, (by) => {
    order = { by, down: order.by === by ? !order.down : by !== "name" && by !== "verdict" };
    most = PAGE;
    fill();
    return order;
  });
  const detail = h("aside", { class: "panel", id: "feature", "aria-live": "polite" });
  store.follow(({ feature }, before) => {
    detail.hidden = feature === null;
    if (feature !== null && (feature !== before.feature || !detail.firstChild)) replace(detail,
      detailOf(data, store, feature));
    marked();
  });
  fill();
  const words = VERDICT_ORDER.map((code): [string, string] => [code, VERDICTS[code]]);
  return h("div", {},
    data.spectrum && spectrumView(data, data.spectrum, store),
    names.length > PAGE && overviewFigure(data, store),
    h("div", { class: "tools" },
      h("label", {}, "Find ", h("input", { type: "search", id: "find", placeholder: "part of a name",
        input: (event) => { part = (event.target as HTMLInputElement).value; most = PAGE; fill(); } })),
      choice("that are", [["", "of any verdict"], ...words], (value) => { verdict = value; most = PAGE; fill(); },
        { id: "verdict" }), found),
    detail,
    scrolled(h("table", { class: "wide-table" }, h("thead", {}, h("tr", {}, heads)), body)), more,
    note(`Points of ${data.features.measure} lost without each ${data.noun}, with 90% intervals. `, data.features.note,
      data.features.stability ? ` Stability is the share of ${data.features.resamples} resamples of the rows with the same verdict.`
        : null, ` Stand-ins were sought for the members of the smallest set, one for one; a replaceable ${data.noun} without any is replaced by several others together.`),
    data.profiles && profilesTable(data, data.profiles, store));
}

/** Whether weights have no intervals, because the distance is no quadratic form of the columns. */
function weighsExactly(data: PageData): boolean {
  return data.features.lower.every((least, j) => least === data.features.upper[j]);
}

function headings(data: PageData, sort: (by: Key) => Order): HTMLElement[] {
  const columns: [Key | null, string][] = [["name", data.noun], ["verdict", "verdict"],
    ["loss", "points lost without it"], ["upper", weighsExactly(data) ? "share of the weights" : "least to most weight"]];
  if (data.features.stability) columns.push(["stability", "stability"]);
  columns.push([null, "can be replaced by"]);
  const heads: HTMLElement[] = columns.map(([by, text]) => {
    const head = h("th", { scope: "col", "data-sort": by, "aria-sort": by === "verdict" ? "ascending" : null });
    head.append(by === null ? text : button(text, () => {
      const { down } = sort(by);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    }));
    return head;
  });
  return heads;
}

function featureLine(data: PageData, store: Store, j: number, lossEnds: [number, number],
  weightEnds: [number, number]): HTMLTableRowElement {
  const { names, loss, error, lower, upper, stability } = data.features;
  const code = verdictOf(data, j);
  const look = VERDICT_CLASS[code];
  const [lost, half] = [loss[j] ?? 0, HALF_90 * (error[j] ?? 0)];
  const others = standIns(data, j).map(([other]) => names[other]!);
  return h("tr", { "data-feature": j, class: data.sets.best.includes(j) && data.sets.best.length < names.length
    ? "member" : null },
    h("td", { class: "name" }, button(names[j] ?? "", () => store.chooseFeature(j), { class: "inline" })),
    h("td", {}, h("span", { class: `badge ${look}` }, VERDICTS[code])),
    h("td", { class: "drawn" }, bar(0, lost, lossEnds, look, [lost - half, lost + half]),
      h("span", {}, `${points(loss[j] ?? null)} ± ${points(error[j] ?? null)}`)),
    h("td", { class: "drawn" }, bar(weighsExactly(data) ? 0 : lower[j] ?? 0, upper[j] ?? 0, weightEnds, look),
      h("span", {}, between(lower[j], upper[j], 3))),
    stability && h("td", { class: "number" }, percent(stability[j], 0)),
    h("td", { class: "name" }, listed(others, 2)));
}

/** One feature: what is known of it, and who can stand in for it at what price. */
function detailOf(data: PageData, store: Store, j: number): Child[] {
  const { names, error, loss, stability, resamples, lower, upper } = data.features;
  const others = standIns(data, j);
  const replaces = data.features.stand_ins.filter(([, other]) => other === j).map(([of]) => of);
  const code = verdictOf(data, j);
  const price = (points_: number) => (Math.abs(points_) < 0.05 ? "0.0" : points(Math.abs(points_))) + (points_ >= 0.05
    ? " lost" : points_ <= -0.05 ? " gained" : "");
  return [
    h("h3", {}, names[j]), h("p", {}, h("span", { class: `badge ${VERDICT_CLASS[code]}` }, VERDICTS[code]),
      ` ${points(loss[j] ?? null)} ± ${points(error[j] ?? null)} points are lost without it. In the metric it weighs ${between(lower[j], upper[j], 3)}.`,
      stability && ` ${percent(stability[j], 0)} of ${resamples} resamples agree.`,
      data.sets.best.includes(j) && data.sets.best.length < names.length
        && " It belongs to the smallest set that suffices."),
    others.length > 0 && h("p", {}, "Can be replaced by ", others.flatMap(([other, points_, wrong], place): Child[] => [
      place ? ", " : "", button(names[other] ?? "", () => store.chooseFeature(other), { class: "inline" }),
        ` (${price(points_)} ± ${points(wrong)})`]), "."),
    others.length === 0 && replaces.length === 0 && h("p", {},
      "No stand-in was found for it: stand-ins are sought for members of the smallest set."),
    h("p", { class: "note" }, data.levels[String(j)] ? h("a", { href: "#map" },
      "The maps show its values, from low to high.")
      : "The maps show the values of the features with the largest weights only."),
    button("Close", () => store.set({ feature: null }), { title: describeFeature(data, j) }),
  ];
}

/** One case: its values beside those of its neighbours, votes, and what each feature adds. */

import { describeCase, featureName, isCase, isLinear, isWrong, labels, type Near, type PageData, type Why } from "./data";
import { button, h, note, replace, table, type Child } from "./dom";
import { bar } from "./figure";
import { counted, short, signed } from "./format";
import { caseButtons } from "./map";
import { extent } from "./scale";
import { casesOf, describeGroup, type Store } from "./selection";

export function caseView(data: PageData, store: Store): HTMLElement {
  const explained = Object.keys(data.why).map(Number).sort((a, b) => a - b);
  const panel = h("section", { id: "case-panel", class: "panel", "aria-live": "polite",
    "aria-label": "The chosen case" });
  const chosenGroup = h("div", {});
  const pick = h("select", { id: "pick", change: () =>
    store.chooseCase(pick.value === "" ? null : Number(pick.value)) },
    h("option", { value: "" }, "none"), explained.map((place) =>
      h("option", { value: place }, (data.cases.rows[place] ?? "") + (isWrong(data, place) ? " (wrong)" : ""))));
  const step = (by: number) => {
    const order = casesOf(store.now.group, data) ?? explained;
    const place = store.now.case === null ? -1 : order.indexOf(store.now.case);
    store.chooseCase(order[(place < 0 ? (by > 0 ? 0 : order.length - 1)
      : place + by + order.length) % order.length] ?? null);
  };
  store.follow(({ case: chosen, group }, before) => {
    pick.value = chosen !== null && data.why[String(chosen)] ? String(chosen) : "";
    panel.hidden = chosen === null;
    if (chosen !== null && (chosen !== before.case || !panel.firstChild)) replace(panel, caseCard(data, store, chosen));
    if (group !== before.group || !chosenGroup.hasChildNodes()) replace(chosenGroup, group
      && [h("p", {}, `${describeGroup(group, data)}: `), caseButtons(data, store, casesOf(group, data) ?? [])]);
  });
  return h("div", {},
    note(isLinear(data)
      ? "Each case is explained by a map that was fitted without it. Bars to the right raise the prediction, bars to the left lower it; with the mean they sum to it."
      : "Each case is explained by a learner that was chosen and fitted without it. A feature adds to the squared distance of a near case; a negative part makes the case nearer, because the feature compensates differences in others.",
    data.spectrum && " The value of a band is the mean of its channels, after the preprocessing chosen without the case."),
    h("div", { class: "tools" }, h("label", {}, "Case in row ", pick),
      button("Previous", () => step(-1), { id: "back" }), button("Next", () => step(1), { id: "next" }),
      h("span", { class: "note" }, "or click a point on a map")),
    chosenGroup, panel,
    data.selected.length > 0 && h("div", {}, h("h3", {}, "Selected cases"),
      data.selected.map((one) => selectedCase(data, store, one))));
}

/** A selected case, folded; printed in full. */
function selectedCase(data: PageData, store: Store, one: PageData["selected"][number]): HTMLElement {
  const made = h("details", { class: "selected" }, h("summary", {}, h("strong", {}, `${one.kind}: row ${one.row}. `),
    one.text));
  const fill = () => { if (made.children.length === 1) made.append(h("div", {},
    reason(data, store, one.place, false))); };
  made.addEventListener("toggle", fill);
  return made;
}

export function caseCard(data: PageData, store: Store, place: number): Child[] {
  const line = describeCase(data, place);
  return [h("h3", {}, line.charAt(0).toUpperCase() + line.slice(1), isWrong(data, place)
    && h("span", { class: "badge wrong" }, "wrong")),
    reason(data, store, place), button("Close", () => store.chooseCase(null))];
}

function reason(data: PageData, store: Store, place: number, said = true): Child[] {
  const why = data.why[String(place)];
  if (!isCase(data, place)) return [h("p", {},
    "This row was not among those that were compared and held out, so that nothing was predicted of it without it. The model has seen it, or rows like it; in whynear studio, “What if” shows its values and what the model says.")];
  if (!why) return [h("p", {}, "This case has no explanation; those in the list have one."), ownValues(data, place)];
  return [said && h("p", {}, sentence(why.text)),
    why.unusual.length > 0 && h("div", { class: "caveats" }, h("p", {},
      "Unlike the rows that the model was fitted to:"), h("ul", {}, why.unusual.map(([, text]) => h("li", {}, text)),
      why.more_unusual ? h("li", {}, `and ${counted(why.more_unusual, "more value")}`) : null)),
    contributions(data, store, why), voters(data, store, why, place)];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A feature in a line of a table: chosen by a click, flagged where its value is unusual. */
function featureCell(data: PageData, store: Store, why: Why, feature: number): Child[] {
  const flagged = why.unusual.find(([column]) => column === feature);
  return [button(data.features.names[feature] ?? "", () => store.chooseFeature(feature), { class: "inline" }), flagged
    && h("span", { class: "badge flag", title: flagged[1] }, "unusual")];
}

function named([label, , kind, name, row]: Near): string {
  return `${kind} ${name} (${label})${row === undefined ? "" : `, values of row ${row}`}`;
}

function contributions(data: PageData, store: Store, why: Why): HTMLElement {
  const { near, parts } = why;
  const ends = extent([0, ...parts.flatMap(([, adds]) => adds)]);
  const beside = near.map((one, k) => `#${k ? "nearest of another class" : "nearest"}: ${named(one)}`);
  const to = near.length ? ["to the distance of the nearest", "to that of another class"].slice(0, near.length)
    : ["to the prediction"];
  return table([data.noun, "#this case", ...(near.length ? beside : ["#mean"]), ...to.flatMap((one) => ["#adds", one])],
    parts.map(([j, adds, values]): Child[] => [featureCell(data, store, why, j), ...values,
      ...adds.flatMap((part, k): Child[] =>
        [signed(part), bar(0, part, ends, `${part < 0 ? "down" : "up"}${k ? " other" : ""}`)])]),
      { class: "contributions" });
}

const FIGURES = ["measured", "predicted", "distance", "vote"];

/** The rows or prototypes that vote, or are nearest, with their values beside those of the case. */
function voters(data: PageData, store: Store, why: Why, place: number): Child {
  const { columns, features, own, lines, parts, remark } = why.voters;
  if (!lines.length) return null;
  const numbers = data.kind === "numbers";
  const kind = columns[0] ?? "row";
  const linked = columns.map((name) => name === "nearest row" || (name === kind && kind !== "prototype"));
  const places = new Map(data.cases.rows.map((row, at): [string, number] => [row, at]));
  const truth = numbers ? short(data.cases.true[place]) : labels(data)[data.cases.true[place] ?? 0] ?? "";
  const facts: Record<string, string> = { class: truth, measured: truth,
    predicted: numbers ? short(data.cases.predicted[place]) : "" };
  const most = Math.max(1e-12, ...parts.flat().map((part) => Math.abs(part ?? 0)));
  const which = numbers ? `The nearest ${kind}s, with their values`
    : columns.includes("nearest row") ? `The ${kind}s that vote, with the values of the row nearest to each`
      : `The ${kind}s that vote, with their values`;
  return h("div", {}, h("h4", {}, which),
    table([...columns.map((name) => FIGURES.includes(name) ? `#${name}` : name),
      ...features.map((feature) => `#${featureName(data, feature)}`)],
      [["this case", ...columns.slice(1).map((name) => facts[name] ?? ""), ...own],
        ...lines.map((cells, row): Child[] => cells.map((cell, column): Child => {
          if (column >= columns.length) return [cell, added(parts[row]?.[column - columns.length] ?? null, most)];
          const at = linked[column] ? places.get(cell) : undefined;
          return at === undefined ? cell : button(cell, () => store.chooseCase(at),
            { class: "inline", title: describeCase(data, at) });
        }))]),
    remark && note(`${remark}.`),
    note(!why.near.length ? "Below each value: what it adds to the prediction for that row."
      : kind === "prototype" ? "Below each value: what the feature adds to the squared distance of the prototype."
        : "Below each value: what the feature adds to the squared distance."));
}

/** A contribution, the larger the stronger its colour. */
function added(part: number | null, most: number): HTMLElement {
  return h("small", { class: `added shade ${(part ?? 0) < 0 ? "loss" : "plain-shade"}`,
    style: { "--share": (Math.abs(part ?? 0) / most).toFixed(3) } }, signed(part, 2));
}

function ownValues(data: PageData, place: number): Child {
  if (!data.values.length) return null;
  return table([data.noun, "#value"], data.values.map(([j, values]): Child[] => {
    const value = values[place];
    return [data.features.names[j], value === null || value === undefined ? "missing" : typeof value === "number"
      ? short(value) : value];
  }));
}

/** The cases on a plane, plain beside learned: the same selection, colours and zoom tools for both. */

import { classColour, classShape, classStyles, isDark, levelColour } from "./colours";
import { coordinates, describeCase, isLinear, isWrong, labels, nPlaces, rowName, truthOf, type PageData } from "./data";
import { button, h, note, replace, type Child } from "./dom";
import { figure, legendMark } from "./figure";
import { count, short } from "./format";
import { alike, FAINT, HIDDEN, levelStyles, MISSING, RING, type Looks } from "./looks";
import { extent } from "./scale";
import { Scatter } from "./scatter";
import { casesOf, type Store } from "./selection";

const MOST_TOGGLES = 60; // classes with a button each
const MOST_LISTED = 30; // cases that lie on each other, or that a search finds

/** How the rows look: coloured by a feature, or by their class or measured value. */
function looksOf(data: PageData, feature: number | null, group: number[] | null, hidden: Set<number>): Looks {
  const n = nPlaces(data);
  const classes = data.kind === "classes";
  const levels = feature === null ? undefined : data.levels[String(feature)];
  const plain = classes && levels === undefined;
  const looks = alike(n, plain ? classStyles() : levelStyles());
  const range = extent(data.cases.true);
  const level = (value: number) => Math.max(0, Math.min(4, Math.floor((4.999 * (value - range[0]))
    / (range[1] - range[0] || 1))));
  for (let place = 0; place < n; place += 1) {
    const truth = truthOf(data, place);
    const own = levels?.[place];
    looks.style[place] = levels !== undefined ? (own === undefined || own === "." ? MISSING : Number(own))
      : plain ? truth % looks.styles.length : level(truth);
    looks.state[place] = (isWrong(data, place) ? RING : 0) | (classes && hidden.has(truth) ? HIDDEN : 0)
      | (group === null ? 0 : FAINT);
  }
  for (const place of group ?? []) looks.state[place]! &= ~FAINT;
  return looks;
}

export function mapView(data: PageData, store: Store): HTMLElement {
  const names = labels(data);
  const hidden = new Set<number>();
  const stack = h("div", { class: "stack", "aria-live": "polite" });
  const pick = (places: number[]) => {
    if (places.length === 1) store.chooseCase(places[0] === store.now.case ? null : places[0]!);
    replace(stack, places.length > 1 && [h("p", {}, `${count(places.length)} rows lie on each other here: `),
      caseButtons(data, store, places)]);
  };
  const lasso = (places: number[]) => store.set({ group: places.length ? { kind: "rows", places } : null });
  const made = (name: string, which: "before" | "after", xLabel?: string) => {
    const [x, y] = coordinates(data, which);
    return new Scatter({ name, x, y, cases: data.cases.rows.length, equal: xLabel === undefined,
      ...(xLabel === undefined ? {} : { xLabel, yLabel: "differences among cases predicted alike" }), pick, lasso,
      text: (place) => describeCase(data, place) });
  };
  const plain = made("The cases before learning", "before");
  const learned = made("The cases under the learned metric", "after", data.kind === "numbers"
    ? `predicted ${data.target}` : undefined);
  const both = [plain, learned];
  const key = h("div", { class: "legend-line", "aria-live": "polite" });
  let looks: Looks | null = null;
  let dark = isDark();
  const redraw = () => {
    looks ??= looksOf(data, store.now.feature, casesOf(store.now.group, data), hidden);
    both.forEach((map) => map.show(looks!, store.now.case));
  };
  store.follow((now, before) => {
    if (now.feature !== before.feature || now.group !== before.group || dark !== isDark()) looks = null;
    dark = isDark();
    if (now.feature !== before.feature || !key.firstChild) replace(key, colourKey(data, now.feature));
    redraw();
  });
  return h("div", {}, h("div", { class: "tools" }, modes(both), button("+", () =>
    both.forEach((map) => map.zoom(1 / 1.4)), { "aria-label": "Zoom in" }),
    button("−", () => both.forEach((map) => map.zoom(1.4)), { "aria-label": "Zoom out" }),
      button("Show all", () => both.forEach((map) => map.reset())), search(data, store)),
    data.kind === "classes" && names.length <= MOST_TOGGLES && toggles(names, hidden, () => { looks = null; redraw(); }),
    h("div", { class: "pair" }, figure("Plain: before learning", plain.element), figure("Learned", learned.element)),
    key, stack, furtherNote(data),
    note("Plain: the two directions in which the standardised columns vary most. ",
      isLinear(data)
        ? "Learned: from left to right, the value that the learned map predicts; from bottom to top, the direction in which cases predicted alike differ most in what each feature adds. Colours are the measured values."
        : `Learned: the cases by their distances under the learned metric. ${data.kind === "numbers"
          ? "Colours are the measured values." : "Rings mark cases that were predicted wrong when held out."}`,
      " Click a point to see why it was predicted so. Drag to move, hold Ctrl or Shift and turn the wheel to zoom; choose a feature to colour the cases by its values."));
}

/** Which rows are drawn beside the cases, and which are not. */
function furtherNote(data: PageData): Child {
  const { further } = data;
  if (!further) return null;
  const left = further.total - further.count;
  return note(`Large points: the ${count(data.cases.rows.length)} cases that were held out, with predictions. Small points: ${left > 0 ? `${count(further.count)} of ` : ""}the other ${count(further.total)} rows, placed where the map takes them, or, where it bends, between the three nearest cases. `,
    left > 0 && `${count(left)} rows are not drawn; whynear studio draws all. `,
    "A feature colours the large points only.");
}

function modes(maps: Scatter[]): Child {
  const choose = (mode: "move" | "lasso") => {
    maps.forEach((map) => { map.mode = mode; map.element.classList.toggle("drawing", mode === "lasso"); });
    parts.forEach((part) => part.setAttribute("aria-pressed", String(part.dataset.mode === mode)));
  };
  const parts = [button("Move", () => choose("move"), { "data-mode": "move", "aria-pressed": "true" }),
    button("Lasso", () => choose("lasso"), { "data-mode": "lasso", "aria-pressed": "false" })];
  return h("span", { role: "group", "aria-label": "What dragging does", class: "joined" }, parts);
}

/** The rows whose name contains a text, and the one that has it as its name. */
export function found(data: PageData, part: string): { exact: number | null; places: number[] } {
  const wanted = part.trim().toLowerCase();
  const places: number[] = [];
  let exact: number | null = null;
  for (let place = 0; wanted && place < nPlaces(data); place += 1) {
    const name = rowName(data, place).toLowerCase();
    if (name === wanted) exact ??= place;
    if (name.includes(wanted)) places.push(place);
  }
  return { exact, places };
}

function search(data: PageData, store: Store): HTMLElement {
  const shown = h("span", { class: "found", "aria-live": "polite" });
  const look = (event: Event) => {
    const part = (event.target as HTMLInputElement).value;
    const { exact, places } = found(data, part);
    if (exact !== null) store.chooseCase(exact);
    replace(shown, !part.trim() ? null : places.length ? caseButtons(data, store, places.slice(0, 6)) : "no such row",
      places.length > 6 && ` and ${count(places.length - 6)} more`);
  };
  return h("span", {}, h("label", {}, "Row ", h("input",
    { type: "search", id: "find-row", placeholder: "name of a row", size: 12, input: look })), " ", shown);
}

export function caseButtons(data: PageData, store: Store, places: number[]): HTMLElement {
  return h("span", { class: "cases" }, places.slice(0, MOST_LISTED).map((place) =>
    button(rowName(data, place), () => store.chooseCase(place),
      { title: describeCase(data, place), class: isWrong(data, place) ? "is-wrong" : null })),
  places.length > MOST_LISTED ? ` and ${count(places.length - MOST_LISTED)} more` : null);
}

function toggles(names: string[], hidden: Set<number>, draw: () => void): HTMLElement {
  const parts = names.map((name, place) => {
    const made = button("", () => {
      if (!hidden.delete(place)) hidden.add(place);
      made.setAttribute("aria-pressed", String(!hidden.has(place)));
      draw();
    }, { "aria-pressed": "true", "data-class": place });
    made.append(legendMark(classShape(place), classColour(place)), name);
    return made;
  });
  const all = (shown: boolean) => () => {
    names.forEach((_, place) => (shown ? hidden.delete(place) : hidden.add(place)));
    parts.forEach((part) => part.setAttribute("aria-pressed", String(shown)));
    draw();
  };
  return h("div", { class: "toggles", role: "group", "aria-label": "Classes shown" }, parts,
    names.length > 3 && [button("all", all(true)), button("none", all(false))]);
}

/** What the colours of the maps mean. */
function colourKey(data: PageData, feature: number | null): Child[] {
  const range = extent(data.cases.true);
  const shades = h("span", { class: "shades", "aria-hidden": "true" },
    [0, 1, 2, 3, 4].map((level) => h("i", { style: { background: levelColour(level) } })));
  if (feature !== null && data.levels[String(feature)]) return [`Coloured by ${data.features.names[feature]}: low `,
    shades, " high"];
  if (feature !== null) return [`“${data.features.names[feature]}” has no colours: only the features with the largest weights have. `];
  return data.kind === "numbers" ? [`${data.target}: ${short(range[0])} `, shades, ` ${short(range[1])}`] : [" "];
}

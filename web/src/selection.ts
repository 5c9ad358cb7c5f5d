/** One selection for all views: a feature, a case, and a group of cases. The address of the page holds it. */

import { nPlaces, type PageData } from "./data";

export type Group =
  | { kind: "cell"; true: number; predicted: number }
  | { kind: "class"; class: number }
  | { kind: "rows"; places: number[] };

export interface Selection { feature: number | null; case: number | null; group: Group | null; view: string }

export const NOTHING: Selection = { feature: null, case: null, group: null, view: "" };

const MOST_RANGES = 30_000; // characters

/** Positions in increasing order as ranges, such as 0-4,7. */
export function asRanges(places: number[]): string {
  const sorted = Uint32Array.from(new Set(places)).sort();
  const ranges: [number, number][] = [];
  for (const place of sorted) {
    const last = ranges[ranges.length - 1];
    if (last && last[1] === place - 1) last[1] = place;
    else ranges.push([place, place]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

export function fromRanges(text: string, size: number): number[] {
  const places: number[] = [];
  for (const part of text.split(",")) {
    const found = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!found) continue;
    const first = Number(found[1]);
    const last = Math.min(size - 1, Number(found[2] ?? found[1]));
    for (let place = first; place <= last; place += 1) places.push(place);
  }
  return places;
}

/** The selection as the part of an address after #. */
export function asHash(selection: Selection): string {
  const words = new URLSearchParams();
  if (selection.feature !== null) words.set("feature", String(selection.feature));
  if (selection.case !== null) words.set("case", String(selection.case));
  const group = selection.group;
  if (group?.kind === "cell") words.set("cell", `${group.true},${group.predicted}`);
  if (group?.kind === "class") words.set("class", String(group.class));
  const ranges = group?.kind === "rows" ? asRanges(group.places) : "";
  if (ranges && ranges.length <= MOST_RANGES) words.set("rows", ranges); // browsers cut longer addresses
  const query = words.toString().replaceAll("%2C", ",");
  return query ? `${selection.view}?${query}` : selection.view;
}

function whole(text: string | null | undefined, below: number): number | null {
  return text && /^\d+$/.test(text) && Number(text) < below ? Number(text) : null;
}

/** The selection that an address holds; what the study does not have is left out. */
export function fromHash(hash: string, data: PageData): Selection {
  const [view = "", query = ""] = hash.replace(/^#/, "").split("?");
  const words = new URLSearchParams(query);
  const nCases = nPlaces(data);
  const nClasses = "classes" in data.errors ? data.errors.classes.length : 0;
  const [truth, predicted] = (words.get("cell") ?? "").split(",").map((text) => whole(text, nClasses));
  const ofClass = whole(words.get("class"), nClasses);
  const places = fromRanges(words.get("rows") ?? "", nCases);
  let group: Group | null = null;
  if (typeof truth === "number" && typeof predicted === "number") group = { kind: "cell", true: truth, predicted };
  else if (ofClass !== null) group = { kind: "class", class: ofClass };
  else if (places.length) group = { kind: "rows", places };
  return { view, group, feature: whole(words.get("feature"), data.features.names.length),
    case: whole(words.get("case"), nCases) };
}

/** The cases of a group, in their order; null where none is selected. */
export function casesOf(group: Group | null, data: PageData): number[] | null {
  if (group === null) return null;
  if (group.kind === "rows") return group.places;
  const { true: truth, predicted } = data.cases;
  const all = truth.map((_, place) => place);
  if (group.kind === "class") return all.filter((place) => truth[place] === group.class);
  return all.filter((place) => truth[place] === group.true && predicted[place] === group.predicted);
}

export function describeGroup(group: Group, data: PageData): string {
  const names = "classes" in data.errors ? data.errors.classes : [];
  const size = casesOf(group, data)?.length ?? 0;
  const cases = `${size} ${size === 1 ? "case" : "cases"}`;
  if (group.kind === "class") return `${cases} of ${names[group.class]}`;
  if (group.kind === "cell") return `${cases} of ${names[group.true]} predicted as ${names[group.predicted]}`;
  return `${cases} chosen on a map`;
}

type Listener = (now: Selection, before: Selection) => void;

/** Holds the selection and tells every view when it changes. */
export class Store {
  private listeners: Listener[] = [];

  constructor(private current: Selection) {}

  get now(): Selection {
    return this.current;
  }

  set(change: Partial<Selection>): void {
    const before = this.current;
    this.current = { ...before, ...change };
    for (const listener of this.listeners) listener(this.current, before);
  }

  /** Calls the listener now and whenever the selection changes. */
  follow(listener: Listener): void {
    this.listeners.push(listener);
    listener(this.current, this.current);
  }

  chooseFeature(feature: number): void {
    this.set({ feature: feature === this.current.feature ? null : feature });
  }

  chooseCase(place: number | null): void {
    this.set({ case: place });
  }

  chooseGroup(group: Group | null): void {
    this.set({ group: group && asKey(group) === asKey(this.current.group) ? null : group });
  }
}

export function asKey(group: Group | null): string {
  return group === null ? "" : group.kind === "rows" ? "rows" : JSON.stringify(group);
}

/** What a page shows of a study: the values that `whynear.report.page_data` writes. Features are positions. */

import { short } from "./format";

export interface Steps { least: number; most: number; steps: number[] }
export interface Places { x: Steps; y: Steps }
export type VerdictCode = "i" | "r" | "n" | "u";

export interface Features {
  names: string[]; verdict: string; loss: (number | null)[]; error: (number | null)[];
    stability: (number | null)[] | null;
  lower: (number | null)[]; upper: (number | null)[]; order: number[]; resamples: number; measure: string; note: string;
  meanings?: Record<string, string>; // of the verdicts
  stand_ins: [number, number, number, number][];
}
export interface Sets { best: number[]; curve: [number, number, number | null, number[]][]; score: number; all: number; check?: string | null }
export interface Spectrum {
  positions: number[]; label: string; means: [string, number[]][]; weights: number[]; upwards: string;
  bands: [number, number, number, string][]; sentence: string; even: boolean;
    preprocessing: [string, number, boolean][];
}
export interface Methods {
  score: string; measure: string; text: string; chosen: string; several: boolean;
  lines: { name: string; score: string; value: number; error: number | null; right: string | null;
    folds: (number | null)[] }[];
}
export interface Roc { area: number; curves: { class: number; area: number; false_rate: number[];
  true_rate: number[] }[] }
export interface ClassErrors {
  classes: string[]; confusion: number[][]; n_rows: number; n_wrong: number; accuracy: number; balanced: number;
  by_class: [number, number, number, number | null][]; roc: Roc;
  calibration: { error: number; bins: [number, number, number, number, number][] };
  worst: [string, string, string, number][]; confused: [string, string, number][];
}
export interface ValueErrors {
  typical: number; median: number; largest: [string, number, number, number][]; interval: [number, number] | null;
    patterns: string[];
}
export interface Rejection {
  sentences: string[]; certainty: number[]; promised: number | null;
    promises: [number, boolean, number, number, number, number | null][]; rejected: [string, string][];
}
export interface Cases { rows: string[]; true: number[]; predicted: number[]; probability?: number[] }
export type Named = number | string;
export interface Voters {
  columns: string[]; features: Named[]; own: string[]; lines: string[][]; parts: (number | null)[][]; remark: string;
}
export interface Why {
  text: string; voters: Voters; unusual: [Named, string][]; more_unusual?: number;
  /** The nearest case, and that of another class; none for a linear map. */
  near: Near[];
  /** Of a feature: what it adds to the distances of these, or to the prediction; its value, and theirs or the mean. */
  parts: [number, number[], string[]][];
}
export type Near = [string, number, string, string, string?];
export interface Tolerance { columns: string[]; curve: number[][]; best: number; choice: string }

export interface Others { total: number; count: number; packed?: string }
/** Rows beside the cases, on the same maps; the place of the first is the number of cases. */
export interface Further {
  count: number; total: number; before: [Float32Array, Float32Array]; after: [Float32Array, Float32Array];
  truth: Uint16Array | Float32Array; name: (place: number) => string;
}

export interface PageData {
  format: number; source: string; target: string; kind: "classes" | "numbers"; noun: string; version: string;
  finding: { sentences: [string, string][]; stand_ins: string[]; caveats: string[] };
  features: Features;
  profiles: { classes: string[]; features: number[]; shares: (number | null)[][] } | null;
  sets: Sets;
  spectrum: Spectrum | null;
  methods: Methods;
  errors: ClassErrors | ValueErrors;
  rejection: Rejection | null;
  cases: Cases;
  values: [number, (number | string | null)[]][];
  maps: { before: Places; after: Places };
  others?: Others | null;
  further?: Further; // made of others, or of what the server has
  levels: Record<string, string>;
  why: Record<string, Why>;
  selected: { place: number; row: string; kind: string; text: string }[];
  tolerance: Tolerance | null;
  table: [string, string][];
  done: { text: string; facts: [string, string][]; python: string[]; shell: string };
}

export const VERDICTS: Record<VerdictCode, string> = { i: "indispensable", r: "replaceable", n: "no evidence",
  u: "undecided" };
export const VERDICT_ORDER: VerdictCode[] = ["i", "r", "u", "n"];

export function ofClasses(errors: ClassErrors | ValueErrors): errors is ClassErrors {
  return "confusion" in errors;
}

export function verdictOf(data: PageData, feature: number): VerdictCode {
  return (data.features.verdict[feature] ?? "u") as VerdictCode;
}

export function featureName(data: PageData, feature: Named): string {
  return typeof feature === "string" ? feature : data.features.names[feature] ?? "";
}

/** Where all rows lie: the cases, written as whole steps, and those beside them. */
export function coordinates(data: PageData, map: "before" | "after"): [Float32Array, Float32Array] {
  const along = (axis: Steps, more: Float32Array | undefined) => {
    const scale = (axis.most - axis.least) / 9999;
    const found = new Float32Array(axis.steps.length + (more?.length ?? 0));
    axis.steps.forEach((step, place) => { found[place] = axis.least + step * scale; });
    if (more) found.set(more, axis.steps.length);
    return found;
  };
  return [along(data.maps[map].x, data.further?.[map][0]), along(data.maps[map].y, data.further?.[map][1])];
}

/** How many rows have a place: the cases, and those beside them. */
export function nPlaces(data: PageData): number {
  return data.cases.rows.length + (data.further?.count ?? 0);
}

export function isCase(data: PageData, place: number): boolean {
  return place < data.cases.rows.length;
}

export function rowName(data: PageData, place: number): string {
  return data.cases.rows[place] ?? data.further?.name(place - data.cases.rows.length) ?? "";
}

/** The measured value of a row, or the position of its class. */
export function truthOf(data: PageData, place: number): number {
  return data.cases.true[place] ?? data.further?.truth[place - data.cases.rows.length] ?? 0;
}

export function isWrong(data: PageData, place: number): boolean {
  return data.kind === "classes" && data.cases.true[place] !== data.cases.predicted[place];
}

/** Whether predictions are those of a linear map, which are explained by what each feature adds to them. */
export function isLinear(data: PageData): boolean {
  return Object.values(data.why).some((why) => !why.near.length);
}

export function labels(data: PageData): string[] {
  return ofClasses(data.errors) ? data.errors.classes : [];
}

/** The case in a sentence, for tips, lists and headings. */
export function describeCase(data: PageData, place: number): string {
  const { rows, true: truth, predicted, probability } = data.cases;
  const names = labels(data);
  const of = (value: number | undefined) => (data.kind === "classes" ? names[value ?? 0] ?? "" : String(value));
  if (!isCase(data, place)) return `row ${rowName(data, place)}: ${data.kind === "numbers" ? "measured " : ""}${data.kind === "classes" ? of(truthOf(data, place)) : short(truthOf(data, place))}, not held out`;
  const chance = probability ? ` (probability ${probability[place]})` : "";
  return `row ${rows[place]}: ${data.kind === "numbers" ? "measured " : ""}${of(truth[place])}, predicted ${of(predicted[place])}${chance}`;
}

export function describeFeature(data: PageData, feature: number): string {
  const { names, loss, error, lower, upper } = data.features;
  return `${names[feature]}: ${VERDICTS[verdictOf(data, feature)]}, ${loss[feature] ?? "–"} ± ${error[feature] ?? "–"} points lost without it, weight ${lower[feature] ?? "–"} to ${upper[feature] ?? "–"}`;
}

/** The stand-ins of a feature, cheapest first: position, price and its error. */
export function standIns(data: PageData, feature: number): [number, number, number][] {
  return data.features.stand_ins.filter(([of]) => of === feature)
    .map(([, other, price, error]): [number, number, number] => [other, price, error])
    .sort((a, b) => a[1] - b[1]);
}

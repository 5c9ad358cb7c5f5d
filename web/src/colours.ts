/** Colours and shapes that all readers can tell apart, on light and on dark paper. */

import type { VerdictCode } from "./data";

const LIGHT = ["#1f5f8b", "#e08a1e", "#2f9585", "#882255", "#5fa8d3", "#8a8a2b", "#aa4499", "#117733", "#c9a227",
  "#3a3a3a", "#d1495b", "#6a4fb3", "#7fb800", "#8b5a2b", "#00b4b4", "#e377c2", "#9a9a9a", "#4b6cb7", "#b5651d",
  "#5b8c5a"];
const DARK = ["#5aa9e6", "#f0a948", "#52c7b4", "#e06a9c", "#a5d8ff", "#c8c85a", "#d07fc4", "#5cc27c", "#f1d571",
  "#d5dae0", "#ff8a8a", "#a996f0", "#b7e34d", "#cfa27a", "#3fe0e0", "#ffb3e1", "#8f9aa5", "#86a3f0", "#e39b5f",
  "#9fcf9e"];
const LEVELS_LIGHT = ["#440154", "#3b528b", "#21908c", "#5dc863", "#d4c21a"];
const LEVELS_DARK = ["#8d5bb5", "#6b83c9", "#35b5b0", "#7fdc83", "#fde725"];
export const SHAPES = ["circle", "square", "triangle", "diamond", "cross"] as const;
export type Shape = (typeof SHAPES)[number];
export interface Style { colour: string; shape: Shape }

export function isPrinted(): boolean {
  return typeof matchMedia === "function" && matchMedia("print").matches;
}

export function isDark(): boolean {
  return typeof matchMedia === "function" && matchMedia("(prefers-color-scheme: dark)").matches && !isPrinted();
}

/** The colour of a class; the twenty-first has the colour of the first and another shape. */
export function classColour(place: number, dark = isDark()): string {
  const colours = dark ? DARK : LIGHT;
  return colours[place % colours.length] ?? colours[0]!;
}

export function classShape(place: number): Shape {
  return SHAPES[(place + Math.floor(place / LIGHT.length)) % SHAPES.length] ?? "circle";
}

const MOST_STYLES = LIGHT.length * SHAPES.length; // of classes, all different

/** The looks of the first classes; further ones repeat them. */
export function classStyles(dark = isDark()): Style[] {
  return Array.from({ length: MOST_STYLES }, (_, place) => ({ colour: classColour(place, dark), shape: classShape(place) }));
}

/** The colour of one of five levels, the lowest first. */
export function levelColour(level: number, dark = isDark()): string {
  return (dark ? LEVELS_DARK : LEVELS_LIGHT)[Math.max(0, Math.min(4, level))]!;
}

export const VERDICT_CLASS: Record<VerdictCode, string> = { i: "indispensable", r: "replaceable", n: "no-evidence",
  u: "undecided" };

/** How points of a map look: a style of a few for each point, and whether it is hidden, faint or ringed. */

import { levelColour, type Style } from "./colours";

export interface Looks { styles: Style[]; style: Uint8Array; state: Uint8Array }

/** Points from one place up to another; shaped ones have the mark of their style, others are small squares. */
export interface Layer { from: number; to: number; radius: number; opacity: number; shaped: boolean }

export const FADED = 0.16; // of the opacity of faint points
export const HIDDEN = 1;
export const FAINT = 2;
export const RING = 4;
export const MISSING = 5; // the place of the style of a missing level
const NO_COLOUR = "#98a4ae";

/** Looks of points that all have the first style. */
export function alike(n: number, styles: Style[]): Looks {
  return { styles, style: new Uint8Array(n), state: new Uint8Array(n) };
}

/** The styles of five levels, the lowest first, and that of a missing one. */
export function levelStyles(): Style[] {
  const levels = [0, 1, 2, 3, 4].map((level): Style => ({ colour: levelColour(level), shape: "circle" }));
  return [...levels, { colour: NO_COLOUR, shape: "circle" }];
}

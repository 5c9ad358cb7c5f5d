/** Outlines on a plane. */

export type Point = [number, number];

/** Whether a point lies inside a closed outline (even-odd rule). */
export function inside([x, y]: Point, outline: Point[]): boolean {
  let within = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i, i += 1) {
    const [xi, yi] = outline[i]!;
    const [xj, yj] = outline[j]!;
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

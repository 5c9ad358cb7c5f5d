/** Scales of figures and the round numbers beside their axes. */

export type Scale = ((value: number) => number) & { invert: (pixel: number) => number };

export function linear(from: [number, number], to: [number, number]): Scale {
  const span = from[1] - from[0] || 1;
  const scale = (value: number) => to[0] + ((value - from[0]) / span) * (to[1] - to[0]);
  return Object.assign(scale, { invert: (pixel: number) => from[0] + ((pixel - to[0]) / (to[1] - to[0] || 1)) * span });
}

/** About so many round numbers between two ends. */
export function ticks(least: number, most: number, about = 5): number[] {
  if (!(most > least)) return [least];
  const rough = (most - least) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? 10 * power;
  const found: number[] = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most + step * 1e-9;
    k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** The least and the most of the finite numbers. */
export function extent(values: Iterable<number | null>): [number, number] {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : [0, 1];
}

export function padded([least, most]: [number, number], share: number): [number, number] {
  const room = (most - least || 1) * share;
  return [least - room, most + room];
}

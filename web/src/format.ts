/** Numbers as text. */

/** A number with at most so many significant digits, without an exponent where it is of ordinary size. */
export function short(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(Math.max(0, digits - 1))
    .replace(/\.?0+e/, "e").replace("e+", "e");
  return minus(String(Number(value.toPrecision(digits))));
}

/** "0.1 to 0.3"; a single number where both are the same. */
export function between(least: number | null | undefined, most: number | null | undefined, digits = 4): string {
  return least === most ? short(least, digits) : `${short(least, digits)} to ${short(most, digits)}`;
}

export function percent(share: number | null | undefined, decimals = 1): string {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(decimals)}%`;
}

/** Shares in per cent, with as many decimals as all of them need, up to two. */
export function percents(shares: number[]): (share: number) => string {
  const exact = (decimals: number) => shares.every((share) =>
    Math.abs(Number((100 * share).toFixed(decimals)) - 100 * share) < 1e-6);
  const decimals = [0, 1].find(exact) ?? 2;
  return (share) => percent(share, decimals);
}

/** Points with one decimal, never a negative zero. */
export function points(value: number | null): string {
  if (value === null) return "–";
  const text = value.toFixed(1);
  return minus(text === "-0.0" ? "0.0" : text);
}

export function signed(value: number | null, digits = 3): string {
  return value === null ? "–" : (value > 0 ? "+" : "") + short(value, digits);
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function listed(names: string[], most = 6): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${count(names.length - most)} more` : shown;
}

export function clipped(name: string, most = 28): string {
  return name.length <= most ? name : `${name.slice(0, most - 11)}…${name.slice(-10)}`;
}

function minus(text: string): string {
  return text.replace("-", "−");
}

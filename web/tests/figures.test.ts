import { describe, expect, it } from "vitest";
import { classColour, classShape } from "../src/colours";
import { count, listed, percent, percents, points, short, signed } from "../src/format";
import { extent, linear, ticks } from "../src/scale";

describe("numbers as text", () => {
  it.each([[0, "0"], [1234.56, "1235"], [-0.5, "−0.5"], [1.5e-7, "1.5e-7"], [2e9, "2e9"],
    [null, "–"]])("shows %s as %s", (value, text) => {
    expect(short(value)).toBe(text);
  });

  it("shows shares, points and signs", () => {
    expect([percent(0.9567), percent(null), points(-0.04), points(1.25), signed(0.5), signed(-2)])
      .toEqual(["95.7%", "–", "0.0", "1.3", "+0.5", "−2"]);
    expect([count(12345), listed(["a", "b", "c"], 2)]).toEqual(["12,345", "a, b and 1 more"]);
  });
});

it.each([[[0.92, 0.94], ["92%", "94%"]], [[0.925, 0.93], ["92.5%", "93.0%"]], [[0.9225, 0.925], ["92.25%", "92.50%"]]])(
  "shows the shares %s as %s", (shares, texts) => {
    expect(shares.map(percents(shares))).toEqual(texts);
  });

describe("scales", () => {
  it("go both ways", () => {
    const scale = linear([2, 6], [100, 0]);
    for (const value of [2, 3.3, 6, 9]) expect(scale.invert(scale(value))).toBeCloseTo(value);
  });

  it.each([[0, 1], [-3, 17], [0.001, 0.0023], [850, 1050]])("have round ticks between %s and %s", (least, most) => {
    const found = ticks(least, most, 5);
    expect(found.length).toBeGreaterThan(2);
    expect(found.length).toBeLessThan(12);
    for (const tick of found) expect(tick >= least - 1e-9 && tick <= most + 1e-9).toBe(true);
    const steps = found.slice(1).map((tick, place) => tick - found[place]!);
    for (const step of steps) expect(step).toBeCloseTo(steps[0]!, 9);
  });

  it("find the ends of what is finite", () => {
    expect(extent([3, null, NaN, -1])).toEqual([-1, 3]);
    expect(extent([])).toEqual([0, 1]);
  });
});

it("a hundred classes have a hundred different marks", () => {
  const marks = Array.from({ length: 100 }, (_, place) => classColour(place, false) + classShape(place));
  expect(new Set(marks).size).toBe(100);
});

it("twenty classes have twenty different colours, on light and on dark paper", () => {
  for (const dark of [false, true]) {
    expect(new Set(Array.from({ length: 20 }, (_, place) => classColour(place, dark))).size).toBe(20);
  }
});

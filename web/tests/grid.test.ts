import { describe, expect, it } from "vitest";
import { inside, type Point } from "../src/geometry";
import { Grid } from "../src/grid";
import { linear } from "../src/scale";

const one = { x: linear([0, 1], [0, 1]), y: linear([0, 1], [0, 1]) };
const none = () => false;
const grid = new Grid(Float32Array.of(0, 10, 10.5, 0), Float32Array.of(0, 0, 0, 20));

/** Numbers from 0 to 1 that are the same every time. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
}

describe("points", () => {
  it("are found within reach only, and not where they are hidden", () => {
    expect(grid.nearest([1, 1], one, 5, none)).toBe(0);
    expect(grid.nearest([5, 8], one, 5, none)).toBeNull();
    expect(grid.nearest([10.4, 0], one, 5, (place) => place === 2)).toBe(1);
  });

  it("less than a pixel apart are one stack", () => {
    expect(grid.stacked(1, one, none)).toEqual([1, 2]);
    expect(grid.stacked(0, one, none)).toEqual([0]);
    const near = { x: linear([0, 1], [0, 10]), y: one.y };
    expect(grid.stacked(1, near, none)).toEqual([1]);
  });

  it("are reached by arrow keys", () => {
    expect(grid.towards(null, [1, 0], one, none)).toBe(0);
    expect(grid.towards(0, [1, 0], one, none)).toBe(1);
    expect(grid.towards(0, [0, 1], one, none)).toBe(3);
    expect(grid.towards(3, [0, 1], one, none)).toBe(3);
  });

  it("lie inside an outline by the even-odd rule", () => {
    expect(grid.within([[-1, -1], [11, -1], [11, 5], [-1, 5]], one, none)).toEqual([0, 1, 2]);
  });
});

describe("an index of many points", () => {
  const next = random(3);
  const n = 3000;
  const x = Float32Array.from({ length: n }, () => next() ** 2);
  const y = Float32Array.from({ length: n }, () => next());
  const many = new Grid(x, y);
  const at = { x: linear([0, 1], [0, 600]), y: linear([0, 1], [400, 0]) };
  const hidden = (place: number) => place % 7 === 0;
  const pixel = (place: number): Point => [at.x(x[place]!), at.y(y[place]!)];
  const all = Array.from({ length: n }, (_, place) => place).filter((place) => !hidden(place));

  it("finds what a look at all points finds", () => {
    for (let k = 0; k < 50; k += 1) {
      const to: Point = [next() * 620 - 10, next() * 420 - 10];
      const far = (place: number) => Math.hypot(pixel(place)[0] - to[0], pixel(place)[1] - to[1]);
      const best = all.reduce((a, b) => (far(b) < far(a) ? b : a));
      expect(many.nearest(to, at, 9, hidden)).toBe(far(best) <= 9 ? best : null);
      expect(many.stacked(best, at, hidden)).toEqual([best, ...all.filter((place) => place !== best
        && Math.hypot(pixel(place)[0] - pixel(best)[0], pixel(place)[1] - pixel(best)[1]) < 1)]);
    }
  });

  it("lassoes what lies inside, also of outlines that cross themselves", () => {
    for (let k = 0; k < 20; k += 1) {
      const outline = Array.from({ length: 3 + k }, (): Point => [next() * 600, next() * 400]);
      expect(many.within(outline, at, hidden)).toEqual(all.filter((place) => inside(pixel(place), outline)));
    }
  });
});

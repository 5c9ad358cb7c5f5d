import { expect, it } from "vitest";
import { dots } from "../src/dots";
import { alike, FAINT, HIDDEN } from "../src/looks";
import { linear } from "../src/scale";

const at = { x: linear([0, 10], [0, 10]), y: linear([0, 10], [0, 10]) };
const points = { x: Float32Array.of(2, 2, 7, 7, 50), y: Float32Array.of(3, 3, 7, 3, 3) };
const layer = { from: 0, to: 5, radius: 0.5, opacity: 0.5, shaped: false };

function drawn(state: number[], ratio = 1) {
  const looks = { ...alike(5, [{ colour: "#ff0000", shape: "circle" }, { colour: "#0000ff", shape: "circle" }]),
    style: Uint8Array.of(0, 1, 0, 0, 0), state: Uint8Array.from(state) };
  const { data, width } = dots({ width: 10 * ratio, height: 10 * ratio }, at, points, looks, layer, ratio);
  return (x: number, y: number) => [...data.slice(4 * (y * width + x), 4 * (y * width + x) + 4)];
}

it("a later point lies over an earlier one, each half opaque", () => {
  const pixel = drawn([0, 0, 0, 0, 0]);
  expect(pixel(2, 3)).toEqual([63, 0, 127, 191]);
  expect(pixel(7, 7)).toEqual([127, 0, 0, 127]);
  expect(pixel(0, 0)).toEqual([0, 0, 0, 0]);
});

it("hidden points are not drawn, and faint ones are fainter and below", () => {
  const pixel = drawn([0, FAINT, FAINT, HIDDEN, 0]);
  expect(pixel(7, 3)).toEqual([0, 0, 0, 0]);
  expect(pixel(7, 7)[3]).toBeLessThan(30);
  expect(pixel(2, 3)[0]).toBeGreaterThan(pixel(2, 3)[2]!);
});

it("on a fine screen a point has more pixels", () => {
  const pixel = drawn([0, 0, 0, 0, 0], 2);
  for (const [x, y] of [[13, 13], [14, 13], [13, 14], [14, 14]]) expect(pixel(x!, y!)).toEqual([127, 0, 0, 127]);
});

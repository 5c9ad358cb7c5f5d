import { describe, expect, it } from "vitest";
import { coordinates, describeCase, isWrong, nPlaces, rowName, truthOf } from "../src/data";
import { found } from "../src/map";
import { unpacked, withFurther } from "../src/rows";
import { asHash, fromHash, NOTHING } from "../src/selection";
import { smallStudy } from "./page_data";

/** Three rows as the server packs them. */
function packed(names: number[] | string, values: [number, number] | null = null): ArrayBuffer {
  const header = { count: 3, maps: { before: [[0, 1], [0, 2]], after: [[-1, 1], [5, 5]] }, values,
    names: typeof names === "string" ? "text" : "numbers" };
  const text = JSON.stringify(header);
  const first = new TextEncoder().encode(text.padEnd(4 * Math.ceil(text.length / 4)));
  const arrays = [[0, 65535, 32768], [0, 65535, 0], [0, 65535, 0], [0, 0, 0], [1, 0, 1]];
  const last = typeof names === "string" ? new TextEncoder().encode(names)
    : new Uint8Array(Int32Array.from(names).buffer);
  const bytes = new Uint8Array(4 + first.length + 8 * arrays.length + last.length);
  new DataView(bytes.buffer).setUint32(0, first.length, true);
  bytes.set(first, 4);
  arrays.forEach((array, k) => bytes.set(new Uint8Array(Uint16Array.from(array).buffer), 4 + first.length + 8 * k));
  bytes.set(last, 4 + first.length + 8 * arrays.length);
  return bytes.buffer;
}

describe("rows beside the cases", () => {
  const study = withFurther({ ...smallStudy(), others: { total: 10, count: 3 } }, packed([101, 102, 7]));

  it("are read from bytes", () => {
    const { before, after, truth, total } = study.further!;
    expect([...before[0]].map((x) => x.toFixed(2))).toEqual(["0.00", "1.00", "0.50"]);
    expect([[...after[0]], [...after[1]], [...truth], total]).toEqual([[-1, 1, -1], [5, 5, 5], [1, 0, 1], 10]);
    expect([...unpacked(packed("a\nb\nç", [0, 65535]), 3).truth]).toEqual([1, 0, 1]);
    expect([0, 1, 2].map(unpacked(packed("a\nb\nç"), 3).name)).toEqual(["a", "b", "ç"]);
  });

  it("have a place, a name and a class, but no prediction", () => {
    expect([nPlaces(study), rowName(study, 0), rowName(study, 6), rowName(study, 8)]).toEqual([9, "r1", "101", "7"]);
    expect([truthOf(study, 3), truthOf(study, 7)]).toEqual([1, 0]);
    expect([isWrong(study, 2), isWrong(study, 7)]).toEqual([true, false]);
    expect(describeCase(study, 7)).toBe("row 102: x, not held out");
    expect([...coordinates(study, "after")[0]].slice(6)).toEqual([-1, 1, -1]);
  });

  it("are found by name and kept in the address", () => {
    expect(found(study, "102")).toEqual({ exact: 7, places: [7] });
    expect(found(study, "10").places).toEqual([6, 7]);
    expect(fromHash("#map?case=8", study).case).toBe(8);
    expect(fromHash("#map?case=9", study).case).toBeNull();
  });
});

it("an address that would be too long leaves chosen rows out", () => {
  const places = Array.from({ length: 20_000 }, (_, k) => 2 * k);
  expect(asHash({ ...NOTHING, view: "map", group: { kind: "rows", places } })).toBe("map");
});

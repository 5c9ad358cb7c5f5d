import { describe, expect, it } from "vitest";
import { asHash, asRanges, casesOf, describeGroup, fromHash, fromRanges, NOTHING, Store,
  type Selection } from "../src/selection";
import { smallStudy } from "./page_data";

const data = smallStudy();

describe("an address", () => {
  const selections: Selection[] = [
    NOTHING,
    { view: "map", feature: 2, case: 5, group: null },
    { view: "errors", feature: null, case: null, group: { kind: "cell", true: 0, predicted: 1 } },
    { view: "", feature: 0, case: null, group: { kind: "class", class: 1 } },
    { view: "case", feature: null, case: 0, group: { kind: "rows", places: [0, 1, 2, 5] } },
  ];
  it.each(selections)("holds the whole selection %#", (selection) => {
    expect(fromHash(`#${asHash(selection)}`, data)).toEqual(selection);
  });

  it("leaves out what the study does not have", () => {
    expect(fromHash("#map?feature=3&case=-1&cell=0,7&rows=a,9-12", data)).toEqual({ ...NOTHING, view: "map" });
  });
});

describe("ranges", () => {
  it("are what they were written from, whatever the places", () => {
    let seed = 1;
    for (let trial = 0; trial < 50; trial += 1) {
      const places: number[] = [];
      for (let place = 0; place < 40; place += 1) {
        seed = (seed * 48271) % 2147483647;
        if (seed % 3) places.push(place);
      }
      expect(fromRanges(asRanges(places), 40)).toEqual(places);
    }
    expect(asRanges([4, 2, 3, 3, 9])).toBe("2-4,9");
  });

  it("end at the last case, however long they are", () => {
    expect(fromRanges("0-999999999999", 3)).toEqual([0, 1, 2]);
  });
});

describe("a group", () => {
  it("of a cell has the cases of its true class and prediction", () => {
    expect(casesOf({ kind: "cell", true: 0, predicted: 1 }, data)).toEqual([2]);
    expect(casesOf({ kind: "class", class: 1 }, data)).toEqual([3, 4, 5]);
    expect(casesOf(null, data)).toBeNull();
    expect(describeGroup({ kind: "cell", true: 0, predicted: 1 }, data)).toBe("1 case of x predicted as </script>");
  });
});

describe("a store", () => {
  it("tells every view of a change, and undoes a choice made twice", () => {
    const store = new Store(NOTHING);
    const seen: (number | null)[] = [];
    store.follow(({ feature }) => seen.push(feature));
    store.chooseFeature(1);
    store.chooseFeature(1);
    store.chooseGroup({ kind: "class", class: 0 });
    expect(store.now.group).toEqual({ kind: "class", class: 0 });
    store.chooseGroup({ kind: "class", class: 0 });
    expect(store.now.group).toBeNull();
    expect(seen).toEqual([null, 1, null, null, null]);
  });
});

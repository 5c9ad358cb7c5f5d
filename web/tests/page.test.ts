// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { highest, tallest } from "../src/feature_figures";
import { arranged } from "../src/features";
import type { ClassErrors } from "../src/data";
import { lowestRecall } from "../src/errors";
import { showStudy } from "../src/page";
import { acceptance } from "../src/rejection";
import type { Store } from "../src/selection";
import { smallStudy } from "./page_data";

let root: HTMLElement;
let store: Store;
const find = (selector: string) => root.querySelector<HTMLElement>(selector)!;
const all = (selector: string) => [...root.querySelectorAll<HTMLElement>(selector)];

beforeEach(() => {
  location.hash = "";
  document.body.replaceChildren();
  root = document.body.appendChild(document.createElement("div"));
  store = showStudy(root, smallStudy());
});

describe("the page", () => {
  it("has all views in their order, each in the contents", () => {
    expect(all("main > section").map((section) => section.id))
      .toEqual(["finding", "features", "sets", "errors", "map", "case", "done"]);
    expect(all(".links a").map((link) => link.getAttribute("href")))
      .toEqual(["#finding", "#features", "#sets", "#errors", "#map", "#case", "#done"]);
  });

  it("shows names that look like markup as text", () => {
    expect(root.querySelector("main b, main script")).toBeNull();
    expect(find("#features").textContent).toContain("<b>a</b>");
    expect(find("#errors").textContent).toContain("</script>");
  });

  it("links each sentence of the finding to its evidence, and names to features", async () => {
    expect(all(".words .evidence").map((link) => link.getAttribute("href"))).toEqual(["#sets", "#features", "#errors"]);
    find(".words a[href*='feature=1']").click();
    expect(store.now).toMatchObject({ feature: 1, view: "features" });
    await vi.waitFor(() => expect(location.hash).toBe("#features?feature=1"));
    expect(find("#feature").textContent).toContain("Can be replaced by c (0.5 lost ± 0.2)");
  });

  it("states the score with all features once, without an error of the difference from itself", () => {
    expect(find("#sets figcaption").textContent)
      .toBe("The large dot is the chosen number, 1; the dashed line is the score with all 3, 93.0%");
    expect(all("#sets table td:nth-child(2)").slice(0, 3).map((cell) => cell.textContent))
      .toEqual(["90.0% ± 2.0%", "92.0% ± 1.0%", "93.0%"]);
  });

  it("says whose scores those of the sets are, and what the learner that predicts reaches", () => {
    expect(find("#sets").textContent).toContain("With it alone 90.0% (accuracy on held-out rows), with all 93.0%.");
    expect(find("#sets").textContent).toContain("These are scores of the models that were refitted for the verdicts, "
      + "of which the best may answer; the model that predicts new cases reaches 83% ± 5%.");
  });

  it("says what an empty field of stand-ins means", () => {
    expect(find("#features").textContent).toContain("Stand-ins were sought for the members of the smallest set, one "
      + "for one; a replaceable feature without any is replaced by several others together.");
  });

  it("calls bands so in the links to their evidence", () => {
    showStudy(root, { ...smallStudy(), noun: "band" });
    expect(all(".words .evidence").map((link) => link.textContent)).toContain("the bands");
    store = showStudy(root, smallStudy());
  });

  it("has one selection everywhere", () => {
    find(".confusion td.wrong button").click();
    expect(find(".chosen-now").textContent).toContain("1 case of x predicted as </script>");
    expect(find("#case .cases").textContent).toBe("r3");
    find("#case .cases button").click();
    expect(find("#case-panel").textContent).toContain("Row r3: x, predicted </script>");
    expect(find("#case-panel").textContent).toContain("which is missing");
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    expect(find(".chosen-now").textContent).toBe("");
    expect(find("#case-panel").hidden).toBe(true);
  });

  it("goes through the explained cases, or those of the group", () => {
    find("#next").click();
    expect(store.now.case).toBe(2);
    store.chooseGroup({ kind: "class", class: 1 });
    find("#next").click();
    find("#next").click();
    expect(store.now.case).toBe(4);
    expect(find("#case-panel").textContent).toContain("no explanation");
    expect(find("#case-panel td.number").textContent).toBe("5");
  });

  it("shows prototypes with the values of the nearest row, and what rows that are not listed add", () => {
    const study = smallStudy();
    const why = study.why[2]!;
    study.why[2] = { ...why, near: [["x", 0.1, "prototype", "1", "r4"]], parts: [[1, [0.1], ["3", "4"]]],
      voters: { ...why.voters, columns: ["prototype", "nearest row", "class", "distance", "vote"],
        lines: [["1", "r4", "x", "0.1", "0.9", "4"]], remark: "Without any row 0.3" } };
    const made = document.body.appendChild(document.createElement("div"));
    showStudy(made, study).chooseCase(2);
    const panel = made.querySelector("#case-panel")!;
    expect(panel.textContent).toContain("nearest: prototype 1 (x), values of row r4");
    expect(panel.textContent).toContain("The prototypes that vote, with the values of the row nearest to each");
    expect(panel.textContent).toContain("Without any row 0.3.");
    const rows = [...panel.querySelectorAll("table:last-of-type button")].map((one) => one.textContent);
    expect(rows).toContain("r4");
  });

  it("explains a number by near rows where no map is linear, and by its features where one is", () => {
    const study = smallStudy();
    const why = study.why[2]!;
    study.why[2] = { ...why, near: [], parts: [[1, [-0.5], ["3", "4"]]] };
    const made = document.body.appendChild(document.createElement("div"));
    showStudy(made, study).chooseCase(2);
    expect(made.querySelector("#case")!.textContent).toContain("Bars to the right raise the prediction");
    expect(made.querySelector("#case-panel")!.textContent).toContain("to the prediction");
    expect(find("#case").textContent).toContain("A feature adds to the squared distance of a near case");
  });

  it("begins with the selection of its address", () => {
    location.hash = "#case?case=2&feature=2";
    const other = document.body.appendChild(document.createElement("div"));
    expect(showStudy(other, smallStudy()).now).toEqual({ view: "case", case: 2, feature: 2, group: null });
    expect(other.querySelector("#case-panel")!.textContent).toContain("Row r3");
  });
});

it("of many classes those of the lowest recall are shown", () => {
  const errors = smallStudy().errors as ClassErrors;
  expect(lowestRecall(errors, 2)).toEqual([0, 1]);
  expect(lowestRecall(errors, 1)).toEqual([0]);
});

describe("rejection", () => {
  it("accepts the most certain cases first, and counts those that are right", () => {
    expect(acceptance([0.2, 0.9, 0.5, 0.9], (place) => place === 2))
      .toEqual({ order: [1, 3, 2, 0], right: [1, 2, 2, 3] });
  });

  it("is shown with a threshold that can be moved, and its cases can be chosen", () => {
    const rejection = { sentences: ["Accepting 83%."], certainty: [0.9, 0.8, 0.3, 0.95, 0.7, 0.99], promised: 0.8333,
      promises: [[0.99, true, 0.8333, 5, 0, null]] as [number, boolean, number, number, number, null][],
      rejected: [["r3", "ambiguous"]] as [string, string][] };
    root = document.body.appendChild(document.createElement("div"));
    store = showStudy(root, { ...smallStudy(), rejection });
    const shown = find("#rejection");
    expect(shown.textContent)
      .toContain("Accepting the most certain 83.3% of the cases, 100.0% of them are right: of 5 cases, 0 are wrong.");
    const slider = shown.querySelector<HTMLInputElement>("#accepted")!;
    slider.value = "6";
    slider.dispatchEvent(new Event("input"));
    expect(shown.textContent).toContain("83.3% of them are right: of 6 cases, 1 is wrong.");
    slider.value = "5";
    slider.dispatchEvent(new Event("input"));
    shown.querySelector<HTMLElement>("#choose-rejected")!.click();
    expect(store.now.group).toEqual({ kind: "rows", places: [2] });
    expect(find("#finding").textContent).toContain("Accepting 83%.");
  });
});

describe("rejection by a promise that counted some of the rows", () => {
  it("starts with the rows that its threshold accepts, not with the share among those that it counted", () => {
    const rejection = { sentences: ["Accepting 66%."], certainty: [0.9, 0.8, 0.3, 0.95, 0.7, 0.99], promised: 0.6666,
      promises: [[0.9, true, 0.6666, 2, 0, null]] as [number, boolean, number, number, number, null][],
      rejected: [["r3", "ambiguous"]] as [string, string][] };
    showStudy(document.body.appendChild(document.createElement("div")), { ...smallStudy(), rejection });
    const shown = [...document.querySelectorAll("#rejection")].pop()!;
    expect(shown.textContent).toContain("of 5 cases, 0 are wrong.");
    expect(shown.textContent).toContain("The threshold of the promise rejects 1 case of all 6.");
  });
});

describe("features", () => {
  const data = smallStudy();
  it("are searched, filtered and sorted", () => {
    expect(arranged(data, "", "", { by: "verdict", down: false })).toEqual([1, 2, 0]);
    expect(arranged(data, "A", "", { by: "verdict", down: false })).toEqual([0]);
    expect(arranged(data, "", "r", { by: "name", down: false })).toEqual([2]);
    expect(arranged(data, "", "", { by: "loss", down: true })).toEqual([1, 2, 0]);
    expect(arranged(data, "", "", { by: "upper", down: false })).toEqual([0, 2, 1]);
  });

  it("too many for an outline are drawn as the highest of their neighbours", () => {
    expect(highest([1, 5, null, 2, 9], 2)).toEqual([5, 2, 9]);
    expect(highest([1, 5, 2], 1)).toEqual([1, 5, 2]);
  });

  it("under one pixel are found by their weight", () => {
    expect(tallest([1, 5, 2, 9], 0.5, 0.2)).toBe(0);
    expect(tallest([1, 5, 2, 9], 1.5, 2)).toBe(1);
    expect(tallest([1, 5, 2, 9], 2, 9)).toBe(3);
    expect(tallest([1, 5], 7, 0)).toBe(1);
  });

  it("say how they are sorted", () => {
    find("th[data-sort='loss'] button").click();
    expect(find("th[data-sort='loss']").getAttribute("aria-sort")).toBe("descending");
    expect(all("th[aria-sort]").length).toBe(1);
  });
});

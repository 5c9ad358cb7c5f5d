// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { get, post, Refusal, type StudyInfo } from "../src/alive/api";
import { leaveOutView } from "../src/alive/leave_out";
import { LockedModel } from "../src/alive/locked";
import { seconds } from "../src/alive/parts";
import { Running } from "../src/alive/running";
import { Runs } from "../src/alive/runs";
import { Start, withKind, withRole } from "../src/alive/start";
import { openStudio } from "../src/alive/studio";
import { teachView } from "../src/alive/teach";
import { whatIfView } from "../src/alive/what_if";
import { inWords, withoutOptions } from "../src/alive/words";
import { NOTHING, Store } from "../src/selection";
import { smallStudy } from "./page_data";

/** Answers by method and path; each request is kept. */
let answers: Record<string, unknown>;
let asked: { key: string; body: unknown }[];

class Events {
  static last: Events;
  onmessage: ((event: { data: string }) => void) | null = null;
  closed = false;
  constructor(readonly url: string) { Events.last = this; }
  close(): void { this.closed = true; }
}

beforeEach(() => {
  [answers, asked] = [{}, []];
  document.body.replaceChildren();
  vi.stubGlobal("EventSource", Events);
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const key = `${init.method} ${path.replace("/api", "")}`;
    asked.push({ key, body: typeof init.body === "string" ? JSON.parse(init.body) : init.body });
    if (!(key in answers)) return { ok: false, status: 404, json: async () => ({ detail: `There is no ${key}.` }) };
    return { ok: true, status: 200, json: async () => answers[key] };
  });
});
afterEach(() => vi.unstubAllGlobals());

const study = (change: Partial<StudyInfo>): StudyInfo => ({
  id: "s1", name: "cases", source: "cases.csv", target: "kind", settings: {}, state: "running", created: 0,
    ended: null, parts: [], message: "", finding: "One. Two.", can_resume: false, revision: 1,
  progress: { step: "compare learners", share: 0.25, seconds: 20, seconds_left: 60,
    learners: [{ name: "GRLVQ", folds: 2, current: true }] }, ...change,
});
const inPage = (element: HTMLElement) => document.body.appendChild(element);
const press = (root: HTMLElement, text: string) => [...root.querySelectorAll("button")].find((one) =>
  one.textContent === text)!.click();
const text = (root: HTMLElement) => root.textContent ?? "";

describe("requests", () => {
  it("that are refused say why, in the words of the server", async () => {
    await expect(get("/nothing")).rejects.toThrow(new Refusal("There is no GET /nothing."));
  });

  it("that are given up or cut off while their answer is read are no answer", async () => {
    for (const [thrown, expected] of [[new DOMException("given up", "AbortError"), "given up"],
      [new SyntaxError("half of an object"), "The studio does not answer."]] as const) {
      vi.stubGlobal("fetch", async () => ({ ok: true, status: 200, json: async () => { throw thrown; } }));
      await expect(post("/x")).rejects.toThrow(expected);
    }
  });

  it("that reach no server say what to do", async () => {
    vi.stubGlobal("fetch", async () => { throw new TypeError("failed"); });
    await expect(post("/x")).rejects.toThrow("Start it again with whynear studio");
  });
});

describe("starting", () => {
  const preview = {
    source: "cases.csv", rows: 6,
      columns: [{ name: "kind", kind: "text", missing: 0, distinct: 2, role: "target", examples: ["x"] },
      { name: "b", kind: "numbers", missing: 1, distinct: 5, role: "feature", examples: ["1"] }],
    head: [["x", null]], targets: ["kind", "b"], target: "kind", target_kind: "classes", classes: [["x", 3]],
      range: null, summary: "6 rows.", consequences: [{ setting: "table", text: "Few rows.", warning: true }],
    cost: { seconds: 3, bytes: 1, text: "about 3 s" }, refusal: null,
  };

  it("gives one column one role", () => {
    const grouped = withRole({}, "patient", "group");
    expect(grouped).toEqual({ drop: [], group: "patient" });
    expect(withRole(grouped, "patient", "drop")).toEqual({ drop: ["patient"] });
    expect(withRole({ drop: ["a", "b"] }, "a", "feature")).toEqual({ drop: ["b"] });
  });

  it("reads a column as it is told, in one way", () => {
    const read = withKind({ number: ["b"] }, "b", "category");
    expect(read).toEqual({ number: [], category: ["b"], date: [] });
    expect(withKind(read, "b", "")).toEqual({ number: [], category: [], date: [] });
  });

  it("shows what follows from each choice and runs with all of them", async () => {
    Object.assign(answers, { "GET /tables": [{ id: "t1", name: "cases.csv", bytes: 1, created: 0 }],
      "GET /examples": [{ name: "iris", rows: 150, features: 4, classes: 3, origin: "" }],
      "POST /examples/iris/preview": preview, "POST /studies": study({}) });
    const started = vi.fn();
    const { element } = new Start(started);
    inPage(element);
    await vi.waitFor(() => expect(element.querySelector("#example")).not.toBeNull());
    const example = element.querySelector<HTMLSelectElement>("#example")!;
    example.value = "iris";
    example.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(text(element)).toContain("Few rows."));
    const role = element.querySelector<HTMLSelectElement>("[aria-label='Role of b']")!;
    role.value = "group";
    role.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(asked.at(-1)!.body).toEqual({ target: "kind", settings: { drop: [], group: "b" } }));
    await vi.waitFor(() => expect(element.querySelector("#run")).not.toBeNull());
    press(element, "Run the study");
    await vi.waitFor(() => expect(started).toHaveBeenCalled());
    expect(asked.at(-1)).toEqual({ key: "POST /studies", body: { example: "iris", target: "kind",
      settings: { drop: [], group: "b" } } });
  });

  it("of what is refused offers the settings that work", async () => {
    const refusal = { message: "2 rows have no target.", suggestion: { drop_missing_target: true } };
    Object.assign(answers, { "GET /tables": [], "GET /examples": [], "POST /tables?name=a%20b.csv": { id: "t9" },
      "POST /tables/t9/preview": { ...preview, refusal } });
    const { element } = new Start(() => undefined);
    inPage(element);
    (element.querySelector(".drop") as HTMLElement)
      .dispatchEvent(Object.assign(new Event("drop"), { dataTransfer: { files: [new File(["x"], "a b.csv")] } }));
    await vi.waitFor(() => expect(text(element)).toContain("2 rows have no target."));
    press(element, "Leave out the rows without a target");
    await vi.waitFor(() => expect(asked.at(-1)!.body).toMatchObject({ settings: { drop_missing_target: true } }));
  });
});

describe("a running study", () => {
  it("shows its learners and the time left until it is finished", () => {
    const finished = vi.fn();
    const { element } = new Running(study({}), finished);
    expect(text(element)).toContain("25%, 20 s so far, about 60 s left");
    expect(element.querySelector(".current")!.textContent).toBe("GRLVQ: fold 2");
    Events.last.onmessage!({ data: JSON.stringify(study({ state: "finished" })) });
    expect(finished).toHaveBeenCalledOnce();
    expect(Events.last.closed).toBe(true);
  });

  it("shows the parts that are finished while others are computed", async () => {
    answers["GET /studies/s1/parts"] = { comparison: { measure: "accuracy", chosen: "grlvq", expected: 0.9,
      expected_error: 0.01, methods: [{ name: "grlvq", score: 0.9, error: 0.01, text: "90.0%" }] },
      verdicts: { rows: [{ feature: "b", verdict: "indispensable", loss_without: 5, loss_error: 1 }], best: ["b"] } };
    const { element } = new Running(study({ parts: ["comparison", "verdicts"] }), () => undefined);
    await vi.waitFor(() => expect(text(element)).toContain("GRLVQ was chosen; learners chosen this way predict 90.0%"));
    expect(text(element)).toContain("bindispensable5.0 ± 1.0");
  });

  it("that was cancelled can go on", async () => {
    Object.assign(answers, { "POST /studies/s1/cancel": study({ state: "cancelled", can_resume: true,
      message: "2 fits are kept" }), "POST /studies/s1/resume": study({ state: "waiting" }) });
    const { element } = new Running(study({}), () => undefined);
    press(element, "Cancel");
    await vi.waitFor(() => expect(text(element)).toContain("2 fits are kept"));
    press(element, "Go on");
    await vi.waitFor(() => expect(text(element)).toContain("waiting"));
  });

  it("writes times shortly", () => {
    expect([0.2, 75, 600, 7200].map(seconds)).toEqual(["1 s", "75 s", "10 min", "2.0 h"]);
  });
});

describe("questions to a study", () => {
  const answer = (prediction: string) => ({ prediction, true: "x", interval: null, probabilities: { x: 0.7, y: 0.3 },
    support: {}, values: { b: 2 },
    neighbors: [{ name: "r1", kind: "row", label: "x", distance: 1, vote: 1, for_prediction: true, values: {},
    contributions: {} }], contributions: {},
    unusual: [{ column: "b", kind: "out_of_range", text: "'b' = 9, outside the training range" }], sentence: "",
    seconds: 0.01 });

  it("what if: a slider asks anew, with the value that was set", async () => {
    Object.assign(answers, { "GET /studies/s1/features": [{ name: "b", kind: "number", low: 0, high: 10, usual: 4,
      deviation: 1, categories: [] }], "POST /studies/s1/what-if": answer("x"),
      "POST /studies/s1/flip": { prediction: "x", seconds: 0.1,
      flips: [{ changes: [{ feature: "b", before: 2, after: 7, deviations: 5 }], size: 5, prediction: "y",
      sentence: "'b' from 2 to 7: 'y'" }] } });
    const element = inPage(whatIfView("s1", new LockedModel("s1"))(smallStudy(), new Store({ ...NOTHING, case: 1 })));
    await vi.waitFor(() => expect(element.querySelector(".slider input")).not.toBeNull());
    expect(asked.at(-1)!.body).toEqual({ row: "r2", values: {}, model: "study" });
    const slider = element.querySelector<HTMLInputElement>(".slider input")!;
    slider.value = "9";
    slider.dispatchEvent(new Event("input"));
    await vi.waitFor(() => expect(text(element)).toContain("outside the training range"));
    expect(asked.at(-1)!.body).toEqual({ row: "r2", values: { b: 9 }, model: "study" });
    press(element, "Smallest change that flips it");
    await vi.waitFor(() => expect(text(element)).toContain("'b' from 2 to 7"));
    press(element, "Try it");
    await vi.waitFor(() => expect(asked.at(-1)!.body).toEqual({ row: "r2", values: { b: 7 }, model: "study" }));
  });

  it("leave out: a refit shows its progress, its score and what moves, and can be locked", async () => {
    const judged = (verdict: string, ...others: string[]) => ({ verdict, loss: 1, error: 0.5, stand_ins: others });
    const left = { features: ["b"], kept: ["c"], measure: "accuracy", with_all: 0.9, with_all_error: 0.01,
      without: 0.8, without_error: 0.02, lost: 0.1, lost_error: 0.01, sentence: "Ten points are lost.", seconds: 1 };
    const running = { number: 1, features: ["b"], state: "running", step: "refit the learner", share: 0.4, score: left,
      moves: null, message: "" };
    const moves = { sentence: "1 verdict moves.", sufficient_before: ["b"], sufficient_after: ["c"],
      features: [{ feature: "c", before: judged("replaceable", "b"), after: judged("indispensable") },
        { feature: "<b>a</b>", before: judged("no evidence"), after: judged("no evidence") }] };
    Object.assign(answers, { "GET /studies/s1/lock": null, "GET /studies/s1/relearn": [],
      "POST /studies/s1/relearn": running, "POST /studies/s1/lock": { features: ["c"], answer: left },
      "DELETE /studies/s1/lock": {} });
    const locked = new LockedModel("s1");
    const element = inPage(leaveOutView("s1", locked)(smallStudy()));
    const relearn = "Relearn without the ticked features";
    press(element, relearn);
    expect(text(element)).toContain("Tick at least one feature first.");
    expect(text(element)).toContain("Features says what is lost where the best of several models may answer");
    element.querySelector<HTMLInputElement>(".ticks input")!.click();
    answers["GET /studies/s1/relearn"] = [running];
    press(element, relearn);
    await vi.waitFor(() => expect(text(element)).toContain("40%: refit the learner"));
    expect(asked.find((one) => one.key === "POST /studies/s1/relearn")!.body).toEqual({ features: ["b"] });
    expect(text(element)).toContain("10.0 ± 1.0");
    answers["GET /studies/s1/relearn"] = [{ ...running, state: "finished", moves }];
    await vi.waitFor(() => expect(text(element)).toContain("1 verdict moves."), { timeout: 5000 });
    expect(element.querySelector("progress")).toBeNull();
    const cells = [...element.querySelector(".moves tbody tr")!.children].map((cell) => cell.textContent);
    expect(cells).toEqual(["c", "replaceable", "indispensable", "1.0 ± 0.5", "1.0 ± 0.5", "b", "–"]);
    expect(text(element)).toContain("1 feature with the same verdict and stand-ins");
    press(element, "Lock as the model");
    await vi.waitFor(() => expect(text(element)).toContain("Locked as the model: 1 feature, which reach 80.0%"));
    expect(locked.now!.features).toEqual(["c"]);
    press(element, "Unlock");
    await vi.waitFor(() => expect(element.querySelector("#locked")).toBeNull());
  });

  it("what if: a locked model answers with its own features", async () => {
    const feature = (name: string) => ({ name, kind: "number", low: 0, high: 10, usual: 4, deviation: 1, categories: [] });
    Object.assign(answers, { "GET /studies/s1/features": [feature("b"), feature("c")],
      "POST /studies/s1/what-if": answer("x"), "POST /studies/s1/lock": { features: ["c"], answer: null } });
    const locked = new LockedModel("s1");
    const element = inPage(whatIfView("s1", locked)(smallStudy(), new Store({ ...NOTHING, case: 1 })));
    await vi.waitFor(() => expect(element.querySelectorAll(".slider").length).toBe(2));
    await locked.lock(["b"]);
    await vi.waitFor(() => expect(element.querySelectorAll(".slider").length).toBe(1));
    expect(asked.at(-1)!.body).toEqual({ row: "r2", values: {}, model: "locked" });
    expect(text(element)).toContain("the locked model of 1 feature");
  });

  it("what if: a feature that a flip changes is shown, however unimportant", async () => {
    const names = Array.from({ length: 20 }, (_, place) => `f${place}`);
    Object.assign(answers, { "GET /studies/s1/features": names.map((name) => ({ name, kind: "number", low: 0, high: 10,
      usual: 4, deviation: 1, categories: [] })), "POST /studies/s1/what-if": answer("x"),
      "POST /studies/s1/flip": { prediction: "x", seconds: 0.1, flips: [{ changes: [{ feature: "f19", before: 2, after: 7,
        deviations: 5 }], size: 5, prediction: "y", sentence: "'f19' from 2 to 7: 'y'" }] } });
    const element = inPage(whatIfView("s1", new LockedModel("s1"))(smallStudy(), new Store({ ...NOTHING, case: 1 })));
    await vi.waitFor(() => expect(element.querySelectorAll(".slider").length).toBe(12));
    press(element, "Smallest change that flips it");
    await vi.waitFor(() => press(element, "Try it"));
    await vi.waitFor(() => expect(text(element.querySelector(".slider")!)).toContain("f19"));
  });

  it("what if: a missing category stays missing until another is chosen", async () => {
    Object.assign(answers, { "GET /studies/s1/features": [{ name: "b", kind: "category", low: null, high: null,
      usual: "m", deviation: null, categories: ["m", "w"] }],
      "POST /studies/s1/what-if": { ...answer("x"), values: { b: null } } });
    const element = inPage(whatIfView("s1", new LockedModel("s1"))(smallStudy(), new Store({ ...NOTHING, case: 1 })));
    await vi.waitFor(() => expect(element.querySelector(".slider select")).not.toBeNull());
    const select = element.querySelector<HTMLSelectElement>(".slider select")!;
    expect(select.selectedOptions[0]!.textContent).toBe("missing");
    select.value = "w";
    select.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(asked.at(-1)!.body).toEqual({ row: "r2", values: { b: "w" }, model: "study" }));
    expect(text(element.querySelector(".slider")!)).toContain("was missing");
  });

  it("what if: a date is typed as a date", async () => {
    const date = { name: "b", kind: "date", low: "2021-01-01", high: "2022-12-31", usual: "2022-01-01", deviation: 200,
      categories: [] };
    Object.assign(answers, { "GET /studies/s1/features": [date, { ...date, name: "c", kind: "date and time" }],
      "POST /studies/s1/what-if": { ...answer("x"), values: { b: "2022-03-04", c: "2022-03-04 12:30" } } });
    const element = inPage(whatIfView("s1", new LockedModel("s1"))(smallStudy(), new Store({ ...NOTHING, case: 1 })));
    await vi.waitFor(() => expect(element.querySelectorAll(".slider input")).toHaveLength(2));
    const [day, moment] = element.querySelectorAll<HTMLInputElement>(".slider input");
    expect([day!.type, day!.value, day!.min]).toEqual(["date", "2022-03-04", "2021-01-01"]);
    expect([moment!.type, moment!.value]).toEqual(["datetime-local", "2022-03-04T12:30"]);
    day!.value = "2022-05-06";
    day!.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(asked.at(-1)!.body).toEqual({ row: "r2", values: { b: "2022-05-06" },
      model: "study" }));
    expect(text(element.querySelector(".slider")!)).toContain("was 2022-03-04");
    moment!.value = "2022-05-06T07:08";
    moment!.dispatchEvent(new Event("change"));
    await vi.waitFor(() => expect(asked.at(-1)!.body).toEqual({ row: "r2",
      values: { b: "2022-05-06", c: "2022-05-06 07:08" }, model: "study" }));
  });

  it("teach: marks are sent, and ranks before and after shown", async () => {
    const ranking = { query: "r1", values: { b: 2 }, label: "x",
      found: [{ row: "r4", label: "y", distance: 1, rank_before: 1, rank_after: 3, alike: false, values: { b: 7 } }],
      marks: 2,
      triples: 1, agreeing_before: 0, agreeing_after: 1, weights: { b: 0.8, c: 0.2 }, kept: false };
    Object.assign(answers, { "GET /studies/s1/marks?query=r1": { ...ranking, marks: 0, triples: 0,
      agreeing_before: null }, "POST /studies/s1/marks": ranking });
    const store = new Store(NOTHING);
    const element = inPage(teachView("s1")(smallStudy(), store));
    store.chooseCase(0);
    await vi.waitFor(() => expect(text(element)).toContain("0 marks"));
    press(element, "not");
    await vi.waitFor(() => expect(text(element)).toContain("ranked as marked: 0% before, 100% after"));
    expect(asked.at(-1)!.body).toEqual({ query: "r1", case: "r4", alike: false });
    expect(text(element)).toContain("80.0%");
    const lines = [...element.querySelectorAll("table")][0]!.querySelectorAll("tbody tr");
    expect([...lines].map((line) => line.children[2]!.textContent)).toEqual(["2", "7"]);
    expect(text(element)).toContain("1 triple determines few weights");
  });

  it("teach: what is clicked at once is asked in the order of the clicks", async () => {
    const ranking = { query: "r1", values: { b: 2 }, label: "x",
      found: [{ row: "r4", label: "y", distance: 1, rank_before: 1, rank_after: 3, alike: null, values: { b: 7 } }],
      marks: 0, triples: 0, agreeing_before: null, agreeing_after: null, weights: null, kept: false };
    Object.assign(answers, { "GET /studies/s1/marks?query=r1": ranking, "POST /studies/s1/marks": ranking,
      "POST /studies/s1/marks/keep": { cases: 4, file: "base.whynear", python: "import whynear" } });
    const store = new Store(NOTHING);
    const element = inPage(teachView("s1")(smallStudy(), store));
    store.chooseCase(0);
    await vi.waitFor(() => expect(text(element)).toContain("0 marks"));
    const answered: string[] = [];
    const { fetch } = globalThis;
    vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
      if (path.endsWith("/marks")) await new Promise((done) => setTimeout(done, 20));
      const answer = await fetch(path, init);
      answered.push(path);
      return answer;
    });
    press(element, "not");
    press(element, "Save with the case base");
    await vi.waitFor(() => expect(text(element)).toContain("saved in base.whynear"));
    expect(answered).toEqual(["/api/studies/s1/marks", "/api/studies/s1/marks/keep"]);
  });

  it("a row is chosen by its name, and one that is not there is named", async () => {
    const store = new Store(NOTHING);
    const element = inPage(teachView("s1")(smallStudy(), store));
    const field = element.querySelector<HTMLInputElement>("#teach-row")!;
    field.value = "r3";
    field.dispatchEvent(new Event("change"));
    expect(store.now.case).toBe(2);
    field.value = "nobody";
    field.dispatchEvent(new Event("change"));
    expect(text(element)).toContain("There is no row “nobody”.");
    press(element, "Next wrong case");
    expect(store.now.case).toBe(2);
    expect(field.value).toBe("r3");
  });
});

describe("sentences", () => {
  it("name the choice of a page where the command line has an option that is part of the sentence", () => {
    expect(withoutOptions("If rows with the same text belong together, use --group 'it\\'s one'."))
      .toBe("If rows with the same text belong together, choose 'it\\'s one' as the group.");
  });

  it("lose the options of the command line, not names that look like them", () => {
    expect(withoutOptions("'L (G/l)' is text. Take it as missing (--number 'L (G/l)'), or leave it out (--drop 'L (G/l)')."))
      .toBe("'L (G/l)' is text. Take it as missing, or leave it out.");
    expect(withoutOptions("'Nr.' was set aside; --category 'Nr.' takes it as categories."))
      .toBe("'Nr.' was set aside.");
    expect(withoutOptions("Filled in; the model does the same; --strict refuses them."))
      .toBe("Filled in; the model does the same.");
    expect(withoutOptions("'a -- b' has 2 classes (x, y).")).toBe("'a -- b' has 2 classes (x, y).");
  });

  it("say what settings do", () => {
    expect(inWords({ number: ["a", "b"] })).toBe("Read “a”, “b” as numbers; what is no number is missing");
    expect(inWords({ drop_missing_target: true })).toBe("Leave out the rows without a target");
    expect(inWords({ folds: 3 })).toBe("Set folds to 3");
  });
});

describe("the studio", () => {
  it("lists studies and compares two of them", async () => {
    const differences = { finding: "The second is better.",
      changed: [{ feature: "b", first: "replaceable", second: "undecided" }], gained: [],
      lost: [{ feature: "c", verdict: "no evidence" }], settings: [], caveats: { first: [], second: [] } };
    Object.assign(answers, { "GET /studies": [study({ state: "finished" }), study({ id: "s2", state: "finished" })],
      "GET /compare?first=s1&second=s2": { differences } });
    const opened = vi.fn();
    const { element } = new Runs(opened);
    inPage(element);
    await vi.waitFor(() => expect(element.querySelectorAll("tbody tr").length).toBe(2));
    press(element, "cases");
    expect(opened).toHaveBeenCalledWith("s1");
    press(element, "Compare");
    expect(text(element)).toContain("Choose two different studies.");
    for (const [id, value] of [["first", "s1"], ["second", "s2"]]) {
      const select = element.querySelector<HTMLSelectElement>(`#${id}`)!;
      select.value = value!;
      select.dispatchEvent(new Event("change"));
    }
    press(element, "Compare");
    await vi.waitFor(() => expect(text(element)).toContain("The second is better."));
    expect(text(element)).toContain("no evidence");
  });

  it("opens the study of its address with the views that ask the server", async () => {
    Object.assign(answers, { "GET /studies/s1": study({ state: "finished" }), "GET /studies/s1/page": smallStudy() });
    history.pushState(null, "", "/?study=s1");
    const root = inPage(document.createElement("div"));
    openStudio(root);
    await vi.waitFor(() => expect(root.querySelectorAll("main > section").length).toBe(10));
    expect([...root.querySelectorAll("main > section")].map((view) => view.id))
      .toEqual(["finding", "features", "sets", "leave-out", "errors", "map", "case", "what-if", "teach", "done"]);
    answers["POST /studies/s1/python"] = { view: "sets", code: "print(1)" };
    press(root.querySelector("#sets")!, "Show the Python");
    await vi.waitFor(() => expect(root.querySelector("#sets pre")!.textContent).toBe("print(1)"));
    history.pushState(null, "", "/");
  });
});

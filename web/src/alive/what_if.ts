/** What if a case had other values: sliders within the range of the data, and the smallest change that flips it. */

import { rowName, type PageData } from "../data";
import { append, button, choice, h, note, replace, table, type Child } from "../dom";
import { bar } from "../figure";
import { counted, percent, short, signed } from "../format";
import { extent } from "../scale";
import type { Store } from "../selection";
import { get, part, post, textOf, type Feature, type Flips, type Value, type WhatIf } from "./api";
import type { LockedModel } from "./locked";
import { casePicker, PythonPart, Said } from "./parts";

const MOST_SLIDERS = 12; // at first; the others unfold
const MOST_NEIGHBORS = 8;
const MOST_BESIDE = 3; // features whose values stand beside those of the neighbours
const MISSING = "\0"; // no category has this name
const NUMBERS = ["number", "whole number"];

export function whatIfView(study: string, locked: LockedModel) {
  return (data: PageData, store: Store): HTMLElement => new WhatIfPart(study, data, store, locked).element;
}

class WhatIfPart {
  readonly element: HTMLElement;
  private readonly answer = h("div", { class: "answer", "aria-live": "polite" });
  private readonly sliders = h("div", { class: "sliders" });
  private readonly flips = h("div", {});
  private readonly said = new Said();
  private readonly heading = h("p", { class: "lead" });
  private features: Feature[] = [];
  private values: Record<string, Value> = {};
  private own: Record<string, Value> = {};
  private asked: AbortController | null = null;
  private row: string | null = null;
  private model: "study" | "locked" = "study";
  private readonly python: PythonPart;

  constructor(private readonly study: string, private readonly data: PageData, store: Store,
    private readonly locked: LockedModel) {
    const models = h("div", {});
    const tools = h("div", { class: "tools" }, casePicker(data, store, "what-if-row"), models,
      button("Back to the row's own values", () => this.start()),
      data.kind === "classes" && button("Smallest change that flips it", () => this.flip(), { id: "flip" }));
    this.python = new PythonPart(study, () => ({ view: "what-if", row: this.row, values: this.values,
      model: this.model }));
    this.element = h("div", {},
      note("Choose a case; move a slider, and prediction, votes and neighbours follow. Sliders stay within the range of the data. The model is fitted to all rows, so it has seen this row: Case shows what a model says that has not."),
      tools, this.heading, this.said.element,
      h("div", { class: "pair" }, this.sliders, this.answer), this.flips, this.python.element);
    locked.follow((found) => {
      const before = this.model;
      this.model = found ? "locked" : "study";
      replace(models, found && this.modelChoice(found.features.length));
      if (before !== this.model || found) this.start();
    });
    void this.said.while("Reading the features …", async () => {
      this.features = await get<Feature[]>(`/studies/${part(study)}/features`);
      store.follow(({ case: chosen }, before) => {
        const row = chosen === null ? null : rowName(data, chosen);
        if (row === this.row && chosen === before.case && this.sliders.firstChild) return;
        this.row = row;
        this.start();
      });
    });
  }

  private modelChoice(size: number): HTMLElement {
    const made = choice("Answered by", [["locked", `the locked model of ${counted(size, this.data.noun)}`],
      ["study", `the model of all ${this.data.noun}s`]], (value) => {
      this.model = value === "locked" ? "locked" : "study";
      this.start();
    }, { id: "what-if-model" });
    return made;
  }

  private start(): void {
    if (!this.features.length) return; // they are still being read
    this.values = {};
    replace(this.flips);
    replace(this.heading, this.row === null && "No case is chosen: these are the usual values (medians).");
    void this.ask().then(() => this.drawSliders());
  }

  private async ask(): Promise<void> {
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const found = await post<WhatIf>(`/studies/${part(this.study)}/what-if`, 
        { row: this.row, values: this.values, model: this.model }, this.asked.signal);
      if (!Object.keys(this.values).length) this.own = found.values;
      replace(this.answer, this.shown(found));
      this.said.tell();
      this.python.renew();
    } catch (error) {
      this.said.fail(error);
    }
  }

  private drawSliders(): void {
    const places = new Map(this.data.features.order.map((feature, place) =>
      [this.data.features.names[feature], place]));
    for (const name of Object.keys(this.values)) places.set(name, -1); // what was changed is not folded away
    const taken = this.locked.now && this.model === "locked" ? new Set(this.locked.now.features) : null;
    const sorted = this.features.filter(({ name }) => !taken || taken.has(name)).sort((a, b) => (places.get(a.name) ?? 1e9) - (places.get(b.name) ?? 1e9));
    const rest = sorted.slice(MOST_SLIDERS);
    replace(this.sliders, sorted.slice(0, MOST_SLIDERS).map((feature) => this.slider(feature)),
      rest.length > 0 && unfolding(`${rest.length} more features`, () => rest.slice(0, 200)
        .map((feature) => this.slider(feature))));
  }

  private slider(feature: Feature): HTMLElement {
    const own = this.own[feature.name] ?? null;
    const now = feature.name in this.values ? this.values[feature.name] ?? null : own;
    const shown = h("output", {});
    const line = h("label", { class: "slider" }, h("span", {}, feature.name));
    const tell = (value: Value) => {
      const changed = value !== own;
      line.classList.toggle("changed", changed);
      replace(shown, NUMBERS.includes(feature.kind) && textOf(value), changed && h("small", {}, ` was ${textOf(own)}`));
    };
    const change = (value: Value) => {
      this.values = { ...this.values, [feature.name]: value };
      tell(value);
      void this.ask();
    };
    tell(now);
    if (feature.kind === "category") {
      const select = h("select", { change: () => change(select.value === MISSING ? null : select.value) },
        [MISSING, ...feature.categories].map((name) => h("option", { value: name, selected: name === (now
          ?? MISSING) }, name === MISSING ? "missing" : name)));
      append(line, [select, shown]);
      return line;
    }
    if (!NUMBERS.includes(feature.kind)) {
      append(line, [dateInput(feature, now, change), shown]);
      return line;
    }
    const [low, high] = [Number(feature.low ?? 0), Number(feature.high ?? 1)];
    const input = h("input", { type: "range", min: low, max: high, step: feature.kind === "whole number" ? 1
      : (high - low) / 200 || 1, value: String(now ?? feature.usual), input: () =>
      change(Number(input.value)) });
    append(line, [input, shown]);
    return line;
  }

  private shown(found: WhatIf): Child[] {
    const numbers = this.data.kind === "numbers";
    const changed = Object.keys(this.values).length > 0;
    const byVerdict = this.data.features.order.map((feature) => this.data.features.names[feature]!);
    const beside = [...new Set([...Object.keys(this.values), ...byVerdict])]
      .filter((name) => name in found.values).slice(0, MOST_BESIDE);
    const remark = found.remark ?? "";
    const votes = !numbers || remark !== "";
    const rows = found.neighbors.some((near) => near.nearest_row !== null && near.nearest_row !== undefined);
    const classes = Object.entries(found.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 8);
    return [
      h("p", { class: "lead" }, "Predicted ", h("strong", {}, textOf(found.prediction as Value)), found.interval
        && ` (90% of rows lie between ${short(found.interval[0])} and ${short(found.interval[1])})`,
        found.true !== null && found.true !== undefined
          && `; ${changed ? "the row itself is" : "in truth"} ${textOf(found.true as Value)}`),
      classes.length > 0 && table(["class", "#probability", ""], classes.map(([name, share]): Child[] =>
        [name, percent(share), bar(0, share, [0, 1], "strong")])),
      Object.keys(found.contributions).length > 0 && this.contributions(found),
      found.unusual.length > 0 && h("div", { class: "caveats" },
        h("ul", {}, found.unusual.map((one) => h("li", {}, one.text)))),
      h("h4", {}, "Neighbours"),
        table([found.neighbors[0]?.kind ?? "row", ...(rows ? ["nearest row"] : []), numbers ? "#measured" : "class",
          "#distance", ...(votes ? ["#vote"] : []), ...beside.map((name) => `#${name}`)],
        [["this case", ...(rows ? [""] : []), "", "", ...(votes ? [""] : []),
          ...beside.map((name) => textOf(found.values[name] ?? null))],
        ...found.neighbors.slice(0, MOST_NEIGHBORS).map((near): Child[] =>
          [String(near.name), ...(rows ? [String(near.nearest_row ?? "")] : []), textOf(near.label as Value),
          short(near.distance, 3), ...(votes ? [remark ? signed(near.vote) : percent(near.vote)] : []),
          ...beside.map((name) => textOf(near.values[name] ?? null))])]),
      remark && note(`${remark}.`),
      rows && note("A prototype stands for many rows; values are those of the row nearest to it."),
      changed && note(`answered in ${Math.max(1, Math.round(1000 * found.seconds))} ms`),
    ];
  }

  private contributions(found: WhatIf): HTMLElement {
    const parts = Object.entries(found.contributions).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 8);
    const ends = extent([0, ...parts.map(([, added]) => added)]);
    return table(["feature", "#adds", ""], parts.map(([name, added]): Child[] =>
      [name, signed(added), bar(0, added, ends, added < 0 ? "down" : "up")]));
  }

  private flip(): void {
    void this.said.while("Searching …", async () => {
      const found = await post<Flips>(`/studies/${part(this.study)}/flip`, { row: this.row, values: this.values,
        model: this.model });
      replace(this.flips, h("h3", {}, "Smallest changes that change the prediction"), found.flips.length
        ? h("ul", {}, found.flips.map((flip) => h("li", {}, `${flip.sentence} `,
          button("Try it", () => this.take(Object.fromEntries(flip.changes.map((one) => [one.feature, one.after])))))))
        : h("p", {}, "No change within the range of the data changes the prediction."));
    });
  }

  private take(values: Record<string, Value>): void {
    this.values = { ...this.values, ...values };
    void this.ask().then(() => this.drawSliders());
  }
}

/** A field for a date, with the time of day where the column has times. */
function dateInput(feature: Feature, now: Value, change: (value: Value) => void): HTMLElement {
  const written = (value: Value) => String(value ?? "").replace(" ", "T");
  const kind = feature.kind === "date" ? { type: "date" } : { type: "datetime-local", step: 1 };
  const input = h("input", { ...kind, min: written(feature.low), max: written(feature.high), value: written(now),
    change: () => change(input.value === "" ? null : input.value.replace("T", " ")) });
  return input;
}

function unfolding(text: string, make: () => Child[]): HTMLElement {
  const made: HTMLDetailsElement = h("details",
    { toggle: () => { if (made.children.length === 1) made.append(h("div", {}, ...make())); } },
    h("summary", {}, text));
  return made;
}

/** Mark found cases as alike or not; weights are learned from the marks, and ranks before and after stand side by side. */

import { rowName, type PageData } from "../data";
import { button, h, note, replace, table, type Child } from "../dom";
import { bar } from "../figure";
import { counted, percent, short } from "../format";
import type { Store } from "../selection";
import { code } from "../done";
import { get, part, post, remove, textOf, type Found, type Kept, type Ranking, type Value } from "./api";
import { casePicker, PythonPart, Said } from "./parts";

const MOST_WEIGHTS = 10;
const MOST_VALUES = 6; // features whose values are compared
const FEW_TRIPLES = 10;

export function teachView(study: string) {
  return (_data: PageData, store: Store): HTMLElement => new TeachPart(study, _data, store).element;
}

class TeachPart {
  readonly element: HTMLElement;
  private readonly said = new Said();
  private readonly found = h("div", {});
  private readonly kept = h("div", {});
  private query: string | null = null;
  private readonly python: PythonPart;

  constructor(private readonly study: string, private readonly data: PageData, store: Store) {
    this.python = new PythonPart(study, () => ({ view: "marks" }));
    const undo = () => void this.update("Taking back …", (row) =>
      remove<Ranking>(`/studies/${part(study)}/marks?query=${part(row)}`));
    const keep = () => void this.said.queue("Saving …", async () => {
      const made = await post<Kept>(`/studies/${part(study)}/marks/keep`);
      replace(this.kept, h("p", {},
        `${counted(made.cases, "case")} and the learned metric are saved in ${made.file}.`),
        code("how to use it", made.python));
    });
    this.element = h("div", {},
      note("Choose a case. Mark the cases found for it as alike or not; from one of each on, weights of the features are learned that rank the alike ones before the others."),
      h("div", { class: "tools" }, casePicker(data, store, "teach-row"), button("Undo the last mark", undo), button("Save with the case base", keep)),
        this.said.element, this.found, this.kept, this.python.element);
    store.follow(({ case: chosen }) => {
      const row = chosen === null ? null : rowName(data, chosen);
      if (row === this.query && this.found.firstChild) return;
      this.query = row;
      if (row === null) replace(this.found, h("p", {}, "No case is chosen."));
      else void this.update("Searching …", (row) => get<Ranking>(`/studies/${part(study)}/marks?query=${part(row)}`));
    });
  }

  private async update(text: string, work: (row: string) => Promise<Ranking>): Promise<void> {
    const row = this.query;
    if (row === null) return;
    const found = await this.said.queue(text, () => work(row));
    if (!found || String(found.query) !== this.query) return;
    replace(this.found, this.shown(found));
    this.python.renew();
  }

  private mark(one: Found, alike: boolean): void {
    void this.update("Learning …", (query) => post<Ranking>(`/studies/${part(this.study)}/marks`,
      { query, case: one.row, alike }));
  }

  private shown(found: Ranking): Child[] {
    const weights = Object.entries(found.weights ?? {}).sort((a, b) => b[1] - a[1]).slice(0, MOST_WEIGHTS);
    const most = weights[0]?.[1] ?? 1;
    const beside = this.data.features.order.map((feature) => this.data.features.names[feature]!)
      .filter((name) => name in found.values).slice(0, MOST_VALUES);
    const values = (of: Record<string, Value>) => beside.map((name) => textOf(of[name] ?? null));
    return [
      h("p", { class: "lead" },
        `Cases near row ${found.query}: ${counted(found.marks, "mark")}, ${counted(found.triples, "triple")}`,
        found.agreeing_before !== null
          && `; ranked as marked: ${percent(found.agreeing_before, 0)} before, ${percent(found.agreeing_after, 0)} after`,
          found.kept ? "; saved." : "."),
      table(["row", this.data.target, ...beside.map((name) => `#${name}`), "#distance", "#rank before", "#rank after",
        "like row " + found.query],
        [[h("strong", {}, String(found.query)), String(found.label), ...values(found.values), "", "", "", ""],
        ...found.found.map((one): Child[] => [
        String(one.row), String(one.label), ...values(one.values), short(one.distance, 3), one.rank_before,
        one.rank_after ?? "–", h("span", { class: "joined", role: "group", "aria-label": `row ${one.row}` },
          button("alike", () => this.mark(one, true), { "aria-pressed": String(one.alike === true) }),
          button("not", () => this.mark(one, false), { "aria-pressed": String(one.alike === false) }))])]),
      found.triples > 0 && found.triples < FEW_TRIPLES
        && note(`${counted(found.triples, "triple determines", "triples determine")} few weights: many others would rank these cases as marked. Mark more, also for other rows.`),
      weights.length > 0 && [h("h4", {}, "Learned weights, per standard deviation"),
        table(["feature", "#weight", ""], weights.map(([name, weight]): Child[] =>
        [name, percent(weight), bar(0, weight, [0, most], "strong")]))],
    ];
  }
}

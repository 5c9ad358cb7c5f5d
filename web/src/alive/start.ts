/** Start a study: a file or an example, a preview, choices with their consequences, and what it will cost. */

import { button, choice, h, note, replace, table, type Child } from "../dom";
import { count, counted } from "../format";
import { get, part, post, type Example, type Preview, type Settings, type StudyInfo, type TableInfo } from "./api";
import { Said } from "./parts";
import { inWords, withoutOptions } from "./words";

type Source = { table: string } | { example: string };
const KINDS: [string, string][] = [["number", "numbers"], ["category", "categories"], ["date", "dates"]];
const ROLES: [string, string][] = [["feature", "feature"], ["target", "target"], ["index", "name of the row"],
  ["group", "group"], ["time", "time"], ["weight", "weight"], ["drop", "left out"]];
const LEARNERS: [string, string][] = [["auto", "the best of several"], ["grlvq", "GRLVQ: a weight for each feature"],
  ["gmlvq", "GMLVQ: also pairs of features"], ["lmnn", "LMNN: nearest rows, one metric"],
  ["lgmlvq", "LGMLVQ: a metric for each prototype"], ["lann", "LANN: nearest rows, local metrics"]];
const SCORES: [string, string][] = [["accuracy", "accuracy"], ["balanced_accuracy", "balanced accuracy"],
  ["log_loss", "log loss"], ["roc_auc", "area under the ROC curve"]];
const MOST_COLUMNS = 60; // lines of the preview

/** The settings after a column was given another role; one column at most names, groups, orders or weighs rows. */
export function withRole(settings: Settings, column: string, role: string): Settings {
  const made: Settings = { ...settings, drop: ((settings.drop as string[] | undefined) ?? [])
    .filter((name) => name !== column) };
  for (const single of ["index", "group", "time", "weight"]) if (made[single] === column) delete made[single];
  if (role === "drop") made.drop = [...(made.drop as string[]), column];
  else if (role !== "feature" && role !== "target") made[role] = column;
  return made;
}

/** The settings after a column was said to hold something; "" leaves it to what is found. */
export function withKind(settings: Settings, column: string, kind: string): Settings {
  const made: Settings = { ...settings };
  for (const [name] of KINDS) {
    const others = ((settings[name] as string[] | undefined) ?? []).filter((other) => other !== column);
    made[name] = name === kind ? [...others, column] : others;
  }
  return made;
}

export class Start {
  readonly element: HTMLElement;
  private readonly said = new Said();
  private readonly preview = h("div", { id: "preview" });
  private source: Source | null = null;
  private settings: Settings = {};
  private target: string | null = null;
  private asked: AbortController | null = null;

  constructor(private readonly started: (study: StudyInfo) => void) {
    const file = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,.parquet,.xlsx", change: () =>
      this.send(file.files?.[0]) });
    const drop = h("div", { class: "drop", dragover: (event) => event.preventDefault(), drop: (event) => {
      event.preventDefault();
      this.send((event as DragEvent).dataTransfer?.files[0]);
    } }, h("label", {}, "A table (CSV, TSV, Parquet, Excel): drop it here, or ", file));
    const known = h("div", { class: "tools" });
    this.element = h("section", { class: "view", id: "start" }, h("h2", {}, "Start a study"), drop, known,
      this.said.element, this.preview);
    void this.said.while("Reading the lists …", async () => {
      const [tables, examples] = await Promise.all([get<TableInfo[]>("/tables"), get<Example[]>("/examples")]);
      replace(known, tables.length > 0 && choice("A table of this project",
        [["", "choose"], ...tables.map((one): [string, string] => [one.id, one.name])], (id) => id
        && this.take({ table: id })),
        choice("An example", [["", "choose"], ...examples.map((one): [string, string] =>
          [one.name, `${one.name}${one.rows ? ` (${counted(one.rows, "row")}, ${counted(one.features ?? 0, "feature")})` : ""}`])],
          (name) => name && this.take({ example: name }), { id: "example" }));
    });
  }

  private send(file: File | undefined): void {
    if (!file) return;
    void this.said.while(`Sending ${file.name} …`, async () => {
      const { id } = await post<TableInfo>(`/tables?name=${part(file.name)}`, file);
      this.take({ table: id });
    });
  }

  private take(source: Source): void {
    [this.source, this.settings, this.target] = [source, {}, null];
    this.look();
  }

  private look(): void {
    const source = this.source;
    if (!source) return;
    this.asked?.abort();
    this.asked = new AbortController();
    const path = "table" in source ? `/tables/${part(source.table)}/preview`
      : `/examples/${part(source.example)}/preview`;
    const { signal } = this.asked;
    void this.said.while("Looking at the table …", async () => {
      const found = await post<Preview>(path, { target: this.target, settings: this.settings }, signal);
      this.target = found.target;
      replace(this.preview, this.shown(found));
    });
  }

  private set(name: string, value: unknown): void {
    this.settings = { ...this.settings, [name]: value };
    this.look();
  }

  private shown(found: Preview): Child[] {
    const settings = this.settings;
    const given = (name: string, usual: unknown) => String(settings[name] ?? usual);
    const selected = (label: HTMLLabelElement, value: string) => { label.querySelector("select")!.value = value;
      return label; };
    return [
      h("h3", {}, found.source), h("p", {}, found.summary),
      h("div", { class: "tools" },
        selected(choice("Predict", found.targets.map((name): [string, string] => [name, name]),
          (name) => { this.target = name; this.look(); }, { id: "target" }), found.target ?? ""),
        found.target_kind === "classes" && selected(choice("scored by", SCORES, (name) => this.set("score", name)),
          given("score", "accuracy")),
        found.target_kind === "classes"
          && selected(choice("with", LEARNERS, (name) => this.set("learner", name), { id: "learner" }),
          given("learner", "auto")),
        h("label", {}, "folds ", h("input",
          { type: "number", id: "folds", min: 2, max: 20, value: given("folds", 5), size: 3, change: (event) =>
          this.set("folds", Number((event.target as HTMLInputElement).value)) })),
        found.target_kind === "numbers" && h("label", {}, "classes of equal size ",
          h("input", { type: "number", min: 2, max: 10, size: 3, value: String(settings.bins ?? ""),
          placeholder: "none", change: (event) => this.set("bins", Number((event.target as HTMLInputElement).value)
          || null) })),
        h("label", {}, "missing values are written as ", h("input",
          { size: 8, placeholder: "such as -999", value: ((settings.missing as string[] | undefined) ?? []).join(", "),
          change: (event) => this.set("missing", (event.target as HTMLInputElement).value.split(",")
          .map((text) => text.trim()).filter(Boolean)) }))),
      found.refusal ? this.refused(found) : this.ready(found),
      found.consequences.length > 0 && [h("h3", {}, "What follows"), h("ul", { class: "consequences" },
        found.consequences.map((one) => h("li", { class: one.warning ? "warning" : null }, withoutOptions(one.text))))],
      h("h3", {}, "Columns"), this.columns(found),
      h("details", {}, h("summary", {}, "The first rows"), table(found.columns.map((column) => column.name),
        found.head.map((line) => line.map((cell) => cell ?? "missing")))),
    ];
  }

  private refused(found: Preview): HTMLElement {
    const { message, suggestion } = found.refusal!;
    const fix = Object.keys(suggestion).length > 0 && button(inWords(suggestion),
      () => { this.settings = { ...this.settings, ...suggestion }; this.look(); }, { id: "fix", class: "main" });
    return h("div", { class: "caveats" }, h("p", {}, withoutOptions(message)), h("div", { class: "tools" }, fix));
  }

  private ready(found: Preview): HTMLElement {
    const run = () => void this.said.while("Starting …", async () =>
      this.started(await post<StudyInfo>("/studies", { ...this.source, target: this.target,
      settings: this.settings })));
    return h("div", { class: "tools" }, button("Run the study", run, { id: "run", class: "main" }),
      h("span", { class: "note" }, found.cost?.text ?? ""));
  }

  private columns(found: Preview): HTMLElement {
    const roles = (role: string) => (role === "left out" ? "drop" : role);
    return h("div", {}, table(["column", "holds", "#missing", "#different", "such as", "is the"],
      found.columns.slice(0, MOST_COLUMNS).map((column): Child[] => {
      const select = h("select", { "aria-label": `Role of ${column.name}`, change: () => {
        if (select.value === "target") this.target = column.name;
        this.settings = withRole(this.settings, column.name, select.value);
        this.look();
      } }, ROLES.map(([value, text]) => h("option", { value, selected: value === roles(column.role) }, text)));
      const said = KINDS.find(([name]) => (this.settings[name] as string[] | undefined)?.includes(column.name));
      const kind = h("select", { "aria-label": `What ${column.name} holds`, change: () => {
        this.settings = withKind(this.settings, column.name, kind.value);
        this.look();
      } }, [["", said ? "as found" : column.kind], ...KINDS].map(([value, text]) =>
        h("option", { value, selected: value === (said?.[0] ?? "") }, value ? `read as ${text}` : text)));
      return [column.name, kind, count(column.missing), count(column.distinct), column.examples.slice(0, 3)
        .join(" · "), select];
    })), found.columns.length > MOST_COLUMNS
      && note(`${counted(found.columns.length - MOST_COLUMNS, "more column is a feature", "more columns are features")}.`));
  }
}

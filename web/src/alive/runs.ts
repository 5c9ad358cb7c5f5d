/** All studies of the project: open, rename, remove, export and compare them. */

import { button, choice, h, replace, table, type Child } from "../dom";
import { get, part, patch, remove, type Differences, type StudyInfo } from "./api";
import { PythonPart, Said } from "./parts";

export class Runs {
  readonly element: HTMLElement;
  private readonly said = new Said();
  private readonly list = h("div", {});
  private readonly compared = h("div", {});
  private pair: [string, string] = ["", ""];

  constructor(private readonly open: (study: string) => void) {
    this.element = h("section", { class: "view", id: "runs" }, h("h2", {}, "Studies of this project"),
      this.said.element, this.list, this.compared);
    this.refresh();
  }

  private refresh(): void {
    void this.said.while("Reading the studies …", async () => {
      const studies = await get<StudyInfo[]>("/studies");
      replace(this.list, studies.length ? this.shown(studies) : h("p", {}, "There is none yet."));
    });
  }

  private shown(studies: StudyInfo[]): Child[] {
    const finished = studies.filter((one) => one.state === "finished");
    const options: [string, string][] = [["", "choose"], ...finished.map((one): [string, string] =>
      [one.id, `${one.name} (${when(one.created)})`])];
    return [
      table(["study", "state", "started", "finding", ""], studies.map((one): Child[] => [
        button(one.name || one.source, () => this.open(one.id), { class: "inline" }), one.state, when(one.created),
          one.finding.split(". ")[0] ?? "",
        h("span", { class: "tools" }, one.state === "finished" && h("a",
          { href: `/api/studies/${part(one.id)}/files/report.html`, download: "report.html", class: "export" },
          "Export the page"),
          button("Rename", () => this.rename(one)), button("Remove", () => this.remove(one)))])),
      finished.length > 1 && h("div", { class: "tools" }, choice("Compare", options, (id) => { this.pair[0] = id; },
        { id: "first" }), choice("with", options, (id) => { this.pair[1] = id; }, { id: "second" }),
        button("Compare", () => this.compare(), { id: "compare" })),
    ];
  }

  private rename(study: StudyInfo): void {
    const name = prompt("A new name of the study", study.name);
    if (name) void this.said.while("…", async () => { await patch(`/studies/${part(study.id)}`, { name });
      this.refresh(); });
  }

  private remove(study: StudyInfo): void {
    if (confirm(`Remove the study ${study.name} and its files?`)) void this.said.while("…",
      async () => { await remove(`/studies/${part(study.id)}`); this.refresh(); });
  }

  private compare(): void {
    const [first, second] = this.pair;
    if (!first || !second || first === second) return this.said.fail(new Error("Choose two different studies."));
    void this.said.while("Comparing …", async () => {
      const { differences: found } = await get<Differences>(`/compare?first=${part(first)}&second=${part(second)}`);
      const only = (which: string, lines: { feature: string; verdict: string }[]) =>
        lines.map((one): Child[] => [one.feature, ...(which === "first" ? [one.verdict, "–"] : ["–", one.verdict])]);
      replace(this.compared, h("h3", {}, "What differs"), h("p", { class: "lead" }, found.finding),
        found.changed.length + found.gained.length + found.lost.length > 0
          && table(["feature", "first", "second"],
          [...found.changed.map((one): Child[] => [one.feature, one.first, one.second]), ...only("first", found.lost),
          ...only("second", found.gained)].slice(0, 100)),
        found.settings.length > 0 && table(["setting", "first", "second"],
          found.settings.map((one): Child[] => [one.setting, String(one.first), String(one.second)])),
        new PythonPart(first, () => ({ view: "compare", other: second })).element);
    });
  }
}

function when(created: number): string {
  return new Date(1000 * created).toLocaleString();
}

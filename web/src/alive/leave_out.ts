/** Leave features out: the learner is fitted again, and scores, verdicts and stand-ins before and after stand side by side. */

import { VERDICT_CLASS } from "../colours";
import { VERDICTS, type PageData, type VerdictCode } from "../data";
import { button, h, note, replace, table, type Child } from "../dom";
import { bar } from "../figure";
import { count, counted, listed, percent, points } from "../format";
import { extent, padded } from "../scale";
import { get, part, post, type Judged, type Locked, type Move, type Relearning } from "./api";
import type { LockedModel } from "./locked";
import { PythonPart, Said } from "./parts";

const MOST_TICKS = 60; // features to tick, by verdict; others are found by name
const MOST_MOVES = 40; // lines of verdicts
const LOOK_MS = 400; // between two looks at a refit that runs

export function leaveOutView(study: string, locked: LockedModel) {
  return (data: PageData): HTMLElement => new LeaveOutPart(study, data, locked).element;
}

class LeaveOutPart {
  readonly element: HTMLElement;
  private readonly left = new Set<string>();
  private readonly said = new Said();
  private readonly running = h("div", { "aria-live": "polite" });
  private readonly answers = h("div", {});
  private readonly lockedNow = h("div", {});
  private readonly ticks = h("div", { class: "ticks" });
  private readonly python: PythonPart;
  private readonly names: string[];

  constructor(private readonly study: string, private readonly data: PageData, private readonly locked: LockedModel) {
    this.names = data.features.order.map((feature) => data.features.names[feature]!);
    this.python = new PythonPart(study, () => ({ view: "leave-out", features: [...this.left] }));
    const tools = h("div", { class: "tools" },
      h("label", {}, "Find ", h("input", { type: "search", input: (event) =>
        this.drawTicks((event.target as HTMLInputElement).value) })),
      button("All but the smallest set", () => this.allBut(data.sets.best)),
      button("None", () => this.allBut(data.features.order)),
      button(`Relearn without the ticked ${data.noun}s`, () => this.start(), { id: "refit", class: "main" }));
    this.drawTicks();
    this.element = h("div", {},
      note(`Tick the ${data.noun}s to leave out. The learner is fitted again on the same folds, which gives its score; ${data.noun === "band" ? "Bands" : "Features"} says what is lost where the best of several models may answer, which can be less. Then the others are judged again by fitting without each of them, which shows whose verdict and whose stand-ins rested on what was left out.`),
      this.ticks, tools, this.said.element, this.running, this.lockedNow, this.answers, this.python.element);
    locked.follow((found) => this.showLocked(found));
    void this.said.while("Reading …", () => Promise.all([locked.read(), this.look()]));
  }

  private allBut(kept: number[]): void {
    const keep = new Set(kept.map((feature) => this.data.features.names[feature]!));
    this.left.clear();
    this.names.filter((name) => !keep.has(name)).forEach((name) => this.left.add(name));
    this.drawTicks();
    this.python.renew();
  }

  private drawTicks(wanted = ""): void {
    const found = this.names.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
    replace(this.ticks, found.slice(0, MOST_TICKS).map((name) => h("label", {}, h("input", {
      type: "checkbox", checked: this.left.has(name), change: (event) => {
        if ((event.target as HTMLInputElement).checked) this.left.add(name);
        else this.left.delete(name);
        this.python.renew();
      },
    }), ` ${name}`)), found.length > MOST_TICKS && h("span", { class: "note" },
      `${count(found.length - MOST_TICKS)} more are found by name`));
  }

  private start(): void {
    if (!this.left.size) return this.said.fail(new Error(`Tick at least one ${this.data.noun} first.`));
    void this.said.while("Starting …", async () => {
      await post<Relearning>(this.path(), { features: [...this.left] });
      await this.look();
    });
  }

  /** Shows all refits, and looks again while one of them runs. */
  private async look(): Promise<void> {
    const found = await get<Relearning[]>(this.path());
    const now = found.find((one) => one.state === "running");
    replace(this.running, now && this.progress(now));
    this.draw(found.filter((one) => one.score !== null || one.message));
    if (now) setTimeout(() => { if (this.element.isConnected) void this.look().catch((error) =>
      this.said.fail(error)); }, LOOK_MS);
  }

  private progress(now: Relearning): Child[] {
    const cancel = () => void this.said.while("Cancelling …", async () => {
      await post(this.path(`/${now.number}/cancel`));
      await this.look();
    });
    return [h("progress", { max: 1, value: now.share, "aria-label": "Share of the refits done" }),
      h("div", { class: "tools" }, h("span", { class: "note" }, `${percent(now.share, 0)}: ${now.step || "starting"}`),
        button("Cancel", cancel, { id: "cancel-refit" }))];
  }

  private showLocked(found: Locked | null): void {
    const unlock = () => void this.said.while("Unlocking …", () => this.locked.unlock());
    const score = found?.answer && `, which reach ${percent(found.answer.without)} ± ${percent(found.answer.without_error)}`;
    replace(this.lockedNow, found && h("div", { class: "panel", id: "locked" },
      h("p", {}, h("strong", {}, `Locked as the model: ${counted(found.features.length, this.data.noun)}`), score,
        `: ${listed(found.features, 8)}. It is fitted to all rows, and What if answers with it.`),
      h("div", { class: "tools" }, h("a", { href: "#what-if" }, "Ask it"),
        h("a", { href: `/api/studies/${part(this.study)}/files/locked.whynear`, download: "locked.whynear",
          class: "export" }, "Save the model"), button("Unlock", unlock))));
  }

  private draw(done: Relearning[]): void {
    const scored = done.filter((one) => one.score !== null);
    const ends = padded(extent(scored.flatMap((one) => [one.score!.with_all, one.score!.without])), 0.2);
    const [last] = done;
    replace(this.answers, last && this.latest(last),
      scored.length > 0 && table(["left out", "#all", "#without", "", "#points lost", ""], scored.map((one): Child[] => {
        const { features, kept, with_all: all, with_all_error: allError, without, without_error: error } = one.score!;
        return [features.length > 6 ? `${features.length} of them; kept: ${listed(kept)}` : features.join(", "),
          `${percent(all)} ± ${percent(allError)}`, `${percent(without)} ± ${percent(error)}`,
          bar(ends[0], without, ends, "strong"),
          `${points(100 * one.score!.lost)} ± ${points(100 * one.score!.lost_error)}`,
          button("Lock as the model", () => this.lock(features))];
      })));
  }

  private lock(features: string[]): void {
    void this.said.while("Fitting to all rows …", () => this.locked.lock(features));
  }

  private latest({ score, moves, message }: Relearning): Child[] {
    const changed = moves?.features.filter((one) => isMoved(one)) ?? [];
    const same = moves?.features.filter((one) => !isMoved(one)) ?? [];
    return [score && h("p", { class: "lead" }, score.sentence), moves && h("p", { class: "lead" }, moves.sentence),
      message && h("p", { class: "said" }, message),
      changed.length > 0 && this.moves("What moves", changed),
      same.length > 0 && h("details", {}, h("summary", {}, `${counted(same.length, this.data.noun)} with the same verdict and stand-ins`),
        this.moves("", same)),
      moves && note("Points are those lost without the feature, of all and then of those that are kept. A verdict near a limit may move by chance; Features says how stable it was.")];
  }

  private moves(heading: string, lines: Move[]): Child[] {
    return [heading && h("h3", {}, heading), table([this.data.noun, "verdict before", "after", "#points lost before",
      "#after", "can be replaced by, before", "after"], lines.slice(0, MOST_MOVES).map(({ feature, before, after }): Child[] =>
      [feature, badge(before), badge(after), lost(before), lost(after), listed(before.stand_ins, 4) || "–",
        listed(after.stand_ins, 4) || "–"]), { class: "moves" })];
  }

  private path(more = ""): string {
    return `/studies/${part(this.study)}/relearn${more}`;
  }
}

function isMoved({ before, after }: Move): boolean {
  return before.verdict !== after.verdict || [...before.stand_ins].sort().join("\n") !== [...after.stand_ins].sort().join("\n");
}

function badge({ verdict }: Judged): HTMLElement {
  const code = (Object.keys(VERDICTS) as VerdictCode[]).find((one) => VERDICTS[one] === verdict) ?? "u";
  return h("span", { class: `badge ${VERDICT_CLASS[code]}` }, verdict);
}

function lost({ loss, error }: Judged): string {
  return loss === null ? "–" : `${points(loss)} ± ${points(error)}`;
}

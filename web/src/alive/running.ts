/** A study that waits or runs: its step, its learners, the time left, and a way to end it. */

import { button, h, replace, type Child } from "../dom";
import { percent } from "../format";
import { follow, get, isOver, part, post, type StudyInfo } from "./api";
import { shownParts, type Parts } from "./partial";
import { Said, seconds } from "./parts";

export class Running {
  readonly element = h("section", { class: "view", id: "running" });
  private readonly said = new Said();
  private readonly state = h("div", { "aria-live": "polite" });
  private readonly parts = h("div", { id: "parts" });
  private known = "";
  private stop: () => void = () => undefined;

  constructor(info: StudyInfo, private readonly finished: (study: StudyInfo) => void) {
    replace(this.element, h("h1", {}, info.name || info.source), this.state, this.said.element, this.parts);
    this.show(info);
    if (!isOver(info.state)) this.listen(info.id);
  }

  close(): void {
    this.stop();
  }

  private listen(study: string): void {
    this.stop();
    this.stop = follow(study, (info) => this.show(info));
  }

  private show(info: StudyInfo): void {
    if (info.state === "finished") return this.finished(info);
    replace(this.state, this.shown(info));
    if (info.parts.join() !== this.known) void this.showParts(info);
  }

  /** Shows what is finished while the rest is computed. */
  private async showParts(info: StudyInfo): Promise<void> {
    this.known = info.parts.join();
    const found = await get<Parts>(`/studies/${part(info.id)}/parts`).catch(() => null);
    if (found) replace(this.parts, shownParts(found));
  }

  private shown(info: StudyInfo): Child[] {
    const { progress } = info;
    const nFolds = /fold \d+ of (\d+)/.exec(progress?.step ?? "")?.[1];
    const act = (path: string, text: string) => () => void this.said.while(text, async () => {
      const now = await post<StudyInfo>(`/studies/${part(info.id)}/${path}`);
      this.show(now);
      if (!isOver(now.state)) this.listen(info.id);
    });
    return [
      h("p", { class: "lead" }, info.state === "running" ? progress?.step ?? "starting"
        : info.state === "failed" ? `It failed: ${info.message}` : info.message || info.state),
      progress && h("progress", { max: 1, value: progress.share, "aria-label": "Share of the work done" }),
      progress && h("p", { class: "note" }, `${percent(progress.share, 0)}, ${seconds(progress.seconds)} so far`,
        progress.seconds_left !== null && `, about ${seconds(progress.seconds_left)} left`),
      progress && progress.learners.length > 0 && h("ul", { class: "learners" },
        progress.learners.map((one) => h("li", { class: one.current ? "current" : null },
        `${one.name}: fold ${one.folds}${nFolds ? ` of ${nFolds}` : ""}`))),
      !isOver(info.state) && button("Cancel", act("cancel", "Cancelling …"), { id: "cancel" }),
      info.can_resume && button("Go on", act("resume", "Starting …"), { id: "resume" }),
    ];
  }
}

/** The parts of a study that are finished while others are computed. */

import { h, table, type Child } from "../dom";
import { bar } from "../figure";
import { listed, percent, points } from "../format";
import { withoutOptions } from "./words";

export interface Parts {
  problem?: { summary: string; decisions: string[]; caveats: string[] };
  comparison?: { measure: string; chosen: string; expected: number | null; expected_error: number | null;
    methods: { name: string; score: number; error: number | null; text: string }[] };
  verdicts?: { rows: { feature: string; verdict: string; loss_without: number; loss_error: number }[]; best: string[] };
}

const MOST_FEATURES = 15;

export function shownParts(parts: Parts): Child[] {
  const { problem, comparison, verdicts } = parts;
  return [
    (problem || comparison || verdicts) && h("h2", {}, "Finished so far"),
    problem && [h("p", {}, problem.summary), h("details", {}, h("summary", {}, "How the table was read"),
      h("ul", {}, [...new Set([...problem.decisions, ...problem.caveats])].map((text) => h("li", {}, withoutOptions(text)))))],
    comparison && [h("h3", {}, "How well it predicts"), h("p", {}, `${comparison.chosen.toUpperCase()} was chosen`,
      comparison.expected !== null && comparison.measure === "accuracy"
        && `; learners chosen this way predict ${percent(comparison.expected)} of held-out cases right`, "."),
      table(["each method by itself", "", "#score"], comparison.methods.map((one): Child[] => [one.name,
        bar(0, Math.max(0, one.score), [0, Math.max(1, one.score)], one.name === comparison.chosen ? "strong" : "plain"),
        one.text]))],
    verdicts && [h("h3", {}, "What each feature is worth"), h("p", {}, `Enough: ${listed(verdicts.best)}.`),
      table(["feature", "verdict", "#points lost without it"], [...verdicts.rows]
        .sort((a, b) => b.loss_without - a.loss_without).slice(0, MOST_FEATURES).map((one): Child[] =>
        [one.feature, one.verdict, `${points(one.loss_without)} ± ${points(one.loss_error)}`]))],
  ];
}

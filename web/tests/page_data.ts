/** A small study for tests: two classes, three features, six cases. */

import type { PageData } from "../src/data";

const line = (place: number) => ({ least: 0, most: 9999, steps: [0, 1, 2, 3, 4, 5].map((k) => k * (place + 1)) });

export function smallStudy(): PageData {
  return {
    format: 1, source: "cases.csv", target: "kind", kind: "classes", noun: "feature", version: "0",
    finding: { sentences: [["1 of 3 features suffices: with “b” alone.", "sets"], ["“<b>a</b>” helps.", "features"]],
      stand_ins: ["“b” can be replaced by “c” (0.5 ± 0.2 points lost)."], caveats: ["Few rows."] },
    features: {
      names: ["<b>a</b>", "b", "c"], verdict: "nir", loss: [0, 5.25, 0.5], error: [0.1, 1, 0.2],
        stability: [1, 0.9, 0.8], lower: [0, 0.5, 0], upper: [0.1, 1, 0.7],
      order: [1, 2, 0], resamples: 20, measure: "accuracy", note: "Intervals.",
        stand_ins: [[1, 2, 0.5, 0.2], [2, 1, -0.5, 0.2]],
    },
    profiles: null,
    sets: { best: [1], curve: [[1, 0.9, 0.02, [1]], [2, 0.92, 0.01, [1, 2]], [3, 0.93, 0, [0, 1, 2]]], score: 0.9,
      all: 0.93 },
    spectrum: null,
    methods: { score: "83% ± 5%", measure: "accuracy", text: "83%.", chosen: "grlvq", several: false,
      lines: [{ name: "grlvq", score: "83%", value: 0.83, error: 0.05, right: null, folds: [0.8, 0.9] }] },
    errors: {
      classes: ["x", "</script>"], confusion: [[2, 1], [0, 3]], n_rows: 6, n_wrong: 1, accuracy: 0.8333,
        balanced: 0.83, by_class: [[3, 0.667, 2, 1], [3, 1, 4, 0.75]],
      roc: { area: 0.9, curves: [{ class: 1, area: 0.9, false_rate: [0, 0.5, 1], true_rate: [0, 1, 1] }] },
        calibration: { error: 0.1, bins: [[0.8, 0.7, 0.5, 0.9, 6]] },
      worst: [["r3", "x", "</script>", 0.9]], confused: [["x", "</script>", 1]],
    },
    rejection: null,
    cases: { rows: ["r1", "r2", "r3", "r4", "r5", "r6"], true: [0, 0, 0, 1, 1, 1], predicted: [0, 0, 1, 1, 1, 1],
      probability: [1, 0.9, 0.9, 0.8, 0.7, 1] },
    values: [[1, [1, 2, null, 4, 5, 6]]],
    maps: { before: { x: line(0), y: line(1) }, after: { x: line(1), y: line(0) } },
    levels: { 1: "01234." },
    why: {
      2: {
        text: "predicted '</script>'", near: [["</script>", 0.1, "row", "r4"], ["x", 0.4, "row", "r1"]],
          parts: [[1, [0.1, -0.2], ["3", "4", "1"]]],
        voters: { columns: ["row", "class", "distance", "vote"], features: [1], own: ["missing"],
          lines: [["r4", "</script>", "0.1", "0.9", "4"]], parts: [[-0.1]], remark: "" },
          unusual: [[1, "'b', which is missing"]],
      },
    },
    selected: [{ place: 2, row: "r3", kind: "A wrong case of x", text: "Predicted." }],
    tolerance: { columns: ["tolerance", "train error", "validation error"], curve: [[0, 0.1, 0.2], [0.1, 0.1, 0.3]],
      best: 0.1, choice: "Sure." },
    table: [["rows", "6"]],
    done: { text: "Folds.", facts: [["seed", "0"]], python: ["import whynear as wn", "", "wn.study('cases.csv')"],
      shell: "whynear study cases.csv" },
  };
}

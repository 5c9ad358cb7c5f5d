/** How well it predicts, and which classes are confused; a cell of the matrix is a selection. */

import { classColour, classShape } from "./colours";
import { labels, ofClasses, type ClassErrors, type PageData } from "./data";
import { button, h, note, scrolled, table, type Child } from "./dom";
import { calibrationFigure, rocFigure } from "./error_figures";
import { bar, dot, figure, legendMark } from "./figure";
import { count, counted, percent } from "./format";
import { rejectionPart } from "./rejection";
import { residualsView } from "./residuals";
import { extent, padded } from "./scale";
import { asKey, type Group, type Store } from "./selection";

const MOST_IN_MATRIX = 26; // classes
const MOST_PAIRS = 15;
const MOST_CLASSES = 40; // with a line each

export function errorsView(data: PageData, store: Store): HTMLElement {
  return h("div", {}, methodsPart(data),
    ofClasses(data.errors) ? classesPart(data, data.errors, store) : residualsView(data, data.errors, store));
}

function methodsPart(data: PageData): HTMLElement {
  const { lines, chosen, measure, several, score } = data.methods;
  const ends = padded(extent(lines.flatMap((line) => [line.value - (line.error ?? 0),
    line.value + (line.error ?? 0)])), 0.05);
  const withRight = lines.some((line) => line.right !== null);
  const heading = withRight ? measure : data.kind === "numbers" ? "variance explained" : "held-out cases right";
  return h("section", { id: "methods", "aria-label": "Methods" }, h("h3", {}, "How well it predicts"),
    h("p", {}, data.methods.text),
    table(["each method by itself", `#${heading}`, ...(withRight ? ["#held-out cases right"] : []), ""],
      lines.map((line): Child[] => [
      line.name + (line.name === chosen ? " (fitted to all rows)" : ""), line.score, ...(withRight ? [line.right] : []),
      h("span", { title: `by fold: ${line.folds.join(", ")}`, class: "wide-bar" },
        dot(line.value, line.error ?? 0, ends, line.name === chosen ? "strong" : "plain"))])),
    several && note(`The choice among the learners was repeated for every fold, from the other folds alone. Choosing costs a little, and the ${score} above include it; no line of this table is the ${withRight ? measure : "accuracy"} of the study.`));
}

function classesPart(data: PageData, errors: ClassErrors, store: Store): HTMLElement {
  const { classes, n_rows: rows, n_wrong: wrong } = errors;
  return h("div", {}, h("h3", {}, "Which classes are confused"),
    h("p", {}, `Of ${count(rows)} held-out cases, ${count(rows - wrong)} (${percent(errors.accuracy)}) are predicted right and ${count(wrong)} wrong. The mean recall of the classes (balanced accuracy) is ${percent(errors.balanced)}.`),
    h("div", { class: classes.length > 8 ? "pair stacked" : "pair uneven" },
      classes.length <= MOST_IN_MATRIX ? matrix(errors, store) : pairs(errors, store),
      h("div", {}, recall(data, errors, store))),
    h("h3", {}, "Whether the probabilities can be trusted"),
    h("div", { class: "pair" },
      figure(`Ranking: ${errors.roc.curves.length === 1 ? "area" : "mean area"} under the ROC curve ${errors.roc.area.toFixed(3)}`,
        rocFigure(errors), rocLegend(errors)),
      figure(`Calibration: expected error ${errors.calibration.error.toFixed(3)}`, calibrationFigure(errors))),
    note("Ranking: a curve near the upper left corner ranks the cases of a class before the others; the diagonal is what guessing reaches",
      classes.length > 2 && `. One class is compared with the rest${errors.roc.curves.length < classes.length ? `; the curves are those of the ${errors.roc.curves.length} largest classes, the mean area that of all` : ""}`,
      ". Calibration: on the diagonal, predictions with a probability of 80% are right in 80 of 100 cases; below it, they are too sure. Numbers count the predictions, and vertical lines are 95% intervals."),
    errors.worst.length > 0 && worst(data, errors, store),
    data.rejection && rejectionPart(data, data.rejection, store));
}

function rocLegend(errors: ClassErrors): HTMLElement | null {
  if (errors.roc.curves.length === 1) return null;
  return h("p", { class: "legend-line" }, errors.roc.curves.map((curve) =>
    h("span", {}, legendMark("circle", classColour(curve.class)),
    `${errors.classes[curve.class]} ${curve.area.toFixed(2)}`)));
}

/** Marks the parts whose group is the selected one. */
function following(store: Store, parts: [HTMLElement, Group][]): void {
  store.follow(({ group }) => parts.forEach(([part, own]) =>
    part.setAttribute("aria-pressed", String(asKey(own) === asKey(group)))));
}

function matrix(errors: ClassErrors, store: Store): HTMLElement {
  const { classes, confusion } = errors;
  const many = classes.length > 6;
  const parts: [HTMLElement, Group][] = [];
  const lines = confusion.map((line, i) => {
    const all = line.reduce((sum, cases) => sum + cases, 0);
    return h("tr", {}, h("th", { scope: "row", title: classes[i] }, classes[i]), line.map((cases, j) => {
      const share = all ? cases / all : 0;
      const look = i === j ? "right" : "wrong";
      if (!cases) return h("td", { class: "none" }, many ? "·" : "0");
      const group: Group = { kind: "cell", true: i, predicted: j };
      const made = button("", () => store.chooseGroup(group),
        { title: `${classes[i]} predicted as ${classes[j]}: ${counted(cases, "case")}, ${percent(share)}`,
        "aria-label": `${count(cases)} of ${classes[i]} predicted as ${classes[j]}, ${percent(share)}` });
      made.append(count(cases), many ? "" : h("small", {}, percent(share)));
      parts.push([made, group]);
      return h("td", { class: `shade ${look}`, style: { "--share": share.toFixed(3) } }, made);
    }));
  });
  following(store, parts);
  const head = classes.map((name) => h("th", { scope: "col" }, many ? h("span", { class: "steep", title: name }, name)
    : name));
  return h("div", {}, h("p", { class: "note" }, "Lines: true class. Columns: predicted as. A cell chooses its cases."),
    scrolled(h("table", { class: `matrix confusion${many ? " many" : ""}` },
    h("thead", {}, h("tr", {}, h("td", {}), head)), h("tbody", {}, lines))),
    note(`Each cell holds a number of cases${many ? "" : ", and its share of the cases of the true class"}; the stronger its colour, the larger its share of the true class. `,
      h("a", { href: "#case" }, "The chosen cases are listed"), ", and ",
        h("a", { href: "#map" }, "marked on the maps"), "."));
}

/** The most frequent confusions, where there are too many classes for a matrix. */
function pairs(errors: ClassErrors, store: Store): HTMLElement {
  const parts: [HTMLElement, Group][] = [];
  const made = h("div", {}, table(["true class", "predicted as", "#cases"], errors.confused.slice(0, MOST_PAIRS)
    .map(([truth, predicted, cases]): Child[] => {
    const group: Group = { kind: "cell", true: errors.classes.indexOf(truth),
      predicted: errors.classes.indexOf(predicted) };
    const choose = button(count(cases), () => store.chooseGroup(group),
      { "aria-label": `${cases} of ${truth} predicted as ${predicted}` });
    parts.push([choose, group]);
    return [truth, predicted, choose];
  })), note(`The most frequent confusions among ${errors.classes.length} classes; the file confusion.csv contains all.`));
  following(store, parts);
  return made;
}

/** The classes in their order; where there are many, those of the lowest recall. */
export function lowestRecall(errors: ClassErrors, most: number): number[] {
  const places = errors.classes.map((_, place) => place);
  if (places.length <= most) return places;
  return places.sort((a, b) => errors.by_class[a]![1] - errors.by_class[b]![1] || a - b).slice(0, most);
}

function recall(data: PageData, errors: ClassErrors, store: Store): HTMLElement {
  const parts: [HTMLElement, Group][] = [];
  const names = labels(data);
  const shown = lowestRecall(errors, MOST_CLASSES);
  const made = table(["class", "#cases", "#recall", "", "#precision"], shown.map((place): Child[] => {
    const name = names[place] ?? "";
    const [cases, found, , precision] = errors.by_class[place]!;
    const group: Group = { kind: "class", class: place };
    const choose = button(name, () => store.chooseGroup(group), { class: "inline" });
    parts.push([choose, group]);
    return [h("span", { class: "named" }, legendMark(classShape(place), classColour(place)), choose), count(cases), percent(found),
      bar(0, found, [0, 1], "strong"), percent(precision)];
  }), { class: "recall" });
  following(store, parts);
  return h("div", {}, made,
    note("Recall: the share of the cases of a class that are predicted right. Precision: the share of the predictions of a class that are right.",
      shown.length < names.length && ` These are the ${shown.length} classes of the lowest recall; the file classes.csv contains all.`));
}

function worst(data: PageData, errors: ClassErrors, store: Store): HTMLElement {
  const places = new Map(data.cases.rows.map((row, place) => [row, place]));
  return h("div", {}, h("h3", {}, "The surest of the wrong predictions"),
    table(["row", "true class", "predicted as", "#probability"],
      errors.worst.map(([row, truth, predicted, chance]): Child[] => [
      button(row, () => store.set({ case: places.get(row) ?? null, view: "case" }), { class: "inline" }), truth,
        predicted, percent(chance)])));
}

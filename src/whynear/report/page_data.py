"""The data of a page: what it shows of a study, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whynear.learn.registry import KERNEL, MINIMUM_NORM, OF_NUMBERS
from whynear.report.page_cases import (
    cases_data,
    class_names,
    maps_data,
    others_data,
    reasons_data,
    selected_data,
    values_data,
)
from whynear.report.plain_numbers import all_printable, decimals, share, short
from whynear.study.errors import ErrorAnatomy, Residuals
from whynear.study.score import MEANINGS, NAMES
from whynear.study.settings import python_lines, shell_line
from whynear.utils.text import joined, label
from whynear.verdict.rules import meanings

if TYPE_CHECKING:
    from whynear.study.errors import RocCurve
    from whynear.study.result import Study

FORMAT = 1
CODES = {"indispensable": "i", "replaceable": "r", "no evidence": "n", "undecided": "u"}
OUTCOMES = {"accuracy": "held-out cases are predicted right", "r2": "the variance is explained"}
MOST_MEMBERS = 40  # of a set whose features are listed
LOSS_DECIMALS = 6  # of points, of which a page shows one: rounded twice, 0.351 would be 0.4 in a table and 0.3 there
MOST_PROFILES = 200  # features with a relevance in each class
MOST_IN_MATRIX = 40  # classes
MOST_PAIRS = 200  # of confused classes, the most frequent ones
MOST_CLASSES = 12  # named with their rows


def page_data(study: Study) -> dict[str, Any]:
    """Return what the page shows, as numbers, strings, lists and dicts; features are named by their position.

    >>> import whynear as wn
    >>> data = page_data(wn.study("iris", learner="grlvq", splitting=wn.Splitting(folds=2)))
    >>> data["kind"], len(data["features"]["names"]), data["errors"]["classes"]
    ('classes', 4, ['setosa', 'versicolor', 'virginica'])
    """
    places = {name: place for place, name in enumerate(study.relevance.feature_names)}
    repeated = study.problem.source, study.problem.target, study.inputs
    return all_printable(
        {
            "format": FORMAT,
            "source": study.problem.source,
            "target": study.problem.target,
            "kind": study.problem.kind,
            "noun": "feature" if study.spectra is None else study.spectra.bands.noun,
            "finding": _finding(study),
            "features": _features(study, places),
            "profiles": _profiles(study),
            "sets": _sets(study, places),
            "spectrum": _spectrum(study, places),
            "methods": _methods(study),
            "errors": errors_data(study),
            "rejection": rejection_data(study),
            "cases": cases_data(study),
            "values": values_data(study, places),
            "maps": maps_data(study),
            "others": others_data(study.others, class_names(study)),
            "levels": {
                str(feature.place): "".join("." if level < 0 else str(level) for level in feature.of_cases.tolist())
                for feature in study.levels
            },
            "why": reasons_data(study, places),
            "selected": selected_data(study),
            "tolerance": _tolerance(study),
            "table": facts_of_table(study),
            "done": {
                "text": how_it_was_done(study),
                "facts": _facts(study),
                "python": python_lines(*repeated).splitlines(),
                "shell": shell_line(*repeated),
            },
            "version": study.versions.get("whynear", ""),
        }
    )


def _finding(study: Study) -> dict[str, Any]:
    said = study.findings
    evidence = said.evidence or ("features",) * len(said.sentences)
    return {
        "sentences": [list(pair) for pair in zip(said.sentences, evidence, strict=True)],
        "stand_ins": list(said.stand_ins),
        "caveats": list(said.caveats),
    }


def _features(study: Study, places: dict[str, int]) -> dict[str, Any]:
    judged, relevance = study.verdicts, study.relevance
    return {
        "names": list(relevance.feature_names),
        "verdict": "".join(CODES[str(word)] for word in judged.verdict),
        "loss": [_points(loss) for loss in judged.loss],
        "error": [_points(error) for error in judged.error],
        "stability": [decimals(share, 2) for share in judged.stability] if judged.n_resamples else None,
        "lower": [short(bound, 3) for bound in relevance.lower],
        "upper": [short(bound, 3) for bound in relevance.upper],
        "order": judged.order.tolist(),
        "resamples": judged.n_resamples,
        "measure": judged.measure,
        "note": note_on_intervals(study),
        "meanings": {CODES[word]: meaning for word, meaning in meanings(judged.n_resamples).items()},
        "stand_ins": [
            [places[pair.feature], places[pair.stand_in], _points(pair.price), _points(pair.error)]
            for pair in judged.stand_ins.pairs
        ],
    }


def _points(value: float) -> float | int | None:
    return decimals(value, LOSS_DECIMALS)


def _profiles(study: Study) -> dict[str, Any] | None:
    """Return the relevance of features in each class; None for a measured target and where all classes are alike."""
    found = study.profiles
    if len(found.columns) < 2:
        return None
    rows = {str(name): [short(share, 3) for share in line] for name, *line in found.itertuples()}
    if all(len(set(line)) == 1 for line in rows.values()):
        return None
    shown = [place for place in study.verdicts.order.tolist() if study.relevance.feature_names[place] in rows]
    shown = shown[:MOST_PROFILES]
    return {
        "classes": [str(name) for name in found.columns],
        "features": shown,
        "shares": [rows[study.relevance.feature_names[place]] for place in shown],
    }


def _sets(study: Study, places: dict[str, int]) -> dict[str, Any]:
    sets = study.verdicts.sets
    columns: list[list[Any]] = [sets.curve[name].tolist() for name in ("n_features", "score", "error", "features")]
    curve = [
        [size, share(score), share(error), [places[name] for name in members] if size <= MOST_MEMBERS else []]
        for size, score, error, members in zip(*columns, strict=True)
    ]
    return {
        "best": [places[name] for name in sets.best],
        "curve": curve,
        "score": share(sets.score),
        "all": share(sets.score_of_all),
        "check": None if sets.check is None else str(sets.check),
    }


def _spectrum(study: Study, places: dict[str, int]) -> dict[str, Any] | None:
    found = study.spectra
    if found is None:
        return None
    edges = found.axis.edges
    return {
        "positions": [short(position, 6) for position in found.axis.positions],
        "label": found.axis.label,
        "means": [[str(name), [short(value) for value in column]] for name, column in found.means.items()],
        "weights": [short(weight, 3) for weight in found.weights],
        "upwards": found.upwards,
        "bands": [
            [places[name], short(edges[first], 6), short(edges[last + 1], 6), found.signs.get(name, "")]
            for name, (first, last) in zip(found.bands.names, found.bands.ranges, strict=True)
            if name in places
        ],
        "sentence": found.sentence,
        "even": bool(found.axis.is_even),
        "preprocessing": [
            [str(name), short(score), str(name) == found.choice.chosen] for name, score in found.choice.scores.items()
        ],
    }


def _methods(study: Study) -> dict[str, Any]:
    comparison = study.comparison
    other = comparison.measure not in OUTCOMES
    return {
        "score": str(comparison.score),
        "measure": NAMES[comparison.measure],
        "text": how_well(study),
        "chosen": comparison.chosen,
        "several": comparison.n_learners > 1,
        "lines": [
            {
                "name": method.name,
                "score": str(method.score),
                "value": share(method.score.value),
                "error": share(method.score.error),
                "right": str(comparison.right_by(method.name)) if other else None,
                "folds": [short(score) for score in method.by_fold],
            }
            for method in comparison.methods
        ],
    }


def _tolerance(study: Study) -> dict[str, Any] | None:
    found = study.interpretation.tolerance
    if found is None:
        return None
    train = next(str(name) for name in found.curve if str(name).startswith("train"))
    lines = found.curve[["tolerance", train, found.criterion]].itertuples(index=False)
    return {
        "columns": ["tolerance", train.replace("_", " "), found.criterion.replace("_", " ")],
        "curve": [[short(value) for value in line] for line in lines],
        "best": short(found.best),
        "choice": study.interpretation.choice,
    }


def _facts(study: Study) -> list[list[str]]:
    certificate = study.relevance.certificate
    said = (
        f"worst error {certificate.error:.1e} of the least norm, {certificate.fallbacks} fallbacks, "
        f"{certificate.unknowns} unknown"
    )
    settings = {name: value for name, value in study.settings.items() if value is not False and value not in (None, [])}
    return [["certificate", said], *([str(name), str(value)] for name, value in settings.items())]


def errors_data(study: Study) -> dict[str, Any]:
    """Return which classes are confused and how far to trust probabilities; the residuals of a measured target."""
    return _residuals(study.errors) if isinstance(study.errors, Residuals) else _confusions(study.errors)


def _confusions(errors: ErrorAnatomy) -> dict[str, Any]:
    return {
        "classes": [str(name) for name in errors.classes],
        "confusion": errors.confusion.tolist() if len(errors.classes) <= MOST_IN_MATRIX else [],
        "n_rows": errors.n_rows,
        "n_wrong": errors.n_wrong,
        "accuracy": share(errors.accuracy),
        "balanced": share(errors.balanced_accuracy),
        "by_class": [
            [one.count, share(one.recall), one.predicted, None if one.precision is None else share(one.precision)]
            for one in errors.by_class
        ],
        "roc": {"area": decimals(errors.roc.area, 3), "curves": [_curve(curve) for curve in errors.roc.curves]},
        "calibration": {
            "error": decimals(errors.calibration.error, 3),
            "bins": [
                [decimals(value, 3) for value in (held.probability, held.right, held.least, held.most)] + [held.count]
                for held in errors.calibration.bins
            ],
        },
        "worst": [
            [label(error.row), label(error.true), label(error.predicted), decimals(error.probability, 3)]
            for error in errors.worst
        ],
        "confused": [[label(pair.true), label(pair.predicted), pair.count] for pair in errors.confused[:MOST_PAIRS]],
    }


def _curve(curve: RocCurve) -> dict[str, Any]:
    """Return a curve without points that cannot be told from the one before."""
    pairs = [
        (decimals(false, 3), decimals(true, 3)) for false, true in zip(curve.false_rate, curve.true_rate, strict=True)
    ]
    shown = list(dict.fromkeys(pairs))
    return {
        "class": curve.place,
        "area": decimals(curve.area, 3),
        "false_rate": [false for false, _ in shown],
        "true_rate": [true for _, true in shown],
    }


def _residuals(errors: Residuals) -> dict[str, Any]:
    return {
        "typical": short(errors.typical),
        "median": short(errors.median),
        "largest": [
            [label(error.row), short(error.true), short(error.predicted), short(error.residual)]
            for error in errors.largest
        ],
        "interval": None if errors.interval is None else [short(end) for end in errors.interval],
        "patterns": [str(pattern) for pattern in errors.patterns],
    }


def rejection_data(study: Study) -> dict[str, Any] | None:
    """Return the certainty of each held-out prediction, what is promised for accepted ones, and which are rejected.

    None for a measured target.
    """
    found = study.rejection
    if found is None:
        return None
    given = found.promise
    return {
        "sentences": list(found.sentences),
        "certainty": [decimals(chance, 3) for chance in found.certainty],
        "promised": None if given is None else share(given.coverage),
        "promises": [
            [
                share(one.accuracy),
                bool(one.given),
                share(one.stated_coverage),
                one.n_accepted,
                one.n_wrong,
                one.stated_need,
            ]
            for one in found.promises
        ],
        "rejected": [[label(case.row), str(case.reason)] for case in found.rejected],
    }


def note_on_intervals(study: Study) -> str:
    """Return what an interval of a weight is."""
    relevance = study.relevance
    if not study.interpretation.bounded:
        return (
            "The distance of this model adds up differences, or measures ranks: its weights have no intervals, and "
            "each feature has its share of the weights. Weights describe the metric that predicts; verdicts come from "
            "refitting."
        )
    averaged = (
        " This metric has a map for each case; the intervals are those of their mean."
        if study.interpretation.averaged
        else ""
    )
    return (
        "Many metrics treat these cases almost alike. The interval runs from the least to the most weight that a "
        f"feature can have in one of nearly the smallest norm, {relevance.units}, among those that "
        f"{relevance.agreement}. Intervals describe the metric that predicts; verdicts come from refitting.{averaged}"
    )


def how_well(study: Study) -> str:
    """Return what score to expect, and for which cases."""
    comparison, problem = study.comparison, study.problem
    other = comparison.measure not in OUTCOMES
    if other:
        said = f"The {NAMES[comparison.measure]} of held-out predictions is {comparison.score}"
    else:
        said = f"{comparison.score} of {OUTCOMES[comparison.measure]}"
    said += f": what to expect on {'new' if problem.times is None else 'later'} cases"
    if problem.groups is None:
        said += " (± standard error)."
    else:
        said += f" whose “{problem.groups.name}” is new too (± standard error over {problem.groups.nunique()} groups)."
    if problem.times is not None:
        said += (
            f" Of {len(problem.y):,} rows, {len(comparison.places):,} were held out, each later by "
            f"“{problem.times.name}” than all rows that it was predicted from."
        )
    if other:
        said += (
            f" It is {MEANINGS[comparison.measure]}. {comparison.right} of held-out cases are predicted right. What "
            "is lost without features is stated in points of accuracy."
        )
    return said


def facts_of_table(study: Study) -> list[list[str]]:
    """Return what the table holds, a name and a text each."""
    problem = study.problem
    facts = [
        ["source", problem.source],
        ["rows, features", f"{problem.X.shape[0]:,}, {problem.X.shape[1]:,}"],
        ["target", problem.target],
    ]
    if study.spectra is not None:
        n_channels, n_bands = len(study.spectra.axis.columns), len(study.spectra.bands.names)
        facts.append(["spectrum", f"{n_channels:,} channels in {n_bands} bands"])
    if problem.range is not None:
        facts.append(["values", f"{problem.range[0]:.4g} to {problem.range[1]:.4g}"])
    else:
        shown = ", ".join(f"{name} ({count:,})" for name, count in problem.classes[:MOST_CLASSES])
        more = len(problem.classes) - MOST_CLASSES
        facts.append(["classes", f"{shown} and {more} more" if more > 0 else shown])
    return [*facts, ["columns", problem.summary]]


def how_it_was_done(study: Study) -> str:
    """Return how models were fitted, compared and chosen, and where verdicts and intervals come from."""
    problem, folds = study.problem, study.settings["folds"]
    said = []
    if study.spectra is not None:
        said.append(
            "Within every fold, the preprocessing of the spectra was chosen by ridge regression, which predicted each "
            "training row from the others; all methods of the fold share it."
        )
    filled = ", after missing values were filled in" if problem.columns["missing"].any() else ""
    said.append(f"Within every fold, constant columns were left out and the others standardised{filled}.")
    said.append(
        _comparison_of_numbers(study, folds) if problem.kind == "numbers" else _comparison_of_classes(study, folds)
    )
    if problem.groups is not None:
        same = f"rows with the same “{problem.groups.name}”"
        said.append(f"Wherever rows were held out, {same} were held out together.")
    if problem.times is not None:
        said.append(
            "Wherever rows were held out, for the comparison, the choices within it, the tolerance and the verdicts, "
            f"they were later by “{problem.times.name}” than all rows learned from; the first rows were never held "
            "out, and the maps show the others."
        )
    said.append(
        "For the verdicts, kernel ridge models of four shapes and the learner were refitted without each feature "
        "(without blocks of like features first where there are many); a feature is indispensable only if the loss of "
        "held-out rows rises significantly (Holm's correction for all features)."
    )
    if study.interpretation.bounded:
        said.append("The intervals are solutions of linear programs with the certificate below.")
    if "categories" in problem.columns["kind"].tolist():
        said.append("The weights of all categories of a column are summed.")
    return " ".join(said)


LEARNER_OF_NUMBERS = {MINIMUM_NORM: "a linear map of least norm", KERNEL: "RFM"}
CHOSEN_BY = {
    MINIMUM_NORM: "the number of directions of the data that the map uses",
    KERNEL: "the shape of the distance of RFM",
}
CHOSEN_BY_OTHERS = "the penalty of ridge regression and the number of components of PLS"


def _comparison_of_numbers(study: Study, folds: int) -> str:
    names = [name for name in OF_NUMBERS if name in study.comparison.accuracy]
    learners = joined([LEARNER_OF_NUMBERS[name] for name in names])
    chosen = (
        "" if len(names) == 1 else ", and the simplest within one standard error of the best was fitted to all rows"
    )
    choices = joined([*(CHOSEN_BY[name] for name in names), CHOSEN_BY_OTHERS])
    return (
        f"{learners[0].upper()}{learners[1:]} {'was' if len(names) == 1 else 'were'} compared with plain kNN, ridge "
        f"regression, PLS and the mean on {folds} held-out folds{chosen}; {choices} were chosen within every fold. "
        "A random forest, boosting and ridge regression are yardsticks, which are never chosen."
    )


YARDSTICKS_OF_CLASSES = "A random forest, boosting and logistic regression are yardsticks, which are never chosen."


def _comparison_of_classes(study: Study, folds: int) -> str:
    measure = study.comparison.measure
    stratified = "stratified " if study.problem.times is None else ""
    by_score = "" if measure == "accuracy" else f" by {NAMES[measure]}"
    if study.comparison.n_learners == 1:
        return (
            f"{study.comparison.chosen.upper()} was compared with plain kNN and NCA on {folds} held-out "
            f"{stratified}folds, and fitted to all rows. {YARDSTICKS_OF_CLASSES}"
        )
    return (
        f"Learners were compared with plain kNN and NCA on {folds} held-out {stratified}folds, and the simplest within "
        f"one standard error of the best{by_score} was fitted to all rows. {YARDSTICKS_OF_CLASSES}"
    )

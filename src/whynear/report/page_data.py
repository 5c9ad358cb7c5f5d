"""The data of a page: what it shows of a study, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whynear.report.packed_rows import others_data
from whynear.report.page_cases import cases_data, class_names, maps_data, reasons_data, selected_data, values_data
from whynear.report.page_errors import errors_data
from whynear.report.page_rejection import rejection_data
from whynear.report.page_words import facts_of_table, how_it_was_done, how_well, note_on_intervals
from whynear.report.plain_numbers import all_printable, decimals, share, short
from whynear.study.repeat import python_lines, shell_line
from whynear.study.score import NAMES
from whynear.verdict.rules import meanings

if TYPE_CHECKING:
    from whynear.study.result import Study

FORMAT = 1
CODES = {"indispensable": "i", "replaceable": "r", "no evidence": "n", "undecided": "u"}
MOST_MEMBERS = 40  # of a set whose features are listed
LOSS_DECIMALS = 6  # of points, of which a page shows one: rounded twice, 0.351 would be 0.4 in a table and 0.3 there
MOST_PROFILES = 200  # features with a relevance in each class


def page_data(study: Study) -> dict[str, Any]:
    """Return what the page shows, as numbers, strings, lists and dicts; features are named by their position.

    >>> import whynear as wn
    >>> data = page_data(wn.study("iris", learner="grlvq", folds=2))
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
    if study.problem.kind == "numbers" or len(found.columns) < 2:
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
    other = comparison.measure not in ("accuracy", "r2")
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

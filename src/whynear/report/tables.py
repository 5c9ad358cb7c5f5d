"""The tables of a study that are written beside the page: its results, and the data of each figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from whynear.study.cases import cases_frame
from whynear.study.errors import ErrorAnatomy

if TYPE_CHECKING:
    from whynear.study.comparison import Comparison
    from whynear.study.result import Study


def tables(study: Study) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield file name and table; figures whose data are in another table have no table of the same name."""
    yield "relevance.csv", study.frame()
    yield "cases.csv", cases_frame(study.cases)
    compared = comparison_tables(study.comparison)
    if study.rejection is not None:
        compared["predictions.csv"]["certainty"] = study.rejection.certainty
        yield "rejection.csv", study.rejection.curve.frame()
        yield "rejected.csv", study.rejection.frame()
    yield from compared.items()
    if isinstance(study.errors, ErrorAnatomy):
        yield from error_tables(study.errors)
    if study.spectra is not None:
        yield "spectrum.csv", study.spectra.frame()
        yield "preprocessing.csv", study.spectra.choice.frame()
    sets = study.verdicts.sets.frame()
    yield "sets.csv", sets.assign(features=["; ".join(names) for names in sets["features"]])
    yield "stand-ins.csv", study.verdicts.stand_ins.frame()
    if study.interpretation.tolerance is not None:
        yield "tolerance.csv", study.interpretation.tolerance.frame()
    found = study.comparison.predictions
    for name, points in study.maps.items():
        place = pd.DataFrame(points, index=found.index, columns=["across", "up"])
        shown = pd.concat([place, found[["true", "predicted"]]], axis=1)
        yield f"map-{name}.csv", shown.rename_axis("row").reset_index()
    yield "profiles.csv", study.profiles.reset_index()
    for number, case in enumerate(study.cases, start=1):
        yield f"case-{number}.csv", case.why.frame()
        yield f"{'votes' if study.problem.kind == 'classes' else 'near'}-{number}.csv", case.neighbors_frame()


def error_tables(errors: ErrorAnatomy) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield which classes were confused, recall and precision of each, and the data of the figures of errors."""
    yield "confusion.csv", errors.frame()
    yield "classes.csv", pd.DataFrame(errors.by_class).rename(columns={"label": "class"})
    curves = [
        pd.DataFrame({"class": curve.label, "false_rate": curve.false_rate, "true_rate": curve.true_rate})
        for curve in errors.roc.curves
    ]
    yield "roc.csv", pd.concat(curves)
    yield "calibration.csv", pd.DataFrame(errors.calibration.bins)


def comparison_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """Return the scores of each fold and the prediction of each row, by file name."""
    return {
        "scores.csv": comparison.scores.reset_index(),
        "predictions.csv": comparison.predictions.rename_axis("row").reset_index(),
    }

"""The errors of a study for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whynear.report.plain_numbers import decimals, share, short
from whynear.study.errors import ErrorAnatomy
from whynear.study.residuals import Residuals
from whynear.study.roc import RocCurve
from whynear.utils.text import label

if TYPE_CHECKING:
    from whynear.study.result import Study

MOST_IN_MATRIX = 40  # classes
MOST_PAIRS = 200  # of confused classes, the most frequent ones


def errors_data(study: Study) -> dict[str, Any]:
    """Return which classes are confused and how far to trust probabilities; the residuals of a measured target."""
    return _residuals(study.errors) if isinstance(study.errors, Residuals) else _of_classes(study.errors)


def _of_classes(errors: ErrorAnatomy) -> dict[str, Any]:
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

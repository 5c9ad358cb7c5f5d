"""What a study says about spectra: how they were preprocessed, their bands, and the weights along the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from whynear.metric import as_metric
from whynear.metric.pipeline import FittedPipeline
from whynear.spectra.recipes import NONE
from whynear.study.bands import Bands, bands_of
from whynear.study.preprocessing import Preprocessing, PreprocessingChoice
from whynear.tables.problem import Problem
from whynear.tables.spectral_axis import SpectralAxis
from whynear.utils.arrays import Array

MOST_CLASSES = 6  # whose mean spectra are kept
ONE_SIGN = 0.8  # share of the weight of a band from which it has one sign
SIGNS = {1: "+", -1: "−", 0: "mixed"}


@dataclass(frozen=True, eq=False)
class Spectra:
    """The spectra of a study.

    Attributes
    ----------
    bands : Bands
        Neighbouring channels that vary together: the features of the study.
    choice : PreprocessingChoice
        The preprocessing of the model, and the scores of all.
    by_fold : tuple of str
        The preprocessing that was chosen in each fold, from its training rows.
    means : DataFrame
        Mean spectra before preprocessing, a column each: of all rows, or of each class.
    weights : ndarray of shape (n_channels,)
        The weight of each preprocessed channel, per standard deviation. For a numeric target its coefficient: a larger
        value raises the prediction where it is positive. For two classes its share of the metric, positive where the
        mean is larger in the second class. For more classes its share, without a sign.
    upwards : str
        What a positive weight means, in words; empty if weights have no sign.
    """

    bands: Bands
    choice: PreprocessingChoice
    by_fold: tuple[str, ...]
    means: pd.DataFrame
    weights: Array
    upwards: str

    @property
    def axis(self) -> SpectralAxis:
        """The channels and their positions."""
        return self.bands.axis

    @property
    def signs(self) -> dict[str, str]:
        """By band, the sign of its weights: "+", "−" or "mixed"; empty where weights have no sign."""
        if not self.upwards:
            return {}
        found = {}
        for name, (first, last) in zip(self.bands.names, self.bands.ranges, strict=True):
            own = self.weights[first : last + 1]
            up, size = float(own[own > 0].sum()), float(np.abs(own).sum())
            share = 0.5 if size == 0 else up / size
            found[name] = SIGNS[1 if share >= ONE_SIGN else -1 if share <= 1 - ONE_SIGN else 0]
        return found

    @property
    def sentence(self) -> str:
        """Which preprocessing was chosen, and how sure the choice is."""
        chosen = "no preprocessing" if self.choice.chosen == NONE else self.choice.chosen
        often = sum(name == self.choice.chosen for name in self.by_fold)
        return (
            f"The spectra were interpreted with {chosen}, chosen from {len(self.choice.scores)} ways of preprocessing. "
            f"It was also chosen in {often} of {len(self.by_fold)} folds, each time from the training rows alone."
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per channel: name, position, band, weight, and the mean spectra."""
        band_of = self.bands.features_of(self.axis.columns)
        facts = {"channel": self.axis.columns, "position": self.axis.positions, "band": band_of, "weight": self.weights}
        means = {f"mean {label}".strip(): values.to_numpy() for label, values in self.means.items()}
        return pd.DataFrame({**facts, **means})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "unit": self.axis.unit,
            "preprocessing": self.choice.to_dict(),
            "by_fold": list(self.by_fold),
            "bands": [
                {"band": name, "channels": list(self.axis.columns[first : last + 1]), "sign": self.signs.get(name)}
                for name, (first, last) in zip(self.bands.names, self.bands.ranges, strict=True)
            ],
            "weights": self.weights.tolist(),
        }


def without_preprocessing(model: Any, X: pd.DataFrame) -> tuple[Any, pd.DataFrame]:
    """Return the model without its preprocessing, and the table with preprocessed spectra, to leave out bands."""
    fitted = FittedPipeline.of(model)
    encoder = [] if fitted.table_encoder is None else [fitted.table_encoder]
    return make_pipeline(*encoder, *fitted.steps, fitted.learner), fitted.shown(X)


def spectra_of(
    problem: Problem, model: Any, models: Sequence[FittedPipeline], preprocessing: Preprocessing | None, rows: Problem
) -> Spectra | None:
    """Describe the spectra of a problem; None where it has none.

    ``model`` was fitted to ``rows``, ``models`` are those of the folds.
    """
    if preprocessing is None:
        return None
    axis, fitted = preprocessing.axis, FittedPipeline.of(model)
    before = rows.X if fitted.table_encoder is None else fitted.table_encoder.transform(rows.X)
    seen = fitted.shown(problem.X)
    if not fitted.preprocessed and fitted.encoder is not None:  # gaps are filled in
        seen = seen.assign(**{name: fitted.numbers(problem.X)[name] for name in axis.columns})
    weights, upwards = _weights(fitted, problem, seen[list(axis.columns)])
    return Spectra(
        bands_of(seen, axis),
        preprocessing.choice(before, rows.y, rows.separation),
        tuple(one.preprocessing or NONE for one in models),
        _means(problem, axis),
        weights,
        upwards,
    )


def _weights(fitted: FittedPipeline, problem: Problem, seen: pd.DataFrame) -> tuple[Array, str]:
    """Return the weight of each channel, and what a positive one means."""
    places = [fitted.made.index(name) for name in seen]
    if problem.kind == "numbers":
        return fitted.spread(fitted.learner.coef_)[places], f"a larger value raises “{problem.target}”"
    shares = as_metric(fitted).as_learned().mean_shares()[places]
    classes = np.unique(problem.y)
    if len(classes) != 2:
        return shares, ""
    values = seen.to_numpy(dtype=np.float64)
    second = values[problem.y == classes[1]].mean(axis=0) >= values[problem.y == classes[0]].mean(axis=0)
    return np.where(second, shares, -shares), f"values are larger in “{classes[1]}” than in “{classes[0]}”"


def _means(problem: Problem, axis: SpectralAxis) -> pd.DataFrame:
    spectra = problem.X[list(axis.columns)].astype(float)
    if problem.kind == "numbers":
        return spectra.mean().to_frame("")
    labels: NDArray[Any] = np.asarray(problem.y)
    names, counts = np.unique(labels, return_counts=True)
    largest = sorted(names[np.argsort(-counts, kind="stable")][:MOST_CLASSES].tolist())
    return pd.DataFrame({str(name): spectra[labels == name].mean() for name in largest})

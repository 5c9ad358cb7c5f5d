"""Spectra: the choice of their preprocessing, their bands, and what a study shows of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import diags_array
from sklearn.base import clone
from sklearn.cluster import ward_tree
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import make_pipeline

from whynear.data.encoder import kept_apart
from whynear.data.problem import Problem, kind_of_target
from whynear.data.rows import Separation, n_different
from whynear.data.spectra import NONE, SpectralAxis, SpectralTransformer, recipe_name, recipes
from whynear.explain import Explanation, ValueExplanation
from whynear.explain.near_cases import summed_by_column
from whynear.explain.value_explanation import is_linear_map
from whynear.model.as_metric import as_metric
from whynear.model.pipeline import FittedPipeline
from whynear.utils.arrays import Array
from whynear.verdict import kernel_ridge
from whynear.verdict.table import RowLosses, best_of, chosen_rows, target_of

MOST_ROWS = 500  # from which the choice is made
NEGLIGIBLE = 0.05  # relative difference of losses


@dataclass(frozen=True, eq=False)
class PreprocessingChoice:
    """How well spectra predict after each preprocessing, and which one was chosen.

    Chosen is the simplest whose loss on held-out rows exceeds the least by at most a standard error of the difference,
    or by at most 5%. ``scores`` are those of ridge regression, the simplest preprocessing first: the share of held-out
    rows predicted right, or the share of variance explained.
    """

    chosen: str
    scores: pd.Series

    def frame(self) -> pd.DataFrame:
        """Return one row for each preprocessing, with its score."""
        return self.scores.rename_axis("preprocessing").rename("score").reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain values."""
        return {"chosen": self.chosen, "scores": {str(name): float(score) for name, score in self.scores.items()}}


class Preprocessing:
    """Chooses the preprocessing of spectra for sets of training rows; remembers it for each set.

    ``seed`` is that of the sample, where there are many rows.
    """

    def __init__(self, axis: SpectralAxis, seed: int) -> None:
        self.axis, self.seed = axis, seed
        self._steps = {recipe_name(steps): steps for steps in recipes(axis.columns)}
        self._known: dict[bytes, PreprocessingChoice] = {}

    def fitted(
        self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None
    ) -> tuple[list[tuple[str, SpectralTransformer]], pd.DataFrame]:
        """Return the fitted steps chosen for these rows, each with its name, and the rows after them."""
        steps = self._steps[self.choice(X, y, groups).chosen]
        if not steps:
            return [], X
        pipeline = make_pipeline(*map(clone, steps))
        return pipeline.steps, pipeline.fit_transform(X)

    def choice(self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None) -> PreprocessingChoice:
        """Return the choice for these rows.

        Ridge regression predicts each row, or the rows of each group, from all others, in closed form.
        """
        key = hashlib.blake2b(X.to_numpy().tobytes()).digest()
        if key not in self._known:
            self._known[key] = self._choose(X, y, groups)
        return self._known[key]

    def _choose(self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None) -> PreprocessingChoice:
        if len(np.unique(y)) < 2:
            return PreprocessingChoice(NONE, pd.Series(dtype=float))
        kind = DummyRegressor() if kind_of_target(y) == "numbers" else DummyClassifier()
        apart = groups.to_numpy() if isinstance(groups, pd.Series) else groups
        known = None if apart is None or n_different(apart) < 2 else apart
        target = target_of(kind, y, known)
        some = chosen_rows(len(y), MOST_ROWS, target.strata, np.random.default_rng(self.seed))
        rows, target = X.iloc[some], target.rows(some)
        losses = {}
        for name, steps in self._steps.items():
            seen = make_pipeline(*map(clone, steps)).fit_transform(rows) if steps else rows
            values = _standardised(seen.to_numpy(dtype=np.float64))
            K = kernel_ridge.kernel("linear", values @ values.T, values.shape[1])
            losses[name] = target.losses(kernel_ridge.tuned(K, target.Y, target.groups, target.forward).predicted)
        best = best_of(losses.values())

        def is_near(found: RowLosses) -> bool:
            excess, error = target.mean_and_error(found.loss - best.loss)
            return excess <= max(error, NEGLIGIBLE * float(best.loss.mean())) + 1e-12

        chosen = next(name for name, found in losses.items() if is_near(found))
        return PreprocessingChoice(chosen, pd.Series({name: float(one.score.mean()) for name, one in losses.items()}))


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    deviations = centred.std(axis=0)
    varies = deviations > 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    return np.asarray(np.where(varies, centred / np.where(varies, deviations, 1.0), 0.0))


FEWEST_BANDS, MOST_BANDS = 10, 30
DESCRIBED = 0.9  # share of the variance of all channels that the means of the bands describe


@dataclass(frozen=True, eq=False)
class Bands:
    """The bands of a spectrum as features beside the other columns of its table."""

    axis: SpectralAxis
    ranges: tuple[tuple[int, int], ...]  # the first and the last channel of each band; every channel is in one band
    columns: tuple[str, ...]  # all columns of the table

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The bands in the unit of the axis."""
        channels = set(self.axis.columns)
        others = [name for name in self.columns if name not in channels]
        spans = [self.axis.span(first, last) for first, last in self.ranges]
        return tuple(kept_apart([*others, *spans])[len(others) :])

    @cached_property
    def features_of_columns(self) -> tuple[str, ...]:
        """For each column of the table the feature it belongs to: its band, or itself."""
        band_of = {
            channel: name
            for name, (first, last) in zip(self.names, self.ranges, strict=True)
            for channel in self.axis.columns[first : last + 1]
        }
        return tuple(band_of.get(name, name) for name in self.columns)

    @cached_property
    def feature_names_in_(self) -> tuple[str, ...]:
        """The features, in the order of the table."""
        return tuple(dict.fromkeys(self.features_of_columns))

    @property
    def noun(self) -> str:
        """What the features are called: bands, unless there are others too."""
        return "band" if len(self.feature_names_in_) == len(self.names) else "feature"

    def features_of(self, columns: Iterable[str]) -> list[str]:
        """Return the features of columns of the table."""
        known = dict(zip(self.columns, self.features_of_columns, strict=True))
        return [known[name] for name in columns]

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns (the last axis) summed for each feature."""
        array = np.asarray(values, dtype=np.float64)
        total = np.zeros((*array.shape[:-1], len(self.feature_names_in_)))
        for column, place in enumerate(self._places):
            total[..., place] += array[..., column]
        return total

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one case in the features: the mean of each band, other values unchanged."""
        held = np.asarray(values, dtype=object).tolist()
        grouped: list[list[Any]] = [[] for _ in self.feature_names_in_]
        for value, place in zip(held, self._places, strict=True):
            grouped[place].append(value)
        bands = set(self.names)
        return [
            float(np.mean(np.array(own, dtype=np.float64))) if name in bands else own[0]
            for name, own in zip(self.feature_names_in_, grouped, strict=True)
        ]

    def table(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return rows in the features: the mean of each band, other columns unchanged."""
        bands = dict(zip(self.names, self.ranges, strict=True))
        made = {
            name: X[list(self.axis.columns[bands[name][0] : bands[name][1] + 1])].mean(axis=1)
            if name in bands
            else X[name]
            for name in self.feature_names_in_
        }
        return pd.DataFrame(made, index=X.index)

    def profiles(self, profiles: pd.DataFrame) -> pd.DataFrame:
        """Return profiles, a row for each column, with the rows of each band summed."""
        made = self.sums(profiles.to_numpy().T).T
        index = pd.Index(self.feature_names_in_, name=profiles.index.name)
        return pd.DataFrame(made, index, profiles.columns)

    def summed(self, why: Explanation | ValueExplanation) -> Explanation | ValueExplanation:
        """Return an explanation with the parts of each band summed."""
        if isinstance(why, ValueExplanation):
            return self._summed_value(why)
        return summed_by_column(why, pd.DataFrame([self.decoded(why.values)], dtype=object), self)

    def _summed_value(self, why: ValueExplanation) -> ValueExplanation:
        """Return an explanation of a value with the contributions of each band summed.

        The distance of a neighbour is that of these sums, and a band has no coefficient.
        """
        features = pd.Index(self.feature_names_in_, name="feature")
        bands, own = set(self.names), self.sums(why.contributions)
        theirs = self.sums(why.neighbor_contributions)
        sq = np.square(theirs - own).sum(axis=1)
        order = np.argsort(sq, kind="stable")
        neighbors = why.neighbors.assign(distance=np.sqrt(sq), sq_distance=sq).iloc[order].reset_index(drop=True)
        index = why.neighbor_values.index[order]
        held = [self.decoded(values) for values in why.neighbor_values.to_numpy()[order]]
        slopes = [np.nan if name in bands else why.coefficients[name] for name in features]
        return replace(
            why,
            values=pd.Series(self.decoded(why.values), features, name="value", dtype=object),
            mean_values=pd.Series(self.decoded(why.mean_values), features, name="mean"),
            coefficients=pd.Series(slopes, features, name="coefficient", dtype=np.float64),
            contributions=pd.Series(own, features, name="contribution"),
            neighbors=neighbors,
            neighbor_values=pd.DataFrame(held, index, features, dtype=object),
            neighbor_contributions=pd.DataFrame(theirs[order], index, features),
        )

    @cached_property
    def _places(self) -> list[int]:
        places = {name: place for place, name in enumerate(self.feature_names_in_)}
        return [places[name] for name in self.features_of_columns]


def bands_of(spectra: pd.DataFrame, axis: SpectralAxis) -> Bands:
    """Divide the channels of preprocessed spectra into bands of neighbours that vary together.

    Neighbouring bands are merged as in Ward's clustering, until merging more would leave less than 90% of the variance
    described by the means of the bands. There are at least ten bands and at most thirty.
    """
    values = spectra[list(axis.columns)].to_numpy(dtype=np.float64)
    n_channels = values.shape[1]
    values = values - values.mean(axis=0)
    ones = np.ones(n_channels - 1)
    neighbours = diags_array([ones, ones], offsets=[-1, 1]).tocsr()
    merges = ward_tree(values.T, connectivity=neighbours)[0]
    total = float(np.square(values).sum())
    for n_bands in range(min(FEWEST_BANDS, n_channels), min(MOST_BANDS, n_channels) + 1):
        ranges = _cut(merges, n_channels, n_bands)
        if total - sum(_within(values, *ends) for ends in ranges) >= DESCRIBED * total:
            break
    return Bands(axis, ranges, tuple(map(str, spectra.columns)))


def _cut(merges: Array, n_channels: int, n_bands: int) -> tuple[tuple[int, int], ...]:
    """Return the first and the last channel of each band after the merges that leave ``n_bands``."""
    ends = {channel: (channel, channel) for channel in range(n_channels)}
    for number, (one, other) in enumerate(merges[: n_channels - n_bands].tolist()):
        both = ends.pop(one) + ends.pop(other)
        ends[n_channels + number] = min(both), max(both)
    return tuple(sorted(ends.values()))


def _within(values: Array, first: int, last: int) -> float:
    """Return the squares of the channels of a band around its mean in each row."""
    own = values[:, first : last + 1]
    return float(np.square(own - own.mean(axis=1, keepdims=True)).sum())


MOST_CLASSES = 6  # whose mean spectra are kept
ONE_SIGN = 0.8  # share of the weight of a band from which it has one sign


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
        mean is larger in the second class. For more classes, and a numeric target of no linear map, its share, without
        a sign.
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
            found[name] = "+" if share >= ONE_SIGN else "−" if share <= 1 - ONE_SIGN else "mixed"
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
    if is_linear_map(fitted.learner):
        return fitted.spread(fitted.learner.coef_)[places], f"a larger value raises “{problem.target}”"
    shares = as_metric(fitted).as_learned().mean_shares()[places]
    classes = np.unique(problem.y)
    if problem.kind == "numbers" or len(classes) != 2:
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

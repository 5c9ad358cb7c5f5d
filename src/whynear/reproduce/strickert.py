"""Strickert, Hammer, Villmann and Biehl: linear maps without what the data cannot support."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.signal import argrelmax
from scipy.stats import rankdata
from sklearn.model_selection import train_test_split

from whynear.datasets import bin_target, load
from whynear.interpret import effective_dimension, regularize
from whynear.interpret.null_space import rank_of, regularized_at
from whynear.learn import GMLVQ, MinimumNormRegressor
from whynear.metric import LinearMetric
from whynear.metric.inputs import Array
from whynear.reproduce import strickert_drawing as drawing
from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.data import OUTLIERS, Split, spectra
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values
from whynear.reproduce.plans import Plan, plan
from whynear.reproduce.strickert_drawing import Sweep

Score = Callable[[NDArray[Any], NDArray[Any]], float]

HIGH = 0.95  # what the paper calls a very good correlation


def figure1() -> Experiment:
    """The spectra, coloured by what is to be predicted."""
    told = plan("strickert-fig1")
    cell = Cell(counts, dict(told.settings))

    def measure(found: Found) -> Values:
        return {(row, "number"): Measured(value) for row, value in found(cell).items()}

    def draw(figure: Figure, _found: Found) -> None:
        data = load(told.settings["dataset"])
        left_out = np.isin(np.arange(len(data.y)), OUTLIERS[told.settings["dataset"]])
        drawing.draw_spectra(figure, data.X.to_numpy(dtype=float), np.asarray(data.y), left_out)

    return Experiment(told, [cell], measure, draw, size=(7.4, 4.2))


def counts(dataset: str) -> Result:
    """How many spectra there are, of what length, and how they are shared out."""
    data, parts = load(dataset), spectra(dataset, None)
    return {
        "spectra": len(data.y),
        "channels": data.X.shape[1],
        "spectra to learn from": len(parts.X),
        "spectra to test on": len(parts.X_test),
    }


def figure2() -> Experiment:
    """Correlation of prediction and alcohol content over the directions kept."""
    told = plan("strickert-fig2")
    cell = Cell(spectral_regression, dict(told.settings), 0.2)

    def measure(found: Found) -> Values:
        curve, honest = Sweep.of([found(cell)]), found(cell)["honest"]
        best = curve.best(lowest=False)
        low = np.flatnonzero(curve.test <= HIGH)
        values = {
            "K with the highest test correlation": best,
            "test correlation there": curve.test_at(best),
            f"K from which on the test correlation exceeds {HIGH}": int(low[-1]) + 2 if len(low) else 1,
            "test correlation with all directions of the data": curve.test_at(curve.most),
            "test correlation, not regularized": curve.test_whole,
            "K by cross-validation of the training spectra": honest["K"],
            "test correlation at that K": honest["test"],
        }
        return {(row, "value"): Measured(value) for row, value in values.items()}

    def draw(figure: Figure, found: Found) -> None:
        curve = Sweep.of([found(cell)])
        ax = figure.add_subplot()
        drawing.draw_sweep(ax, curve, found(cell)["n_train"], lowest=False)
        ax.set_ylabel("correlation")
        drawing.add_legend(figure, "number of training spectra", is_mean=False)

    return Experiment(told, [cell], measure, draw)


def spectral_regression(dataset: str) -> Result:
    """Correlations of the pseudo-inverse of the spectra as they are, projected on their first directions."""
    data = spectra(dataset, None)
    model = MinimumNormRegressor(fit_intercept=False).fit(data.X, data.y)
    found = swept(model, data, correlation)
    K = effective_dimension(model, data.X, data.y, scoring="correlation").best
    return found | {"n_train": len(data.X), "honest": {"K": K, "test": found["test"][K - 1]}}


def figure3() -> Experiment:
    """Coefficients of the regression before and after."""
    told = plan("strickert-fig3")
    cell = Cell(coefficients, dict(told.settings))

    def measure(found: Found) -> Values:
        kept = f"{told.settings['effective_dim']} directions kept"
        rows = {"pseudo-inverse": found(cell)["whole"], kept: found(cell)["projected"]}
        return {(row, "squared norm"): Measured(float(np.square(omega).sum())) for row, omega in rows.items()}

    def draw(figure: Figure, found: Found) -> None:
        maps = {name: np.array(found(cell)[name]) for name in ("whole", "projected")}
        drawing.draw_coefficients(figure.add_subplot(), **maps, effective_dim=told.settings["effective_dim"])

    return Experiment(told, [cell], measure, draw)


def coefficients(dataset: str, effective_dim: int) -> Result:
    """The pseudo-inverse of the spectra as they are, and its projection on directions of the centred ones."""
    data = spectra(dataset, None)
    whole, projected = (
        MinimumNormRegressor(K, fit_intercept=False).fit(data.X, data.y).coef_ for K in (None, effective_dim)
    )
    return {"whole": whole, "projected": projected}


def figure4() -> Experiment:
    """Regression on molecular descriptors: correlation and mean squared error over the directions kept."""
    told = plan("strickert-fig4")
    cells = split_cells(descriptor_regression, told.settings["dataset"], told, 1)

    def measure(found: Found) -> Values:
        results = [found(cell) for cell in cells]
        related, off = (Sweep.of([result[name] for result in results]) for name in ("correlation", "mse"))
        most, least = related.best(lowest=False), off.best(lowest=True)
        norms = [result["norms"][-1] / result["norms"][least - 1] for result in results]
        honest = [result["honest"] for result in results]
        ratio = np.mean([one["mse"] for one in honest]) / off.test_whole
        return {
            ("test correlation, not regularized", "value"): Measured(related.test_whole, related.spread_whole),
            ("highest test correlation over K", "value"): Measured(related.test_at(most), related.spread_at(most)),
            ("K of it", "value"): Measured(most),
            ("test error (MSE), not regularized", "value"): Measured(off.test_whole, off.spread_whole),
            ("least test error over K", "value"): Measured(off.test_at(least), off.spread_at(least)),
            ("K of the least", "value"): Measured(least),
            ("least test error to that not regularized", "value"): Measured(off.test_at(least) / off.test_whole),
            ("directions of the data left out there", "value"): Measured(off.most - least),
            ("squared norm not regularized to that there", "value"): mean_of(norms),
            ("K by cross-validation of the training cases", "value"): mean_of(one["K"] for one in honest),
            ("test error there to that not regularized", "value"): Measured(float(ratio)),
        }

    def draw(figure: Figure, found: Found) -> None:
        results = [found(cell) for cell in cells]
        top, bottom = figure.subplots(2, 1, sharex=True)
        for ax, name, lowest in ((top, "correlation", False), (bottom, "mse", True)):
            curve = Sweep.of([result[name] for result in results])
            drawing.draw_sweep(ax, curve, results[0]["n_train"], lowest, is_log=lowest)
        top.set_ylabel("correlation")
        top.set_xlabel("")
        bottom.set_ylabel("mean squared error")
        drawing.add_legend(figure, "number of training cases")

    return Experiment(told, cells, measure, draw, size=(7.4, 6))


def descriptor_regression(dataset: str, seed: int, share: float) -> Result:
    """Correlation and mean squared error of the z-scored target on one random split."""
    data = descriptors(dataset, seed, share, None)
    mean, deviation = data.y.mean(), data.y.std()
    data = data._replace(y=(data.y - mean) / deviation, y_test=(data.y_test - mean) / deviation)
    model = MinimumNormRegressor().fit(data.X, data.y)
    kept = range(1, rank_of(model.metric_, data.X) + 1)
    maps = [*regularized_at(model, data.X, kept), model.metric_]
    errors = swept(model, data, squared_error)
    K = effective_dimension(model, data.X, data.y, scoring="mse").best
    return {
        "n_train": len(data.X),
        "correlation": swept(model, data, correlation),
        "mse": errors,
        "norms": [float(metric.relevances().sum()) for metric in maps],
        "honest": {"K": K, "mse": errors["test"][K - 1]},
    }


def figure5() -> Experiment:
    """The spectra under the map that GMLVQ learned, before and after."""
    told, cells = plan_of_starts("strickert-fig5")

    def measure(found: Found) -> Values:
        before, after = np.array([found(cell)["alignment"] for cell in cells]).T
        values = {"not regularized": before, "regularized": after, "regularized less not regularized": after - before}
        return {(row, "share along one line"): mean_of(shares) for row, shares in values.items()}

    def draw(figure: Figure, found: Found) -> None:
        data = spectra(told.settings["dataset"], told.settings["n_bins"])
        points = found(typical(cells, found))["points"]
        drawing.draw_projections(figure, points, {"training": data.y, "test": data.y_test}, effective_dim_of(told))

    return Experiment(told, cells, measure, draw, size=(7.4, 6.6))


def figure6() -> Experiment:
    """Errors of GMLVQ on the spectra over the directions kept."""
    told, cells = plan_of_starts("strickert-fig6")
    asked = effective_dim_of(told)

    def measure(found: Found) -> Values:
        results = [found(cell) for cell in cells]
        curve = Sweep.of(results)
        best = curve.best(lowest=True)
        gains = {K: [result["test"][-1] - result["test"][K - 1] for result in results] for K in (best, asked)}
        own = np.array([result["test"][:-1] for result in results])
        honest = [result["honest"] for result in results]
        return {
            ("training error, not regularized", "value"): Measured(curve.train_whole),
            ("test error, not regularized", "value"): Measured(curve.test_whole, curve.spread_whole),
            ("least test error over K", "value"): Measured(curve.test_at(best), curve.spread_at(best)),
            ("K of the least", "value"): Measured(best),
            ("fall of the test error there", "value"): mean_of(gains[best]),
            (f"test error at K = {asked}", "value"): Measured(curve.test_at(asked), curve.spread_at(asked)),
            (f"fall of the test error at K = {asked}", "value"): mean_of(gains[asked]),
            ("K of the least, every start by itself", "value"): mean_of(1 + own.argmin(axis=1)),
            ("least test error, every start by itself", "value"): mean_of(own.min(axis=1)),
            ("K by cross-validation of the training spectra", "value"): mean_of(one["K"] for one in honest),
            ("test error at that K", "value"): mean_of(one["test"] for one in honest),
        }

    def draw(figure: Figure, found: Found) -> None:
        curve = Sweep.of([found(cell) for cell in cells])
        ax = figure.add_subplot()
        drawing.draw_sweep(ax, curve, curve.most)
        drawing.mark_published(ax, asked)
        ax.set_ylabel("classification error")
        drawing.add_legend(figure, "rank of the training spectra")

    return Experiment(told, cells, measure, draw)


def figure7() -> Experiment:
    """The matrix of the metric before and after, and its diagonal."""
    told, cells = plan_of_starts("strickert-fig7")

    def measure(found: Found) -> Values:
        diagonals = np.array([[diagonal(omega) for omega in found(cell)["maps"]] for cell in cells])
        rough = np.apply_along_axis(roughness, 2, diagonals)
        traces = diagonals.sum(axis=2)
        channels = peaks(np.mean(diagonals[:, 1] / traces[:, 1:], axis=0))
        return {
            ("roughness of the diagonal, not regularized", "value"): mean_of(rough[:, 0]),
            ("roughness of the diagonal, regularized", "value"): mean_of(rough[:, 1]),
            ("regularized to not regularized, roughness", "value"): mean_of(rough[:, 1] / rough[:, 0]),
            ("regularized to not regularized, trace", "value"): mean_of(traces[:, 1] / traces[:, 0]),
            ("first of the two most relevant channels, regularized", "value"): Measured(channels[0]),
            ("second of the two most relevant channels, regularized", "value"): Measured(channels[1]),
        }

    def draw(figure: Figure, found: Found) -> None:
        whole, projected = np.array(found(typical(cells, found))["maps"])
        drawing.draw_matrices(figure, whole, projected, effective_dim_of(told))

    return Experiment(told, cells, measure, draw, size=(7.4, 6.4))


def plan_of_starts(name: str) -> tuple[Plan, list[Cell]]:
    """A figure of GMLVQ on the spectra, with one cell for every random start."""
    told = plan(name)
    given = {key: told.settings[key] for key in ("dataset", "n_bins", "effective_dim", "learning")}
    return told, [Cell(start, {**given, "seed": seed}, 0.4) for seed in range(told.settings["n_starts"])]


def start(dataset: str, n_bins: int, effective_dim: int, learning: dict[str, Any], seed: int) -> Result:
    """GMLVQ from one random start: errors over the directions kept, its map before and after, and where that leads."""
    data = centred(spectra(dataset, n_bins))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow descents are part of the picture
        model = GMLVQ(random_state=seed, **learning).fit(data.X, data.y)
        K = effective_dimension(model, data.X, data.y).best
    errors = swept(model, data, error)
    projected = regularize(model, data.X, effective_dim)
    assert isinstance(projected, LinearMetric), "one map for all stays one"
    maps = [model.metric_.omega, projected.omega]
    places = {"prototypes": model.prototypes_, "training": data.X, "test": data.X_test}
    points = {name: [rows @ omega.T for omega in maps] for name, rows in places.items()}
    return errors | {
        "honest": {"K": K, "test": errors["test"][K - 1]},
        "maps": maps,
        "points": points,
        "alignment": [alignment(each) for each in points["prototypes"]],
    }


def typical(cells: Sequence[Cell], found: Found) -> Cell:
    """The start whose test errors are nearest to their mean over all starts."""
    errors = np.array([found(cell)["test"] for cell in cells])
    return cells[int(np.square(errors - errors.mean(axis=0)).sum(axis=1).argmin())]


def effective_dim_of(told: Plan) -> int:
    """The number of directions at which the paper shows the regularized map."""
    return int(told.settings["effective_dim"])


def figure8() -> Experiment:
    """Errors of GMLVQ on molecular descriptors over the directions kept, on two sets."""
    told = plan("strickert-fig8")
    cells = {name: split_cells(descriptor_classes, name, told, 4) for name in told.settings["datasets"]}

    def measure(found: Found) -> Values:
        values: dict[tuple[str, str], Measured] = {}
        for name, parts in cells.items():
            values |= _class_errors(name, [found(cell) for cell in parts])
        return values

    def draw(figure: Figure, found: Found) -> None:
        for ax, (name, parts) in zip(figure.subplots(len(cells), 1), cells.items(), strict=True):
            results = [found(cell) for cell in parts]
            drawing.draw_sweep(ax, Sweep.of(results), results[0]["n_train"])
            ax.set_title(name, fontsize="medium", loc="left")
            ax.set_ylabel("classification error")
        drawing.add_legend(figure, "number of training cases")

    return Experiment(told, [cell for parts in cells.values() for cell in parts], measure, draw, size=(7.4, 6.4))


def _class_errors(dataset: str, results: Sequence[Result]) -> dict[tuple[str, str], Measured]:
    curve = Sweep.of(results)
    best = curve.best(lowest=True)
    honest = [result["honest"] for result in results]
    falls = [result["test"][-1] - result["test"][best - 1] for result in results]
    return {
        ("training error, not regularized", dataset): Measured(curve.train_whole),
        ("test error, not regularized", dataset): Measured(curve.test_whole, curve.spread_whole),
        ("least test error over K", dataset): Measured(curve.test_at(best), curve.spread_at(best)),
        ("K of the least", dataset): Measured(best),
        ("fall of the test error there", dataset): mean_of(falls),
        ("K by cross-validation of the training cases", dataset): mean_of(one["K"] for one in honest),
        ("test error at that K", dataset): mean_of(one["test"] for one in honest),
    }


def split_cells(work: Callable[..., Result], dataset: str, told: Plan, weight: float) -> list[Cell]:
    """One cell for each random split."""
    given = {key: told.settings[key] for key in ("share", "learning") if key in told.settings}
    return [
        Cell(work, {"dataset": dataset, "seed": seed, **given}, weight) for seed in range(told.settings["n_splits"])
    ]


def descriptor_classes(dataset: str, seed: int, share: float, learning: dict[str, Any]) -> Result:
    """Errors of GMLVQ on one random split."""
    data = descriptors(dataset, seed, share, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow descents are part of the picture
        model = GMLVQ(random_state=seed, **learning).fit(data.X, data.y)
        K = effective_dimension(model, data.X, data.y).best
    errors = swept(model, data, error)
    return errors | {"n_train": len(data.X), "honest": {"K": K, "test": errors["test"][K - 1]}}


def descriptors(dataset: str, seed: int, share: float, n_bins: int | None) -> Split:
    """A random split of a set whose features are replaced by ranks; a numeric target may become equal classes."""
    data = load(dataset)
    X, y = rankdata(data.X.to_numpy(dtype=float), axis=0), np.asarray(data.y)
    if n_bins is not None and len(np.unique(y)) > n_bins:
        y = bin_target(y, n_bins)
    X, X_test, y, y_test = train_test_split(X, y, train_size=share, random_state=seed)
    return centred(Split(X, y, X_test, y_test))


def centred(data: Split) -> Split:
    """All columns with the mean of the cases to learn from taken out."""
    mean = data.X.mean(axis=0)
    return data._replace(X=data.X - mean, X_test=data.X_test - mean)


def swept(model: Any, data: Split, score: Score) -> Result:
    """A score on both parts with 1, 2, ... directions of the data kept, and last with the map as it was learned."""
    kept = range(1, rank_of(model.metric_, data.X) + 1)
    models = [*(model.with_metric(metric) for metric in regularized_at(model, data.X, kept)), model]
    return {
        "train": [score(one.predict(data.X), data.y) for one in models],
        "test": [score(one.predict(data.X_test), data.y_test) for one in models],
    }


def correlation(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """Of prediction and target."""
    return float(np.corrcoef(predicted, target)[0, 1])


def squared_error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """Its mean."""
    return float(np.mean(np.square(predicted - target)))


def error(predicted: NDArray[Any], target: NDArray[Any]) -> float:
    """The share of cases predicted wrong."""
    return float(np.mean(predicted != target))


def alignment(points: Array) -> float:
    """How much of the spread of points on a plane lies along one line: one half at least, one if all are on it."""
    spread = np.square(np.linalg.svd(points - points.mean(axis=0), compute_uv=False))
    return float(spread[0] / spread.sum())


def diagonal(omega: Sequence[Sequence[float]]) -> Array:
    """The diagonal of the matrix of a metric, from its map."""
    return np.square(np.array(omega)).sum(axis=0)


def roughness(values: Array) -> float:
    """Sum of the steps from entry to entry, relative to the sum of the entries."""
    return float(np.abs(np.diff(values)).sum() / values.sum())


def peaks(values: Array) -> list[int]:
    """The channels of the two largest entries that exceed their neighbours, counted from 1."""
    places = argrelmax(values)[0]
    return sorted(int(place) + 1 for place in places[np.argsort(-values[places])[:2]])


def mean_of(values: Iterable[float]) -> Measured:
    """Mean and standard deviation."""
    each = np.array(list(values), dtype=float)
    return Measured(float(each.mean()), float(each.std()))

"""Strickert, Hammer, Villmann and Biehl: linear maps without what the data cannot support."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure
from scipy.signal import argrelmax

from whynear.datasets import load
from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.data import OUTLIERS, spectra
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of
from whynear.reproduce.plans import Plan, plan
from whynear.reproduce.strickert import drawing
from whynear.reproduce.strickert.cells import (
    coefficients,
    counts,
    descriptor_classes,
    descriptor_regression,
    spectral_regression,
    start,
)
from whynear.reproduce.strickert.drawing import Sweep
from whynear.utils.arrays import Array

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
            ("test error with all directions of the data", "value"): Measured(curve.test_at(curve.most)),
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
        ("fall of the test error at that K", dataset): mean_of(
            result["test"][-1] - result["honest"]["test"] for result in results
        ),
    }


def split_cells(work: Callable[..., Result], dataset: str, told: Plan, weight: float) -> list[Cell]:
    """One cell for each random split."""
    given = {key: told.settings[key] for key in ("share", "learning") if key in told.settings}
    return [
        Cell(work, {"dataset": dataset, "seed": seed, **given}, weight) for seed in range(told.settings["n_splits"])
    ]


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

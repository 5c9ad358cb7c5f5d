"""The figures of Strickert, Hammer, Villmann and Biehl: regularization of linear maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from whynear.datasets import load
from whynear.engine.cells import Cell, Result, ResultOf
from whynear.reproduce.data import OUTLIERS, spectra
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values, mean_of
from whynear.reproduce.plans import Plan, load_plan
from whynear.reproduce.strickert import drawing
from whynear.reproduce.strickert.cells import (
    coefficients,
    counts,
    descriptor_classes,
    descriptor_regression,
    random_start,
    spectral_regression,
)
from whynear.reproduce.strickert.diagonal import diagonal, peaks, roughness
from whynear.reproduce.strickert.drawing import Sweep

HIGH_CORRELATION = 0.95  # called very good in the paper


def figure1() -> Experiment:
    """The spectra, coloured by the target."""
    plan = load_plan("strickert-fig1")
    cell = Cell(counts, dict(plan.settings))

    def measure(result_of: ResultOf) -> Values:
        return {(row, "number"): Measured(value) for row, value in result_of(cell).items()}

    def draw(figure: Figure, _result_of: ResultOf) -> None:
        data = load(plan.settings["dataset"])
        left_out = np.isin(np.arange(len(data.y)), OUTLIERS[plan.settings["dataset"]])
        drawing.draw_spectra(figure, data.X.to_numpy(dtype=float), np.asarray(data.y), left_out)

    return Experiment(plan, [cell], measure, draw, size=(7.4, 4.2))


def figure2() -> Experiment:
    """Correlation of prediction and alcohol content against the directions kept."""
    plan = load_plan("strickert-fig2")
    cell = Cell(spectral_regression, dict(plan.settings), 0.2)

    def measure(result_of: ResultOf) -> Values:
        curve, chosen = Sweep.of([result_of(cell)]), result_of(cell)["cross_validation"]
        best = curve.best(lowest=False)
        low = np.flatnonzero(curve.test <= HIGH_CORRELATION)
        values = {
            "K with the highest test correlation": best,
            "test correlation at this K": curve.test_at(best),
            f"first K from which the test correlation stays above {HIGH_CORRELATION}": int(low[-1]) + 2
            if len(low)
            else 1,
            "test correlation with all directions of the data": curve.test_at(curve.most),
            "test correlation, not regularized": curve.test_whole,
            "K by cross-validation of the training spectra": chosen["K"],
            "test correlation at the K of cross-validation": chosen["test"],
        }
        return {(row, "value"): Measured(value) for row, value in values.items()}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        curve = Sweep.of([result_of(cell)])
        ax = figure.add_subplot()
        drawing.draw_sweep(ax, curve, result_of(cell)["n_train"], lowest=False)
        ax.set_ylabel("correlation")
        drawing.add_legend(figure, "number of training spectra", is_mean=False)

    return Experiment(plan, [cell], measure, draw)


def figure3() -> Experiment:
    """Coefficients of the regression before and after regularization."""
    plan = load_plan("strickert-fig3")
    cell = Cell(coefficients, dict(plan.settings))

    def measure(result_of: ResultOf) -> Values:
        kept = f"{plan.settings['effective_dim']} directions kept"
        rows = {"pseudo-inverse": result_of(cell)["whole"], kept: result_of(cell)["projected"]}
        return {(row, "squared norm"): Measured(float(np.square(omega).sum())) for row, omega in rows.items()}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        maps = {name: np.array(result_of(cell)[name]) for name in ("whole", "projected")}
        drawing.draw_coefficients(figure.add_subplot(), **maps, effective_dim=plan.settings["effective_dim"])

    return Experiment(plan, [cell], measure, draw)


def figure4() -> Experiment:
    """Regression on molecular descriptors: correlation and mean squared error against the directions kept."""
    plan = load_plan("strickert-fig4")
    cells = split_cells(descriptor_regression, plan.settings["dataset"], plan, 1)

    def measure(result_of: ResultOf) -> Values:
        results = [result_of(cell) for cell in cells]
        correlations, errors = (Sweep.of([result[name] for result in results]) for name in ("correlation", "mse"))
        highest, lowest = correlations.best(lowest=False), errors.best(lowest=True)
        norms = [result["norms"][-1] / result["norms"][lowest - 1] for result in results]
        chosen = [result["cross_validation"] for result in results]
        ratio = np.mean([one["mse"] for one in chosen]) / errors.test_whole
        values = {
            "test correlation, not regularized": Measured(correlations.test_whole, correlations.spread_whole),
            "highest test correlation over K": Measured(correlations.test_at(highest), correlations.spread_at(highest)),
            "K with the highest test correlation": Measured(highest),
            "test error (MSE), not regularized": Measured(errors.test_whole, errors.spread_whole),
            "lowest test error over K": Measured(errors.test_at(lowest), errors.spread_at(lowest)),
            "K with the lowest test error": Measured(lowest),
            "lowest test error, divided by that without regularization": Measured(
                errors.test_at(lowest) / errors.test_whole
            ),
            "directions left out at the K with the lowest test error": Measured(errors.most - lowest),
            "squared norm without regularization, divided by that at the K with the lowest test error": mean_of(norms),
            "K by cross-validation of the training rows": mean_of(one["K"] for one in chosen),
            "test error at the K of cross-validation, divided by that without regularization": Measured(float(ratio)),
        }
        return {(row, "value"): value for row, value in values.items()}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        results = [result_of(cell) for cell in cells]
        top, bottom = figure.subplots(2, 1, sharex=True)
        for ax, name, lowest in ((top, "correlation", False), (bottom, "mse", True)):
            curve = Sweep.of([result[name] for result in results])
            drawing.draw_sweep(ax, curve, results[0]["n_train"], lowest, is_log=lowest)
        top.set_ylabel("correlation")
        top.set_xlabel("")
        bottom.set_ylabel("mean squared error")
        drawing.add_legend(figure, "number of training cases")

    return Experiment(plan, cells, measure, draw, size=(7.4, 6))


def figure5() -> Experiment:
    """The spectra on the plane of the map of GMLVQ, before and after regularization."""
    plan, cells = plan_of_starts("strickert-fig5")

    def measure(result_of: ResultOf) -> Values:
        before, after = np.array([result_of(cell)["alignment"] for cell in cells]).T
        values = {"not regularized": before, "regularized": after, "regularized minus not regularized": after - before}
        return {(row, "share in the main direction"): mean_of(shares) for row, shares in values.items()}

    def draw(figure: Figure, result_of: ResultOf) -> None:
        data = spectra(plan.settings["dataset"], plan.settings["n_bins"])
        points = result_of(typical(cells, result_of))["points"]
        drawing.draw_projections(figure, points, {"training": data.y, "test": data.y_test}, effective_dim_of(plan))

    return Experiment(plan, cells, measure, draw, size=(7.4, 6.6))


def figure6() -> Experiment:
    """Errors of GMLVQ on the spectra against the directions kept."""
    plan, cells = plan_of_starts("strickert-fig6")
    published = effective_dim_of(plan)

    def measure(result_of: ResultOf) -> Values:
        results = [result_of(cell) for cell in cells]
        curve = Sweep.of(results)
        best = curve.best(lowest=True)
        gains = {K: [result["test"][-1] - result["test"][K - 1] for result in results] for K in (best, published)}
        own = np.array([result["test"][:-1] for result in results])
        chosen = [result["cross_validation"] for result in results]
        return {
            ("training error, not regularized", "value"): Measured(curve.train_whole),
            ("test error, not regularized", "value"): Measured(curve.test_whole, curve.spread_whole),
            ("lowest test error over K", "value"): Measured(curve.test_at(best), curve.spread_at(best)),
            ("K with the lowest test error", "value"): Measured(best),
            ("reduction of the test error at the K with the lowest test error", "value"): mean_of(gains[best]),
            ("test error with all directions of the data", "value"): Measured(curve.test_at(curve.most)),
            (f"test error at K = {published}", "value"): Measured(curve.test_at(published), curve.spread_at(published)),
            (f"reduction of the test error at K = {published}", "value"): mean_of(gains[published]),
            ("K with the lowest test error, separately for every start", "value"): mean_of(1 + own.argmin(axis=1)),
            ("lowest test error, separately for every start", "value"): mean_of(own.min(axis=1)),
            ("K by cross-validation of the training spectra", "value"): mean_of(one["K"] for one in chosen),
            ("test error at the K of cross-validation", "value"): mean_of(one["test"] for one in chosen),
        }

    def draw(figure: Figure, result_of: ResultOf) -> None:
        curve = Sweep.of([result_of(cell) for cell in cells])
        ax = figure.add_subplot()
        drawing.draw_sweep(ax, curve, curve.most)
        drawing.mark_published(ax, published)
        ax.set_ylabel("classification error")
        drawing.add_legend(figure, "rank of the training spectra")

    return Experiment(plan, cells, measure, draw)


def figure7() -> Experiment:
    """The matrix of the metric before and after regularization, and its diagonal."""
    plan, cells = plan_of_starts("strickert-fig7")

    def measure(result_of: ResultOf) -> Values:
        diagonals = np.array([[diagonal(omega) for omega in result_of(cell)["maps"]] for cell in cells])
        rough = np.apply_along_axis(roughness, 2, diagonals)
        traces = diagonals.sum(axis=2)
        channels = peaks(np.mean(diagonals[:, 1] / traces[:, 1:], axis=0))
        return {
            ("roughness of the diagonal, not regularized", "value"): mean_of(rough[:, 0]),
            ("roughness of the diagonal, regularized", "value"): mean_of(rough[:, 1]),
            ("roughness, regularized divided by not regularized", "value"): mean_of(rough[:, 1] / rough[:, 0]),
            ("trace, regularized divided by not regularized", "value"): mean_of(traces[:, 1] / traces[:, 0]),
            ("first of the two most relevant channels, regularized", "value"): Measured(channels[0]),
            ("second of the two most relevant channels, regularized", "value"): Measured(channels[1]),
        }

    def draw(figure: Figure, result_of: ResultOf) -> None:
        whole, projected = np.array(result_of(typical(cells, result_of))["maps"])
        drawing.draw_matrices(figure, whole, projected, effective_dim_of(plan))

    return Experiment(plan, cells, measure, draw, size=(7.4, 6.4))


def plan_of_starts(name: str) -> tuple[Plan, list[Cell]]:
    """The plan of a figure of GMLVQ on the spectra, and a cell for every random start."""
    plan = load_plan(name)
    arguments = {key: plan.settings[key] for key in ("dataset", "n_bins", "effective_dim", "learning")}
    return plan, [Cell(random_start, {**arguments, "seed": seed}, 0.4) for seed in range(plan.settings["n_starts"])]


def typical(cells: Sequence[Cell], result_of: ResultOf) -> Cell:
    """The start whose test errors are nearest to their mean over all starts."""
    errors = np.array([result_of(cell)["test"] for cell in cells])
    return cells[int(np.square(errors - errors.mean(axis=0)).sum(axis=1).argmin())]


def effective_dim_of(plan: Plan) -> int:
    """The number of directions at which the paper shows the regularized map."""
    return int(plan.settings["effective_dim"])


def figure8() -> Experiment:
    """Errors of GMLVQ on molecular descriptors against the directions kept, on two data sets."""
    plan = load_plan("strickert-fig8")
    cells = {name: split_cells(descriptor_classes, name, plan, 4) for name in plan.settings["datasets"]}

    def measure(result_of: ResultOf) -> Values:
        values: dict[tuple[str, str], Measured] = {}
        for name, parts in cells.items():
            values |= _class_errors(name, [result_of(cell) for cell in parts])
        return values

    def draw(figure: Figure, result_of: ResultOf) -> None:
        for ax, (name, parts) in zip(figure.subplots(len(cells), 1), cells.items(), strict=True):
            results = [result_of(cell) for cell in parts]
            drawing.draw_sweep(ax, Sweep.of(results), results[0]["n_train"])
            ax.set_title(name, fontsize="medium", loc="left")
            ax.set_ylabel("classification error")
        drawing.add_legend(figure, "number of training cases")

    return Experiment(plan, [cell for parts in cells.values() for cell in parts], measure, draw, size=(7.4, 6.4))


def _class_errors(dataset: str, results: Sequence[Result]) -> dict[tuple[str, str], Measured]:
    curve = Sweep.of(results)
    best = curve.best(lowest=True)
    chosen = [result["cross_validation"] for result in results]
    falls = [result["test"][-1] - result["test"][best - 1] for result in results]
    return {
        ("training error, not regularized", dataset): Measured(curve.train_whole),
        ("test error, not regularized", dataset): Measured(curve.test_whole, curve.spread_whole),
        ("lowest test error over K", dataset): Measured(curve.test_at(best), curve.spread_at(best)),
        ("K with the lowest test error", dataset): Measured(best),
        ("reduction of the test error at the K with the lowest test error", dataset): mean_of(falls),
        ("K by cross-validation of the training rows", dataset): mean_of(one["K"] for one in chosen),
        ("test error at the K of cross-validation", dataset): mean_of(one["test"] for one in chosen),
        ("reduction of the test error at the K of cross-validation", dataset): mean_of(
            result["test"][-1] - result["cross_validation"]["test"] for result in results
        ),
    }


def split_cells(work: Callable[..., Result], dataset: str, plan: Plan, weight: float) -> list[Cell]:
    """One cell for each random split."""
    arguments = {key: plan.settings[key] for key in ("share", "learning") if key in plan.settings}
    return [
        Cell(work, {"dataset": dataset, "seed": seed, **arguments}, weight) for seed in range(plan.settings["n_splits"])
    ]

"""The figures of Strickert, Hammer, Villmann and Biehl: regularization of linear maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from papers.computations import Cell, Result, ResultOf
from papers.outcome import Experiment, Measured, Values, mean_of
from papers.plans import Plan, load_plan
from papers.projected_maps import (
    coefficients,
    counts,
    descriptor_classes,
    descriptor_regression,
    diagonal,
    peaks,
    random_start,
    roughness,
    spectral_regression,
)
from papers.splits import OUTLIERS, spectra
from whynear.datasets import load
from whynear.utils.arrays import Array
from whynear.utils.axes import CLASS_COLORS, color_bar, tidy

HIGH_CORRELATION = 0.95  # called very good in the paper
TEST, TRAIN, THIRD = CLASS_COLORS[:3]
GREY = "0.4"
CLASSES = {"low": TEST, "medium": TRAIN, "high": THIRD}
N_COLOURS = 21  # of a matrix; few colours keep the file small
MARKS: dict[str, dict[str, Any]] = {
    name: {"marker": marker, "color": TEST, "markerfacecolor": face, "markersize": 7, "linestyle": "", "zorder": 4}
    for name, marker, face in (
        ("a single direction", "^", TEST),
        ("best on test data", "D", TEST),
        ("not regularized", "o", "white"),
    )
}
POINTS: dict[str, dict[str, Any]] = {
    "training": {"marker": "*", "markersize": 8, "linestyle": "", "markeredgewidth": 0.4},
    "test": {"marker": "^", "markersize": 5, "linestyle": "", "markerfacecolor": "none"},
    "prototypes": {"marker": "o", "markersize": 14, "linestyle": "", "markeredgewidth": 1.6, "markerfacecolor": "none"},
}


def figure1() -> Experiment:
    """The spectra, coloured by the target."""
    plan = load_plan("strickert-fig1")
    cell = Cell(counts, dict(plan.settings))

    def measure(result_of: ResultOf) -> Values:
        return {(row, "number"): Measured(value) for row, value in result_of(cell).items()}

    def draw(figure: Figure, _result_of: ResultOf) -> None:
        data = load(plan.settings["dataset"])
        left_out = np.isin(np.arange(len(data.y)), OUTLIERS[plan.settings["dataset"]])
        draw_spectra(figure, data.X.to_numpy(dtype=float), np.asarray(data.y), left_out)

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
        draw_sweep(ax, curve, result_of(cell)["n_train"], lowest=False)
        ax.set_ylabel("correlation")
        add_legend(figure, "number of training spectra", is_mean=False)

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
        draw_coefficients(figure.add_subplot(), **maps, effective_dim=plan.settings["effective_dim"])

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
            draw_sweep(ax, curve, results[0]["n_train"], lowest, is_log=lowest)
        top.set_ylabel("correlation")
        top.set_xlabel("")
        bottom.set_ylabel("mean squared error")
        add_legend(figure, "number of training cases")

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
        draw_projections(figure, points, {"training": data.y, "test": data.y_test}, effective_dim_of(plan))

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
        draw_sweep(ax, curve, curve.most)
        mark_published(ax, published)
        ax.set_ylabel("classification error")
        add_legend(figure, "rank of the training spectra")

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
        draw_matrices(figure, whole, projected, effective_dim_of(plan))

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
            draw_sweep(ax, Sweep.of(results), results[0]["n_train"])
            ax.set_title(name, fontsize="medium", loc="left")
            ax.set_ylabel("classification error")
        add_legend(figure, "number of training cases")

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


class Sweep(NamedTuple):
    """Mean scores at 1, 2, ... directions kept, their deviation on test data, and all without regularization."""

    train: Array
    test: Array
    spread: Array
    train_whole: float
    test_whole: float
    spread_whole: float

    @classmethod
    def of(cls, results: Sequence[Mapping[str, Any]]) -> Sweep:
        """The means of several curves, up to the shortest; the last entry of each is without regularization."""
        most = min(len(result["test"]) for result in results) - 1
        train, test = (
            np.array([[*result[part][:most], result[part][-1]] for result in results]) for part in ("train", "test")
        )
        means, spread = (train.mean(axis=0), test.mean(axis=0)), test.std(axis=0)
        ends = (float(values[-1]) for values in (*means, spread))
        return cls(means[0][:-1], means[1][:-1], spread[:-1], *ends)

    @property
    def most(self) -> int:
        """The largest number of directions."""
        return len(self.test)

    def best(self, lowest: bool) -> int:
        """The smallest number of directions with the best mean on test data."""
        return 1 + int(self.test.argmin() if lowest else self.test.argmax())

    def test_at(self, kept: int) -> float:
        """The mean on test data at this number of directions."""
        return float(self.test[kept - 1])

    def spread_at(self, kept: int) -> float:
        """The standard deviation on test data at this number of directions."""
        return float(self.spread[kept - 1])


def draw_sweep(ax: Axes, curve: Sweep, line: int, lowest: bool = True, is_log: bool = False) -> None:
    """Draw training and test scores against the directions kept, and those of the learned map at the right."""
    kept, apart = np.arange(1, curve.most + 1), curve.most * 1.09 + 1
    below = np.maximum(curve.test - curve.spread, curve.test / 10) if is_log else curve.test - curve.spread
    ax.fill_between(kept, below, curve.test + curve.spread, color=TEST, alpha=0.15, linewidth=0)
    ax.plot(kept, curve.train, "--", color=TRAIN, linewidth=1.4)
    ax.plot(kept, curve.test, "-", color=TEST, linewidth=1.6)
    best = curve.best(lowest)
    ax.plot(1, curve.test[0], **MARKS["a single direction"])
    ax.plot(best, curve.test_at(best), **MARKS["best on test data"])
    if is_log:  # training errors become zero
        ax.set_yscale("log")
        ax.set_ylim(float(curve.test.min()) / 3, float(curve.test.max()) * 2)
    else:
        ax.plot(apart, curve.train_whole, **MARKS["not regularized"] | {"color": TRAIN})
    ax.plot(apart, curve.test_whole, **MARKS["not regularized"])
    ax.axvline(line, color=GREY, linestyle=":", linewidth=1)
    _name_ticks(ax, curve.most, apart)
    tidy(ax, "y")


def _name_ticks(ax: Axes, most: int, apart: float) -> None:
    """Label whole numbers, and the place of the learned map with "none"."""
    ticks = [tick for tick in MaxNLocator(6, integer=True).tick_values(1, most) if 1 < tick <= most]
    ax.set_xticks([1, *ticks, apart], [*(f"{tick:.0f}" for tick in (1, *ticks)), "none"])
    ax.set_xlim(1 - 0.02 * most, apart + 0.02 * most)
    ax.set_xlabel("effective dimension K (directions of the data kept)")


def add_legend(figure: Figure, line: str, is_mean: bool = True) -> None:
    """Add a legend above the panels, where it covers no curve; `line` is the label of the vertical line."""
    test = "test, mean and deviation" if is_mean else "test"
    handles = [
        Line2D([], [], color=TEST, linewidth=1.6, label=test),
        Line2D([], [], color=TRAIN, linestyle="--", linewidth=1.4, label="training"),
        Line2D([], [], color=GREY, linestyle=":", linewidth=1, label=line),
        *(Line2D([], [], label=label, **look) for label, look in MARKS.items()),
    ]
    figure.legend(handles=[handles[i] for i in (0, 3, 1, 4, 2, 5)], loc="outside upper center", ncols=3, frameon=False)


def mark_published(ax: Axes, kept: int) -> None:
    """Mark the number of directions that the paper uses."""
    ax.axvline(kept, color=THIRD, linestyle="-.", linewidth=1, zorder=0)
    ax.annotate(
        f" K = {kept} (paper)", (kept, 0.97), xycoords=("data", "axes fraction"), color=GREY, fontsize="small", va="top"
    )


def draw_spectra(figure: Figure, X: Array, target: Array, left_out: NDArray[np.bool_]) -> None:
    """Draw each spectrum in the colour of its target, as pixels; outliers are dotted."""
    ax = figure.add_subplot()
    channels = np.broadcast_to(np.arange(1, X.shape[1] + 1), X.shape)
    lines = LineCollection(
        list(np.stack([channels, X], axis=-1)[~left_out]), array=target[~left_out], cmap="viridis", linewidths=0.6
    )
    lines.set_rasterized(True)
    ax.add_collection(lines)
    ax.plot(channels[left_out].T, X[left_out].T, ":", color="black", linewidth=0.9, rasterized=True)
    ax.set_xlim(1, X.shape[1])
    ax.set_xlabel("channel")
    ax.set_ylabel("intensity")
    color_bar(lines, ax).set_label("alcohol content")
    tidy(ax, "y")
    out = Line2D([], [], color="black", linestyle=":", linewidth=0.9, label="left out as outliers")
    ax.legend(handles=[out], frameon=False, loc="best")


def draw_coefficients(ax: Axes, whole: Array, projected: Array, effective_dim: int) -> None:
    """Draw both vectors of coefficients against the channels."""
    channels = np.arange(1, len(whole) + 1)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.plot(channels, whole, color=TRAIN, linewidth=0.9, label="pseudo-inverse")
    ax.plot(channels, projected, color=TEST, linewidth=1.8, label=f"{effective_dim} directions kept")
    ax.set_xlim(1, len(whole))
    ax.set_xlabel("channel")
    ax.set_ylabel("coefficient")
    tidy(ax, "y")
    ax.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))


def draw_projections(
    figure: Figure, points: Mapping[str, Sequence[Any]], classes: Mapping[str, NDArray[Any]], effective_dim: int
) -> None:
    """Draw the spectra and the prototypes on the plane of the map, before and after regularization."""
    titles = "not regularized", f"{effective_dim} directions kept"
    for place, (ax, title) in enumerate(zip(figure.subplots(2, 1), titles, strict=True)):
        for code, (name, color) in enumerate(CLASSES.items()):
            for part in ("test", "training"):
                ax.plot(*np.array(points[part][place])[classes[part] == code].T, color=color, **POINTS[part])
            prototype = np.array(points["prototypes"][place][code])
            ax.plot(*prototype, color="black", **POINTS["prototypes"])
            ax.plot(*prototype, ".", color=color, markeredgecolor="white", markersize=11, zorder=5)
            ax.annotate(name, prototype, (0, 22), textcoords="offset points", ha="center")
        ax.set_title(title, fontsize="medium", loc="left")
        ax.set_ylabel("second coordinate")
        ax.set_aspect("equal", adjustable="datalim")
        tidy(ax, "both")
    ax.set_xlabel("first coordinate")
    handles = [Line2D([], [], color="0.3", label=part, **look) for part, look in POINTS.items()]
    handles += [Line2D([], [], color=color, linewidth=5, label=label) for label, color in CLASSES.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=6, frameon=False, columnspacing=1.2)


def draw_matrices(figure: Figure, whole: Array, projected: Array, effective_dim: int) -> None:
    """Draw Lambda before and after regularization above their diagonals, each with its own scale."""
    panels = figure.subplots(2, 2, sharex=True, height_ratios=(2, 1))
    names = "not regularized", f"{effective_dim} directions kept"
    n = whole.shape[1]
    for (ax, below), omega, name in zip(panels.T, (whole, projected), names, strict=True):
        matrix = omega.T @ omega
        most = float(np.quantile(np.abs(matrix), 0.99))
        look = {"cmap": mpl.colormaps["RdBu_r"].resampled(N_COLOURS), "vmin": -most, "vmax": most}
        ax.imshow(matrix, extent=(0.5, n + 0.5, n + 0.5, 0.5), aspect="auto", interpolation="none", **look)
        ax.set_title(f"{name}, colours up to ±{most:.1g}", fontsize="medium")
        below.plot(np.arange(1, n + 1), np.square(omega).sum(axis=0), color=TEST, linewidth=1.2)
        below.set_ylim(bottom=0)
        below.set_xlabel("channel")
        tidy(below, "y")
    panels[0, 0].set_ylabel("channel")
    panels[1, 0].set_ylabel("diagonal entry")

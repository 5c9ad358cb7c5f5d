"""The table and figures of Schulz, Mokbel, Biehl and Hammer: relevance intervals of learned metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from papers.computations import Cell, Result, ResultOf
from papers.outcome import Experiment, Measured, Values
from papers.plans import load_plan
from papers.relevance_bounds import Case, cases, split_of
from papers.splits import spectra
from whynear.interpret.paths import RegularizationPaths
from whynear.utils.arrays import Array
from whynear.utils.axes import CLASS_COLORS, tidy

XOR_TRUTH = ["weak", "weak", "weak", "strong", "irrelevant", "irrelevant"]
NINE_TENTHS = 0.9
BLUE, ORANGE, GREEN = CLASS_COLORS[:3]
MOST_BARS = 40  # with more features, areas are drawn
MOST_ROWS_SHOWN = 3


def table1() -> Experiment:
    """Errors before and after regularization."""
    named_cases = cases()

    def measure(result_of: ResultOf) -> Values:
        values = {}
        for name, case in named_cases.items():
            for part in ("train", "test"):
                values[name, part] = Measured(result_of(case.errors)[part])
            values[name, "regularized, K by the test set"] = Measured(
                case.test_error(result_of, case.by_test(result_of))
            )
            values[name, "K by the test set"] = Measured(case.by_test(result_of))
            if case.published is not None:
                values[name, "regularized, published K"] = Measured(case.test_error(result_of, case.published))
            if case.folds:
                dimension = case.by_folds(result_of)
                values[name, "regularized, K by cross-validation"] = Measured(case.test_error(result_of, dimension))
                values[name, "K by cross-validation"] = Measured(dimension)
        split_pairs = result_of(named_cases["tecator"].errors)["split_pairs"]
        return values | {("identical rows of tecator on both sides of the split", "pairs"): Measured(split_pairs)}

    cells = [cell for case in named_cases.values() for cell in (case.errors, case.curve, *case.folds)]
    return Experiment(
        load_plan("schulz-table1"),
        cells,
        measure,
        lambda figure, result_of: draw_error_curves(figure, named_cases, result_of),
        size=(9, 7.5),
    )


def figure1() -> Experiment:
    """The xor data, and errors against the effective dimension."""
    case = cases()["xor"]

    def measure(result_of: ResultOf) -> Values:
        dimension = case.by_test(result_of)
        named = {
            "effective dimension": dimension,
            "test error at this dimension": case.test_error(result_of, dimension),
            "test error with two dimensions": case.test_error(result_of, 2),
        }
        return {(name, "xor"): Measured(value) for name, value in named.items()}

    return Experiment(
        load_plan("schulz-fig1"),
        [case.curve, *case.folds],
        measure,
        lambda f, result_of: draw_xor(f, case, result_of),
    )


def figure2() -> Experiment:
    """The spectra of wine and tecator."""
    named_cases = {name: cases()[name] for name in ("wine", "tecator")}
    return Experiment(
        load_plan("schulz-fig2"),
        [case.errors for case in named_cases.values()],
        lambda _result_of: {},
        lambda figure, _result_of: draw_spectra(figure, {name: case.dataset for name, case in named_cases.items()}),
        size=(9, 3.4),
    )


def figure3() -> Experiment:
    """Relevance bounds of the xor data, and the strengths on ten random data sets."""
    plan = load_plan("schulz-fig3")
    first = cases()["xor"]
    dimension, seeds = plan.settings["dimension"], plan.settings["seeds"]
    cell = first.bounds_at(dimension)
    by_noise = {
        noise: [Case(f"xor{seed}@{noise}", first.learner, first.settings, []).bounds_at(dimension) for seed in seeds]
        for noise in plan.settings["noises"]
    }

    def n_agreeing(result_of: ResultOf, xor: Cell) -> int:
        return sum(ours == true for ours, true in zip(result_of(xor)["strength"], XOR_TRUTH, strict=True))

    def measure(result_of: ResultOf) -> Values:
        upper = np.array(result_of(cell)["upper"])
        all_right = {
            (f"data sets with all six as in the paper, noise {noise}", f"of {len(seeds)}"): Measured(
                sum(n_agreeing(result_of, each) == len(XOR_TRUTH) for each in cells)
            )
            for noise, cells in by_noise.items()
        }
        return all_right | {
            ("strengths as in the paper", "of 6"): Measured(n_agreeing(result_of, cell)),
            ("upper bound of features 1 to 3, divided by that of feature 4", "smallest"): Measured(
                upper[:3].min() / upper[3]
            ),
            ("upper bound of features 5 and 6, divided by that of feature 4", "largest"): Measured(
                upper[4:].max() / upper[3]
            ),
        }

    return Experiment(
        plan,
        [cell, *(each for cells in by_noise.values() for each in cells)],
        measure,
        lambda figure, result_of: draw_maps_and_bounds(figure, result_of(cell)),
        (8, 4.6),
    )


def figure4() -> Experiment:
    """Lasso, elastic net and ridge on the map of the xor data."""
    case = cases()["xor"]

    def measure(result_of: ResultOf) -> Values:
        row, shares = "largest share of one feature in the weight of features 1 to 3", {}
        for method, weights in result_of(case.paths)["weights"].items():
            copies = np.abs(_little_shrunk(np.array(weights)))[:3]
            shares[method] = float(copies.max() / copies.sum())
        values = {(row, method): Measured(share) for method, share in shares.items()}
        return values | {(row, "lasso minus ridge"): Measured(shares["lasso"] - shares["ridge"])}

    def draw(figure: Any, result_of: ResultOf) -> None:
        draw_shrinkage(figure, result_of(case.paths))

    return Experiment(load_plan("schulz-fig4"), [case.paths], measure, draw, (9, 3.4))


def _little_shrunk(weights: Array) -> Array:
    """The weights where their L1 norm first reaches nine tenths of its largest value."""
    norms = np.abs(weights).sum(axis=1)
    return weights[int(np.flatnonzero(norms >= NINE_TENTHS * norms.max())[0])]


def figure5() -> Experiment:
    """Errors against the effective dimension, for the spectra of wine and tecator."""
    return _curves("schulz-fig5", ["wine", "tecator"])


def figure10() -> Experiment:
    """Errors against the effective dimension, for both learners on the substitute data."""
    return _curves("schulz-fig10", ["GMLVQ on breast_cancer", "LMNN on breast_cancer"])


def _curves(name: str, names: list[str]) -> Experiment:
    named_cases = {case: cases()[case] for case in names}

    def measure(result_of: ResultOf) -> Values:
        values = {}
        for row, case in named_cases.items():
            for how, dimension in (
                ("the test set", case.by_test(result_of)),
                ("cross-validation", case.by_folds(result_of)),
            ):
                values[row, f"K by {how}"] = Measured(dimension)
                values[row, f"error, K by {how}"] = Measured(case.test_error(result_of, dimension))
        return values

    cells = [cell for case in named_cases.values() for cell in (case.curve, *case.folds)]
    return Experiment(
        load_plan(name),
        cells,
        measure,
        lambda figure, result_of: draw_error_curves(figure, named_cases, result_of),
        (9, 3.6),
    )


def figure6() -> Experiment:
    """The map and the upper bounds of the wine spectra."""
    case = cases()["wine"]

    def measure(result_of: ResultOf) -> Values:
        lower, upper = (np.array(case.chosen(result_of)[name]) for name in ("lower", "upper"))
        return {
            ("effective dimension", "wine"): Measured(case.by_test(result_of)),
            ("largest lower bound, divided by the largest upper bound", "wine"): Measured(lower.max() / upper.max()),
            ("share of features with an upper bound below a tenth of the largest", "wine"): Measured(
                float(np.mean(upper < 0.1 * upper.max()))
            ),
        }

    return Experiment(load_plan("schulz-fig6"), case.bounds, measure, _draw_bounds(case), (8, 4.2))


def figure7() -> Experiment:
    """Maps and bounds of tecator."""
    case = cases()["tecator"]

    def measure(result_of: ResultOf) -> Values:
        bounds = case.chosen(result_of)
        strong = np.mean(np.array(bounds["strength"]) == "strong")
        return {
            ("effective dimension", "tecator"): Measured(case.by_test(result_of)),
            ("rows of the map that are not negligible", "tecator"): Measured(len(bounds["rows"])),
            ("share of features that cannot be replaced", "tecator"): Measured(float(strong)),
        }

    return Experiment(load_plan("schulz-fig7"), case.bounds, measure, _draw_bounds(case), (8, 4.2))


def figure8() -> Experiment:
    """Bounds of tecator, summed over the rows of the map."""
    case = cases()["tecator"]

    def measure(result_of: ResultOf) -> Values:
        upper = np.array(case.chosen(result_of)["upper"])
        of_highest = np.sort(upper)[::-1][: len(upper) // 10].sum() / upper.sum()
        return {("share of the highest tenth in the sum of the upper bounds", "tecator"): Measured(float(of_highest))}

    return Experiment(
        load_plan("schulz-fig8"),
        case.bounds,
        measure,
        lambda f, result_of: draw_summed_bounds(f, case.chosen(result_of)),
    )


def figure9() -> Experiment:
    """The learned map of the wine spectra, and the mean of all its extreme maps."""
    case = cases()["wine"]

    def measure(result_of: ResultOf) -> Values:
        bounds = case.chosen(result_of)
        original, average = np.array(bounds["original"]).sum(axis=0), np.array(bounds["average"]).sum(axis=0)
        return {
            ("train error of the averaged map", "wine"): Measured(bounds["average_train"]),
            ("test error of the averaged map", "wine"): Measured(bounds["average_test"]),
            ("features with nine tenths of the weight, averaged map", "wine"): Measured(
                _n_features_with_most_weight(average)
            ),
            ("features with nine tenths of the weight, learned map", "wine"): Measured(
                _n_features_with_most_weight(original)
            ),
        }

    return Experiment(
        load_plan("schulz-fig9"),
        case.bounds,
        measure,
        lambda f, result_of: draw_average_map(f, case.chosen(result_of)),
    )


def _n_features_with_most_weight(weights: Array) -> int:
    """The smallest number of features that have nine tenths of the weight."""
    shares = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    return int(np.searchsorted(shares, NINE_TENTHS) + 1)


def figure11() -> Experiment:
    """Relevance bounds of both learners on the substitute data."""
    named_cases = {name: cases()[name] for name in ("GMLVQ on breast_cancer", "LMNN on breast_cancer")}

    def measure(result_of: ResultOf) -> Values:
        uppers = [np.array(case.chosen(result_of)["upper"]) for case in named_cases.values()]
        best = [set(np.argsort(-upper)[:10]) for upper in uppers]
        return {("features among the ten highest of both", "of 10"): Measured(len(best[0] & best[1]))}

    cells = [cell for case in named_cases.values() for cell in case.bounds]
    return Experiment(
        load_plan("schulz-fig11"),
        cells,
        measure,
        lambda f, result_of: draw_bounds_of_cases(f, named_cases, result_of),
        (8, 4.6),
    )


def _draw_bounds(case: Case) -> Any:
    return lambda figure, result_of: draw_maps_and_bounds(figure, case.chosen(result_of))


def draw_error_curves(figure: Figure, named_cases: Mapping[str, Case], result_of: ResultOf) -> None:
    """Draw errors against the effective dimension, in a panel for each case."""
    n_columns = 2 if len(named_cases) < 5 else 3
    n_rows = -(-len(named_cases) // n_columns)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, (name, case) in zip(panels, named_cases.items(), strict=False):
        _curve(ax, case, result_of)
        ax.set_title(name, fontsize="medium")
    for ax in panels[len(named_cases) :]:
        ax.axis("off")
    for ax in panels[::n_columns]:
        ax.set_ylabel("error")
    handles, labels = panels[0].get_legend_handles_labels()
    for other in panels[1 : len(named_cases)]:
        more = other.get_legend_handles_labels()
        new = [place for place, label in enumerate(more[1]) if label not in labels]
        handles += [more[0][place] for place in new]
        labels += [more[1][place] for place in new]
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def _curve(ax: Axes, case: Case, result_of: ResultOf) -> None:
    ax.plot(case.dimensions, result_of(case.curve)["train"], "s--", color=ORANGE, markersize=4, label="training")
    ax.plot(case.dimensions, result_of(case.curve)["test"], "o-", color=BLUE, markersize=4, label="test")
    if case.folds:
        mean = np.mean([result_of(cell)["test"] for cell in case.folds], axis=0)
        ax.plot(case.dimensions, mean, "^:", color=GREEN, markersize=4, label="cross-validation")
    if case.published is not None:
        ax.axvline(case.published, color="0.4", linewidth=1, linestyle=":", label="published choice")
    ax.set_xlabel("effective dimension")
    ax.set_ylim(bottom=-0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")


def draw_xor(figure: Figure, case: Case, result_of: ResultOf) -> None:
    """Draw two features of the xor data, and its error curve."""
    scatter, curve = figure.subplots(1, 2)
    data = split_of(case.dataset)
    for code, color, marker in ((0, BLUE, "o"), (1, ORANGE, "^")):
        chosen = data.X[data.y == code]
        scatter.scatter(chosen[:, 0], chosen[:, 3], s=10, color=color, marker=marker, label=f"class {code + 1}")
    scatter.set_xlabel("feature 1")
    scatter.set_ylabel("feature 4")
    scatter.legend(frameon=False, fontsize="small", loc="center")
    tidy(scatter, "both")
    _curve(curve, case, result_of)
    curve.set_ylabel("error")
    curve.legend(frameon=False, fontsize="small")


def draw_spectra(figure: Figure, datasets: Mapping[str, str]) -> None:
    """Draw all spectra of each data set, as pixels."""
    for ax, (name, dataset) in zip(figure.subplots(1, len(datasets)), datasets.items(), strict=True):
        data = spectra(dataset)
        rows = np.vstack([data.X, data.X_test])
        ax.plot(np.arange(1, 1 + rows.shape[1]), rows.T, color=BLUE, linewidth=0.4, alpha=0.5, rasterized=True)
        ax.set_title(name, fontsize="medium")
        ax.set_xlabel("feature")
        tidy(ax, "both")
    figure.axes[0].set_ylabel("intensity")


def draw_maps_and_bounds(figure: Figure, result: Result) -> None:
    """Draw the rows of the map in the upper panels, and their bounds in the lower panels."""
    n = min(MOST_ROWS_SHOWN, len(result["original"]), max(1, len(result["rows"])))
    panels = figure.subplots(2, n, sharey="row", sharex=True, squeeze=False)
    for place in range(n):
        _weights(panels[0, place], np.array(result["original"][place]))
        panels[0, place].set_title(f"row {place + 1} of the map", fontsize="medium")
        if place < len(result["rows"]):
            _bounds(panels[1, place], result["rows"][place])
        panels[1, place].set_xlabel("feature")
    panels[0, 0].set_ylabel("|weight|")
    panels[1, 0].set_ylabel("bounds")
    _add_legend(figure, panels[1, 0])


def draw_summed_bounds(figure: Figure, result: Result) -> None:
    """Draw the bounds summed over the rows of the map."""
    ax = figure.add_subplot()
    _bounds(ax, result)
    ax.set_xlabel("feature")
    ax.set_ylabel("bounds, summed over the rows")
    _add_legend(figure, ax)


def draw_average_map(figure: Figure, result: Result) -> None:
    """Draw the learned map, and the mean of all extreme maps."""
    panels = figure.subplots(2, 1, sharex=True)
    for ax, name, title in zip(
        panels, ("original", "average"), ("as learned", "mean of all extreme maps"), strict=True
    ):
        _weights(ax, np.array(result[name]).sum(axis=0))
        ax.set_title(title, fontsize="medium")
        ax.set_ylabel("|weight|")
    panels[1].set_xlabel("feature")


def draw_bounds_of_cases(figure: Figure, named_cases: Mapping[str, Case], result_of: ResultOf) -> None:
    """Draw the summed bounds of each case, in one panel below the other."""
    for ax, (name, case) in zip(figure.subplots(len(named_cases), 1, sharex=True), named_cases.items(), strict=True):
        _bounds(ax, case.chosen(result_of))
        ax.set_title(name, fontsize="medium")
        ax.set_ylabel("bounds")
    figure.axes[-1].set_xlabel("feature")
    _add_legend(figure, figure.axes[0])


def _add_legend(figure: Figure, ax: Axes) -> None:
    """Add a legend above all panels, where it covers no bar."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False, fontsize="small")


def draw_shrinkage(figure: Figure, result: Mapping[str, Any]) -> None:
    """Draw lasso, elastic net and ridge solutions, in a panel for each."""
    alphas, weights = (
        {name: np.array(values) for name, values in result[key].items()} for key in ("alphas", "weights")
    )
    names = tuple(f"feature {number}" for number in range(1, 1 + len(result["features"])))
    RegularizationPaths(names, alphas, weights, "per standard deviation").plot(_row(figure))


def _row(figure: Figure) -> list[Axes]:
    return list(figure.subplots(1, 3, sharey=True))


def _weights(ax: Axes, weights: Array) -> None:
    place = np.arange(1, len(weights) + 1)
    if len(weights) <= MOST_BARS:
        ax.bar(place, weights, color="0.45")
    else:
        ax.fill_between(place, weights, step="mid", color="0.45")
    ax.set_xlim(0.5, len(weights) + 0.5)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")


def _bounds(ax: Axes, result: Mapping[str, Any]) -> None:
    """Draw upper bounds as dark bars, and lower bounds as hatched bars in front of them."""
    lower, upper = np.array(result["lower"]), np.array(result["upper"])
    place = np.arange(1, len(upper) + 1)
    looks: list[tuple[Array, dict[str, Any]]] = [
        (upper, {"color": BLUE, "label": "can matter (upper bound)"}),
        (lower, {"facecolor": "white", "edgecolor": ORANGE, "hatch": "////", "label": "must matter (lower bound)"}),
    ]
    for values, look in looks:
        if len(upper) <= MOST_BARS:
            ax.bar(place, values, **look)
        else:
            ax.fill_between(place, values, step="mid", **look)
    ax.set_xlim(0.5, len(upper) + 0.5)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, "y")

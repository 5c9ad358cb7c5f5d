"""Schulz, Mokbel, Biehl and Hammer: relevance intervals of learned metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from whynear.reproduce.cells import Cell, Found
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured, Values
from whynear.reproduce.plans import plan
from whynear.reproduce.schulz import drawing
from whynear.reproduce.schulz.cases import Case, cases
from whynear.utils.arrays import Array

XOR_TRUTH = ["weak", "weak", "weak", "strong", "irrelevant", "irrelevant"]
NINE_TENTHS = 0.9


def table1() -> Experiment:
    """Errors before and after regularization."""
    known = cases()

    def measure(found: Found) -> Values:
        values = {}
        for name, case in known.items():
            for part in ("train", "test"):
                values[name, part] = Measured(found(case.errors)[part])
            values[name, "regularized, K by the test set"] = Measured(case.test_error(found, case.by_test(found)))
            values[name, "K by the test set"] = Measured(case.by_test(found))
            if case.published is not None:
                values[name, "regularized, published K"] = Measured(case.test_error(found, case.published))
            if case.folds:
                dimension = case.by_folds(found)
                values[name, "regularized, K by cross-validation"] = Measured(case.test_error(found, dimension))
                values[name, "K by cross-validation"] = Measured(dimension)
        torn = found(known["tecator"].errors)["torn"]
        return values | {("identical rows of tecator on both sides of the split", "pairs"): Measured(torn)}

    cells = [cell for case in known.values() for cell in (case.errors, case.curve, *case.folds)]
    return Experiment(
        plan("schulz-table1"), cells, measure, lambda figure, found: drawing.curves(figure, known, found), size=(9, 7.5)
    )


def figure1() -> Experiment:
    """The xor data, and errors over the effective dimension."""
    case = cases()["xor"]

    def measure(found: Found) -> Values:
        dimension = case.by_test(found)
        named = {
            "effective dimension": dimension,
            "test error there": case.test_error(found, dimension),
            "test error with two dimensions": case.test_error(found, 2),
        }
        return {(name, "xor"): Measured(value) for name, value in named.items()}

    return Experiment(
        plan("schulz-fig1"), [case.curve, *case.folds], measure, lambda f, found: drawing.xor(f, case, found)
    )


def figure2() -> Experiment:
    """The spectra."""
    known = {name: cases()[name] for name in ("wine", "tecator")}
    return Experiment(
        plan("schulz-fig2"),
        [case.errors for case in known.values()],
        lambda _found: {},
        lambda figure, _found: drawing.spectra_of(figure, {name: case.dataset for name, case in known.items()}),
        size=(9, 3.4),
    )


def figure3() -> Experiment:
    """Relevance bounds of the xor data, on ten draws of them."""
    told = plan("schulz-fig3")
    first = cases()["xor"]
    dimension, seeds = told.settings["dimension"], told.settings["seeds"]
    cell = first.bounds_at(dimension)
    draws = {
        noise: [Case(f"xor{seed}@{noise}", first.learner, first.settings, []).bounds_at(dimension) for seed in seeds]
        for noise in told.settings["noises"]
    }

    def told_right(found: Found, draw: Cell) -> int:
        return sum(name == true for name, true in zip(found(draw)["strength"], XOR_TRUTH, strict=True))

    def measure(found: Found) -> Values:
        upper = np.array(found(cell)["upper"])
        all_right = {
            (f"draws on which all six are, noise {noise}", f"of {len(seeds)}"): Measured(
                sum(told_right(found, draw) == len(XOR_TRUTH) for draw in of_noise)
            )
            for noise, of_noise in draws.items()
        }
        return all_right | {
            ("features told as in the paper", "of 6"): Measured(told_right(found, cell)),
            ("upper bound of features 1 to 3, by that of 4", "least"): Measured(upper[:3].min() / upper[3]),
            ("upper bound of features 5 and 6, by that of 4", "most"): Measured(upper[4:].max() / upper[3]),
        }

    return Experiment(
        told,
        [cell, *(draw for of_noise in draws.values() for draw in of_noise)],
        measure,
        lambda figure, found: drawing.maps_and_bounds(figure, found(cell)),
        (8, 4.6),
    )


def figure4() -> Experiment:
    """Lasso, elastic net and ridge on the map of the xor data."""
    case = cases()["xor"]

    def measure(found: Found) -> Values:
        row, shares = "largest share of one of the features 1 to 3 in their weight", {}
        for method, weights in found(case.paths)["weights"].items():
            copies = np.abs(_little_shrunk(np.array(weights)))[:3]
            shares[method] = float(copies.max() / copies.sum())
        values = {(row, method): Measured(share) for method, share in shares.items()}
        return values | {(row, "lasso less ridge"): Measured(shares["lasso"] - shares["ridge"])}

    def draw(figure: Any, found: Found) -> None:
        drawing.shrinkage(figure, found(case.paths))

    return Experiment(plan("schulz-fig4"), [case.paths], measure, draw, (9, 3.4))


def _little_shrunk(weights: Array) -> Array:
    """Weights where their L1 norm comes near its largest value."""
    norms = np.abs(weights).sum(axis=1)
    return weights[int(np.flatnonzero(norms >= NINE_TENTHS * norms.max())[0])]


def figure5() -> Experiment:
    """Errors over the effective dimension, of both sets of spectra."""
    return _curves("schulz-fig5", ["wine", "tecator"])


def figure10() -> Experiment:
    """Errors over the effective dimension, of both learners on the stand-in."""
    return _curves("schulz-fig10", ["GMLVQ on breast_cancer", "LMNN on breast_cancer"])


def _curves(name: str, names: list[str]) -> Experiment:
    known = {case: cases()[case] for case in names}

    def measure(found: Found) -> Values:
        values = {}
        for row, case in known.items():
            for how, dimension in (("the test set", case.by_test(found)), ("cross-validation", case.by_folds(found))):
                values[row, f"K by {how}"] = Measured(dimension)
                values[row, f"error, K by {how}"] = Measured(case.test_error(found, dimension))
        return values

    cells = [cell for case in known.values() for cell in (case.curve, *case.folds)]
    return Experiment(plan(name), cells, measure, lambda figure, found: drawing.curves(figure, known, found), (9, 3.6))


def figure6() -> Experiment:
    """The map and the upper bounds of the wine spectra."""
    case = cases()["wine"]

    def measure(found: Found) -> Values:
        lower, upper = (np.array(case.chosen(found)[name]) for name in ("lower", "upper"))
        return {
            ("effective dimension", "wine"): Measured(case.by_test(found)),
            ("largest lower bound, by the largest upper one", "wine"): Measured(lower.max() / upper.max()),
            ("share of features with an upper bound below a tenth of it", "wine"): Measured(
                float(np.mean(upper < 0.1 * upper.max()))
            ),
        }

    return Experiment(plan("schulz-fig6"), case.bounds, measure, _draw_bounds(case), (8, 4.2))


def figure7() -> Experiment:
    """Maps and bounds of tecator."""
    case = cases()["tecator"]

    def measure(found: Found) -> Values:
        held = case.chosen(found)
        strong = np.mean(np.array(held["strength"]) == "strong")
        return {
            ("effective dimension", "tecator"): Measured(case.by_test(found)),
            ("rows of the map that matter on the data", "tecator"): Measured(len(held["rows"])),
            ("share of features that cannot be replaced", "tecator"): Measured(float(strong)),
        }

    return Experiment(plan("schulz-fig7"), case.bounds, measure, _draw_bounds(case), (8, 4.2))


def figure8() -> Experiment:
    """Bounds of tecator, summed over the rows of the map."""
    case = cases()["tecator"]

    def measure(found: Found) -> Values:
        upper = np.array(case.chosen(found)["upper"])
        peaked = np.sort(upper)[::-1][: len(upper) // 10].sum() / upper.sum()
        return {("share of all upper bounds that the highest tenth holds", "tecator"): Measured(float(peaked))}

    return Experiment(plan("schulz-fig8"), case.bounds, measure, lambda f, found: drawing.summed(f, case.chosen(found)))


def figure9() -> Experiment:
    """The mean of all extreme maps of the wine spectra, beside the map itself."""
    case = cases()["wine"]

    def measure(found: Found) -> Values:
        held = case.chosen(found)
        original, average = np.array(held["original"]).sum(axis=0), np.array(held["average"]).sum(axis=0)
        return {
            ("train error of the averaged map", "wine"): Measured(held["average_train"]),
            ("test error of the averaged map", "wine"): Measured(held["average_test"]),
            ("features that hold nine tenths of the weight, averaged", "wine"): Measured(_holding(average)),
            ("features that hold nine tenths of the weight, original", "wine"): Measured(_holding(original)),
        }

    return Experiment(
        plan("schulz-fig9"), case.bounds, measure, lambda f, found: drawing.averaged(f, case.chosen(found))
    )


def _holding(weights: Array) -> int:
    """How many features it takes to hold nine tenths of all weight."""
    shares = np.cumsum(np.sort(weights)[::-1]) / weights.sum()
    return int(np.searchsorted(shares, NINE_TENTHS) + 1)


def figure11() -> Experiment:
    """Bounds of both learners on the stand-in."""
    known = {name: cases()[name] for name in ("GMLVQ on breast_cancer", "LMNN on breast_cancer")}

    def measure(found: Found) -> Values:
        uppers = [np.array(case.chosen(found)["upper"]) for case in known.values()]
        best = [set(np.argsort(-upper)[:10]) for upper in uppers]
        return {("features among the ten highest of both", "of 10"): Measured(len(best[0] & best[1]))}

    cells = [cell for case in known.values() for cell in case.bounds]
    return Experiment(plan("schulz-fig11"), cells, measure, lambda f, found: drawing.both(f, known, found), (8, 4.6))


def _draw_bounds(case: Case) -> Any:
    return lambda figure, found: drawing.maps_and_bounds(figure, case.chosen(found))

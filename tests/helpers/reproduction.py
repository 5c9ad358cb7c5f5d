"""For tests of the reproduction: lines of a table by name, and invented results of cells."""

import numpy as np
from matplotlib.figure import Figure

from papers.outcome import outcome
from papers.plans import load_plan


def lines_of(name, values):
    """The lines of a table or figure by row and column, with these values as ours."""
    return {(line.row, line.column): line for line in outcome(load_plan(name), values, 0.0).lines}


def missing_rows(experiment, result_of):
    """The published rows and columns for which nothing is computed."""
    values = experiment.measure(result_of)
    return {(known.row, known.column) for known in experiment.plan.published} - values.keys()


def drawn(draw, *arguments):
    """A figure after drawing and layout."""
    figure = Figure(layout="constrained")
    draw(figure, *arguments)
    figure.draw_without_rendering()
    return figure


def words_on(figure):
    """All titles, labels, ticks, texts and legend entries of a figure."""
    words = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        texts = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.title, ax.xaxis.label, ax.yaxis.label]
        legend = ax.get_legend()
        texts += legend.get_texts() if legend else []
        words += [text.get_text() for text in texts]
    return {word for word in words if word}


def invented(cell):
    """An invented result with the fields of the real one, the same for equal cells."""
    return INVENTED[cell.work.__name__](np.random.default_rng(len(cell.name)), cell.arguments)


def _profiles(rng, _arguments):
    shares = rng.dirichlet(np.ones(4), 2)
    profiles = {"benign": shares[0].tolist(), "malignant": shares[1].tolist()}
    return {"features": list("abcd"), "profiles": profiles, "difference": 0.1, "p_value": 0.001}


def _error_curve(rng, arguments):
    n = len(arguments["dimensions"])
    return {"train": rng.random(n).tolist(), "test": rng.random(n).tolist()}


def _bounds(rng, _arguments):
    lower, upper = np.sort(rng.random((2, 6)), axis=0).tolist()
    return {
        "original": rng.random((2, 6)).tolist(),
        "rows": [{"lower": lower, "upper": upper}] * 2,
        "lower": lower,
        "upper": upper,
        "strength": ["weak", "weak", "weak", "strong", "irrelevant", "irrelevant"],
        "average": rng.random((2, 6)).tolist(),
        "average_train": 0.0,
        "average_test": 0.1,
    }


def _paths(rng, _arguments):
    methods = "lasso", "elastic net", "ridge"
    alphas = {method: np.geomspace(1, 0.01, 5).tolist() for method in methods}
    return {
        "features": list("abcdef"),
        "alphas": alphas,
        "weights": {method: np.sort(rng.random((5, 6)), axis=0).tolist() for method in methods},
    }


def _measures(rng, arguments):
    names = "1-NN accuracy, %", "rank among 10", "matches in the nearest tenth", "matches in the whole base"
    names += f"{arguments['neighbors']}-NN accuracy, %", f"rank among {arguments['mismatches']}"
    return {name: {"Euclidean": 2.0 + rng.random(), "Slider": rng.random()} for name in names}


def _matches_found(rng, arguments):
    n = len(arguments["casebase"]["tolerances"])
    names = "equal weights", "equal weights, z-scores", "Slider", "existing matches"
    return {name: (place + 1 + rng.random(n)).tolist() for place, name in enumerate(names)}


INVENTED = {
    "accuracy": lambda rng, _: {"accuracy": rng.random()},
    "profiles": _profiles,
    "embedding": lambda rng, _: {"points": rng.random((12, 2)).tolist(), "score": rng.random()},
    "errors": lambda rng, _: {"train": rng.random(), "test": rng.random(), "split_pairs": 3},
    "error_curve": _error_curve,
    "bounds": _bounds,
    "paths": _paths,
    "measures": _measures,
    "matches_found": _matches_found,
    "rank_and_matches": lambda rng, _: {"rank among 100": 1 + rng.random(), "matches found": rng.random()},
}

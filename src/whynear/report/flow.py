"""The whole flow: a table in, a metric, its accuracy and the relevance of each feature out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from operator import methodcaller
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.metric import LinearMetric, as_metric
from whynear.metric.archive import write_whole
from whynear.report.page import render
from whynear.report.problem import Problem, Table, problem_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# NCA compares all rows with all rows.
MOST_ROWS = 2_000
N_NEIGHBORS = 5
LEARNED, PLAIN = "learned metric (NCA)", "plain kNN"

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Study:
    """What a study found.

    Attributes
    ----------
    problem : Problem
        The features, the classes and the caveats.
    metric : LinearMetric
        The metric learned on all rows, in the columns of the table.
    accuracy : DataFrame
        Share of held-out cases predicted right: a row per fold, a column per method.
    relevance : DataFrame
        Columns ``feature`` and ``relevance``, largest first: the share of each feature in the diagonal of Lambda,
        per standard deviation of its column.
    settings : dict
        What repeats the study: neighbours, folds, seed, versions.
    caveats : tuple of str
        What to keep in mind when reading it.
    """

    problem: Problem
    metric: LinearMetric
    accuracy: pd.DataFrame
    relevance: pd.DataFrame
    settings: dict[str, Any]
    caveats: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """The relevance of each feature, largest first."""
        return self.relevance.copy()

    def finding(self) -> str:
        """The answer in two sentences."""
        mean, deviation = self.accuracy.mean(), self.accuracy.std()
        first = self.relevance.head(5)
        names = [f"“{name}”" for name in first["feature"]]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        verb = "carries" if len(names) == 1 else "carry"
        return (
            f"The learned metric predicts {mean[LEARNED]:.1%} ± {deviation[LEARNED]:.1%} of held-out cases right, "
            f"plain kNN {mean[PLAIN]:.1%} ± {deviation[PLAIN]:.1%}. "
            f"Of {len(self.relevance)} features, {listed} {verb} {first['relevance'].sum():.0%} of the relevance."
        )

    def plot(self, ax: Axes | None = None, most: int = 25) -> Axes:
        """Draw the relevance of the most relevant features as bars."""
        shown = self.relevance.head(most)[::-1]
        if ax is None:
            from matplotlib import pyplot as plt  # only where a window or notebook may want it

            _, ax = plt.subplots(figsize=(7, 1 + 0.26 * len(shown)), layout="constrained")
        ax.barh(np.arange(len(shown)), 100 * shown["relevance"], color="#2f6f9f", height=0.72)
        ax.set_yticks(np.arange(len(shown)), [_shortened(name) for name in shown["feature"]])
        for label in ax.get_yticklabels():
            label.set_parse_math(False)
        ax.set_ylim(-0.6, len(shown) - 0.4)
        ax.set_xlabel("share of relevance, % (per standard deviation of the feature)")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.88", linewidth=0.8)
        ax.set_axisbelow(True)
        return ax

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write ``report.html`` and ``relevance.csv`` into a folder, each whole or not at all."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        table = self.relevance.assign(feature=[_harmless(name) for name in self.relevance["feature"]])
        contents = {"report.html": render(self), "relevance.csv": table.to_csv(index=False)}
        for name, text in contents.items():
            data = text.encode()
            write_whole(folder / name, methodcaller("write", data), len(data))
        return [folder / name for name in contents]


def study(
    table: Table = "breast_cancer",
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    bins: int | None = None,
    folds: int = 10,
    random_state: int = 0,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Columns that never change are left out, the others standardised; neighbourhood components analysis learns a linear
    map, judged by the five nearest neighbours on held-out folds beside plain kNN on the same folds.

    Parameters
    ----------
    table : DataFrame, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet), or the name of a data set.
    target : str, optional
        The column to predict; data sets know theirs.
    drop : sequence of str
        Columns to leave out.
    bins : int, optional
        Sort a numeric target into so many classes of equal size.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows.
    random_state : int
        Seed of folds and learner: the same seed gives the same study.
    encoding : str
        Encoding of a text file.
    progress : callable, optional
        Called with a step's name and the share of the work done.

    Returns
    -------
    Study
    """
    report = progress or _silent
    report("read the table", 0.0)
    problem = problem_from(table, target, drop=drop, bins=bins, encoding=encoding)
    X, y, caveats = _sample(problem, random_state)
    folds, shrunk = _folds(y, folds)

    methods = {LEARNED: _learner(X, random_state), PLAIN: _plain()}
    scores: dict[str, list[float]] = {name: [] for name in methods}
    splits = StratifiedKFold(folds, shuffle=True, random_state=random_state).split(X, y)
    for done, (train, test) in enumerate(splits):
        report(f"hold out fold {done + 1} of {folds}", done / (folds + 1))
        for name, method in methods.items():
            model = clone(method).fit(X.iloc[train], y[train])
            scores[name].append(float(model.score(X.iloc[test], y[test])))

    report("learn the metric on all rows", folds / (folds + 1))
    metric = as_metric(clone(methods[LEARNED]).fit(X, y))
    assert isinstance(metric, LinearMetric)
    report("done", 1.0)
    settings = {
        "neighbours": N_NEIGHBORS,
        "folds": folds,
        "seed": random_state,
        "dimensions of the map": metric.omega.shape[0],
        **{package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    }
    accuracy = pd.DataFrame(scores).rename_axis("fold")
    return Study(problem, metric, accuracy, _relevance(metric), settings, (*problem.caveats, *caveats, *shrunk))


def _silent(_step: str, _share: float) -> None:
    """Progress that nobody wants to see."""


def _learner(X: pd.DataFrame, random_state: int) -> Pipeline:
    components = min(N_NEIGHBORS, X.shape[1], int((X.nunique() > 1).sum()))
    nca = NeighborhoodComponentsAnalysis(n_components=components, random_state=random_state)
    return make_pipeline(VarianceThreshold(), StandardScaler(), nca, *(_plain()[-1:]))


def _plain() -> Pipeline:
    neighbors = KNeighborsClassifier(N_NEIGHBORS, weights="distance")
    return make_pipeline(VarianceThreshold(), StandardScaler(), neighbors)


def _relevance(metric: LinearMetric) -> pd.DataFrame:
    relevances = metric.as_learned().relevances()
    total = relevances.sum()
    shares = relevances / total if total > 0 else relevances
    frame = pd.DataFrame({"feature": metric.feature_names, "relevance": shares})
    return frame.sort_values("relevance", ascending=False, kind="stable", ignore_index=True)


def _sample(problem: Problem, random_state: int) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """At most as many rows as NCA can compare with each other, with the classes in their shares."""
    X, y = problem.X, problem.y
    if len(X) <= MOST_ROWS:
        return X, y, []
    chosen, _ = train_test_split(np.arange(len(X)), train_size=MOST_ROWS, stratify=y, random_state=random_state)
    chosen.sort()
    return X.iloc[chosen], y[chosen], [f"Of {len(X):,} rows a random {MOST_ROWS:,} were used, classes in proportion."]


def _folds(y: np.ndarray, folds: int) -> tuple[int, list[str]]:
    if folds < 2:
        raise ValueError(f"folds={folds} leaves nothing to learn from or to hold out. Use folds >= 2.")
    classes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if folds <= smallest:
        return folds, []
    fewer = max(2, smallest)
    name = str(classes[counts.argmin()])
    return fewer, [f"Class {name!r} has {smallest} rows, so {fewer} folds were made instead of {folds}."]


def _shortened(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name

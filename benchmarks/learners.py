"""Learners compared with other libraries on the same folds: CPU seconds, cost, accuracy and memory."""

import json
import os
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks import table
from benchmarks.rivals import environment
from whynear import datasets

FIT = environment.HERE / "fit.py"
PLAN = table.load("learners")
LIMIT = PLAN["limit"]
SKIPPED = "skipped: set WHYNEAR_DATA to the folder with the data sets"


class Fold(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_held_out: np.ndarray
    y_held_out: np.ndarray


class Fits(NamedTuple):
    """The fits of one learner to the folds, up to the first fold that took longer than the limit."""

    folds: list[Fold]
    seconds: list[float]
    peak: float
    solutions: list[dict[str, np.ndarray]]

    @property
    def is_over_limit(self) -> bool:
        return len(self.seconds) < len(self.folds)

    def accuracies(self) -> np.ndarray:
        return 100 * np.array([accuracy(*pair) for pair in zip(self.solutions, self.folds, strict=True)])

    def cost(self, sigma: float) -> float:
        return float(np.mean([cost(*pair, sigma) for pair in zip(self.solutions, self.folds, strict=True)]))


def data_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real data set, or a generated one of the size in its name, such as ``2,000 x 20``."""
    if " x " in name:
        n, d = (int(part.replace(",", "")) for part in name.split(" x "))
        return make_classification(n, d, random_state=0)
    data = datasets.load(name)
    return data.X.to_numpy(dtype=float), np.asarray(data.y)


def missing(name: str) -> bool:
    try:
        data_of(name)
    except FileNotFoundError:
        return True
    return False


@lru_cache(maxsize=1)
def folds_of(name: str, n_folds: int) -> list[Fold]:
    """Stratified folds in z-scores of their training rows; a single fold has all rows in both parts."""
    X, y = data_of(name)
    everything = np.arange(len(y))
    splits = [(everything, everything)]
    if n_folds > 1:
        splits = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
    folds = []
    for train, held_out in splits:
        scaler = StandardScaler().fit(X[train])
        Z = scaler.transform(X) * (scaler.var_ > 0)
        folds.append(Fold(Z[train], y[train], Z[held_out], y[held_out]))
    return folds


def fit(learner: dict[str, Any], name: str, folds: list[Fold]) -> Fits:
    """Fit a learner to the training rows of the folds in a separate process."""
    python = sys.executable if learner["module"] == "whynear" else environment.ready()
    with TemporaryDirectory() as folder:
        arrays, found = Path(folder, "folds.npz"), Path(folder, "solutions.npz")
        np.savez(arrays, **{f"{part}{i}": getattr(fold, part) for i, fold in enumerate(folds) for part in "Xy"})
        case = {**learner, "folds": str(arrays), "solutions": str(found), "runs": len(folds), "limit": LIMIT}
        result = table.read_json([python, FIT, json.dumps(case)])
        with np.load(found) as saved:
            solutions = [
                {key.removesuffix(str(i)): saved[key] for key in saved if key.removesuffix(str(i)).isalpha()}
                for i in range(len(result["seconds"]))
            ]
    fits = Fits(folds, result["seconds"], result["peak"], solutions)
    print(f"{name}: {learner['module']}.{learner['class']} {seconds_of(fits)} s", file=sys.stderr, flush=True)
    return fits


def sq_distances(solution: dict[str, np.ndarray], X: np.ndarray) -> np.ndarray:
    omega, prototypes = solution["omega"], solution["prototypes"]
    if omega.ndim == 2:
        return cdist(X @ omega.T, prototypes @ omega.T, "sqeuclidean")
    return np.stack([(((X - w) @ own.T) ** 2).sum(axis=1) for w, own in zip(prototypes, omega, strict=True)], axis=1)


def cost(solution: dict[str, np.ndarray], fold: Fold, sigma: float) -> float:
    r"""The mean of 1 / (1 + exp(-sigma (d+ - d-) / (d+ + d-))) over the training rows."""
    distances, same = sq_distances(solution, fold.X), fold.y[:, None] == solution["labels"]
    right, wrong = np.where(same, distances, np.inf).min(axis=1), np.where(same, np.inf, distances).min(axis=1)
    return float(expit(sigma * (right - wrong) / (right + wrong)).mean())


def accuracy(solution: dict[str, np.ndarray], fold: Fold) -> float:
    """The accuracy of the nearest prototype or, without prototypes, of 5-NN in mapped coordinates."""
    if "prototypes" in solution:
        nearest = sq_distances(solution, fold.X_held_out).argmin(axis=1)
        return float(np.mean(solution["labels"][nearest] == fold.y_held_out))
    omega = solution["omega"]
    return KNeighborsClassifier(5).fit(fold.X @ omega.T, fold.y).score(fold.X_held_out @ omega.T, fold.y_held_out)


def seconds_of(fits: Fits) -> str:
    return f"over {LIMIT}" if fits.is_over_limit else f"{np.mean(fits.seconds):.3f}"


def times_faster(ours: Fits, rival: Fits) -> str:
    if ours.is_over_limit:
        return ""
    ratio = (LIMIT if rival.is_over_limit else np.mean(rival.seconds)) / np.mean(ours.seconds)
    return f"over {ratio:.0f}" if rival.is_over_limit else f"{ratio:.1f}"


def compare(plan: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Time and accuracy of ours and the rival, and the cost if the rival has a sigmoid."""
    header = ["data set", "folds", "rival", "whynear, CPU s", "rival, CPU s", "times faster"]
    header += ["whynear, accuracy %", "rival, accuracy %"]
    if any("sigma" in PLAN["rivals"][case["rival"]] for case in plan["case"]):
        header += ["whynear, cost", "rival, cost"]
    rows = []
    for case in plan["case"]:
        if missing(case["dataset"]):
            rows.append([case["dataset"], SKIPPED, *[""] * (len(header) - 2)])
            continue
        folds = folds_of(case["dataset"], PLAN["folds"])[: case.get("runs")]
        learner, rival = PLAN["learners"][plan["learner"]], PLAN["rivals"][case["rival"]]
        sigma = rival.get("sigma")
        squashing = {"squashing": "sigmoid", "sigma": sigma} if sigma else {}
        learner = {**learner, "settings": {**learner["settings"], **plan.get("settings", {}), **squashing}}
        both = [fit(each, case["dataset"], folds) for each in (learner, rival)]
        row = [case["dataset"], str(len(folds)), case["rival"], *map(seconds_of, both), times_faster(*both)]
        row += ["" if fits.is_over_limit else f"{fits.accuracies().mean():.2f}" for fits in both]
        if sigma:
            row += ["" if fits.is_over_limit else f"{fits.cost(sigma):.5f}" for fits in both]
        rows.append(row)
    return header, rows


def compare_memory(plan: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Peak memory of one fit to a whole data set."""
    header = ["rows x features", "X itself, MB", "whynear, CPU s", "peak, MB", "rival", "rival, CPU s", "peak, MB"]
    rows = []
    for case in plan["case"]:
        folds = folds_of(case["dataset"], 1)
        row = [case["dataset"], f"{folds[0].X.nbytes / 2**20:.0f}"]
        ours = fit(PLAN["learners"][plan["learner"]], case["dataset"], folds)
        row += [seconds_of(ours), f"{ours.peak:.0f}", case.get("rival", "")]
        if "rival" in case:
            rival = fit(PLAN["rivals"][case["rival"]], case["dataset"], folds)
            row += [seconds_of(rival), f"{rival.peak:.0f}"]
        rows.append(row + [""] * (len(header) - len(row)))
    return header, rows


def compare_accuracy(plan: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Accuracy of our learners, and the difference to the best rival in standard deviations of the rival."""
    header = ["data set", "learner", "whynear", "rival", "other rival", "deviations above the best rival"]
    rows = []
    for name in plan["datasets"]:
        if missing(name):
            rows.append([name, SKIPPED, *[""] * (len(header) - 2)])
            continue
        folds = folds_of(name, plan["folds"])
        for learner, spec in PLAN["learners"].items():
            ours = fit(spec, name, folds).accuracies()
            cells, best = [], (0.0, 0.0)
            for rival in plan[learner]:
                if [name, rival] in plan["slow"]:
                    continue
                fits = fit(PLAN["rivals"][rival], name, folds)
                if fits.is_over_limit:
                    cells.append(f"{rival} {seconds_of(fits)} s")
                    continue
                found = fits.accuracies()
                cells.append(f"{rival} {found.mean():.1f} ± {found.std():.1f}")
                best = max(best, (found.mean(), found.std()))
            above = f"{(ours.mean() - best[0]) / best[1]:+.1f}" if best[1] else ""
            rows.append(
                [name, learner, f"{ours.mean():.1f} ± {ours.std():.1f}", *cells, *[""] * (2 - len(cells)), above]
            )
    return header, rows


def main() -> None:
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # for the processes that fit
    fill = {"memory": compare_memory, "accuracy": compare_accuracy}
    for name in sys.argv[1:] or PLAN["tables"]:
        plan = PLAN["tables"][name]
        table.write("learners", plan["title"], *fill.get(name, compare)(plan), keep_others=True)


if __name__ == "__main__":
    main()

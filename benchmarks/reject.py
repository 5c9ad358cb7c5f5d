"""The reject option: how well certainty orders predictions, how often promises hold, how large conformal sets are."""

import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from benchmarks import table
from whynear.reject.calibration import Calibration, calibrated, members, strangeness, strangest_accepted
from whynear.reject.nearness import MEASURES, Nearness, measures_of, nearness_of
from whynear.reject.outcome import curve_of
from whynear.utils.arrays import Array

PLAN = table.load("reject")
LEARNERS = {
    "kNN": lambda: KNeighborsClassifier(5, weights="distance"),
    "LANN": lambda: wn.LANN(random_state=0),
    "GMLVQ": lambda: wn.GMLVQ(random_state=0),
    "LGMLVQ": lambda: wn.LGMLVQ(random_state=0),
}
CONFIDENCE = 0.9


class HeldOut(NamedTuple):
    """What a fitted learner says about the half of the rows that it was not fitted to."""

    nearness: Nearness
    codes: np.ndarray
    classes: np.ndarray

    @property
    def right(self) -> np.ndarray:
        return self.nearness.predicted == self.codes

    def calibration(self, rows: np.ndarray, thresholds: Any = "global") -> Calibration:
        known = self.classes[self.codes[rows]]
        return calibrated(self.nearness.rows(rows), known, self.classes, thresholds=thresholds)[0]


def held_out(name: str, learner: str, seed: int) -> HeldOut:
    data = wn.datasets.load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    known, new, of_known, of_new = train_test_split(X, y, train_size=0.5, stratify=y, random_state=seed)
    model = make_pipeline(VarianceThreshold(), StandardScaler(), LEARNERS[learner]()).fit(known, of_known)
    return HeldOut(nearness_of(model, new, model.classes_), np.searchsorted(model.classes_, of_new), model.classes_)


def quarters(held: HeldOut, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(len(held.codes))
    calibrate, test = train_test_split(rows, train_size=0.5, stratify=held.codes, random_state=seed)
    return calibrate, test


def areas_of(held: HeldOut, seed: int) -> dict[str, float]:
    calibrate, test = quarters(held, seed)
    of_test, right = held.nearness.rows(test), held.right[test]
    found = {name: curve_of(values, right).area for name, values in measures_of(of_test).items()}
    found["auto"] = curve_of(held.calibration(calibrate).rule.certainty_of(of_test), right).area
    found["class"] = curve_of(held.calibration(calibrate, "class").rule.certainty_of(of_test), right).area
    return {name: 100 * area for name, area in found.items()}


def compare_areas() -> None:
    plan, rows = PLAN["areas"], []
    for learner in PLAN["learners"]:
        by_set = []
        for name in PLAN["sets"]:
            drawn = [areas_of(held_out(name, learner, seed), seed) for seed in range(plan["splits"])]
            by_set.append({measure: float(np.mean([areas[measure] for areas in drawn])) for measure in drawn[0]})
            print(
                learner, name, {key: round(value, 2) for key, value in by_set[-1].items()}, file=sys.stderr, flush=True
            )
        means = {measure: float(np.mean([areas[measure] for areas in by_set])) for measure in by_set[0]}
        single, best = min((means[measure], measure) for measure in MEASURES if measure in means)
        rows.append(
            [
                learner,
                f"{single:.2f} ({best.replace('_', ' ')})",
                f"{means['auto']:.2f}",
                f"{plan['asked'][learner]:.2f}",
                f"{means['auto'] / single:.3f}",
                f"{plan['earlier'][learner]:.3f}",
                f"{means['class']:.2f}",
                ", ".join(f"{areas['auto']:.2f}" for areas in by_set),
            ]
        )
    header = [
        "learner",
        "best single measure",
        "certainty",
        "asked",
        "ratio",
        "ratio in an earlier trial",
        "thresholds of classes",
        f"certainty on {', '.join(PLAN['sets'])}",
    ]
    table.write("reject", plan["title"], header, rows, keep_others=True)


def known_truth(learner: str) -> Iterator[tuple[Calibration, Array, np.ndarray]]:
    """Yield calibrations, the certainties of very many other rows, and which of these are right."""
    sizes = PLAN["promise"]["generated_rows"]
    X, y = make_blobs(sizes["learn"] + sizes["test"], centers=8, cluster_std=2.2, n_features=3, random_state=0)
    n = sizes["learn"]
    model = make_pipeline(StandardScaler(), LEARNERS[learner]()).fit(X[:n], y[:n])
    held = HeldOut(nearness_of(model, X[n:], model.classes_), y[n:], model.classes_)
    rng = np.random.default_rng(0)
    for _ in range(PLAN["promise"]["draws"]):
        yield from _drawn(held, rng.permutation(len(held.codes)), sizes["calibrate"])


def real_draws(name: str, learner: str, *, refitted: bool = False) -> Iterator[tuple[Calibration, Array, np.ndarray]]:
    """Yield the same for draws of the calibration rows from a fixed half of a real table, or from another half each."""
    held = held_out(name, learner, 0)
    for seed in range(PLAN["promise"]["draws"]):
        held = held_out(name, learner, seed) if refitted else held
        calibrate, test = quarters(held, seed)
        yield from _drawn(held, np.concatenate([calibrate, test]), len(calibrate))


def _drawn(held: HeldOut, rows: np.ndarray, n: int) -> Iterator[tuple[Calibration, Array, np.ndarray]]:
    calibration, test = held.calibration(rows[:n]), rows[n:]
    yield calibration, calibration.rule.certainty_of(held.nearness.rows(test)), held.right[test]


def promises_with_one_learner() -> None:
    plan = PLAN["promise"]
    draws = [("generated, true accuracy known", learner, known_truth(learner)) for learner in plan["learners"]]
    draws += [(name, learner, real_draws(name, learner)) for name in plan["sets"] for learner in plan["learners"]]
    count_promises(plan["title"], draws)


def promises_with_new_learners() -> None:
    plan = PLAN["refitted"]
    draws = [(name, plan["learner"], real_draws(name, plan["learner"], refitted=True)) for name in plan["sets"]]
    count_promises(plan["title"], draws)


def count_promises(title: str, draws: list[tuple[str, str, Iterator[Any]]]) -> None:
    plan, rows = PLAN["promise"], []
    for name, learner, drawn in draws:
        promised: dict[float, list[tuple[bool, bool, float]]] = {accuracy: [] for accuracy in plan["accuracies"]}
        for calibration, certainty, right_test in drawn:
            for accuracy, found in promised.items():
                promise = calibration.promise(accuracy, CONFIDENCE)
                accepted = certainty > promise.threshold
                held = not promise.given or right_test[accepted].mean() >= accuracy
                found.append((promise.given, held, float(accepted.mean())))
        for accuracy, found in promised.items():
            given, held, coverage = np.array(found).T
            shares = [f"{accuracy:.2f}", f"{given.mean():.3f}", f"{held.mean():.3f}", f"{coverage.mean():.2f}"]
            rows.append([name, learner, *shares])
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ["data", "learner", "accuracy", "promise given", "held (or not given)", "accepted"]
    table.write("reject", title, header, rows, keep_others=True)


def measure_sets() -> None:
    plan, rows = PLAN["sets_of_classes"], []
    for name in plan["sets"]:
        for learner in PLAN["learners"]:
            held = held_out(name, learner, 0)
            calibrate, test = quarters(held, 0)
            limit = strangest_accepted(held.calibration(calibrate).strangeness, plan["coverage"])
            found = members(strangeness(held.nearness.rows(test)), limit)
            covered = found[np.arange(len(test)), held.codes[test]]
            rows.append([name, learner, f"{covered.mean():.4f}", f"{found.sum(axis=1).mean():.2f}"])
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    table.write("reject", plan["title"], ["data", "learner", "coverage", "mean size"], rows, keep_others=True)


TABLES = {
    "areas": compare_areas,
    "promise": promises_with_one_learner,
    "refitted": promises_with_new_learners,
    "sets_of_classes": measure_sets,
}


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()

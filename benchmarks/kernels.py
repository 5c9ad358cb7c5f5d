"""Learned kernels beside tree ensembles, other libraries and our other learners: errors and seconds."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks import table
from benchmarks.rivals import xrfm_environment
from benchmarks.rivals.fit import peak_mb, raise_timeout
from whynear import datasets

PLAN = table.load("kernels")
TREES = PLAN["trees"]


class Table(NamedTuple):
    """Rows with classes, numbered from zero, or with numbers of mean zero and variance one."""

    X: np.ndarray
    y: np.ndarray

    @property
    def has_numbers(self) -> bool:
        return self.y.dtype.kind == "f"


class Fold(NamedTuple):
    """A fold of a table in z-scores of its training rows."""

    X: np.ndarray
    y: np.ndarray
    X_held_out: np.ndarray
    y_held_out: np.ndarray


def data_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A real data set, or one with known truth."""
    if name == "sinus":
        plan, rng = PLAN["truth"]["sinus"], np.random.default_rng(0)
        X = rng.uniform(-np.pi, np.pi, (plan["rows"], plan["columns"]))
        return X, np.sin(X[:, 0]) + plan["noise"] * rng.standard_normal(plan["rows"])
    if name == "madelon":
        with np.load(Path(os.environ["WHYNEAR_DATA"], "truth", "madelon.npz")) as saved:
            return saved["X"].astype(float), saved["y"]
    data = datasets.make_xor(1000, random_state=0) if name == "xor" else datasets.load(name)
    return data.X.to_numpy(dtype=float), np.asarray(data.y)


def table_of(name: str, most: int | None) -> Table:
    """At most so many rows, without columns that are constant in all rows and without small classes."""
    X, y = data_of(name)
    X = X[:, X.std(axis=0) > 0]
    if most is not None and len(X) > most:
        some = np.random.default_rng(0).permutation(len(X))[:most]
        X, y = X[some], y[some]
    if y.dtype.kind == "f":
        return Table(X, (y - y.mean()) / y.std())
    _, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    kept = sizes[codes] >= PLAN["least"]
    return Table(X[kept], np.unique(y[kept], return_inverse=True)[1])


def folds_of(data: Table) -> list[Fold]:
    kind = KFold if data.has_numbers else StratifiedKFold
    folds = []
    for train, held_out in kind(PLAN["folds"], shuffle=True, random_state=0).split(data.X, data.y):
        scaler = StandardScaler().fit(data.X[train])
        Z = scaler.transform(data.X) * (scaler.var_ > 0)
        folds.append(Fold(Z[train], data.y[train], Z[held_out], data.y[held_out]))
    return folds


def lost(found: np.ndarray, fold: Fold, has_numbers: bool) -> float:
    """The rows in error, or the sum of squared errors."""
    return float(np.sum((found - fold.y_held_out) ** 2 if has_numbers else found != fold.y_held_out))


def estimator(method: dict[str, Any], has_numbers: bool) -> Any:
    module, _, name = method["numbers" if has_numbers else "classes"].rpartition(".")
    own = method.get("of_numbers" if has_numbers else "of_classes", {})
    model = getattr(import_module(module), name)(**method.get("settings", {}), **own)
    return GridSearchCV(model, method["grid"], cv=3) if "grid" in method else model


Fitted = tuple[list[np.ndarray], dict[str, float]]  # predictions of held-out rows, and mean seconds of a fit with them


def fitted_here(method: dict[str, Any], folds: Sequence[Fold], has_numbers: bool) -> Fitted:
    """Fit an estimator to the training rows of each fold, in this process."""
    first = folds[0]
    few = np.argsort(first.y, kind="stable")[:: max(1, len(first.y) // 40)]
    with suppress(ValueError):  # of classes with too few rows for a search in folds
        estimator(method, has_numbers).fit(first.X[few, :5], first.y[few]).predict(first.X[:2, :5])  # compiles or loads
    predictions, seconds, wall = [], [], []
    signal.signal(signal.SIGPROF, raise_timeout)
    for fold in folds:
        start, start_wall = time.process_time(), time.perf_counter()
        signal.setitimer(signal.ITIMER_PROF, PLAN["limit"])
        try:
            predictions.append(estimator(method, has_numbers).fit(fold.X, fold.y).predict(fold.X_held_out))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        seconds.append(time.process_time() - start)
        wall.append(time.perf_counter() - start_wall)
    return predictions, {"seconds": float(np.mean(seconds)), "wall": float(np.mean(wall))}


def fitted_by_xrfm(folds: Sequence[Fold], has_numbers: bool) -> Fitted:
    """Fit xRFM to the training rows of each fold, in its own environment."""
    with TemporaryDirectory() as folder:
        arrays, found = Path(folder, "folds.npz"), Path(folder, "found.npz")
        parts = ("X", "y", "X_held_out")
        np.savez(arrays, **{f"{part}{i}": getattr(fold, part) for i, fold in enumerate(folds) for part in parts})
        python, _ = xrfm_environment.ready()
        seconds = table.read_json(
            [python, xrfm_environment.SCRIPT, arrays, found, "numbers" if has_numbers else "classes"]
        )
        with np.load(found) as saved:
            return [saved[f"p{i}"] for i in range(len(folds))], {"seconds": float(np.mean(seconds))}


def measured(method: dict[str, Any], folds: Sequence[Fold], has_numbers: bool) -> dict[str, Any]:
    """The error in % and the mean CPU seconds of a method, or why there is none."""
    if method.get("most_columns", np.inf) < folds[0].X.shape[1]:
        return {"why": f"over {method['most_columns']:,} columns"}
    try:
        if "environment" in method:
            predictions, seconds = fitted_by_xrfm(folds, has_numbers)
        else:
            predictions, seconds = fitted_here(method, folds, has_numbers)
    except TimeoutError:
        return {"why": f"over {PLAN['limit']} s"}
    except (ValueError, ArithmeticError, MemoryError, subprocess.CalledProcessError) as error:
        return {"why": f"{type(error).__name__}: {error}"}
    n_rows = sum(len(found) for found in predictions)
    errors = sum(lost(*pair, has_numbers) for pair in zip(predictions, folds, strict=True))
    return {"error": 100 * errors / n_rows, "rows": n_rows, **seconds}


class Kept:
    """Results in files of a folder, one for each table and method."""

    def __init__(self, folder: Path, group: str) -> None:
        self.folder = folder / group
        self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, name: str, method: str) -> Path:
        return self.folder / f"{name}, {method}.json"

    def put(self, name: str, method: str, found: dict[str, Any]) -> None:
        self._path(name, method).write_text(json.dumps(found))
        print(f"{name}: {method} {found}", file=sys.stderr, flush=True)

    def get(self, name: str, method: str) -> dict[str, Any] | None:
        path = self._path(name, method)
        return json.loads(path.read_text()) if path.exists() else None


def measure_table(case: dict[str, Any]) -> None:
    """Measure methods on the folds of one table, and keep the results."""
    data, kept = table_of(case["name"], case["most"]), Kept(Path(case["kept"]), case["group"])
    folds = folds_of(data)
    for name in case["methods"]:
        kept.put(case["name"], name, measured(PLAN["methods"][name], folds, data.has_numbers))


def measure_alone(case: dict[str, Any]) -> None:
    """Measure one method on the first fold of a whole table, with the peak memory of this process."""
    data, (name,) = table_of(case["name"], None), case["methods"]
    found = measured(PLAN["methods"][name], folds_of(data)[:1], data.has_numbers)
    found |= {"peak": peak_mb(), "size": f"{data.X.shape[0]:,} x {data.X.shape[1]}"}
    Kept(Path(case["kept"]), case["group"]).put(case["name"], name, found)


class Asked(NamedTuple):
    """The folder of results, and the methods that are measured, again if they were; None for all that are missing."""

    folder: Path
    only: list[str] | None

    def missing(self, kept: Kept, name: str, methods: Sequence[str]) -> list[str]:
        if self.only is not None:
            return [method for method in methods if method in self.only]
        return [method for method in methods if kept.get(name, method) is None]

    def run(self, group: str, name: str, methods: Sequence[str], *, most: int | None, threads: int | None) -> None:
        """Measure methods on a table in another process, on so many threads."""
        case = {"group": group, "name": name, "methods": methods, "most": most, "kept": str(self.folder)}
        limited = {} if threads is None else {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        command = [sys.executable, "-m", "benchmarks.kernels", json.dumps(case)]
        subprocess.run(command, check=True, env={**os.environ, **limited})


def applies(method: str, name: str) -> bool:
    return ("numbers" if name in PLAN["numbers"] else "classes") in PLAN["methods"][method]


def cell(found: dict[str, Any] | None) -> str:
    """The error and the seconds, or why there are none."""
    if found is None:
        return ""
    return found["why"] if "why" in found else f"{found['error']:.2f} ({found['seconds']:.2g} s)"


def summary(kept: Kept, plan: dict[str, Any], methods: Sequence[str]) -> list[list[str]]:
    """A row for each method: its errors beside those of the best tree ensemble of each table, and of boosting."""
    rows = []
    for method in methods:
        shares, sums, boosted, seconds = [], np.zeros(3, int), [], []
        for name in plan["datasets"]:
            own, trees = kept.get(name, method), [kept.get(name, tree) for tree in TREES]
            if own is None or "error" not in own or None in trees:
                continue
            error, errors = own["error"], [found.get("error", np.inf) for found in trees]
            least, best = 50 / own["rows"], min(errors)  # half a row, so that errors of zero have ratios
            shares.append(max(error, least) / max(best, least))
            sums += [error < best, error == best, error > best]
            seconds.append(own["seconds"])
            if method != "boosting" and "error" in kept.get(name, "boosting"):
                boosted.append(error < kept.get(name, "boosting")["error"])
        if shares:
            rows.append([
                method, str(len(shares)), f"{np.exp(np.mean(np.log(shares))):.2f}", " / ".join(map(str, sums)),
                f"{sum(boosted)} of {len(boosted)}" if boosted else "", f"{np.median(seconds):.2g}",
            ])  # fmt: skip
    return rows


def small(asked: Asked) -> None:
    plan, kept = PLAN["small"], Kept(asked.folder, "small")
    methods = list(dict.fromkeys(method for part in plan["tables"] for method in part["methods"]))
    measure_missing(asked, "small", methods, PLAN["rows"])
    header = ["method", "tables", "share of the best", "won / tied / lost", "boosting beaten", "CPU s, median"]
    rows = summary(kept, plan, methods)
    rows += [[name, why, *[""] * (len(header) - 2)] for name, why in plan["not_run"].items()]
    table.write("kernels", plan["summary"], header, rows, keep_others=True)
    for part in plan["tables"]:
        write_errors(kept, part["title"], plan["datasets"], part["methods"])


def truth(asked: Asked) -> None:
    plan, kept = PLAN["truth"], Kept(asked.folder, "truth")
    measure_missing(asked, "truth", plan["methods"])
    write_errors(kept, plan["title"], plan["datasets"], plan["methods"])


def measure_missing(asked: Asked, group: str, methods: Sequence[str], most: int | None = None) -> None:
    """Measure what is asked for on one thread; without its packages all but xRFM."""
    kept, names = Kept(asked.folder, group), PLAN[group]["datasets"]
    todo = {name: [one for one in asked.missing(kept, name, methods) if applies(one, name)] for name in names}
    if any("xRFM" in missing for missing in todo.values()):
        python, why = xrfm_environment.ready()
        if python is None:
            print(f"xRFM is left out: {why}", file=sys.stderr, flush=True)
            todo = {name: [one for one in missing if one != "xRFM"] for name, missing in todo.items()}
    for name, missing in todo.items():
        if missing:
            asked.run(group, name, missing, most=most, threads=1)


def write_errors(kept: Kept, title: str, names: Sequence[str], methods: Sequence[str]) -> None:
    rows = [[name, *(cell(kept.get(name, method)) for method in methods)] for name in names]
    table.write("kernels", title, ["data set", *methods], rows, keep_others=True)


def all_rows(asked: Asked) -> None:
    plan, kept = PLAN["all_rows"], Kept(asked.folder, "all_rows")
    rows = []
    for name in plan["datasets"]:
        for method in asked.missing(kept, name, plan["methods"]):
            asked.run("all_rows", name, [method], most=None, threads=None)
        for method in plan["methods"]:
            found = kept.get(name, method)
            if found is not None:
                spent = [f"{found[what]:.1f}" if what in found else "" for what in ("seconds", "wall")]
                error = found["why"] if "why" in found else f"{found['error']:.2f}"
                rows.append([name, found["size"], method, error, *spent, f"{found['peak']:.0f}"])
    header = ["data set", "rows x columns", "method", "error, %", "CPU s", "wall s", "peak, MB"]
    table.write("kernels", plan["title"], header, rows, keep_others=True)


GROUPS: dict[str, Callable[[Asked], None]] = {"small": small, "all_rows": all_rows, "truth": truth}


def main() -> None:
    if sys.argv[1:] and sys.argv[1].startswith("{"):
        warnings.simplefilter("ignore")
        case = json.loads(sys.argv[1])
        (measure_alone if case["group"] == "all_rows" else measure_table)(case)
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels")
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; all without")
    parser.add_argument("--kept", type=Path, help="folder of results, which are not measured again")
    parser.add_argument(
        "--only", nargs="*", help="methods to measure again, by how their names begin; none writes tables only"
    )
    words = parser.parse_args()
    if "WHYNEAR_DATA" not in os.environ:
        parser.error("set WHYNEAR_DATA to the folder with the data sets")
    only = words.only and tuple(map(str.lower, words.only))
    only = only and [name for name in PLAN["methods"] if name.lower().startswith(only)]
    with TemporaryDirectory() as folder:
        for name in words.groups or GROUPS:
            GROUPS[name](Asked(words.kept or Path(folder), only))


if __name__ == "__main__":
    main()

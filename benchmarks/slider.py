"""Slider beside equal weights and its rivals: the paper's table and figures, and seconds as tables grow."""

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import table
from whynear import DIET, BackwardElimination, ForwardSelection, LPWeights, NeighborSearch, Slider, datasets, ranking
from whynear.metric import DiagonalMetric, Metric, MinkowskiMetric, as_metric

PLAN = table.load("slider")
CRITERIA = ("1-NN, %", "rank among 10", "nearest tenth", "whole base", "5-NN, %", "rank among 100")


def criteria(metric: Metric, X: np.ndarray, y: np.ndarray, queries: np.ndarray) -> list[float]:
    plan = PLAN["table2"]
    base = {"X": X[queries], "y": y[queries], "base": X, "base_y": y, "exclude": queries}
    _, nearest = NeighborSearch(metric, X).nearest(X[queries], plan["more_neighbors"], exclude=queries)
    codes = np.unique(y, return_inverse=True)[1]
    votes = np.array([np.bincount(row).argmax() for row in codes[nearest]])
    return [
        100 * np.mean(y[nearest[:, 0]] == y[queries]),
        ranking.mean_rank(metric, **base),
        ranking.match_share(metric, **base),
        ranking.match_share(metric, **base, nearest=1.0),
        100 * np.mean(votes == codes[queries]),
        ranking.mean_rank(metric, **base, n_mismatches=plan["more_mismatches"]),
    ]


def published_table() -> None:
    plan, rows = PLAN["table2"], []
    for case in plan["sets"]:
        data = datasets.load(case["name"])
        X, y, scores, seconds = data.X.to_numpy(dtype=float), np.asarray(data.y), [], 0.0
        for number in range(plan["test_sets"]):
            order = np.random.default_rng(number).permutation(len(X))
            queries, others = order[: plan["queries"]], np.sort(order[plan["queries"] :])
            start = time.perf_counter()
            learned = Slider(random_state=number, **case.get("settings", {})).fit(X[others], y[others]).metric_
            seconds += time.perf_counter() - start
            scores.append([criteria(m, X, y, queries) for m in (DiagonalMetric(np.ones(X.shape[1])), learned)])
        mean, deviation = np.mean(scores, axis=0), np.std(scores, axis=0)
        cells = [case["name"] + "".join(f", {name}={value}" for name, value in case.get("settings", {}).items())]
        for place, (name, digits) in enumerate((("accuracy", 1), ("rank", 2), ("nearest", 2))):
            for who in (0, 1):
                cells.append(f"{mean[who, place]:.{digits}f} ± {deviation[who, place]:.{digits}f} ({case[name][who]})")
        cells.append(f"{mean[0, 3]:.2f} ({case['whole']})")
        cells += [f"{mean[0, place]:.{3 - place // 2}f} / {mean[1, place]:.{3 - place // 2}f}" for place in (4, 5)]
        near = mean[1, 0] >= case["accuracy"][1] - case["deviation"][1]
        near &= mean[1, 1] <= case["rank"][1] + case["rank_deviation"][1]
        rows.append([*cells, "yes" if near else "no", f"{seconds / plan['test_sets']:.1f}"])
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    header = ["data set", *(f"{what}, {who}" for what in CRITERIA[:3] for who in ("equal", "Slider")), CRITERIA[3]]
    header += [f"{what}, equal / Slider" for what in CRITERIA[4:]]
    header += ["accuracy and rank within a deviation, or better", "s a fit"]
    table.write("slider", plan["title"], header, rows, keep_others=True)


class Case:
    """A generated case base, the queries held out of learning, and the cases left to learn from."""

    def __init__(self, seed: int) -> None:
        plan = PLAN["casebase"]
        data = datasets.make_casebase(plan["cases"], plan["columns"], random_state=seed)
        self.X, self.y, self.similarity = data.X.to_numpy(), data.y, cache_rows(data.similarity)
        order = np.random.default_rng(seed).permutation(len(self.X))
        self.queries, self.others = order[: plan["queries"]], np.sort(order[plan["queries"] :])

    def found(self, metric: Metric, tolerances: list[float]) -> tuple[np.ndarray, np.ndarray]:
        counts = ranking.matches_at(
            metric, self.X, self.queries, self.similarity, k=PLAN["casebase"]["nearest"], tolerance=tolerances
        )
        return counts.found.mean(axis=1), counts.total.mean(axis=1)

    def rank(self, metric: Metric) -> float:
        base = {"base": self.X, "base_y": self.y, "exclude": self.queries}
        return ranking.mean_rank(metric, self.X[self.queries], self.y[self.queries], **base, n_mismatches=100)

    def fit(self, learner: Any) -> Metric:
        return as_metric(learner.fit(self.X[self.others], self.y[self.others]))


def cache_rows(similarity: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The same queries are asked for every metric and tolerance."""

    @cache
    def of_query(i: int, n: int) -> np.ndarray:
        return similarity(i, np.delete(np.arange(n), i)).astype(np.float32)

    return lambda i, others: of_query(i, len(others) + 1)


def matches_by_tolerance() -> None:
    plan, base = PLAN["figure2"], PLAN["casebase"]
    found: dict[tuple[int, float], list[list[float]]] = {}
    for seed in range(base["seeds"]):
        case = Case(seed)
        for p in plan["orders"]:
            learned = case.fit(Slider(p=p, random_state=seed, **base["learning"]))
            equal, total = case.found(MinkowskiMetric(np.ones(base["columns"]), p), base["tolerances"])
            spread = case.X[case.others].std(axis=0)
            scaled, _ = case.found(MinkowskiMetric(spread**-p, p), base["tolerances"])
            ours, _ = case.found(learned, base["tolerances"])
            for place, tolerance in enumerate(base["tolerances"]):
                values = [total[place], equal[place], scaled[place], ours[place]]
                found.setdefault((p, tolerance), []).append(values)
                print(seed, p, tolerance, values, file=sys.stderr, flush=True)
    rows = []
    for (p, tolerance), values in found.items():
        total, equal, scaled, ours = np.mean(values, axis=0)
        least = min(value[3] / value[1] for value in values)
        rows.append([str(p), f"{tolerance:g}", f"{total:.1f}", f"{equal:.2f}", f"{scaled:.2f}", f"{ours:.2f}"])
        rows[-1] += [f"{ours / equal:.1f}", f"{least:.1f}", f"{ours / scaled:.1f}"]
    header = ["order p", "tolerance", "matches in the base", "equal weights", "equal, z-scored", "Slider"]
    header += ["times equal", "least of a seed", "times equal, z-scored"]
    table.write("slider", plan["title"], header, rows, keep_others=True)


def rivals() -> None:
    plan, base = PLAN["figure3"], PLAN["casebase"]
    kinds = [Slider, DIET, ForwardSelection, BackwardElimination, LPWeights]
    found: dict[tuple[str, str], list[list[float]]] = {}
    for seed in range(base["seeds"]):
        case = Case(seed)
        for columns in ("raw", "z-scored"):
            spread = np.ones(base["columns"]) if columns == "raw" else case.X[case.others].std(axis=0)
            equal = DiagonalMetric(spread**-2.0)
            found.setdefault(("equal weights", columns), []).append(
                [case.rank(equal), case.found(equal, [plan["tolerance"]])[0][0], 0.0]
            )
            for kind in kinds:
                settings = base["learning"] | ({"n_triples": base["program_triples"]} if kind is LPWeights else {})
                learner = kind(random_state=seed, **settings)
                start = time.perf_counter()
                metric = case.fit(learner if columns == "raw" else make_pipeline(StandardScaler(), learner))
                seconds = time.perf_counter() - start
                values = [case.rank(metric), case.found(metric, [plan["tolerance"]])[0][0], seconds]
                found.setdefault((kind.__name__, columns), []).append(values)
                print(seed, kind.__name__, columns, values, file=sys.stderr, flush=True)
    rows = []
    for (name, columns), values in found.items():
        ranks, matches, seconds = np.transpose(values)
        better = sum(ours[0] < theirs[0] for ours, theirs in zip(found["Slider", columns], values, strict=True))
        cells = [name, columns, f"{ranks.mean():.2f} ± {ranks.std():.2f}", f"{matches.mean():.2f}"]
        rows.append([*cells, "" if name == "Slider" else f"{better} of {len(values)}", f"{seconds.mean():.1f}"])
    header = ["weights", "columns", "mean rank", f"matches found within {plan['tolerance']}", "Slider ranks better"]
    table.write("slider", plan["title"], [*header, "s a fit"], rows, keep_others=True)


def time_fits() -> None:
    plan, rows = PLAN["speed"], []

    def measure(name: str, X: np.ndarray, y: np.ndarray, **settings: Any) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        model = Slider(random_state=0, **settings).fit(X, y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        triples = settings.get("n_triples") or max(10_000, 2 * len(X))
        rows.append([name, f"{len(X):,} x {X.shape[1]}", f"{triples:,}", f"{wall:.1f}", f"{cpu:.1f}"])
        rows[-1] += [str(model.n_iter_), f"{model.uniform_rank_:.2f}", f"{model.mean_rank_:.2f}"]
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)

    X, y = generated(plan["rows"], 50)
    Slider(random_state=0, max_iter=10).fit(X[:200], y[:200])  # compiles or loads
    for name in plan["sets"]:
        data = datasets.load(name)
        measure(name, data.X.to_numpy(dtype=float), np.asarray(data.y))
    for n_triples in plan["triples"]:
        measure("generated", X, y, n_triples=n_triples)
    for d in plan["features"]:
        measure("generated", *generated(plan["rows"], d), n_triples=20_000)
    header = ["data", "cases", "triples", "wall s", "CPU s", "steps of the best climb", "rank, equal", "rank, Slider"]
    table.write("slider", plan["title"], header, rows, keep_others=True)


def generated(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, columns, n_informative=10, n_classes=5, random_state=0)


TABLES = {"table2": published_table, "figure2": matches_by_tolerance, "figure3": rivals, "speed": time_fits}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()

"""Verdicts about features, ours and those of usual rules, compared with the truth on generated tables."""

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from boruta import BorutaPy
from shap import TreeExplainer
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import whynear as wn
from benchmarks import table
from papers.feature_selection import lasso
from whynear.datasets import make_truth, truth_kinds

RATES = (
    'draws with a false "indispensable"',
    "false among indispensable",
    "strong, not indispensable",
    "relevant, no evidence",
    "irrelevant, called relevant",
    "undecided",
)
OF_SETS = ("smallest set complete", "stand-ins right", "stand-ins named")
HEADER = ["kind of table", *RATES, *OF_SETS, "CPU s per table"]
SEEDS_PER_KIND = 1000


class Said(NamedTuple):
    """What a method says about one table: the verdict on each column and, if it has them, its sets and stand-ins."""

    verdict: np.ndarray
    sets: wn.SufficientSets | None = None


class Judged(NamedTuple):
    """The verdicts on one table, the true strengths, and the CPU seconds that the verdicts took.

    A set is complete if it has all strong columns and one of each block. A stand-in is right within a block; it is not
    judged where there are no blocks.
    """

    verdict: np.ndarray
    strength: np.ndarray
    seconds: float
    complete: float
    right_pairs: list[bool]


def by_whynear(X: pd.DataFrame, y: np.ndarray, seed: int) -> Said:
    learner = make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0))
    found = wn.verdicts(learner, X, y, random_state=seed)
    return Said(found.frame().set_index("feature")["verdict"].loc[list(X)].to_numpy(), found.sets)


def by_shap_and_permutation(X: pd.DataFrame, y: np.ndarray, seed: int) -> Said:
    X_fit, X_out, y_fit, y_out = train_test_split(X.to_numpy(), y, test_size=1 / 3, stratify=y, random_state=seed)
    model = RandomForestClassifier(random_state=seed).fit(X_fit, y_fit)
    cost = permutation_importance(model, X_out, y_out, n_repeats=10, random_state=seed)
    size = np.abs(TreeExplainer(model).shap_values(X_out)).mean(axis=(0, 2))
    is_noise = (size / size.sum() < 1 / (2 * X.shape[1])) | (cost.importances_mean <= 0)
    is_needed = cost.importances_mean > 2 * cost.importances_std
    return Said(np.select([is_needed, is_noise], ["indispensable", "no evidence"], "replaceable"))


def by_boruta(X: pd.DataFrame, y: np.ndarray, seed: int) -> Said:
    model = BorutaPy(RandomForestClassifier(max_depth=5), n_estimators="auto", random_state=seed)
    model.fit(X.to_numpy(), y)
    return Said(np.select([model.support_, model.support_weak_], ["indispensable", "undecided"], "no evidence"))


def by_lasso(X: pd.DataFrame, y: np.ndarray, seed: int) -> Said:
    return Said(np.where(lasso(X, y, seed).relevant, "indispensable", "no evidence"))


METHODS = {"whynear": by_whynear, "shap": by_shap_and_permutation, "boruta": by_boruta, "lasso": by_lasso}


def judge(method: str, kind: str, draw: int) -> Judged:
    data = make_truth(kind, SEEDS_PER_KIND * truth_kinds().index(kind) + draw)
    start = time.process_time()
    said = METHODS[method](data.X, data.y, draw)
    seconds = time.process_time() - start
    needed = [{name} for name, strength in zip(data.X, data.strength, strict=True) if strength == "strong"]
    needed += [set(block) for block in data.groups]
    complete, right = np.nan, []
    if said.sets is not None:
        if needed:
            complete = float(all(block & set(said.sets.best) for block in needed))
        pairs = said.sets.stand_ins.pairs if data.groups else ()
        right = [any({pair.feature, pair.stand_in} <= block for block in needed) for pair in pairs]
    return Judged(said.verdict, data.strength, seconds, complete, right)


def rates_of(tables: Sequence[Judged]) -> list[float]:
    """The rates over all tables of a kind, which are nan where nothing can be counted, and the mean CPU seconds."""
    verdict = np.concatenate([each.verdict for each in tables])
    strength = np.concatenate([each.strength for each in tables])
    needed, unseen, undecided = (verdict == name for name in ("indispensable", "no evidence", "undecided"))
    is_strong, is_irrelevant = strength == "strong", strength == "irrelevant"
    return [
        share(np.array([np.any((each.verdict == "indispensable") & (each.strength != "strong")) for each in tables])),
        share(~is_strong[needed]),
        share(~needed[is_strong]),
        share(unseen[~is_irrelevant]),
        share(~(unseen | undecided)[is_irrelevant]),
        share(undecided),
        float(np.mean([each.complete for each in tables])),
        share(np.concatenate([each.right_pairs for each in tables])),
        float(sum(len(each.right_pairs) for each in tables)),
        float(np.mean([each.seconds for each in tables])),
    ]


def share(answers: np.ndarray) -> float:
    return float(answers.mean()) if len(answers) else np.nan


def row_of(name: str, rates: Sequence[float]) -> list[str]:
    *shares, named, seconds = rates
    numbers = [*(f"{rate:.2f}" for rate in shares), f"{named:,.0f}", f"{seconds:.2f}"]
    return [name, *("" if np.isnan(rate) else number for rate, number in zip(rates, numbers, strict=True))]


def run(method: str, kinds: Sequence[str], draws: int) -> dict[str, list[float]]:
    """The rates of a method on each kind, and their means over kinds."""
    METHODS[method](*warm_up_table(), 0)
    rates = {}
    for kind in kinds:
        with threadpool_limits(1):
            rates[kind] = rates_of([judge(method, kind, draw) for draw in range(draws)])
        print(" | ".join(row_of(f"{method}: {kind}", rates[kind])), file=sys.stderr, flush=True)
    return rates | {"mean over kinds": np.nanmean(list(rates.values()), axis=0).tolist()}


def warm_up_table() -> tuple[pd.DataFrame, np.ndarray]:
    """A small table, to load and compile what the verdicts need."""
    data = make_truth("sick", 0)
    return data.X[:60], data.y[:60]


def main() -> None:
    plan = table.load("verdicts")
    usual = {"draws": plan["draws"], "kinds": list(truth_kinds()) if plan["kinds"] == "all" else plan["kinds"]}
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", metavar="method", help=", ".join(METHODS))
    parser.add_argument("--draws", type=int, default=usual["draws"])
    parser.add_argument("--kinds", nargs="+", choices=truth_kinds(), default=usual["kinds"])
    asked = parser.parse_args()
    if unknown := set(asked.methods) - set(METHODS):
        parser.error(f"unknown methods {', '.join(unknown)}; known are {', '.join(METHODS)}")
    is_whole = {"draws": asked.draws, "kinds": asked.kinds} == usual

    for method in asked.methods or METHODS:
        rates = run(method, asked.kinds, asked.draws)
        content = plan["titles"][method], HEADER, [row_of(*each) for each in rates.items()]
        if is_whole:
            table.write("verdicts", *content, keep_others=True)
            summarise(plan["titles"])
        else:
            print(table.as_text(*content))


def summarise(titles: dict[str, str]) -> None:
    """Write the means of all methods as one table, once each of them has been run."""
    means = {method: table.last_row("verdicts", titles[method], HEADER) for method in METHODS}
    rows = [[method, *found[1:]] for method, found in means.items() if found is not None]
    if len(rows) == len(METHODS):
        table.write("verdicts", titles["summary"], ["method", *HEADER[1:]], rows, keep_others=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

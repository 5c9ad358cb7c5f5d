"""The parts of a study, one after the other: for classes, and for a measured target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from whynear.embedding import embed
from whynear.explain import class_profiles
from whynear.metric.pipeline import encoder_and_rest
from whynear.study.cases import explained_cases
from whynear.study.comparison import Comparison, Progress, compare
from whynear.study.interpretation import Interpretation, interpret
from whynear.study.methods import LEARNED_ROWS, Methods
from whynear.study.regression import compare_measures, shares_of, within_directions
from whynear.study.sample import some_rows
from whynear.tables.problem import Problem

Finished = Callable[[str, Any], None]


class Steps:
    """Progress of the whole, from that of its parts."""

    def __init__(self, report: Progress) -> None:
        self.report = report

    def __call__(self, step: str, share: float) -> None:
        """Report a step of the whole itself."""
        self.report(step, share)

    def within(self, first: float, last: float) -> Progress:
        """What a part reports, which takes up this stretch of the whole."""
        return lambda step, share: self.report(step, first + (last - first) * share)


@dataclass(frozen=True)
class Task:
    """What is to be studied and how: the whole problem, the rows of it that are compared, and whom to tell."""

    problem: Problem
    used: Problem
    learners: tuple[str, ...]
    methods: Methods
    folds: int
    effective_dim: int | None
    steps: Steps
    finish: Finished


def learn_classes(task: Task) -> dict[str, Any]:
    """Compare, choose, learn, interpret, map and explain."""
    X, y, methods, steps = task.used.X, task.used.y, task.methods, task.steps
    comparison = compare(X, y, task.learners, methods, folds=task.folds, report=steps.within(0.02, 0.6))
    task.finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    chosen = comparison.chosen
    rows = some_rows(task.problem.y, LEARNED_ROWS[chosen], methods.seed)
    model = methods.fitted(chosen, task.problem.X.iloc[rows], task.problem.y[rows])
    task.finish("model", model)
    interpretation = _interpreted(task, comparison, model)
    task.finish("interpretation", interpretation)
    steps("map the cases", 0.85)
    encoder, rest = encoder_and_rest(model)
    numbers = X if encoder is None else encoder.transform(X)
    maps = {"before": embed(rest, numbers, method="pca"), "after": embed(rest, numbers, random_state=methods.seed)}
    cases = explained_cases(X, y, comparison, steps.within(0.9, 1.0))
    return {
        "comparison": comparison,
        "model": model,
        "interpretation": interpretation,
        "profiles": class_profiles(model),
        "maps": maps,
        "cases": cases,
    }


def learn_measure(task: Task) -> dict[str, Any]:
    """Compare, learn the map of least norm and interpret it."""
    problem, used, steps = task.problem, task.used, task.steps
    comparison = compare_measures(
        used.X,
        used.y,
        task.methods,
        folds=task.folds,
        effective_dim=task.effective_dim,
        report=steps.within(0.02, 0.6),
    )
    task.finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    model = task.methods.fitted(comparison.chosen, problem.X, problem.y)
    interpretation = _interpreted(task, comparison, model)
    model = within_directions(model, problem.X, problem.y, interpretation.effective_dim)
    task.finish("model", model)
    task.finish("interpretation", interpretation)
    steps("map the cases", 0.9)
    encoder, rest = encoder_and_rest(model)
    numbers = used.X if encoder is None else encoder.transform(used.X)
    return {
        "comparison": comparison,
        "model": model,
        "interpretation": interpretation,
        "profiles": shares_of(model, problem.target),
        "maps": {"before": embed(rest, numbers, method="pca")},
        "cases": (),
    }


def _interpreted(task: Task, comparison: Comparison, model: Any) -> Interpretation:
    encoder, rest = encoder_and_rest(model)
    return interpret(
        comparison.chosen,
        rest,
        task.used.X if encoder is None else encoder.transform(task.used.X),
        task.used.y,
        sources=None if encoder is None else encoder.sources_,
        effective_dim=task.effective_dim,
        methods=task.methods,
        report=task.steps.within(0.62, 0.85),
    )

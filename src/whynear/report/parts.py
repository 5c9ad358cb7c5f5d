"""The parts of a study, one after the other: for classes, and for a measured target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whynear.apply import embed
from whynear.explain import class_profiles
from whynear.metric.encoder import encoder_and_rest
from whynear.report.cases import explained_cases
from whynear.report.comparison import Comparison, Progress, compare
from whynear.report.interpretation import Interpretation, interpret
from whynear.report.measures import compare_measures, shares_of, within_directions
from whynear.report.methods import LEARNED_ROWS, Methods
from whynear.report.problem import Problem
from whynear.report.sample import some_rows

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


def learn_classes(
    problem: Problem,
    used: Problem,
    names: tuple[str, ...],
    methods: Methods,
    folds: int,
    effective_dim: int | None,
    steps: Steps,
    finish: Finished,
) -> dict[str, Any]:
    """Compare, choose, learn, interpret, map and explain."""
    X, y = used.X, used.y
    comparison = compare(X, y, names, methods, folds=folds, report=steps.within(0.02, 0.6))
    finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    chosen = comparison.chosen
    rows = some_rows(problem.y, LEARNED_ROWS[chosen], methods.seed)
    model = methods.fitted(chosen, problem.X.iloc[rows], problem.y[rows])
    finish("model", model)
    interpretation = _interpreted(comparison, model, used, effective_dim, methods, steps)
    finish("interpretation", interpretation)
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


def learn_measure(
    problem: Problem,
    used: Problem,
    _names: tuple[str, ...],
    methods: Methods,
    folds: int,
    effective_dim: int | None,
    steps: Steps,
    finish: Finished,
) -> dict[str, Any]:
    """Compare, learn the map of least norm and interpret it."""
    report = steps.within(0.02, 0.6)
    comparison = compare_measures(used.X, used.y, methods, folds=folds, effective_dim=effective_dim, report=report)
    finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    model = methods.fitted(comparison.chosen, problem.X, problem.y)
    interpretation = _interpreted(comparison, model, used, effective_dim, methods, steps)
    model = within_directions(model, problem.X, problem.y, interpretation.effective_dim)
    finish("model", model)
    finish("interpretation", interpretation)
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


def _interpreted(
    comparison: Comparison,
    model: Any,
    used: Problem,
    effective_dim: int | None,
    methods: Methods,
    steps: Steps,
) -> Interpretation:
    encoder, rest = encoder_and_rest(model)
    return interpret(
        comparison.chosen,
        rest,
        used.X if encoder is None else encoder.transform(used.X),
        used.y,
        sources=None if encoder is None else encoder.sources_,
        effective_dim=effective_dim,
        methods=methods,
        report=steps.within(0.62, 0.85),
    )

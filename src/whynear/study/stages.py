"""The stages of a study, from a problem to everything that its page shows."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pandas as pd
from sklearn.base import clone

from whynear.engine.workers import Workers
from whynear.explain import class_profiles
from whynear.metric.pipeline import FittedPipeline
from whynear.study.bands import Bands
from whynear.study.cases import Case, explained_cases
from whynear.study.comparison import Comparison, compare_classifiers
from whynear.study.error_interval import remember_errors
from whynear.study.error_patterns import error_patterns
from whynear.study.errors import ErrorAnatomy, errors_of
from whynear.study.findings import findings_of
from whynear.study.folds import possible_folds
from whynear.study.interpretation import Interpretation, interpret
from whynear.study.kept_fits import KeptFits
from whynear.study.large_rows import LargeRows
from whynear.study.learnable import caveats_of_weights, learners_for
from whynear.study.levels import levels_of
from whynear.study.maps import maps_of
from whynear.study.methods import LEARNED_ROWS, Methods
from whynear.study.placed_rows import placed_rows_of
from whynear.study.preprocessing import Preprocessing
from whynear.study.progress import Steps
from whynear.study.reasons import Reason, reasons_of
from whynear.study.regression import compare_regressors, relevance_profile, with_directions
from whynear.study.rejection import Rejection, rejection_of, remember_rejection
from whynear.study.residuals import Residuals, residuals_of
from whynear.study.result import Study
from whynear.study.sample import at_most
from whynear.study.settings import COMPARED_ROWS, StudySettings
from whynear.study.spectra import spectra_of, without_preprocessing
from whynear.study.value_cases import ValueReason, explained_values, value_reasons
from whynear.tables.problem import Problem
from whynear.verdict.result import Verdicts
from whynear.verdict.verdicts import verdicts_by


@dataclass(frozen=True, eq=False)
class _Shared:
    """What most stages share; ``used`` are the rows that are compared."""

    used: Problem
    settings: StudySettings
    methods: Methods
    steps: Steps
    workers: Workers


def studied(
    problem: Problem,
    settings: StudySettings,
    steps: Steps,
    kept: KeptFits,
    workers: Workers,
    large: LargeRows | None = None,
) -> Study:
    """Compare, learn, interpret, map and explain; ``large`` are all rows of a table that does not fit in memory."""
    used, few_rows = _compared_rows(problem, settings)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, settings.random_state)
    methods = Methods(
        settings.random_state, problem.encoder, settings.n_jobs, settings.class_weight, preprocessing, kept
    )
    shared = _Shared(used, settings, methods, steps, workers)
    comparison, few_folds = _compared(shared)
    shown = used if used.times is None else used.rows(comparison.places)
    steps.finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    model, rows = _learned(problem, comparison, settings, methods, large)
    on_parts = None
    if large is not None:
        model, few_rows = large.learned(comparison.chosen, model, rows)
        on_parts = large.judged(model, steps.within(0.6, 0.62))
    fitted = FittedPipeline.of(model)
    rejection = _rejection(fitted, shown, comparison, settings)
    steps.finish("model", model)
    spectra = spectra_of(used, fitted, comparison.fitted, preprocessing, rows)
    bands = None if spectra is None else spectra.bands
    interpretation = _interpreted(shared, fitted, bands)
    steps.finish("interpretation", interpretation)
    judge, judged_on = (model, used.X) if spectra is None else without_preprocessing(fitted, used.X)
    judged = _judged(shared, judge, judged_on, interpretation, bands)
    steps.finish("verdicts", judged)
    steps("map the cases", 0.85)
    maps = maps_of(shown, fitted, settings.random_state)
    placed = placed_rows_of(problem, shown, maps, fitted, settings.random_state)
    cases, reasons = _explained(shared, shown, comparison, bands)
    profiles = _profiles(fitted, problem, bands)
    steps("done", 1.0)
    shown_columns = shown.X if bands is None else bands.table(judged_on.iloc[comparison.places])
    caveats = (*problem.caveats, *few_rows, *few_folds)
    return Study(
        problem=used,
        comparison=comparison,
        errors=_errors(shown, comparison),
        model=model,
        interpretation=interpretation,
        profiles=profiles,
        maps=maps,
        others=placed,
        levels=levels_of(shown_columns, interpretation.relevance),
        cases=cases,
        reasons=reasons,
        verdicts=judged,
        findings=findings_of(used, comparison, interpretation, judged, caveats, spectra, on_parts),
        on_parts=on_parts,
        rejection=rejection,
        spectra=spectra,
        inputs=settings,
        versions={package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    )


def _compared_rows(problem: Problem, settings: StudySettings) -> tuple[Problem, tuple[str, ...]]:
    """Return a sample of the rows, small enough to be studied in minutes, and a caveat if it leaves out rows."""
    if len(problem.X) <= COMPARED_ROWS:
        return problem, ()
    if (n_classes := len(problem.classes)) > COMPARED_ROWS // 2:
        raise ValueError(
            f"{problem.source}: the target {problem.target!r} has {n_classes:,} classes, too many for two rows of "
            f"each among the {COMPARED_ROWS:,} rows that are compared. Merge classes, or choose another target."
        )
    rows = (
        f"Of {len(problem.X):,} rows, a random {COMPARED_ROWS:,} were used to compare learners, to interpret and to "
        "draw"
    )
    fitted = "as many as its learner can use" if problem.kind == "classes" else "all of them"
    return at_most(problem, COMPARED_ROWS, settings.random_state), (f"{rows}; the model was fitted to {fitted}.",)


def _compared(shared: _Shared) -> tuple[Comparison, tuple[str, ...]]:
    """Compare learners and baselines on held-out folds; return a caveat too if fewer folds than wanted are possible."""
    used, settings = shared.used, shared.settings
    n_folds, caveats = possible_folds(used.y, settings.folds, used.separation)
    caveats += caveats_of_weights(settings)
    report = shared.steps.within(0.02, 0.6)
    if used.kind == "classes":
        comparison = compare_classifiers(
            used.X,
            used.y,
            learners_for(settings),
            shared.methods,
            n_folds=n_folds,
            report=report,
            groups=used.separation,
            measure=settings.score,
            weights=used.weights,
            workers=shared.workers,
        )
        return comparison, caveats
    comparison = compare_regressors(
        used.X,
        used.y,
        shared.methods,
        n_folds=n_folds,
        effective_dim=settings.effective_dim,
        report=report,
        groups=used.separation,
        weights=used.weights,
        workers=shared.workers,
    )
    return comparison, caveats


def _learned(
    problem: Problem, comparison: Comparison, settings: StudySettings, methods: Methods, large: LargeRows | None
) -> tuple[Any, Problem]:
    """Fit the chosen learner to as many rows as it can use; return the model and these rows."""
    if problem.kind == "classes":
        rows = at_most(problem, LEARNED_ROWS[comparison.chosen], settings.random_state)
    else:
        rows = problem
    rows = rows if large is None else large.with_rare_rows(rows)
    model = methods.fitted(comparison.chosen, rows.X, rows.y, rows.separation, rows.weights)
    if problem.kind == "classes":
        return model, rows
    model = with_directions(model, rows.X, rows.y, settings.effective_dim, rows.separation, rows.weights)
    return remember_errors(model, comparison.predictions), rows


def _rejection(
    fitted: FittedPipeline, shown: Problem, comparison: Comparison, settings: StudySettings
) -> Rejection | None:
    """Return what a model of classes promises where it may reject cases, which it then knows; None of numbers."""
    if shown.kind == "numbers":
        return None
    rejection = rejection_of(shown, comparison, fitted, settings.random_state)
    remember_rejection(fitted.model, rejection)
    return rejection


def refitted(model: Any) -> Any:
    """Return the learner to refit without features; a map is not held to directions that they may take away."""
    learner = clone(model)
    cut = [name for name in learner.get_params() if name.endswith("minimumnormregressor__effective_dim")]
    return learner.set_params(**dict.fromkeys(cut))


def _interpreted(shared: _Shared, fitted: FittedPipeline, bands: Bands | None) -> Interpretation:
    used = shared.used
    sources = None if fitted.encoder is None else fitted.sources
    behind = fitted.without_encoder
    return interpret(
        fitted if behind is fitted.model else FittedPipeline.of(behind),
        fitted.numbers(used.X),
        used.y,
        sources=sources if bands is None else bands.features_of(fitted.sources),
        effective_dim=shared.settings.effective_dim,
        methods=shared.methods,
        report=shared.steps.within(0.62, 0.68),
        groups=used.separation,
        weights=used.weights,
    )


def _judged(
    shared: _Shared, model: Any, X: pd.DataFrame, interpretation: Interpretation, bands: Bands | None
) -> Verdicts:
    """Return the verdicts on the features, or on the bands, for which the model is refitted to the columns of X."""
    used, settings = shared.used, shared.settings
    return verdicts_by(
        shared.workers,
        refitted(model),
        X,
        used.y,
        features=None if bands is None else bands.features_of_columns,
        relevance=interpretation.relevance,
        groups=used.separation,
        sample_weight=used.weights,
        n_jobs=settings.n_jobs,
        random_state=settings.random_state,
        progress=shared.steps.within(0.68, 0.85),
    )


def _profiles(model: FittedPipeline, problem: Problem, bands: Bands | None) -> pd.DataFrame:
    found = class_profiles(model) if problem.kind == "classes" else relevance_profile(model, problem.target)
    return found if bands is None else bands.profiles(found)


def _explained(
    shared: _Shared, shown: Problem, comparison: Comparison, bands: Bands | None
) -> tuple[tuple[Case, ...], tuple[Reason, ...] | tuple[ValueReason, ...]]:
    """Return selected cases, and short explanations of those on the maps."""
    first, then = shared.steps.within(0.9, 0.92), shared.steps.within(0.92, 1.0)
    if shown.kind == "classes":
        cases = explained_cases(shown.X, shown.y, comparison, first, bands)
        return cases, reasons_of(shown.X, comparison, cases, then, bands, shared.workers)
    cases = explained_values(shown.X, comparison, first, bands)
    return cases, value_reasons(shown.X, comparison, cases, then, bands)


def _errors(used: Problem, comparison: Comparison) -> ErrorAnatomy | Residuals:
    if used.kind == "classes":
        return errors_of(comparison)
    return residuals_of(comparison.predictions, error_patterns(used.X, comparison.predictions, used.groups))

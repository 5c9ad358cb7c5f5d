"""The stages of a study, from a problem to everything that its page shows."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Protocol

from whynear.data.problem import Problem
from whynear.learn.registry import LEARNERS
from whynear.model.pipeline import FittedPipeline
from whynear.study.bands import Preprocessing, spectra_of, without_preprocessing
from whynear.study.cases import explained_cases, reasons_of
from whynear.study.comparison import Comparison, compare
from whynear.study.errors import errors_of, remember_errors
from whynear.study.findings import findings_of
from whynear.study.folds import at_most, possible_folds
from whynear.study.interpretation import interpret, levels_of, maps_of, placed_rows_of, profiles_of
from whynear.study.learning import caveats_of_weights
from whynear.study.methods import KeptFits, Methods, settled
from whynear.study.rejection import rejection_of, remember_rejection
from whynear.study.result import Study
from whynear.study.score import PartsScore
from whynear.study.settings import COMPARED_ROWS, StudySettings
from whynear.utils.progress import Report, Steps
from whynear.verdict.judging import verdicts
from whynear.work.workers import Workers


class AllRows(Protocol):
    """All rows of a table of which a study compares a sample, because they do not fit in memory."""

    def with_rare_rows(self, sample: Problem) -> Problem:
        """Return the rows that a model is fitted to in memory."""
        ...

    def learned(self, name: str, model: Any, rows: Problem) -> tuple[Any, tuple[str, ...]]:
        """Return the model of all rows that are not held out, and caveats on the rows that were used."""
        ...

    def judged(self, model: Any, report: Report) -> PartsScore | None:
        """Return how well a model predicts the rows that are held out."""
        ...


def studied(
    problem: Problem,
    settings: StudySettings,
    steps: Steps,
    kept: KeptFits,
    workers: Workers,
    large: AllRows | None = None,
) -> Study:
    """Compare, learn, interpret, map and explain; ``large`` are all rows of a table that does not fit in memory."""
    used, few_rows = _compared_rows(problem, settings)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, settings.random_state)
    methods = Methods(
        settings.random_state,
        problem.encoder,
        settings.n_jobs,
        settings.class_weight,
        preprocessing,
        kept,
        effective_dim=settings.effective_dim,
    )
    n_folds, few_folds = possible_folds(used.y, settings.splitting.folds, used.separation)
    comparison = compare(
        used.X,
        used.y,
        settings.learners if used.kind == "classes" else settings.learners_of_numbers,
        methods,
        n_folds=n_folds,
        report=steps.within(0.02, 0.6),
        groups=used.separation,
        measure=settings.score,
        weights=used.weights,
        workers=workers,
    )
    shown = used if used.times is None else used.rows(comparison.places)
    steps.finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    model, rows = _learned(problem, comparison, settings, methods, large)
    on_parts = None
    if large is not None:
        model, few_rows = large.learned(comparison.chosen, model, rows)
        on_parts = large.judged(model, steps.within(0.6, 0.62))
    fitted = FittedPipeline.of(model)
    rejection = rejection_of(shown, comparison, fitted, settings.random_state)
    model = remember_rejection(model, rejection)
    steps.finish("model", model)
    spectra = spectra_of(used, fitted, comparison.fitted, preprocessing, rows)
    bands = None if spectra is None else spectra.bands
    behind, sources = fitted.without_encoder, None if fitted.encoder is None else fitted.sources
    interpretation = interpret(
        fitted if behind is fitted.model else FittedPipeline.of(behind),
        fitted.numbers(used.X),
        used.y,
        sources=sources if bands is None else bands.features_of(fitted.sources),
        effective_dim=settings.effective_dim,
        n_jobs=settings.n_jobs,
        report=steps.within(0.62, 0.68),
        groups=used.separation,
        weights=used.weights,
    )
    steps.finish("interpretation", interpretation)
    judge, judged_on = (model, used.X) if spectra is None else without_preprocessing(fitted, used.X)
    judged = verdicts(
        refitted(judge),
        judged_on,
        used.y,
        features=None if bands is None else bands.features_of_columns,
        relevance=interpretation.relevance,
        groups=used.separation,
        sample_weight=used.weights,
        n_jobs=settings.n_jobs,
        random_state=settings.random_state,
        engine=workers,
        progress=steps.within(0.68, 0.85),
    )
    steps.finish("verdicts", judged)
    steps("map the cases", 0.85)
    maps = maps_of(shown, fitted, settings.random_state)
    placed = placed_rows_of(problem, shown, maps, fitted, settings.random_state)
    cases = explained_cases(shown.X, comparison, steps.within(0.9, 0.92), bands)
    reasons = reasons_of(shown.X, comparison, cases, steps.within(0.92, 1.0), bands, workers)
    profiles = profiles_of(fitted, problem.target)
    steps("done", 1.0)
    shown_columns = shown.X if bands is None else bands.table(judged_on.iloc[comparison.places])
    caveats = (*problem.caveats, *few_rows, *few_folds, *caveats_of_weights(settings))
    return Study(
        problem=used,
        comparison=comparison,
        errors=errors_of(comparison, shown.X, shown.groups),
        model=model,
        interpretation=interpretation,
        profiles=profiles if bands is None else bands.profiles(profiles),
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
    fitted = "as many as its learner can use"
    return at_most(problem, COMPARED_ROWS, settings.random_state), (f"{rows}; the model was fitted to {fitted}.",)


def _learned(
    problem: Problem, comparison: Comparison, settings: StudySettings, methods: Methods, large: AllRows | None
) -> tuple[Any, Problem]:
    """Fit the chosen learner to as many rows as it can use; return the model and these rows."""
    name = comparison.chosen
    most = LEARNERS[name].traits.most_rows if name in LEARNERS else len(problem.y)
    rows = at_most(problem, most, settings.random_state)
    rows = rows if large is None else large.with_rare_rows(rows)
    model = methods.fitted(comparison.chosen, rows.X, rows.y, rows.separation, rows.weights)
    return remember_errors(model, comparison.predictions), rows


def refitted(model: Any) -> Any:
    """Return the learner to refit without features, with the parameters that it has chosen in folds.

    A map is not held to directions that the features may take away.
    """
    learner = settled(model)
    cut = [name for name in learner.get_params() if name.endswith("minimumnormregressor__effective_dim")]
    return learner.set_params(**dict.fromkeys(cut))

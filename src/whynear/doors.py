"""A study: from a table to a metric, its accuracy, the relevance of each feature and all that its page shows."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from whynear.data.opening import Table, is_vector
from whynear.data.options import Reading, Splitting
from whynear.data.problem import Problem
from whynear.large.all_rows import LargeRows
from whynear.large.beyond_memory import beyond_memory, large_problem
from whynear.learn.registry import LEARNERS
from whynear.model.pipeline import FittedPipeline
from whynear.report import Study
from whynear.study.bands import Preprocessing, spectra_of, without_preprocessing
from whynear.study.cases import explained_cases, reasons_of
from whynear.study.comparison import Comparison, compare
from whynear.study.errors import errors_of, remember_errors
from whynear.study.findings import findings_of
from whynear.study.folds import at_most, possible_folds
from whynear.study.interpretation import interpret, levels_of, maps_of, placed_rows_of, profiles_of
from whynear.study.learning import caveats_of_weights, learnable_problem
from whynear.study.methods import KeptFits, Methods, refitted
from whynear.study.rejection import rejection_of, remember_rejection
from whynear.study.settings import COMPARED_ROWS, ClassScore, ClassWeight, Running, StudySettings, with_old_names
from whynear.utils.progress import ProgressArgument, Steps
from whynear.utils.threads import n_threads, one_blas_thread
from whynear.verdict.judging import verdicts
from whynear.work.workers import Workers, check_engine, start_workers


@with_old_names
def study(
    table: Table | ArrayLike = "breast_cancer",
    target: Hashable | ArrayLike | None = None,
    *,
    reading: Reading | None = None,
    splitting: Splitting | None = None,
    learner: str = "auto",
    score: ClassScore = "accuracy",
    class_weight: ClassWeight = None,
    effective_dim: int | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: ProgressArgument = None,
    running: Running | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Constant columns are left out, the others standardised. Learners are compared with plain kNN and NCA on the same
    held-out folds, and the simplest one within one standard error of the best is fitted to all rows. Its metric is
    interpreted: verdicts on features by refitting, relevance intervals and their tolerance, class profiles
    and maps of the cases. Selected cases are explained. No score uses rows that a choice was made on. A numeric target
    is predicted by `MinimumNormRegressor` or `RFMRegressor`, compared with plain kNN, ridge regression, PLS and the
    mean. A random forest, boosting and logistic or ridge regression are yardsticks, which are never chosen.

    Parameters
    ----------
    table : DataFrame, array-like, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet, Excel), a folder of Parquet or text files with the same
        columns, or the name of a data set. With the values of the
        target, the features as a DataFrame or as an array of shape (n_samples, n_features), whose columns are named
        x0, x1, ...
    target : str or array-like of shape (n_samples,), optional
        The column to predict; not needed for the name of a data set. A name that is not a str is converted: 3 is
        ``"3"``. Or the values to predict, one for each row of the table: ``study(X, y)``; they are named by the name
        of a Series, ``target`` without one.
    reading : Reading, optional
        How the table becomes features and a target: columns to leave out, names and weights of the rows, missing
        values, and what columns are taken as.
    splitting : Splitting, optional
        Which rows are held out together, and in how many folds.
    learner : str
        ``"auto"`` compares several; or one of the names in `whynear.learn.STUDIED`, such as ``"grlvq"``, ``"gmlvq"``,
        ``"lmnn"``, ``"rfm"`` and ``"lann"``; for a numeric target ``"minimum norm"`` or ``"rfm"``.
    score : {"accuracy", "balanced_accuracy", "log_loss", "roc_auc"}
        The score by which learners are compared and chosen: the share of rows predicted right, the mean recall of the
        classes, the mean of -log of the probability of the true class, or the area under the ROC curve (of more than
        two classes, each against the rest, the mean weighted by their rows). A numeric target has its own, the share
        of variance explained. Verdicts and tolerances are stated in accuracy whatever the score is.
    class_weight : {"balanced"}, optional
        Let all classes count alike together when learners are fitted, however many rows they have.
    effective_dim : int, optional
        Number of directions of the data on which metrics must be equal; without it they may differ by a tolerance that
        is chosen on held-out rows, and the number of directions of a linear map of a numeric target is chosen too.
    n_jobs : int, optional
        Number of processes and threads; all cores without it. It does not change the result.
    random_state : int
        Seed of sample, folds and learner, ``--seed`` of the command; the same seed gives the same study.
    progress : bool, callable or object, optional
        True writes each step to stderr, with the share of the work done and the seconds since the start; a function is
        called with the name of each step and the share. An object has these two methods: ``step``, which is called in
        the same way, and ``finished``, which is called with the name and the value of each part when it is finished:
        ``"problem"``, ``"comparison"``, ``"model"``, ``"interpretation"``, ``"verdicts"``.
    running : Running, optional
        Where and how the study is computed: by processes or a Dask cluster, within how much memory.

    Returns
    -------
    Study

    Examples
    --------
    >>> import pandas as pd
    >>> import whynear as wn
    >>> widths = [1.0, 1.5, 1.2, 1.8] * 5 + [4.0, 4.5, 4.2, 4.8] * 5
    >>> table = pd.DataFrame({"width": widths, "height": [3, 1, 2, 4] * 10, "kind": ["a"] * 20 + ["b"] * 20})
    >>> found = wn.study(table, "kind", splitting=wn.Splitting(folds=2), learner="grlvq")
    >>> found.comparison.chosen, found.verdicts.sets.best
    ('grlvq', ('width',))
    """
    running = Running() if running is None else running
    settings = StudySettings(
        learner=learner, score=score, class_weight=class_weight, reading=Reading() if reading is None else reading,
        splitting=Splitting() if splitting is None else splitting, running=running, effective_dim=effective_dim,
        random_state=random_state, n_jobs=n_jobs,
    )  # fmt: skip
    check_engine(running.engine, n_jobs, running.address)
    steps = Steps(progress)
    steps("read the table", 0.0)
    large: LargeRows | None = None
    if not is_vector(target, table) and (parted := beyond_memory(table, settings)) is not None:
        problem, large = large_problem(parted, target, settings, steps)
    else:
        problem = learnable_problem(table, target, settings)
    steps.finish("problem", problem)
    kept = KeptFits(None if running.keep is None else Path(running.keep))
    with (
        _known_warnings_ignored(),
        nullcontext() if n_jobs is None else threadpool_limits(n_threads(n_jobs)),
        one_blas_thread(),  # so that sums do not depend on the number of cores
        start_workers(running.engine, n_jobs, running.address, also_here=True) as workers,
    ):
        return studied(problem, settings, steps, kept, workers, large)


@contextmanager
def _known_warnings_ignored() -> Iterator[None]:
    """Ignore warnings of small classes, which the caveats name, and of categories that only some folds contain."""
    known = "The number of unique classes is greater than|The least populated class|Column .* holds .* categories"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=known, category=UserWarning)
        yield


def studied(
    problem: Problem, settings: StudySettings, steps: Steps, kept: KeptFits, workers: Workers, large: LargeRows | None
) -> Study:
    """Compare, learn, interpret, map and explain; ``large`` are all rows of a table that does not fit in memory."""
    used, few_rows = _compared_rows(problem, settings)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, settings.random_state)
    methods = Methods(
        settings.random_state, problem.encoder, settings.n_jobs, settings.class_weight, preprocessing, kept,
        effective_dim=settings.effective_dim,
    )  # fmt: skip
    n_folds, few_folds = possible_folds(used.y, settings.splitting.folds, used.separation)
    comparison = compare(
        used.X, used.y, settings.learners if used.kind == "classes" else settings.learners_of_numbers, methods,
        n_folds=n_folds, report=steps.within(0.02, 0.6), groups=used.separation, measure=settings.score,
        weights=used.weights, workers=workers,
    )  # fmt: skip
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
        fitted if behind is fitted.model else FittedPipeline.of(behind), fitted.numbers(used.X), used.y,
        sources=sources if bands is None else bands.features_of(fitted.sources),
        effective_dim=settings.effective_dim, n_jobs=settings.n_jobs, report=steps.within(0.62, 0.68),
        groups=used.separation, weights=used.weights,
    )  # fmt: skip
    steps.finish("interpretation", interpretation)
    judge, judged_on = (model, used.X) if spectra is None else without_preprocessing(fitted, used.X)
    judged = verdicts(
        refitted(judge), judged_on, used.y, features=None if bands is None else bands.features_of_columns,
        relevance=interpretation.relevance, groups=used.separation, sample_weight=used.weights,
        n_jobs=settings.n_jobs, random_state=settings.random_state, engine=workers,
        progress=steps.within(0.68, 0.85),
    )  # fmt: skip
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
    return at_most(problem, COMPARED_ROWS, settings.random_state), (
        f"{rows}; the model was fitted to as many as its learner can use.",
    )


def _learned(
    problem: Problem, comparison: Comparison, settings: StudySettings, methods: Methods, large: LargeRows | None
) -> tuple[Any, Problem]:
    """Fit the chosen learner to as many rows as it can use; return the model and these rows."""
    name = comparison.chosen
    most = LEARNERS[name].traits.most_rows if name in LEARNERS else len(problem.y)
    rows = at_most(problem, most, settings.random_state)
    rows = rows if large is None else large.with_rare_rows(rows)
    model = methods.fitted(comparison.chosen, rows.X, rows.y, rows.separation, rows.weights)
    return remember_errors(model, comparison.predictions), rows

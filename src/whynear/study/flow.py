"""All steps of a study: from a table to a metric, its accuracy and the relevance of each feature."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from whynear.datasets.features_and_target import is_vector, table_with_target
from whynear.datasets.opening import Table, open_table
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
from whynear.study.learnable import caveats_of_weights, check_learnable, learners_for
from whynear.study.levels import levels_of
from whynear.study.maps import maps_of
from whynear.study.methods import LEARNED_ROWS, Methods
from whynear.study.preprocessing import Preprocessing
from whynear.study.progress import Finished, Steps
from whynear.study.reasons import Reason, reasons_of
from whynear.study.regression import compare_regressors, relevance_profile, with_directions
from whynear.study.residuals import Residuals, residuals_of
from whynear.study.result import Study
from whynear.study.sample import at_most
from whynear.study.settings import COMPARED_ROWS, ClassScore, ClassWeight, StudySettings
from whynear.study.spectra import spectra_of
from whynear.study.value_cases import ValueReason, explained_values, value_reasons
from whynear.tables.column_types import Categories, Impute
from whynear.tables.problem import Problem, names_of, problem_from
from whynear.tables.reading import NamedTable
from whynear.tables.refusal import with_suggestion
from whynear.utils.progress import ProgressArgument, listener
from whynear.verdict import verdicts


def study(
    table: Table | ArrayLike = "breast_cancer",
    target: Hashable | ArrayLike | None = None,
    *,
    learner: str = "auto",
    score: ClassScore = "accuracy",
    class_weight: ClassWeight = None,
    drop: Hashable | Iterable[Hashable] = (),
    index: Hashable | None = None,
    group: Hashable | None = None,
    time: Hashable | None = None,
    weight: Hashable | None = None,
    bins: int | None = None,
    categories: Categories = "auto",
    impute: Impute = "auto",
    missing: object | Iterable[object] = (),
    category: Hashable | Iterable[Hashable] = (),
    number: Hashable | Iterable[Hashable] = (),
    date: Hashable | Iterable[Hashable] = (),
    strict: bool = False,
    spectra: bool | None = None,
    drop_missing_target: bool = False,
    folds: int = 5,
    effective_dim: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    encoding: str = "auto",
    progress: ProgressArgument = None,
    finished: Finished | None = None,
    keep: str | Path | None = None,
) -> Study:
    """Learn which features decide that two cases of a table are near.

    Constant columns are left out, the others standardised. Learners are compared with plain kNN and NCA on the same
    held-out folds, and the simplest one within one standard error of the best is fitted to all rows. Its metric is
    interpreted: verdicts on features by refitting, relevance intervals and their tolerance, class profiles
    and maps of the cases. Selected cases are explained. No score uses rows that a choice was made on. A numeric target
    is predicted by `MinimumNormRegressor`, compared with plain kNN, ridge regression, PLS and the mean.

    Parameters
    ----------
    table : DataFrame, array-like, path or str
        The cases: a DataFrame, a file (CSV, TSV, Parquet, Excel), or the name of a data set. With the values of the
        target, the features as a DataFrame or as an array of shape (n_samples, n_features), whose columns are named
        x0, x1, ...
    target : str or array-like of shape (n_samples,), optional
        The column to predict; not needed for the name of a data set. A name that is not a str is converted: 3 is
        ``"3"``. Or the values to predict, one for each row of the table: ``study(X, y)``; they are named by the name
        of a Series, ``target`` without one.
    learner : str
        ``"auto"`` compares several; or one of ``"grlvq"``, ``"gmlvq"``, ``"lmnn"``, ``"lgrlvq"``, ``"lgmlvq"``,
        ``"lann"``.
    score : {"accuracy", "balanced_accuracy", "log_loss", "roc_auc"}
        The score by which learners are compared and chosen: the share of rows predicted right, the mean recall of the
        classes, the mean of -log of the probability of the true class, or the area under the ROC curve (of more than
        two classes, each against the rest, the mean weighted by their rows). A numeric target has its own, the share
        of variance explained. Verdicts and tolerances are stated in accuracy whatever the score is.
    class_weight : {"balanced"}, optional
        Let all classes count alike together when learners are fitted, however many rows they have. Learners that take
        no weights (LMNN, LANN) are not compared then.
    drop : str or sequence of str
        Columns to leave out.
    index : str, optional
        The column with the names of the rows; it is not a feature.
    group : str, optional
        The column that says which rows belong together, such as those of one patient; it is not a feature. Rows of a
        group are held out together, wherever rows are held out, so that scores and verdicts are those of new groups.
    time : str, optional
        The column with the time of each row, dates or numbers; it is not a feature. Wherever rows are held out, they
        are later than all rows learned from, so that scores and verdicts are those of rows to come. The first rows are
        never held out. Not together with ``group``.
    weight : str, optional
        The column with the weight of each row, a finite number that is not negative; it is not a feature. A row of
        weight two counts as two copies of it when a learner is fitted, one of weight zero is left out of the fit. The
        kernel ridge models of verdicts take no weights, and every held-out row counts once.
    bins : int, optional
        Sort a numeric target into this number of classes of equal size.
    categories : {"auto", "onehot"}
        ``"auto"`` takes text of at most 50 values as categories and sets other text aside; ``"onehot"`` takes all text
        as categories. Relevance is stated for the whole column.
    impute : {"auto", "median", "most_frequent"}
        What fills in missing values, in every fold from its training rows. ``"auto"`` is the median, with an indicator
        where missing values depend on the target.
    missing : str or sequence of str
        Values that stand for missing ones, such as ``"-999"``.
    category, number, date : str or sequence of str
        Columns to take as categories (codes that look like numbers), as numbers (everything else in them is missing),
        and as dates (as days since 1970-01-01; ``"day=%d/%m/%Y"`` gives their format).
    strict : bool
        Refuse whatever would be decided about a column automatically; the error says what to set.
    spectra : bool, optional
        Whether columns named by numbers, such as ``1206nm``, are the channels of a spectrum. Without it they are if
        there are at least twenty, in order, and neighbours are more alike than distant ones. The preprocessing of a
        spectrum is then chosen, in every fold from its training rows, and features are bands of the axis.
    drop_missing_target : bool
        Leave out rows without a target; an error without it.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows, or there are fewer groups.
    effective_dim : int, optional
        Number of directions of the data on which metrics must be equal; without it they may differ by a tolerance that
        is chosen on held-out rows, and the number of directions of a linear map of a numeric target is chosen too.
    random_state : int
        Seed of sample, folds and learner, ``--seed`` of the command; the same seed gives the same study.
    n_jobs : int, optional
        Number of threads; all cores without it.
    encoding : str
        Encoding of a text file; ``"auto"`` finds it.
    progress : bool or callable, optional
        True writes each step to stderr, with the share of the work done and the seconds since the start; a function is
        called with the name of each step and the share.
    finished : callable, optional
        Called with the name and the value of each part when it is finished: ``"settings"``, ``"problem"``,
        ``"comparison"``, ``"model"``, ``"interpretation"``, ``"verdicts"``.
    keep : str or path, optional
        A folder in which fitted learners are kept, so that the same study goes on from there after an interrupt. It
        may be removed when the study is done.

    Returns
    -------
    Study
    """
    settings = StudySettings(
        learner=learner,
        score=score,
        drop=tuple(names_of(drop)),
        index=None if index is None else str(index),
        group=None if group is None else str(group),
        time=None if time is None else str(time),
        weight=None if weight is None else str(weight),
        class_weight=class_weight,
        bins=bins,
        categories=categories,
        impute=impute,
        missing=tuple(names_of(missing)),
        category=tuple(names_of(category)),
        number=tuple(names_of(number)),
        date=tuple(names_of(date)),
        strict=strict,
        spectra=spectra,
        folds=folds,
        drop_missing_target=drop_missing_target,
        effective_dim=effective_dim,
        encoding=encoding,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    steps = Steps(listener(progress), finished)
    steps.finish("settings", settings)
    steps("read the table", 0.0)
    opened = lru_cache(partial(_opened, table, target, strict))  # a suggestion may need another encoding

    def learnable(encoding: str, **chosen: Any) -> Problem:
        problem = problem_from(*opened(encoding), measured=True, **chosen)
        check_learnable(problem, settings)
        return problem

    problem = with_suggestion(learnable, {"encoding": settings.encoding, **settings.of_table()})
    steps.finish("problem", problem)
    with _known_warnings_ignored(), nullcontext() if n_jobs is None else threadpool_limits(n_jobs):
        return _studied(problem, settings, steps, KeptFits(None if keep is None else Path(keep)))


def _opened(table: Any, target: Any, strict: bool, encoding: str) -> tuple[NamedTable, Hashable | None]:
    """Return the table and the name of its target, None where the table knows it."""
    if is_vector(target, table):
        return table_with_target(table, target), None
    return open_table(table, encoding, strict=strict), target


def _studied(problem: Problem, settings: StudySettings, steps: Steps, kept: KeptFits) -> Study:
    """Compare, learn, interpret, map and explain."""
    of_classes = problem.kind == "classes"
    used, few_rows = _compared_rows(problem, settings)
    preprocessing = None if problem.axis is None else Preprocessing(problem.axis, settings.random_state)
    methods = Methods(
        settings.random_state, problem.encoder, settings.n_jobs, settings.class_weight, preprocessing, kept
    )
    comparison, few_folds = _compared(used, settings, methods, steps)
    steps.finish("comparison", comparison)
    steps("learn the metric from all rows", 0.6)
    rows = at_most(problem, LEARNED_ROWS[comparison.chosen], settings.random_state) if of_classes else problem
    model = methods.fitted(comparison.chosen, rows.X, rows.y, rows.separation, rows.weights)
    if not of_classes:
        model = with_directions(
            model, problem.X, problem.y, settings.effective_dim, problem.separation, problem.weights
        )
        model = remember_errors(model, comparison.predictions)
    steps.finish("model", model)
    spectra = spectra_of(used, model, comparison.models, preprocessing, rows)
    bands = None if spectra is None else spectra.bands
    interpretation = _interpreted(used, model, settings, methods, steps, bands)
    steps.finish("interpretation", interpretation)
    judge, judged_on = (model, used.X) if spectra is None else spectra.refitted(model, used.X)
    judged = verdicts(
        _refitted(judge),
        judged_on,
        used.y,
        features=None if bands is None else bands.features_of_columns,
        relevance=interpretation.relevance,
        groups=used.separation,
        sample_weight=used.weights,
        n_jobs=settings.n_jobs,
        random_state=settings.random_state,
        progress=steps.within(0.68, 0.85),
    )
    steps.finish("verdicts", judged)
    steps("map the cases", 0.85)
    shown = used if used.times is None else used.rows(comparison.places)
    maps = maps_of(shown, model, settings.random_state)
    cases, reasons = _explained(shown, comparison, steps, bands)
    profiles = class_profiles(model) if of_classes else relevance_profile(model, problem.target)
    steps("done", 1.0)
    return Study(
        problem=used,
        comparison=comparison,
        errors=_errors(shown, comparison),
        model=model,
        interpretation=interpretation,
        profiles=profiles if bands is None else bands.profiles(profiles),
        maps=maps,
        levels=levels_of(
            shown.X if bands is None else bands.table(judged_on.iloc[comparison.places]), interpretation.relevance
        ),
        cases=cases,
        reasons=reasons,
        verdicts=judged,
        findings=findings_of(
            used, comparison, interpretation, judged, (*problem.caveats, *few_rows, *few_folds), spectra
        ),
        spectra=spectra,
        inputs=settings,
        versions={package: version(package) for package in ("whynear", "scikit-learn", "numpy")},
    )


@contextmanager
def _known_warnings_ignored() -> Iterator[None]:
    """Ignore warnings of small classes, which the caveats name, and of categories that only some folds contain."""
    known = "The number of unique classes is greater than|The least populated class|Column .* holds .* categories"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=known, category=UserWarning)
        yield


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


def _compared(
    used: Problem, settings: StudySettings, methods: Methods, steps: Steps
) -> tuple[Comparison, tuple[str, ...]]:
    """Compare learners and baselines on held-out folds; return a caveat too if fewer folds than wanted are possible."""
    n_folds, caveats = possible_folds(used.y, settings.folds, used.separation)
    caveats += caveats_of_weights(settings)
    report = steps.within(0.02, 0.6)
    if used.kind == "classes":
        learners, unweighed = learners_for(settings)
        caveats += unweighed
        comparison = compare_classifiers(
            used.X,
            used.y,
            learners,
            methods,
            n_folds=n_folds,
            report=report,
            groups=used.separation,
            measure=settings.score,
            weights=used.weights,
        )
        return comparison, caveats
    comparison = compare_regressors(
        used.X,
        used.y,
        methods,
        n_folds=n_folds,
        effective_dim=settings.effective_dim,
        report=report,
        groups=used.separation,
        weights=used.weights,
    )
    return comparison, caveats


def _refitted(model: Any) -> Any:
    """Return the learner to refit without features; a map is not held to directions that they may take away."""
    learner = clone(model)
    cut = [name for name in learner.get_params() if name.endswith("minimumnormregressor__effective_dim")]
    return learner.set_params(**dict.fromkeys(cut))


def _interpreted(
    used: Problem, model: Any, settings: StudySettings, methods: Methods, steps: Steps, bands: Bands | None
) -> Interpretation:
    fitted = FittedPipeline.of(model)
    sources = None if fitted.encoder is None else fitted.sources
    return interpret(
        fitted.without_encoder,
        fitted.numbers(used.X),
        used.y,
        sources=sources if bands is None else bands.features_of(fitted.sources),
        effective_dim=settings.effective_dim,
        methods=methods,
        report=steps.within(0.62, 0.68),
        groups=used.separation,
        weights=used.weights,
    )


def _explained(
    used: Problem, comparison: Comparison, steps: Steps, bands: Bands | None
) -> tuple[tuple[Case, ...], tuple[Reason, ...] | tuple[ValueReason, ...]]:
    """Return selected cases, and short explanations of those on the maps."""
    first, then = steps.within(0.9, 0.92), steps.within(0.92, 1.0)
    if used.kind == "classes":
        cases = explained_cases(used.X, used.y, comparison, first, bands)
        return cases, reasons_of(used.X, comparison, cases, then, bands)
    cases = explained_values(used.X, comparison, first, bands)
    return cases, value_reasons(used.X, comparison, cases, then, bands)


def _errors(used: Problem, comparison: Comparison) -> ErrorAnatomy | Residuals:
    if used.kind == "classes":
        return errors_of(comparison)
    return residuals_of(comparison.predictions, error_patterns(used.X, comparison.predictions, used.groups))

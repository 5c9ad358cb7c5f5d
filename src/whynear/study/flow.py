"""A study: from a table to a metric, its accuracy and the relevance of each feature."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from whynear.datasets.features_and_target import is_vector
from whynear.datasets.opening import Table
from whynear.engine.workers import Engine, check_engine, start_workers
from whynear.study.kept_fits import KeptFits
from whynear.study.large_rows import LargeRows
from whynear.study.large_tables import beyond_memory, large_problem
from whynear.study.progress import Finished, Steps
from whynear.study.result import Study
from whynear.study.settings import ClassScore, ClassWeight, StudySettings
from whynear.study.stages import studied
from whynear.study.table_problem import learnable_problem
from whynear.tables.problem import names_of
from whynear.utils.choices import Categories, Impute
from whynear.utils.progress import ProgressArgument, listener
from whynear.utils.threads import n_threads, one_blas_thread


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
    engine: Engine = "processes",
    address: str | None = None,
    encoding: str = "auto",
    memory: str | int | None = None,
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
        The cases: a DataFrame, a file (CSV, TSV, Parquet, Excel), a folder of Parquet or text files with the same
        columns, or the name of a data set. With the values of the
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
        Let all classes count alike together when learners are fitted, however many rows they have.
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
        weight two counts as two copies of it in the loss of a learner and in scores, one of weight zero is left out of
        both. The kernel ridge models of verdicts take no weights, and verdicts and tolerances count every row once.
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
        Number of processes and threads; all cores without it. It does not change the result.
    engine : {"processes", "dask"}
        Where learners are fitted: in processes on this machine, which start where they save time, or by the workers of
        a Dask cluster.
    address : str, optional
        The address of the scheduler of the cluster, such as ``"tcp://host:8786"``; without it, a cluster is started on
        this machine.
    encoding : str
        Encoding of a text file; ``"auto"`` finds it.
    memory : str or int, optional
        The memory that the study may take, such as ``"2GB"`` or a number of bytes; half of the machine's without it. A
        Parquet file or a folder that needs more is read part by part: a sample of its rows is compared and
        interpreted, and whole parts that the model has not seen are predicted.
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

    Examples
    --------
    >>> import pandas as pd
    >>> import whynear as wn
    >>> widths = [1.0, 1.5, 1.2, 1.8] * 5 + [4.0, 4.5, 4.2, 4.8] * 5
    >>> table = pd.DataFrame({"width": widths, "height": [3, 1, 2, 4] * 10, "kind": ["a"] * 20 + ["b"] * 20})
    >>> found = wn.study(table, "kind", learner="grlvq", folds=2)
    >>> found.comparison.chosen, found.verdicts.sets.best
    ('grlvq', ('width',))
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
        memory=memory,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    check_engine(engine, n_jobs, address)
    steps = Steps(listener(progress), finished)
    steps.finish("settings", settings)
    steps("read the table", 0.0)
    large: LargeRows | None = None
    if not is_vector(target, table) and (parted := beyond_memory(table, settings)) is not None:
        problem, large = large_problem(parted, target, settings, steps)
    else:
        problem = learnable_problem(table, target, settings)
    steps.finish("problem", problem)
    kept = KeptFits(None if keep is None else Path(keep))
    with (
        _known_warnings_ignored(),
        nullcontext() if n_jobs is None else threadpool_limits(n_threads(n_jobs)),
        one_blas_thread(),  # so that sums do not depend on the number of cores
        start_workers(engine, n_jobs, address, also_here=True) as workers,
    ):
        return studied(problem, settings, steps, kept, workers, large)


@contextmanager
def _known_warnings_ignored() -> Iterator[None]:
    """Ignore warnings of small classes, which the caveats name, and of categories that only some folds contain."""
    known = "The number of unique classes is greater than|The least populated class|Column .* holds .* categories"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=known, category=UserWarning)
        yield

"""The settings of a study, and how it is repeated."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from inspect import signature
from numbers import Integral
from os import PathLike
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from whynear.data.options import Reading, Splitting, option, written
from whynear.learn.registry import COMPARED, MINIMUM_NORM, OF_NUMBERS, STUDIED
from whynear.utils.text import bytes_of

Given = ParamSpec("Given")
Made = TypeVar("Made")
ClassScore = Literal["accuracy", "balanced_accuracy", "log_loss", "roc_auc"]  # numbers have a score of their own
ClassWeight = Literal["balanced"] | None
COMPARED_ROWS = 5_000  # at most, to compare learners, to interpret and to draw
LARGEST_SEED = 2**32 - 1  # that scikit-learn accepts


def check_seed(seed: object) -> int:
    """Return the seed of a study or a model as an int; an error if scikit-learn would not accept it."""
    if isinstance(seed, Integral) and not isinstance(seed, bool) and 0 <= int(seed) <= LARGEST_SEED:
        return int(seed)
    raise ValueError(
        f"The seed (random_state) must be a whole number from 0 to {LARGEST_SEED}, got {seed!r} instead (--seed 0)."
    )


@dataclass(frozen=True)
class Running:
    """Where and how a study is computed. Only ``memory`` can change its result.

    Parameters
    ----------
    engine : {"processes", "dask"}
        Where learners are fitted: in processes on this machine, which start where they save time, or by the workers of
        a Dask cluster.
    address : str, optional
        The address of the scheduler of the cluster, such as ``"tcp://host:8786"``; without it, a cluster is started on
        this machine.
    memory : str or int, optional
        The memory that the study may take, such as ``"2GB"`` or a number of bytes; half of the machine's without it. A
        Parquet file or a folder that needs more is read part by part: a sample of its rows is compared and
        interpreted, and whole parts that the model has not seen are predicted.
    keep : str or path, optional
        A folder in which fitted learners are kept, so that the same study goes on from there after an interrupt. It
        may be removed when the study is done.

    Examples
    --------
    >>> Running(memory="2GB")
    wn.Running(memory='2GB')
    """

    engine: Literal["processes", "dask"] = option(
        "processes", "Where the work is done: in processes here, or by a Dask cluster.", compare=False
    )
    address: str | None = option(
        None,
        "Where the scheduler of the Dask cluster is, such as tcp://host:8786; one starts here without.",
        compare=False,
    )
    memory: str | int | None = option(
        None, "The memory to keep within, such as 2GB; half of the machine's without it.", typed=str | None
    )
    keep: str | PathLike[str] | None = field(default=None, compare=False)

    __repr__ = written

    def __post_init__(self) -> None:
        from whynear.work.workers import check_engine  # here, since it imports pandas

        check_engine(self.engine, None, self.address)
        if self.memory is not None:
            bytes_of(self.memory)


def check_kinds(**values: object) -> None:
    """Refuse values of settings that are of another type, such as a dict."""
    for name, given in values.items():
        if not isinstance(given, kind := VALUES[name]):
            made = f"{name}=wn.{kind.__name__}(...)"
            raise TypeError(f"{name} must be a {kind.__name__}, got {given!r} instead. Write {made}.")


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study; see `whynear.study` for what each setting does.

    Settings that differ only in the number of threads, or in where the study is computed, are equal, because they give
    the same study.
    """

    learner: str = option(
        "auto", f"auto compares several; or {', '.join(STUDIED)}; for a measured target {' or '.join(OF_NUMBERS)}."
    )
    score: ClassScore = option("accuracy", "The score by which learners of classes are compared and chosen.")
    class_weight: ClassWeight = option(None, "balanced lets all classes count alike when learners are fitted.")
    reading: Reading = field(default_factory=Reading)
    splitting: Splitting = field(default_factory=Splitting)
    running: Running = field(default_factory=Running)
    effective_dim: int | None = option(
        None, "Directions of the data on which maps must agree; a tolerance without it.", least=1
    )
    random_state: int = option(
        0, "random_state of Python: the same seed gives the same result.", names=("--seed", "--random-state")
    )
    n_jobs: int | None = option(None, "Number of processes and threads; all cores without it.", compare=False)

    def __post_init__(self) -> None:
        check_kinds(reading=self.reading, splitting=self.splitting, running=self.running)
        check_seed(self.random_state)
        if self.learner not in (known := ("auto", *STUDIED, MINIMUM_NORM)):
            raise ValueError(f"There is no learner {self.learner!r}. Use one of {', '.join(known)} (--learner).")
        if self.score not in (scores := get_args(ClassScore)):
            raise ValueError(f"There is no score {self.score!r}. Use one of {', '.join(scores)} (--score).")
        if self.class_weight not in (None, "balanced"):
            raise ValueError(
                f"class_weight must be 'balanced' or None, got {self.class_weight!r} instead (--class-weight balanced)."
            )

    @classmethod
    def of(cls, **settings: Any) -> StudySettings:
        """Return the settings of which each one is given by its own name.

        >>> StudySettings.of(drop="id", folds=3).changed()
        {'drop': ['id'], 'folds': 3}
        """
        return cls(**grouped(settings))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners of classes to compare."""
        return COMPARED if self.learner == "auto" else (self.learner,)

    @property
    def learners_of_numbers(self) -> tuple[str, ...]:
        """The learners of numbers to compare."""
        return OF_NUMBERS if self.learner == "auto" else (self.learner,)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that change a study, by name, as plain numbers, strings and lists."""
        return {name: _plain(self[name]) for name, one in SETTINGS.items() if one.compare}

    def changed(self) -> dict[str, Any]:
        """Return the settings of `to_dict` that differ from their defaults."""
        return {name: value for name, value in self.to_dict().items() if value != _plain(SETTINGS[name].default)}

    def __getitem__(self, name: str) -> Any:
        home = HOMES.get(name)
        return getattr(self if home is None else getattr(self, home), name)


VALUES = {"reading": Reading, "splitting": Splitting, "running": Running}
HOMES = {one.name: home for home, kind in VALUES.items() for one in fields(kind)}
_FIELDS = {one.name: one for kind in (StudySettings, *VALUES.values()) for one in fields(kind)}
SETTINGS: dict[str, Field[Any]] = {  # in the order of study.json
    name: _FIELDS[name]
    for name in (
        "learner", "score", "class_weight", "drop", "index", "group", "time", "weight", "bins", "categories", "impute",
        "missing", "category", "number", "date", "strict", "spectra", "folds", "drop_missing_target", "effective_dim",
        "encoding", "memory", "random_state", "n_jobs", "engine", "address",
    )
}  # fmt: skip


def grouped(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name as the parameters of `whynear.study`: those of a table in a `Reading`, and so on."""
    values = {home: {name: settings[name] for name in settings if HOMES.get(name) == home} for home in VALUES}
    made = {home: VALUES[home](**given) for home, given in values.items() if given}
    return {**{name: value for name, value in settings.items() if name not in HOMES}, **made}


def with_old_names(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """Refuse a parameter that belongs to one of the values with an error that names the value."""
    known = signature(function).parameters

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        for name in kwargs:
            if name not in known and (home := HOMES.get(name)) is not None:
                way = f"{home}=wn.{VALUES[home].__name__}({name}=...)"
                way = f"Write {way}." if home in known else f"It is one of `whynear.study`: {way}."
                raise TypeError(f"{function.__name__} has no parameter {name!r}. {way}")
        return function(*args, **kwargs)

    return called


def option_of(setting: str) -> str:
    """Return the option of the command line for a setting.

    >>> option_of("drop_missing_target"), option_of("random_state")
    ('--drop-missing-target', '--seed')
    """
    return SETTINGS[setting].metadata.get("names", ["--" + setting.replace("_", "-")])[0]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def python_lines(source: str, target: str, settings: StudySettings) -> str:
    """Return the Python code that repeats a study."""
    words = [repr(source), repr(target), *python_words(settings.changed())]
    return f"import whynear as wn\n\nwn.study({', '.join(words)}).save('study')"


def python_words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as parameters of `whynear.study`.

    >>> python_words({"learner": "lann", "drop": ["a", "b"], "folds": 3})
    ["reading=wn.Reading(drop=['a', 'b'])", 'splitting=wn.Splitting(folds=3)', "learner='lann'"]
    """
    parameters = grouped(settings)
    values = [f"{name}={written(parameters.pop(name))}" for name in VALUES if name in parameters]
    return [*values, *(f"{name}={value!r}" for name, value in parameters.items())]


def shell_line(source: str, target: str, settings: StudySettings) -> str:
    """Return the shell command that repeats a study."""
    return shlex.join(["whynear", "study", source, "--target", target, *option_words(settings.changed())])


def option_words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as options of the command line.

    >>> option_words({"drop": ["a", "b"], "strict": True, "spectra": False})
    ['--drop', 'a', '--drop', 'b', '--strict', '--no-spectra']
    """
    words: list[str] = []
    for name, value in settings.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            words += _words_of(option_of(name), one)
    return words


def _words_of(option: str, value: Any) -> list[str]:
    """Return an option with its value; in one word if the value could be taken for an option."""
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    return [f"{option}={value}"] if str(value).startswith("-") else [option, str(value)]

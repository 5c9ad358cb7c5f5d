"""The settings of a study: their names, their defaults and their checks.

Nothing large is imported here, because the command line takes its defaults from this module when it starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal, get_args

from whynear.utils.choices import Categories, Impute
from whynear.utils.sizes import bytes_of

ClassScore = Literal["accuracy", "balanced_accuracy", "log_loss", "roc_auc"]  # numbers have a score of their own
ClassWeight = Literal["balanced"] | None
TABLE_SETTINGS = (
    "drop", "index", "group", "time", "weight", "bins", "categories", "impute", "missing", "category", "number", "date",
    "drop_missing_target", "strict", "spectra",
)  # fmt: skip
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
class StudySettings:
    """The settings of a study; see `whynear.study` for what each setting does.

    Settings that differ only in the number of threads are equal, because they give the same study.
    """

    learner: str = "auto"
    score: ClassScore = "accuracy"
    class_weight: ClassWeight = None
    drop: tuple[str, ...] = ()
    index: str | None = None
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    bins: int | None = None
    categories: Categories = "auto"
    impute: Impute = "auto"
    missing: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    strict: bool = False
    spectra: bool | None = None
    folds: int = 5
    drop_missing_target: bool = False
    effective_dim: int | None = None
    encoding: str = "auto"
    memory: str | int | None = None
    random_state: int = 0
    n_jobs: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_seed(self.random_state)
        if self.memory is not None:
            bytes_of(self.memory)
        if self.learner not in (known := ("auto", *_learners())):
            raise ValueError(f"There is no learner {self.learner!r}. Use one of {', '.join(known)} (--learner).")
        if self.score not in (scores := get_args(ClassScore)):
            raise ValueError(f"There is no score {self.score!r}. Use one of {', '.join(scores)} (--score).")
        if self.class_weight not in (None, "balanced"):
            raise ValueError(
                f"class_weight must be 'balanced' or None, got {self.class_weight!r} instead (--class-weight balanced)."
            )
        if not isinstance(self.folds, Integral) or self.folds < 2:
            raise ValueError(
                f"folds={self.folds!r} leaves no rows to fit or no rows to hold out. Use a whole number >= 2."
            )
        if self.spectra not in (None, True, False):
            raise ValueError(
                f"spectra must be True, False or None (found from the columns), got {self.spectra!r} instead."
            )
        if self.group is not None and self.time is not None:
            raise ValueError(
                f"group={self.group!r} and time={self.time!r} ask for different folds: whole groups, or later rows. "
                "Leave out one of them (--group, --time)."
            )
        for name, known in (("categories", get_args(Categories)), ("impute", get_args(Impute))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}, got {getattr(self, name)!r} instead. "
                    "strict=True refuses text and missing values."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that change a study, by name, as plain numbers, strings and lists."""
        return {name: _plain(getattr(self, name)) for name in self._names()}

    def of_table(self) -> dict[str, Any]:
        """Return the settings by which a table becomes a problem."""
        return {name: getattr(self, name) for name in TABLE_SETTINGS}

    def changed(self) -> dict[str, Any]:
        """Return the settings of `to_dict` that differ from their defaults."""
        defaults = {setting.name: _plain(setting.default) for setting in fields(self)}
        return {name: value for name, value in self.to_dict().items() if value != defaults[name]}

    def _names(self) -> list[str]:
        return [setting.name for setting in fields(self) if setting.compare]


def option_of(setting: str) -> str:
    """Return the option of the command line for a setting.

    >>> option_of("drop_missing_target"), option_of("random_state")
    ('--drop-missing-target', '--seed')
    """
    return "--" + ("seed" if setting == "random_state" else setting.replace("_", "-"))


def _learners() -> tuple[str, ...]:
    from whynear.study.methods import SIMPLEST_FIRST  # here, since the learners import scikit-learn

    return SIMPLEST_FIRST


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value

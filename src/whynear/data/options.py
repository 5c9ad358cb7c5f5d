"""How a table becomes a problem, and which rows are held out together: names, defaults, limits and help; refusals.

Nothing large is imported here, because the command line takes its options from this module when it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

Categories = Literal["auto", "onehot"]
Impute = Literal["auto", "median", "most_frequent"]
if TYPE_CHECKING:
    Names: TypeAlias = Any  # what `names_of` takes; held as a tuple of str
else:
    Names = tuple[str, ...]


def option(default: Any, help: str, *, compare: bool = True, **more: Any) -> Any:
    """Return a setting: a field with its default and its help text.

    ``least`` and ``most`` are limits of the studio's form; ``names`` are the options of the command line where they are
    not made from the name of the field, and ``typed`` is what the command line takes where that is another type.
    """
    return field(default=default, compare=compare, metadata={"help": help, **more})


def written(value: Any) -> str:
    """Return the Python code of a value of settings, with those that differ from their defaults."""
    given = ((one.name, getattr(value, one.name)) for one in fields(value) if getattr(value, one.name) != one.default)
    return f"wn.{type(value).__name__}({', '.join(f'{name}={_literal(held)}' for name, held in given)})"


def _literal(value: Any) -> str:
    """Return the code of a value; that of one name or several where the value is a tuple."""
    return repr(value if not isinstance(value, tuple) else value[0] if len(value) == 1 else list(value))


@dataclass(frozen=True)
class Reading:
    """How a table becomes features and a target.

    A name that is not a str is converted: 3 is ``"3"``.

    Parameters
    ----------
    drop : str or sequence of str
        Columns to leave out.
    index : str, optional
        The column with the names of the rows; it is not a feature.
    weight : str, optional
        The column with the weight of each row, a finite number that is not negative; it is not a feature. A row of
        weight two counts as two copies of it in the loss of a learner and in scores, one of weight zero is left out of
        both. The kernel ridge models of verdicts take no weights, and verdicts and tolerances count every row once.
    bins : int, optional
        Sort a numeric target into this number of classes of equal size.
    categories : {"auto", "onehot"}
        ``"auto"`` takes text of at most 50 values as categories and sets other text aside, also columns that only name
        or number the rows; ``"onehot"`` takes all text as categories. Relevance is stated for the whole column.
    impute : {"auto", "median", "most_frequent"}
        What fills in missing values, in every fold from its training rows. ``"auto"`` is the median, with an indicator
        where missing values depend on the target.
    missing : str or sequence of str
        Values that stand for missing ones, such as ``"-999"``.
    category, number, date : str or sequence of str
        Columns to take as categories (codes that look like numbers), as numbers (everything else in them is missing),
        and as dates (as days since 1970-01-01; ``"day=%d/%m/%Y"`` gives their format).
    drop_missing_target : bool
        Leave out rows without a target; an error without it.
    strict : bool
        Refuse whatever would be decided about a column automatically; the error names what to set.
    spectra : bool, optional
        Whether columns named by numbers, such as ``1206nm``, are the channels of a spectrum. Without it they are if
        there are at least twenty, in order, and neighbours are more alike than distant ones. The preprocessing of a
        spectrum is then chosen, in every fold from its training rows, and features are bands of the axis.
    encoding : str
        Encoding of a text file; ``"auto"`` finds it.

    Examples
    --------
    >>> Reading(drop="id", missing=[-999])
    wn.Reading(drop='id', missing='-999')
    """

    drop: Names = option((), "A column to leave out; can be given several times.")
    index: str | None = option(None, "The column with the names of the rows; without it they are numbered from 1.")
    weight: str | None = option(None, "The column with the weight of each row in fits and scores.")
    bins: int | None = option(None, "Sort a numeric target into this number of classes of equal size.")
    categories: Categories = option(
        "auto", "auto takes text of few values as categories and sets other text aside; onehot takes all text."
    )
    impute: Impute = option(
        "auto", "Fill in missing values; auto is the median, with an indicator where they say something."
    )
    missing: Names = option((), "A value that stands for a missing one, such as '?'; can be repeated.")
    category: Names = option((), "A column of codes that look like numbers, taken as categories.")
    number: Names = option((), "A column taken as numbers; everything else in it counts as missing.")
    date: Names = option((), "A column of dates, taken as days; 'COLUMN=%d/%m/%Y' gives their format.")
    drop_missing_target: bool = option(False, "Leave out rows without a target.")
    strict: bool = option(False, "Refuse whatever would be decided about a column automatically.")
    spectra: bool | None = option(
        None, "Take columns named by numbers, such as 1206nm, as a spectrum; found out without it."
    )
    encoding: str = option("auto", "Encoding of a text file; auto finds it.")

    __repr__ = written

    def __post_init__(self) -> None:
        _as_names(self, "index", "weight")
        for name in ("drop", "missing", "category", "number", "date"):
            object.__setattr__(self, name, names_of(getattr(self, name)))
        if self.spectra not in (None, True, False):
            raise ValueError(
                f"spectra must be True, False or None (found from the columns), got {self.spectra!r} instead."
            )
        for name, known in (("categories", get_args(Categories)), ("impute", get_args(Impute))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}, got {getattr(self, name)!r} instead. "
                    "strict=True refuses text and missing values."
                )

    @property
    def named(self) -> tuple[str, ...]:
        """The columns whose kind is given."""
        return (*self.category, *self.number)


@dataclass(frozen=True)
class Splitting:
    """Which rows are held out together, wherever rows are held out, and in how many folds.

    Parameters
    ----------
    group : str, optional
        The column with the group of each row, such as its patient; it is not a feature. Rows of a group are held out
        together, so that scores and verdicts are those of new groups.
    time : str, optional
        The column with the time of each row, dates or numbers; it is not a feature. Rows held out are later than all
        rows learned from, so that scores and verdicts are those of rows to come. The first rows are never held out. Not
        together with ``group``.
    folds : int
        Number of folds; fewer where the smallest class has fewer rows, or there are fewer groups.

    Examples
    --------
    >>> Splitting(group="patient")
    wn.Splitting(group='patient')
    """

    group: str | None = option(None, "The column with the group of each row, such as its patient, held out together.")
    time: str | None = option(
        None, "The column with the time of each row; rows held out are later than all others.", names=("--time",)
    )
    folds: int = option(5, "Number of folds to hold out in turn.", least=2, most=100)

    __repr__ = written

    def __post_init__(self) -> None:
        _as_names(self, "group", "time")
        if not isinstance(self.folds, Integral) or self.folds < 2:
            raise ValueError(
                f"folds={self.folds!r} leaves no rows to fit or no rows to hold out. Use a whole number >= 2."
            )
        if self.group is not None and self.time is not None:
            raise ValueError(
                f"group={self.group!r} and time={self.time!r} ask for different folds: whole groups, or later rows. "
                "Leave out one of them (--group, --time)."
            )


def names_of(columns: Hashable | Iterable[object] | None) -> tuple[str, ...]:
    """Return one name or several as a tuple of str; none for None."""
    if columns is None:
        return ()
    if isinstance(columns, Iterable) and not isinstance(columns, str):
        return tuple(str(name) for name in columns)
    return (str(columns),)


def _as_names(value: Any, *names: str) -> None:
    for name in names:
        if (given := getattr(value, name)) is not None:
            object.__setattr__(value, name, str(given))


Made = TypeVar("Made")
MOST_ROUNDS = 12  # of refusals that are collected into one suggestion


class TableRefused(ValueError):
    """A table that is not taken as it is, with the settings of a study that would take it.

    ``settings`` are those that remedy what the message names. `with_suggestion` extends them by those that remedy
    everything else, and sets ``is_tried``.
    """

    def __init__(self, message: str, **settings: Any) -> None:
        super().__init__(message)
        self.settings = settings
        self.is_tried = False


def with_suggestion(make: Callable[[Reading], Made], reading: Reading) -> Made:
    """Call ``make`` with a reading; if it refuses, find further settings with which it does not, and raise.

    The error then has all of them, so that a user needs one more try.
    """
    try:
        return make(reading)
    except TableRefused as refusal:
        found = refusal.settings
        for _ in range(MOST_ROUNDS):
            other_reading = replace(reading, **merged({name: getattr(reading, name) for name in found}, found))
            try:
                make(other_reading)
            except TableRefused as other:
                found = merged(found, other.settings)
            except ValueError:
                break
            else:
                refusal.settings, refusal.is_tried = found, True
                refusal.add_note(f"Try: reading={written(other_reading)}")
                break
        raise


def merged(settings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with others added: tuples are joined, everything else is replaced.

    >>> merged({"drop": ("a",), "strict": True}, {"drop": ("b",)})
    {'drop': ('a', 'b'), 'strict': True}
    """
    result = dict(settings)
    for name, value in others.items():
        before = result.get(name, ())
        result[name] = tuple(dict.fromkeys((*before, *value))) if isinstance(value, tuple) else value
    return result

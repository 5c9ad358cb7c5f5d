"""The encoder of a table: categories, dates and missing values as numbers."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from whynear.data.cells import DateColumn, holds_strings, spelling
from whynear.data.column_reading import DATE, as_recorded
from whynear.utils.arrays import Array
from whynear.utils.columns import as_numbers, check_finite, check_same_columns, is_number, numbers
from whynear.utils.text import counted, listed


def as_known_categories(column: pd.Series, categories: Collection[str]) -> pd.Series:
    """Return a column with its values written as the categories of a model; other numbers are written without ``.0``.

    Texts may have blanks around them. A whole number is a float where its column has gaps, and what is text beside
    other texts is a number or a truth value without them.

    >>> as_known_categories(pd.Series([1.0, None, 7.0]), ["1", "2", "X"]).tolist()
    ['1', nan, '7']
    """
    known = set(categories)
    different = column if pd.api.types.is_object_dtype(column) else column.unique()  # objects may have no hash
    unlike = {value for value in different if _is_value(value) and str(value) not in known}
    if not unlike:
        return column
    meant: dict[Any, list[str]] = {}
    for name in sorted(known):
        meant.setdefault(_meaning(name), []).append(name)
    written = {}
    for value in unlike:  # a category if it is a single one; otherwise a text as it is and a number in short
        short = str(value) if isinstance(value, bool | np.bool_) else spelling(value)
        same = [short] if short in known else meant.get(_meaning(short), [])
        written[value] = same[0] if len(same) == 1 else value if isinstance(value, str) else short
    cells = [written.get(value, value) if _is_value(value) else value for value in column]
    return pd.Series(cells, index=column.index, name=column.name, dtype=object)


def _is_value(value: Any) -> bool:
    return isinstance(value, str) or (is_number(value) and value == value)


def _meaning(text: str) -> object:
    """Return the number or the truth value that a text is; any other text itself."""
    if text.casefold() in ("true", "false"):
        return text.casefold()
    numbers = as_numbers(pd.Series([text], dtype=object), text=True)
    return text if numbers is None else float(numbers[0])


FEWEST_GAPS = 5  # and as many values, in a column whose gaps are tested
LARGEST_P_VALUE = 0.01  # of all columns with gaps together


def informative_gaps(X: pd.DataFrame, y: ArrayLike) -> list[str]:
    """Return the columns in which a value is missing more often for some targets than for others.

    Missing and known values are compared by Fisher's exact test for two classes, a chi-squared test for more, and the
    test of Mann and Whitney for a numeric target; a p-value below 0.01 over the number of columns with gaps counts.

    >>> X = pd.DataFrame({"a": [None] * 10 + [1.0] * 10, "b": [None, 1.0] * 10})
    >>> informative_gaps(X, ["u"] * 10 + ["v"] * 10)
    ['a']
    """
    return informative({str(name): X[name].isna().to_numpy() for name in X}, y)


def informative(gaps: Mapping[str, NDArray[np.bool_]], y: ArrayLike) -> list[str]:
    """Return the columns of `informative_gaps`, given where the values of each column are missing."""
    target = np.asarray(y)
    tested = [name for name, gone in gaps.items() if min(gone.sum(), (~gone).sum()) >= FEWEST_GAPS]
    p_values = {name: _p_value(gaps[name], target) for name in tested}
    return [name for name, p_value in p_values.items() if p_value * len(p_values) < LARGEST_P_VALUE]


def _p_value(missing: np.ndarray, target: np.ndarray) -> float:
    if target.dtype.kind == "f":
        return float(stats.mannwhitneyu(target[missing], target[~missing]).pvalue)
    codes = np.unique(target, return_inverse=True)[1]
    table = np.stack([np.bincount(codes[chosen], minlength=codes.max() + 1) for chosen in (missing, ~missing)])
    if table.shape[1] < 2:
        return 1.0
    if table.shape[1] == 2:
        return float(stats.fisher_exact(table).pvalue)
    return float(stats.chi2_contingency(table).pvalue)


NEITHER_CATEGORY = 0.5  # in the one column of two categories
ENCODING_HINT = "give every category its own column (categories='onehot'), or leave it out"


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with categories and missing values into numbers, as the first step of a Pipeline.

    Metrics learned behind it are stated in the columns it makes; `explain`, `class_profiles` and the study sum these
    for each column of the table.

    Parameters
    ----------
    categories : {"onehot"}, default=None
        Give every category of a text column one column of zeros and ones, named ``column=category``; two categories
        share a single column. None takes numbers only.
    impute : {"median", "most_frequent"}, default=None
        What replaces missing numbers; missing categories are replaced by the most frequent one. None refuses missing
        values, except in columns without any value, which become zeros.
    indicators : bool, default=False
        Give a column of zeros and ones, named ``column=missing``, to each column whose missing values depend on the
        target (see `informative_gaps`). It counts as a part of that column.
    readings : dict of str to str, default=None
        How columns of text are read: ``"number ,"`` with the sign before decimals, ``"date %d.%m.%Y"`` with the format
        (days since 1970-01-01), ``"category"`` for codes that look like numbers, ``"number-or-missing ."`` where all
        that is not a number is missing.
    missing : dict of str to tuple of str, default=None
        By column, texts and numbers that stand for missing values.

    Attributes
    ----------
    categories_ : dict of str to list of str
        The categories of each column that has them, sorted.
    orders_ : dict of str to list of str
        The categories of each column of ordered categories, in their order; the column becomes their places, from 0.
    indicators_ : list of str
        The columns with an indicator of missing values.
    fill_values_ : dict of str to float or str
        What replaces the missing values of each column.
    n_filled_ : dict of str to int
        Number of missing values of each column in the table it was fitted on.
    timed_ : list of str
        The columns of dates that have times of day.
    sources_ : list of str
        For each column made, the column of the table it comes from.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "green"]})
    >>> TableEncoder("onehot", "median").fit_transform(table)
       size  colour=blue  colour=green  colour=red
    0   1.0          0.0           0.0         1.0
    1   2.0          1.0           0.0         0.0
    2   3.0          0.0           1.0         0.0
    """

    feature_names_in_: NDArray[Any]
    n_features_in_: int
    categories_: dict[str, list[str]]
    orders_: dict[str, list[str]]
    fill_values_: dict[str, Any]
    n_filled_: dict[str, int]
    timed_: list[str]
    indicators_: list[str]
    sources_: list[str]
    made_: list[str]

    def __init__(
        self,
        categories: Literal["onehot"] | None = None,
        impute: Literal["median", "most_frequent"] | None = None,
        indicators: bool = False,
        readings: Mapping[str, str] | None = None,
        missing: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.categories = categories
        self.impute = impute
        self.indicators = indicators
        self.readings = readings
        self.missing = missing

    def fit(self, X: pd.DataFrame, y: ArrayLike | None = None) -> Self:
        """Find the categories, the values that replace missing ones, and with a target the informative gaps."""
        self.check_settings()
        frame = as_recorded(_frame(X), self.readings or {}, self.missing or {})
        return self.fit_columns(list(frame.columns), (frame[name] for name in frame), y)

    def check_settings(self) -> None:
        """Refuse parameters of other values."""
        if self.categories not in (None, "onehot") or self.impute not in (None, "median", "most_frequent"):
            raise ValueError(
                "TableEncoder takes categories None or 'onehot' and impute None, 'median' or 'most_frequent', "
                f"got {self.categories!r} and {self.impute!r} instead."
            )

    def fit_columns(self, columns: Sequence[Any], values: Iterable[pd.Series[Any]], y: ArrayLike | None = None) -> Self:
        """Learn from the columns of a table that was `read`, one after the other; `fit` does so."""
        self.feature_names_in_ = np.array(columns, dtype=object)
        self.n_features_in_ = len(columns)
        self.categories_ = {}
        self.orders_ = {}
        self.fill_values_ = {}
        self.n_filled_ = {}
        self.timed_ = []
        gaps = {}
        for name, column in zip(map(str, columns), values, strict=True):
            self._learn_column(name, column)
            if self.indicators and y is not None:
                gaps[name] = column.isna().to_numpy()
        self.indicators_ = informative(gaps, y) if y is not None else []
        names, self.sources_ = [], []
        for name in map(str, columns):
            made = [f"{name}={category}" for category in self._shown(name)] if name in self.categories_ else [name]
            made += [f"{name}=missing"] * (name in self.indicators_)
            names += made
            self.sources_ += [name] * len(made)
        self.made_ = kept_apart(names)
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the table as numbers; a category that was not in ``fit`` is encoded as none of the known ones."""
        check_is_fitted(self)
        check_same_columns(list(_frame(X).columns), list(self.feature_names_in_), "X")
        return self.made_of(X)

    def made_of(self, table: pd.DataFrame, what: str = "X") -> pd.DataFrame:
        """Return a table that has the columns in their order as `transform` does; ``what`` is its name in errors."""
        frame = self.read(table)
        blocks = [np.empty((len(frame), 0))]
        for name in map(str, frame):
            blocks.append(self._known(name, frame[name], what))
            if name in self._marked:
                blocks.append(np.asarray(frame[name].isna(), dtype=np.float64)[:, None])
        values = np.hstack(blocks)
        check_finite(values, self.made_, what)
        return pd.DataFrame(values, index=frame.index, columns=self.made_)

    def read_frame(self, X: Any) -> pd.DataFrame:
        """Return a table as `read` does; refuse anything but a DataFrame."""
        return self.read(_frame(X))

    def read(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a table read by ``readings`` and ``missing``, with known categories written as in ``fit``."""
        frame = as_recorded(X, self.readings or {}, self.missing or {})
        known = {**getattr(self, "categories_", {}), **self._orders}
        given = {name: frame[name] for name in known if name in frame.columns}
        written = {name: as_known_categories(column, known[name]) for name, column in given.items()}
        changed = {name: column for name, column in written.items() if column is not given[name]}
        return frame.assign(**changed) if changed else frame

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` makes."""
        check_is_fitted(self)
        if input_features is not None:
            check_same_columns(list(input_features), list(self.feature_names_in_), "input_features")
        return np.array(self.made_, dtype=object)

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns made (the last axis) summed for each column of the table."""
        array = np.asarray(values, dtype=np.float64)
        _, places = np.unique(pd.factorize(np.array(self.sources_))[0], return_index=True)
        return np.asarray(np.add.reduceat(array, places, axis=-1))

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one encoded case in the columns of the table: numbers, dates, and the categories it is nearest to."""
        row, sources = np.asarray(values, dtype=np.float64), np.array(self.sources_)
        held: list[Any] = []
        for name in self.feature_names_in_:
            own = row[sources == name]
            own = own[:-1] if name in self._marked else own
            known = self.categories_.get(name)
            if name in self._orders:
                order = self._orders[name]
                held.append(order[int(np.clip(round(own[0]), 0, len(order) - 1))] if np.isfinite(own[0]) else None)
            elif known is None:
                held.append(self.shown_value(name, float(own[0])))
            elif len(own) == 1:
                held.append(known[int(own[0] > NEITHER_CATEGORY)] if np.isfinite(own[0]) else None)
            else:
                held.append(known[int(np.argmax(own))] if np.isfinite(own).all() and own.any() else None)
        return held

    def shown_value(self, name: str, value: Any) -> Any:
        """Return a value of a column as it is shown: the days of a column of dates as a date, others unchanged."""
        return self._dates_of(name).written(value) if self._holds_dates(name) else value

    def with_dates(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a table with all dates written as ISO 8601 does: 2022-03-04, with the time where a column has times.

        >>> encoder = TableEncoder(readings={"day": "date %d.%m.%Y"}).fit(pd.DataFrame({"day": ["4.3.2022"]}))
        >>> encoder.with_dates(pd.DataFrame({"day": [19055.0], "size": [1.5]}))
                  day  size
        0  2022-03-04   1.5
        """
        names = [name for name in self.date_columns if name in X.columns]
        if not names:
            return X
        read = as_recorded(X[names], self.readings or {}, self.missing or {})
        written = {name: [self.shown_value(name, value) for value in read[name]] for name in names}
        return X.assign(**{name: pd.Series(texts, X.index, dtype=object) for name, texts in written.items()})

    @property
    def date_columns(self) -> dict[str, DateColumn]:
        """The columns that hold dates, each with how its days are written."""
        return {name: self._dates_of(name) for name in self.readings or {} if self._holds_dates(name)}

    def way_of(self, name: str) -> dict[str, Any]:
        """Return everything that determines what is made of a column of the table, each with a word for it."""
        return {
            "categories": self.categories_.get(name, self._orders.get(name)),
            "ordered": name in self._orders,
            "missing values become": self.fill_values_.get(name),
            "indicator of missing values": name in self._marked,
            "read as": (self.readings or {}).get(name),
            "taken as missing": list((self.missing or {}).get(name, ())),
        }

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that hold categories."""
        return (*self.categories_, *self._orders)

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories; those with an order in their order."""
        return {**self.categories_, **self._orders}

    @property
    def filled_columns(self) -> tuple[str, ...]:
        """The columns in which missing values are filled in."""
        return tuple(self.fill_values_)

    @property
    def _orders(self) -> dict[str, list[str]]:
        return getattr(self, "orders_", {})  # files of the first format have none

    @property
    def _marked(self) -> list[str]:
        return getattr(self, "indicators_", [])  # files of the first format have none

    def _holds_dates(self, name: str) -> bool:
        return (self.readings or {}).get(name, "").partition(" ")[0] == DATE

    def _dates_of(self, name: str) -> DateColumn:
        return DateColumn(has_times=name in getattr(self, "timed_", ()))  # older files have none

    def _shown(self, name: str) -> list[str]:
        """Return the categories that get a column: of two only the second."""
        known = self.categories_[name]
        return known[1:] if len(known) == 2 else known

    def _learn_column(self, name: str, column: pd.Series[Any]) -> None:
        missing = column.isna().to_numpy()
        if missing.all():
            self.fill_values_[name] = 0.0
            return
        if self._holds_dates(name) and pd.api.types.is_numeric_dtype(column) and (column[~missing] % 1).any():
            self.timed_.append(name)
        if is_ordered(column):
            self.orders_[name] = [str(category) for category in column.cat.categories]
            column = pd.Series(self._places(name, column))
        if holds_text(column):
            if self.categories is None:
                raise ValueError(f"Column {name!r} holds text, such as {column[~missing].iloc[0]!r}: {ENCODING_HINT}.")
            self.categories_[name] = sorted(set(column[~missing].astype(str)))
        if self.impute is not None:
            known = column[~missing].astype(str if name in self.categories_ else float)
            by_median = self.impute == "median" and name not in self.categories_
            fill = known.median() if by_median else known.mode().iloc[0]
            self.fill_values_[name] = fill if name in self.categories_ else float(fill)
            if missing.any():
                self.n_filled_[name] = int(missing.sum())

    def _places(self, name: str, column: pd.Series[Any]) -> Array:
        """Return the places of ordered categories in their order; the middle one for others."""
        known = {category: place for place, category in enumerate(self.orders_[name])}
        texts = column.astype(object).map(str, na_action="ignore")
        if unknown := sorted(set(texts.dropna()) - set(known)):
            warnings.warn(
                f"Column {name!r} holds {listed(unknown)}, which is none of the categories the model was fitted with: "
                "it is encoded as the middle one.",
                stacklevel=4,
            )
        middle = (len(known) - 1) / 2
        return np.array([np.nan if pd.isna(text) else known.get(text, middle) for text in texts], dtype=np.float64)

    def _known(self, name: str, column: pd.Series[Any], what: str) -> Array:
        if name in self._orders:
            column = pd.Series(self._places(name, column), index=column.index, name=name)
        missing = column.isna()
        if name in self.fill_values_ and missing.any():
            column = column.astype(object).where(~missing, self.fill_values_[name])
        if name not in self.categories_:
            return numbers(column, what)[:, None]
        if column.isna().any():
            raise ValueError(
                f"{what} lacks a value in {counted(int(column.isna().sum()), 'row')} of column {name!r}. Fill it in, "
                "or use impute."
            )
        texts, known = column.astype(str).to_numpy(), self.categories_[name]
        shown = self._shown(name)
        indicators = (texts[:, None] == np.array(shown, dtype=object)).astype(np.float64)
        unknown = ~np.isin(texts.astype(object), known)
        if unknown.any():
            warnings.warn(
                f"Column {name!r} holds {listed(sorted(set(texts[unknown])))}, which is none of the categories the "
                "model was fitted with: it is encoded as none of them.",
                stacklevel=3,
            )
            indicators[unknown] = NEITHER_CATEGORY if len(known) == 2 else 0.0
        return indicators


def holds_text(column: pd.Series[Any]) -> bool:
    """Return whether a column holds text or categories, of any dtype."""
    return isinstance(column.dtype, pd.CategoricalDtype) or holds_strings(column)


def is_ordered(column: pd.Series[Any]) -> bool:
    """Return whether a column holds categories with an order."""
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def _frame(X: Any) -> pd.DataFrame:
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"TableEncoder takes a DataFrame, got {type(X).__name__} instead: columns need names.")
    return X


def kept_apart(names: Sequence[str]) -> list[str]:
    """Return the names made unique by apostrophes: the table may already have a column 'a=b'."""
    taken: dict[str, None] = {}
    for name in names:
        while name in taken:
            name += "'"
        taken[name] = None
    return list(taken)

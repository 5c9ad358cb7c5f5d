"""The explanations of several predictions, as a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import pandas as pd

from whynear.explain.explanation import Explanation, plain
from whynear.explain.value_explanation import ValueExplanation
from whynear.utils import html
from whynear.utils.row_names import plain_name
from whynear.utils.text import counted
from whynear.utils.values import ByValue


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(ByValue, Sequence[Explanation | ValueExplanation]):
    """The explanation of each row of a table, in its order; a place, from 0, gives one, a slice several.

    Attributes
    ----------
    rows : tuple of int or str
        The names of the explained rows: the labels of the index of a DataFrame, unless it is the default one, or
        numbers from 1.
    explanations : tuple of Explanation or of ValueExplanation
        Their explanations.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> several = wn.explain(wn.GRLVQ(random_state=0).fit(iris.X, iris.y), iris.X.iloc[[0, 60, 120]])
    >>> several, several.of(60).prediction
    (<explanations of 3 rows>, 1)
    >>> [why.prediction for why in several]
    [0, 1, 2]
    """

    rows: tuple[Any, ...]
    explanations: tuple[Explanation | ValueExplanation, ...]

    @overload
    def __getitem__(self, place: int) -> Explanation | ValueExplanation: ...
    @overload
    def __getitem__(self, place: slice) -> Explanations: ...
    def __getitem__(self, place: int | slice) -> Explanation | ValueExplanation | Explanations:
        if isinstance(place, slice):
            return Explanations(self.rows[place], self.explanations[place])
        return self.explanations[place]

    def __len__(self) -> int:
        return len(self.explanations)

    def __repr__(self) -> str:
        return f"<explanations of {counted(len(self), 'row', 'rows')}>"

    def of(self, row: Any) -> Explanation | ValueExplanation:
        """Return the explanation of the row with this name."""
        name = plain_name(row)
        places = [place for place, known in enumerate(self.rows) if known == name]
        if len(places) != 1:
            rows = counted(len(places), "row", "rows")
            raise ValueError(
                f"{rows} called {name!r} were explained, and one is needed. Take it by its place, from 0: [0]."
            )
        return self.explanations[places[0]]

    def frame(self) -> pd.DataFrame:
        """Return one line per row, with its name as index.

        For classes, its columns are the prediction and its probability, the name and the distance of the nearest case
        of the predicted class, the class and the distance of the nearest case of another (``other``,
        ``other_distance``), the feature that makes this one most distant (``held_off_by``), and the number of unusual
        values. For a measured target: the prediction and the mean prediction, the feature of the largest contribution
        (``moved_by``) and this, the name of the nearest row, what was measured there and its distance, and the number
        of unusual values.
        """
        index = pd.Index(self.rows, name="row")
        return pd.DataFrame([why.summary() for why in self.explanations], index=index, columns=self._columns)

    @property
    def _columns(self) -> list[str]:
        return list(self.explanations[0].SUMMARY if self.explanations else Explanation.SUMMARY)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return everything as plain numbers, strings and lists: for each row its name and its explanation."""
        return [{"row": plain(row), **why.to_dict()} for row, why in zip(self.rows, self.explanations, strict=True)]

    def _repr_html_(self) -> str:
        frame = self.frame().head(html.MOST_ROWS)
        cells = [[str(row), *map(plain, line)] for row, line in zip(frame.index, frame.to_numpy(), strict=True)]
        shown = [["" if cell is None else cell for cell in line] for line in cells]
        more = html.more_of(len(self), len(frame), "row")
        return html.block(html.heading(repr(self)[1:-1].capitalize()), html.table(["row", *self._columns], shown, more))

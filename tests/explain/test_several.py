import json
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from tests.helpers.explained_learners import LEARNERS, fitted, table
from tests.helpers.notebook_html import HOSTILE, shown
from whynear import GRLVQ, Explanation, Explanations
from whynear.explain import explain

PLACES = [0, 70, 133]


def named():
    return table()[0].iloc[PLACES].set_axis(["ann", "bob", "eve"], axis=0)


@pytest.mark.parametrize("name", LEARNERS)
def test_each_explanation_is_that_of_its_row(name):
    model, X = fitted(name, True), table()[0]
    several = explain(model, X.iloc[PLACES])
    assert isinstance(several, Sequence)
    assert list(several) == [explain(model, X.iloc[place]) for place in PLACES]


def test_explanations_are_found_by_place_by_slice_and_by_the_name_of_the_row():
    several = explain(fitted("GMLVQ", False), named())
    assert several.rows == ("ann", "bob", "eve")
    assert several[1] == several[-2] == several.of("bob") != several[0]
    assert several[1:] == Explanations(("bob", "eve"), (several[1], several[2]))
    assert several != several[1:]


@pytest.mark.parametrize("to", [np.asarray, lambda X: X.reset_index(drop=True)])
def test_rows_without_names_are_numbered_from_one(to):
    several = explain(fitted("GMLVQ", False), to(named()))
    assert several.rows == (1, 2, 3)
    assert several.of(3) == several[2]


def test_a_table_of_one_row_gives_one_explanation():
    assert isinstance(explain(fitted("GMLVQ", False), named()[:1]), Explanation)


@pytest.mark.parametrize(("row", "message"), [("joe", "0 rows called 'joe'"), ("ann", "2 rows called 'ann'")])
def test_a_name_that_is_not_that_of_one_row_is_refused(row, message):
    several = explain(fitted("GMLVQ", False), named().set_axis(["ann", "ann", "eve"], axis=0))
    with pytest.raises(ValueError, match=f"{message} were explained, and one is needed. Take it by its place"):
        several.of(row)


def test_the_frame_has_a_line_for_each_row():
    several = explain(fitted("GMLVQ", False), named())
    frame = several.frame()
    assert frame.index.tolist() == ["ann", "bob", "eve"]
    bob = several.of("bob")
    assert frame.loc["bob"].tolist() == [
        bob.prediction,
        bob.probabilities[bob.prediction],
        bob.nearest.name,
        bob.nearest.distance,
        bob.nearest_other.label,
        bob.nearest_other.distance,
        bob.held_off_by.index[0],
        0,
    ]


def test_plain_values_name_the_rows():
    several = explain(fitted("GMLVQ", False), named())
    held = json.loads(json.dumps(several.to_dict()))
    assert [each["row"] for each in held] == ["ann", "bob", "eve"]
    assert held[1]["prediction"] == several[1].prediction


@pytest.mark.parametrize("name", HOSTILE)
def test_notebooks_show_the_rows_and_escape_their_names(name):
    several = explain(fitted("GMLVQ", False), named().set_axis([name, "bob", "eve"], axis=0))
    assert repr(several) == "<explanations of 3 rows>"
    page = several._repr_html_()
    assert name not in page
    assert "Explanations of 3 rows" in shown(page)
    assert "bob" in shown(page)


def test_many_rows_are_cut_in_a_notebook():
    X, y = pd.DataFrame({"a": np.arange(40.0)}), np.arange(40) // 20
    page = explain(GRLVQ(random_state=0).fit(X, y), X)._repr_html_()
    assert "more rows" in page

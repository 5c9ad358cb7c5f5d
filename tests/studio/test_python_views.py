import contextlib
import io
from typing import get_args

import pytest

from whynear.studio.live import smallest_flips, what_if
from whynear.studio.models import CaseQuery, FlipQuery, PythonQuery, View
from whynear.studio.python_views import Shown, lines_for, python_of
from whynear.studio.store import Refused
from whynear.study.settings import StudySettings

OF_STUDIES = ("study", "features", "sets", "errors", "map", "case")  # they make the study again


def printed(flowers, live, tmp_path, monkeypatch, **query):
    studio, number = flowers
    code = python_of(studio.project, live, number, PythonQuery(**query)).code
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    return out.getvalue()


@pytest.mark.parametrize(
    "view", [pytest.param(one, marks=pytest.mark.slow) if one in OF_STUDIES else one for one in get_args(View)]
)
def test_the_lines_of_every_view_run(flowers, live, tmp_path, monkeypatch, view):
    studio, number = flowers
    for case, alike in ((2, True), (70, False)):
        studio.store.mark(number, 1, case, alike)
    query = {"row": 71, "values": {"petal width (cm)": 1.0}, "features": ["sepal width (cm)"], "other": number}
    said = printed(flowers, live, tmp_path, monkeypatch, view=view, **query)
    if view in ("study", "lock"):
        assert list(tmp_path.iterdir())
    assert said or view == "lock"


def test_the_lines_say_what_the_view_says(flowers, live, tmp_path, monkeypatch):
    values = {"petal width (cm)": 1.0}
    said = printed(flowers, live, tmp_path, monkeypatch, view="what-if", row=71, values=values)
    assert said.strip() == what_if(live, CaseQuery(row=71, values=values)).sentence
    said = printed(flowers, live, tmp_path, monkeypatch, view="flip", row=71)
    (first, *_) = smallest_flips(live, FlipQuery(row=71)).flips
    assert first.changes[0].feature in said


def test_the_lines_of_a_case_say_what_a_model_fitted_without_it_says():
    shown = Shown("cases.csv", "y", StudySettings(), "study", row=7)
    assert "names[why.place] == '7'" in lines_for("case", shown)


def test_code_that_would_not_run_is_refused_with_what_is_missing(flowers, live):
    studio, number = flowers
    while studio.store.marks(number):
        studio.store.unmark(number)
    with pytest.raises(Refused, match="mark one case"):
        python_of(studio.project, live, number, PythonQuery(view="marks"))
    with pytest.raises(Refused, match="at least one"):
        python_of(studio.project, live, number, PythonQuery(view="leave-out"))


def test_another_study_is_needed_to_compare(flowers, live):
    studio, number = flowers
    with pytest.raises(Refused, match="compare with"):
        python_of(studio.project, live, number, PythonQuery(view="compare"))

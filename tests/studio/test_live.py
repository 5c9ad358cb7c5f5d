import numpy as np
import pandas as pd
import pytest

from tests.helpers.dated_tables import visits
from tests.helpers.studios import client_of
from whynear.studio import live as live_module
from whynear.studio.live import features_of, live_study
from whynear.studio.store import NotFound


def test_rows_are_found_by_their_names(live):
    assert live.row_names[:3] == [1, 2, 3]
    assert live.place_of("5") == live.place_of(5) == 4
    with pytest.raises(NotFound, match="'999'"):
        live.place_of("999")


def test_features_have_the_range_of_the_table(live, iris):
    X, _ = iris
    for one in features_of(live):
        assert (one.low, one.high) == (X[one.name].min(), X[one.name].max())
        assert one.usual == X[one.name].median()
        np.testing.assert_allclose(one.deviation, X[one.name].std(ddof=0))


def test_a_study_is_read_once(flowers):
    studio, number = flowers
    row = studio.store.study(number)
    assert live_study(studio.project, row) is live_study(studio.project, row)
    assert len(live_module._KEPT) <= live_module.MOST_KEPT


def test_there_is_no_locked_model_before_one_is_locked(live):
    with pytest.raises(NotFound, match="locked"):
        live.model_of("locked")


def test_numbers_are_the_table_where_it_has_only_numbers(live, iris):
    np.testing.assert_array_equal(live.numbers.to_numpy(), iris[0].to_numpy())


def test_dates_have_a_range_of_dates(dated_live):
    visit, taken, size = features_of(dated_live)
    assert (visit.kind, taken.kind, size.kind) == ("date", "date and time", "number")
    assert (taken.low, taken.high) == (visits()["taken"].min(), visits()["taken"].max())
    assert visit.low <= visit.usual <= visit.high
    days = pd.to_datetime(visits()["visit"], format="%d.%m.%Y")
    assert (visit.low, visit.high) == (str(days.min().date()), str(days.max().date()))
    assert visit.deviation == pytest.approx(days.std(ddof=0) / pd.Timedelta(days=1))


@pytest.fixture(scope="module")
def ask(flowers):
    studio, number = flowers
    client = client_of(studio)
    return lambda method, path, **more: client.request(method, f"/api/studies/{number}/{path}", **more)


def test_features_rows_and_values_are_sent(ask, iris):
    X, y = iris
    names = [one["name"] for one in ask("GET", "features").json()]
    assert names == list(X.columns)
    rows = ask("GET", "rows").json()
    assert (len(rows["rows"]), rows["true"][0]) == (150, y[0])
    sent = ask("GET", "features/2/values")
    assert sent.headers["content-type"] == "application/octet-stream"
    np.testing.assert_allclose(np.frombuffer(sent.content, "<f4"), X.iloc[:, 2], rtol=1e-6)
    for place in (4, -1, 10**9):
        assert ask("GET", f"features/{place}/values").status_code == 404


def test_questions_are_answered(ask):
    assert ask("POST", "what-if", json={"row": 1}).json()["prediction"] == "setosa"
    assert ask("POST", "flip", json={"row": 1}).json()["prediction"] == "setosa"
    assert ask("POST", "leave-out", json={"features": ["sepal width (cm)"]}).json()["measure"] == "accuracy"
    assert "import whynear" in ask("POST", "python", json={"view": "case"}).json()["code"]


def test_marks_are_set_taken_back_and_kept(ask):
    ask("POST", "marks", json={"query": 1, "case": 5, "alike": True})
    found = ask("POST", "marks", json={"query": 1, "case": 80, "alike": False}).json()
    assert (found["marks"], found["triples"]) == (2, 1)
    assert found["weights"] is not None
    assert ask("POST", "marks/keep").json()["cases"] == 150
    assert ask("DELETE", "marks", params={"query": 1}).json()["marks"] == 1
    assert ask("GET", "marks", params={"query": 1, "k": 3}).json()["triples"] == 0


def test_a_set_is_locked_and_unlocked(ask):
    assert ask("GET", "lock").json() is None
    ask("POST", "lock", json={"features": ["sepal width (cm)"]})
    assert len(ask("GET", "lock").json()["features"]) == 3
    assert ask("POST", "what-if", json={"row": 1, "model": "locked"}).status_code == 200
    assert ask("DELETE", "lock").status_code == 204
    assert ask("POST", "what-if", json={"row": 1, "model": "locked"}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("what-if", {"row": "nobody"}),
        ("what-if", {"values": {"nothing": 1}}),
        ("what-if", {"values": {"petal width (cm)": 1e400}}),
        ("what-if", {"model": "../../x"}),
        ("flip", {"row": 1, "to": "nothing"}),
        ("flip", {"row": 1, "features": ["nothing"]}),
        ("leave-out", {"features": ["nothing"]}),
        ("leave-out", {"features": ["petal width (cm)"] * 3, "all": True}),
        ("marks", {"query": "nobody", "case": 1, "alike": True}),
        ("lock", {"features": []}),
    ],
)
def test_bad_questions_are_refused_in_a_sentence(ask, path, body):
    import json

    answer = ask("POST", path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["detail"], str)

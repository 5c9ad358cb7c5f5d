import numpy as np
import pandas as pd
import pytest

from tests.helpers.dated_tables import visits
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

import numpy as np

from whynear.study.spread import MOST_EXPLAINED, MOST_PARTS, explained_places, spread


def test_all_rows_of_a_small_table_are_explained():
    assert explained_places((100, 4), [3], np.array([7])).tolist() == list(range(100))


def test_of_a_large_table_the_known_the_first_and_others_in_even_steps_are():
    first = np.arange(10_000, 9_000, -1)
    places = explained_places((20_000, 4), [3], first)
    assert {3, *first[: MOST_EXPLAINED // 2]} <= set(places.tolist())
    assert len(places) <= MOST_EXPLAINED + 1
    assert (np.diff(places) > 0).all()


def test_fewer_rows_of_wide_tables_are_explained():
    assert len(explained_places((20_000, MOST_PARTS // 20), [], np.array([], dtype=int))) <= 20


def test_steps_are_even():
    assert spread(10, 5, []).tolist() == [0, 2, 4, 6, 8]

"""What a table says of its rows: their names, groups, order, times and weights."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from sklearn.model_selection import KFold, StratifiedKFold

from tests.helpers.problems import problem_of
from whynear.data.options import Reading, Splitting
from whynear.data.problem import problem_from
from whynear.data.rows import (
    ROW_NUMBERS,
    TimeOrder,
    error_of_mean,
    forward_splits,
    groups_in,
    n_different,
    named_rows,
    note_on_repeated_names,
    note_on_unnamed,
    numbered,
    numbers_in_file,
    place_of,
    resampled_rows,
    rows_of,
    split_rows,
    taken,
)
from whynear.datasets import open_table

TABLE = pd.DataFrame({"name": ["u", "v", "v"], "number": [7.0, np.nan, 9.0]})
FILE = numbered(TABLE)


def test_rows_of_a_file_are_numbered_from_one():
    assert FILE.index.tolist() == [1, 2, 3]
    named = TABLE.set_index("name")  # as a parquet file may hold it
    assert numbered(named) is named


def test_rows_are_named_by_a_column_or_else_by_the_index():
    assert named_rows(FILE, "name", "t.csv").index.tolist() == ["u", "v", "v"]
    assert named_rows(FILE, "name", "t.csv").index.name == "name"
    assert "name" in named_rows(FILE, "name", "t.csv")
    whole = named_rows(FILE, "number", "t.csv").index
    assert whole.tolist() == [7, "row 2", 9]
    assert isinstance(whole[0], int)
    assert named_rows(FILE, None, "t.csv") is FILE
    labelled = TABLE.set_index("name")
    assert named_rows(labelled, "name", "t.csv") is labelled


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, "", " "])
def test_a_row_without_a_name_is_called_by_its_number(gap):
    named = named_rows(numbered(pd.DataFrame({"name": ["u", gap, "v", gap]}, dtype=object)), "name", "t.csv")
    assert named.index.tolist() == ["u", "row 2", "v", "row 4"]
    assert place_of("row 4", named, "t.csv") == 3
    assert note_on_unnamed(named["name"].set_axis([1, 2, 3, 4])) == [
        "Column 'name' names all rows but 2, which are called by their numbers, the first of them 'row 2'."
    ]
    assert note_on_unnamed(pd.Series(["u", "v"], name="name")) == []
    assert note_on_unnamed(pd.Series(["u", gap], dtype=object))[0].startswith("The index names all rows but 1, which")


def test_a_missing_label_of_an_index_is_a_number():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(["u", None, "v"], name="id"))
    assert numbered(frame).index.tolist() == ["u", "row 2", "v"]
    assert numbered(frame).index.name == "id"


def test_names_that_repeat_are_said_with_the_first_and_their_number():
    names = pd.Index(["P2", "P0", 7, "P0", "7", "P0"], name="pat")
    assert note_on_repeated_names(names) == [
        "Column 'pat' names several rows alike: 'P0' names 3 of them, and 1 more name repeats. A single row is asked "
        "for by a name that no other row has. If the rows of one name belong together, use --group 'pat'."
    ]
    assert not note_on_repeated_names(names, "pat")[0].endswith("--group 'pat'.")
    assert note_on_repeated_names(pd.Index(["u", "u"]))[0].startswith("The index names several rows alike: 'u' names 2")
    assert note_on_repeated_names(pd.Index(["u", "v"], name="pat")) == []


def test_a_row_is_found_by_its_name():
    assert place_of("u", named_rows(FILE, "name", "t.csv"), "t.csv") == 0
    assert place_of(9, named_rows(FILE, "number", "t.csv"), "t.csv") == 2
    assert place_of("3", FILE, "t.csv") == 2
    assert place_of(2, TABLE, "The table") == 1


@pytest.mark.parametrize(
    ("row", "index", "message"),
    [
        (0, None, "t.csv has rows 1 to 3, got --row 0 instead"),
        ("v", "name", "t.csv has 2 rows with 'v' in column 'name', and one is needed"),
        ("w", "name", "t.csv has 0 rows with 'w' in column 'name', .* Name another row"),
        ("u", "nome", "t.csv has no column 'nome' .--index.. Its columns are 'name', 'number'"),
    ],
)
def test_rows_that_are_not_exactly_one_are_refused(row, index, message):
    with pytest.raises(ValueError, match=message):
        place_of(row, named_rows(FILE, index, "t.csv"), "t.csv")


def test_labels_that_a_table_lacks_are_named_with_its_index():
    with pytest.raises(ValueError, match="The table has rows 1 to 3, got --row 4"):
        place_of(4, TABLE, "The table")
    with pytest.raises(ValueError, match="The table has 0 rows with '1' in the index"):
        place_of(1, TABLE.iloc[[0, 2]].set_axis([0, 2]), "The table")


def test_rows_of_a_larger_table_keep_their_numbers():
    some = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 900], name=ROW_NUMBERS))
    assert numbers_in_file(some).tolist() == numbers_in_file(some["a"]).tolist() == [5, 900]
    assert numbers_in_file(pd.DataFrame({"a": [1, 2]}, index=[5, 900])).tolist() == [1, 2]


CLASSES = np.tile(["u", "v", "v"], 20)


@pytest.mark.parametrize("stratified", [True, False])
def test_without_groups_the_folds_are_those_of_scikit_learn(stratified):
    usual = (StratifiedKFold if stratified else KFold)(4, shuffle=True, random_state=3).split(CLASSES, CLASSES)
    for ours, theirs in zip(split_rows(CLASSES, 4, 3, stratified=stratified), usual, strict=True):
        assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]


@given(groups=st.lists(st.integers(0, 6), min_size=12, max_size=40), stratified=st.booleans(), seed=st.integers(0, 9))
def test_every_row_is_held_out_once_and_no_group_is_on_both_sides(groups, stratified, seed):
    y, groups = np.resize(["u", "v"], len(groups)), np.array(groups)
    folds = split_rows(y, 3, seed, stratified=stratified, groups=groups)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(len(y)))
    assert 2 <= len(folds) <= 3
    for train, test in folds:
        assert len(train) + len(test) == len(y)
        assert len(np.unique(groups)) < 2 or not set(groups[train]) & set(groups[test])


def test_there_are_no_more_folds_than_groups():
    assert len(split_rows(CLASSES, 5, 0, stratified=True, groups=np.repeat([0, 1, 2], 20))) == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_class_of_two_groups_is_left_to_learn_from_in_every_fold(seed):
    groups = np.repeat(np.arange(6), 4)
    y = np.where(groups < 2, "rare", "usual")
    for train, _ in split_rows(y, 2, seed, stratified=True, groups=groups):
        assert set(y[train]) == {"rare", "usual"}


def test_the_error_of_rows_by_themselves_is_the_usual_one():
    values = np.random.default_rng(0).standard_normal((2, 30))
    usual = values.std(axis=1, ddof=1) / np.sqrt(30)
    assert_allclose(error_of_mean(values), usual)
    assert_allclose(error_of_mean(values, np.arange(30)), usual)


def test_the_error_over_groups_is_that_of_the_means_of_equal_groups():
    means = np.random.default_rng(0).standard_normal(10)
    assert_allclose(error_of_mean(np.repeat(means, 7), np.repeat(np.arange(10), 7)), means.std(ddof=1) / np.sqrt(10))


def test_a_single_row_or_group_says_nothing_about_others():
    assert error_of_mean(np.array([0.0, 1.0]), np.array([5, 5])) == np.inf
    assert error_of_mean(np.array([1.0])) == np.inf
    assert error_of_mean(np.ones((2, 1)), np.array([5])).tolist() == [np.inf, np.inf]


def test_groups_are_drawn_as_a_whole():
    groups = np.array([0, 1, 0, 2, 1, 0])
    drawn = groups[resampled_rows(6, groups, np.random.default_rng(1))]
    counts = np.bincount(drawn, minlength=3) / np.bincount(groups)
    assert (counts == np.round(counts)).all()
    assert counts.sum() == 3
    assert sorted(np.unique(resampled_rows(50, None, np.random.default_rng(0))))[-1] < 50


# Rows that follow each other in time.


TIMES = st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda times: len(set(times)) > 1)


@given(times=TIMES, n_folds=st.integers(1, 8), with_classes=st.booleans(), seed=st.integers(0, 99))
def test_held_out_rows_are_later_than_all_rows_learned_from(times, n_folds, with_classes, seed):
    times = np.array(times)
    y = np.random.default_rng(seed).integers(0, 3, len(times)) if with_classes else None
    splits = forward_splits(TimeOrder(times), n_folds, y)
    assert len(splits) <= n_folds
    learned = np.zeros(len(times), dtype=int)
    for number, (train, test) in enumerate(splits):
        assert times[train].max() < times[test].min()
        assert np.array_equal(train, np.flatnonzero(times < times[test].min()))  # all rows before: the window expands
        learned[test] += 1
        if y is not None:
            assert np.count_nonzero(np.bincount(y[train]) >= 2) >= 2
        if number:
            assert np.array_equal(train, np.sort(np.concatenate(splits[number - 1])))
    if splits:
        assert np.array_equal(np.flatnonzero(learned == 0), splits[0][0])
        assert learned.max() == 1
    else:
        assert y is not None


def test_folds_of_even_times_are_of_one_size():
    splits = forward_splits(TimeOrder(np.arange(60)), 5)
    assert [(len(train), len(test)) for train, test in splits] == [(10, 10), (20, 10), (30, 10), (40, 10), (50, 10)]


def test_the_first_part_is_longer_until_two_classes_came():
    y = np.array([0] * 30 + [1] * 10 + [0, 1] * 10)
    ((first, _), *_) = forward_splits(TimeOrder(np.arange(60)), 5, y)
    assert len(first) == 32
    assert forward_splits(TimeOrder(np.arange(60)), 5, np.array([0] * 59 + [1])) == []


def test_dates_have_an_order_and_one_time_is_split_as_if_there_were_none():
    dates = TimeOrder(pd.date_range("2020-01-01", periods=10).to_numpy())
    assert [test.tolist() for _, test in forward_splits(dates, 1)] == [[5, 6, 7, 8, 9]]
    y = np.arange(6.0)
    (one, other), (plain, _) = (
        split_rows(y, 2, 0, stratified=False, groups=groups) for groups in (TimeOrder(np.ones(6)), None)
    )
    assert one[1].tolist() == plain[1].tolist()
    assert np.array_equal(np.sort(np.concatenate([one[1], other[1]])), np.arange(6))


def test_rows_are_taken_from_groups_and_times_alike():
    rows, times = np.array([2, 0]), TimeOrder([3, 1, 2], "day")
    times_of_rows = taken(times, rows)
    assert (times_of_rows.times.tolist(), times_of_rows.name, len(times)) == ([2, 3], "day", 3)
    assert taken(pd.Series([5, 6, 7], index=[9, 8, 7]), rows).tolist() == [7, 5]
    assert taken(None, rows) is None
    assert n_different(times) == 3
    assert groups_in(times) is None
    assert groups_in([1, 2]) == [1, 2]


def test_times_are_a_copy_that_cannot_be_changed():
    given_times = np.arange(3)
    times = TimeOrder(given_times)
    given_times[0] = 9
    assert times.times[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        times.times[0] = 9


def test_what_is_chosen_is_chosen_on_the_later_half():
    order, y = TimeOrder(np.arange(40)), np.arange(40) / 7
    assert forward_splits(order, 5, first=0.5)[0][0].tolist() == list(range(20))
    assert split_rows(y, 5, 0, stratified=False, groups=order)[0][0].tolist() == list(range(20))
    assert split_rows(y, 4, 0, stratified=False, groups=order, first=None)[0][0].tolist() == list(range(8))


# The column that says which rows belong together.


@pytest.fixture
def visits(frame):
    """Sixty visits of twenty patients, each patient with visits of both kinds."""
    return frame.assign(patient=np.repeat([f"P{number}" for number in range(15)], 4))


def test_the_column_of_groups_is_no_feature_and_goes_along(visits):
    problem = problem_of(visits, "kind", group="patient")
    assert list(problem.X) == ["a", "b"]
    assert problem.groups.name == "patient"
    assert problem.groups.tolist() == np.repeat(np.arange(15), 4).tolist()
    assert problem.groups.index.equals(problem.X.index)
    assert problem_of(visits, "kind", drop="patient").groups is None


def test_groups_may_be_dropped_columns_the_index_or_numbers(visits):
    numbers = np.repeat(np.arange(15), 4)
    for table, settings in (
        (visits, {"drop": "patient", "group": "patient"}),
        (visits, {"index": "patient", "group": "patient"}),
        (visits.set_index("patient"), {"group": "patient"}),
        (visits.assign(patient=numbers), {"group": "patient"}),
        (
            visits.assign(patient=[f" P{number}" if row % 2 else f"P{number} " for row, number in enumerate(numbers)]),
            {"group": "patient"},
        ),
    ):
        problem = problem_of(table, "kind", **settings)
        assert list(problem.X) == ["a", "b"]
        assert problem.groups.tolist() == numbers.tolist()


def test_rows_that_are_left_out_leave_their_groups_too(visits):
    table = visits.assign(kind=["rare", *visits["kind"][1:]])
    problem = problem_of(table, "kind", group="patient")
    assert len(problem.groups) == len(problem.y) == 59


def test_a_class_of_a_single_group_is_left_out_and_said(visits):
    table = visits.assign(kind=["rare", "rare", *visits["kind"][2:]])
    problem = problem_of(table, "kind", group="patient")
    assert set(problem.y) == {"u", "v"}
    assert len(problem.groups) == len(problem.X) == 58
    caveat = "Classes within a single 'patient' cannot be held out together with it and were left out: 'rare'."
    assert caveat in problem.caveats


@pytest.mark.parametrize(
    ("change", "group", "message"),
    [
        ({}, "pateint", "has no column 'pateint'. Did you mean 'patient'?"),
        ({}, "kind", r"column 'kind' is the target, and cannot .* Choose another column \(--group\)"),
        ({"patient": "P1"}, "patient", r"column 'patient' holds the single group 'P1'; at least two .* \(--group\)"),
        (
            {"patient": ["", None, *["P1", "P2"] * 29]},
            "patient",
            r"names no group in 2 rows \(first: row 1\). Fill in what is missing, or",
        ),
        (
            {"patient": ["P1", "P2"] * 30},
            "patient",
            r"every row of 2 classes \('u', 'v'\) has the same 'patient'; .* Choose another column \(--group\), or add",
        ),
    ],
)
def test_groups_that_cannot_be_held_out_are_refused(visits, change, group, message):
    with pytest.raises(ValueError, match=message):
        problem_of(visits.assign(**change), "kind", group=group)


def test_numbers_need_two_groups_only():
    table = pd.DataFrame({"a": np.arange(60.0), "y": np.linspace(0, 1, 60) ** 2, "site": np.repeat(["N", "S"], 30)})
    assert problem_of(table, "y", group="site").groups.nunique() == 2


# The column with the time of each row.


DAYS = pd.date_range("2020-01-30", periods=60)


@pytest.fixture
def visits_of_times(frame):
    """Sixty visits, one a day."""
    return frame.assign(day=DAYS.strftime("%Y-%m-%d"))


def test_the_column_of_times_is_no_feature_and_goes_along(visits_of_times):
    problem = problem_of(visits_of_times, "kind", time="day")
    assert list(problem.X) == ["a", "b"]
    assert problem.times.name == "day"
    assert np.diff(problem.times).tolist() == [1.0] * 59
    assert isinstance(problem.separation, TimeOrder)
    assert problem.separation.name == "day"
    few = problem.rows(np.array([5, 1]))
    assert (len(few.y), few.times.tolist()) == (2, problem.times.iloc[[5, 1]].tolist())
    assert problem_of(visits_of_times, "kind", drop="day").separation is None


@pytest.mark.parametrize(
    ("column", "settings"),
    [
        (DAYS, {}),
        (DAYS.strftime("%d.%m.%Y"), {}),
        (DAYS.strftime("%d/%m/%Y"), {"date": "day=%d/%m/%Y"}),
        (DAYS.strftime("%Y%m%d"), {"date": "day=%Y%m%d"}),
        (np.arange(60), {}),
        (np.linspace(0, 1, 60), {}),
        ([str(number) for number in range(60)], {}),
        ([f"{number:02}" for number in range(60)], {}),
    ],
)
def test_dates_and_numbers_are_taken(visits_of_times, column, settings):
    table = visits_of_times.assign(day=column)
    times = problem_of(table, "kind", time="day", **settings).times
    assert (np.diff(times) > 0).all()
    assert list(problem_of(table.set_index("day"), "kind", time="day").X) == ["a", "b"]


def test_rows_that_are_left_out_leave_their_times_too(visits_of_times):
    problem = problem_of(visits_of_times.assign(kind=["rare", *visits_of_times["kind"][1:]]), "kind", time="day")
    assert len(problem.times) == len(problem.y) == 59


@pytest.mark.parametrize(
    ("days", "time", "message"),
    [
        (None, "dya", "has no column 'dya'. Did you mean 'day'?"),
        (None, "kind", "column 'kind' is the target, and cannot be the time too. Choose another column (--time)."),
        ({3: None, 7: ""}, "day", "column 'day' holds no time in 2 rows (first: row 4). Fill in what is missing"),
        ({3: "soon"}, "day", "column 'day' holds '2020-01-30' in row 1, which is neither a date nor a number."),
        (["1"] * 59 + ["two"], "day", "column 'day' holds 'two' in row 60, which is neither a date nor a number."),
        (["1"] * 59 + ["inf"], "day", "column 'day' holds 'inf' in row 60, which is neither a date nor a number."),
        ([7] * 60, "day", "column 'day' holds the single time '7'; at least two are needed"),
        (
            ["3/4/2020"] * 59 + ["4/4/2020"],
            "day",
            "day and month cannot be told apart. Give their format (--date 'day=",
        ),
        (["2020-01-31"] * 59 + ["1.2.2020"], "day", "dates that are not of one format, such as '2020-01-31'. Give"),
    ],
)
def test_what_is_no_time_is_refused_by_row(visits_of_times, days, time, message):
    if isinstance(days, dict):
        days = [days.get(row, day) for row, day in enumerate(visits_of_times["day"])]
    table = visits_of_times if days is None else visits_of_times.assign(day=days)
    with pytest.raises(ValueError, match=re.escape(message)):
        problem_of(table, "kind", time=time)


# The column with the weights of the rows.


@pytest.fixture
def weighted(frame):
    return frame.assign(size=np.arange(60) % 4)


def test_the_column_of_weights_is_no_feature_and_goes_along(weighted):
    problem = problem_of(weighted, "kind", weight="size")
    assert list(problem.X) == ["a", "b"]
    assert problem.weights.name == "size"
    assert problem.weights.tolist() == (np.arange(60) % 4).tolist()
    assert problem.rows(np.array([3, 2])).weights.tolist() == [3, 2]
    assert problem_of(weighted, "kind", drop="size").weights is None


def test_weights_may_be_text_the_index_or_the_times_too(weighted):
    for table, settings in (
        (weighted.assign(size=weighted["size"].astype(str)), {}),
        (weighted.set_index("size"), {}),
        (weighted, {"time": "size"}),
        (weighted, {"drop": "size"}),
    ):
        problem = problem_of(table, "kind", weight="size", **settings)
        assert problem.weights.tolist() == weighted["size"].tolist()
        assert list(problem.X) == ["a", "b"]


def test_weights_and_times_are_read_as_the_table_is_written(tmp_path, weighted):
    """The column a shows that 1.250 is more than a thousand."""
    sizes = np.where(np.arange(60) % 2, 500, 1250) + np.arange(60)
    texts = {
        "a": weighted["a"].map("{:.2f}".format).str.replace(".", ","),
        "size": [f"{n:,}".replace(",", ".") for n in sizes],
    }
    weighted.assign(**texts).to_csv(tmp_path / "t.csv", sep=";", index=False)
    halves = weighted.assign(size=[f"{n},5" for n in sizes], a=texts["a"])
    for table, expected in ((open_table(tmp_path / "t.csv"), sizes), (open_table(halves), sizes + 0.5)):
        assert problem_from(table, "kind", reading=Reading(weight="size")).weights.tolist() == expected.tolist()
        assert problem_from(table, "kind", splitting=Splitting(time="size")).times.tolist() == expected.tolist()
    with pytest.raises(ValueError, match=r"column 'size' holds '<5' in row 1; .* finite number"):
        problem_of(weighted.assign(size=["<5", *["7"] * 59]), "kind", weight="size")


def test_rows_that_are_left_out_leave_their_weights_too(weighted):
    problem = problem_of(weighted.assign(kind=["rare", *weighted["kind"][1:]]), "kind", weight="size")
    assert len(problem.weights) == len(problem.y) == 59


@pytest.mark.parametrize(
    ("value", "weight", "message"),
    [
        (None, "sise", "has no column 'sise'. Did you mean 'size'?"),
        (None, "kind", "column 'kind' is the target, and cannot hold weights too. Choose another column (--weight)."),
        (-2, "size", "column 'size' holds '-2.0' in row 8; a weight must be a finite number, and not negative."),
        (np.nan, "size", "column 'size' holds no value in row 8; a weight must be a finite number"),
        (np.inf, "size", "column 'size' holds 'inf' in row 8; a weight must be a finite number"),
        ("much", "size", "column 'size' holds 'much' in row 8; a weight must be a finite number"),
    ],
)
def test_what_is_no_weight_is_refused_by_row_and_value(weighted, value, weight, message):
    if value is not None:
        size = weighted["size"].astype(object if isinstance(value, str) else float)
        size.iloc[7] = value
        weighted = weighted.assign(size=size)
    with pytest.raises(ValueError, match=re.escape(message)):
        problem_of(weighted, "kind", weight=weight)


def test_weights_of_zero_alone_are_refused(weighted):
    with pytest.raises(ValueError, match="column 'size' holds no weight above zero"):
        problem_of(weighted.assign(size=0), "kind", weight="size")


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, coo_array, lambda X: X.tolist()])
def test_rows_of_any_kind_of_table(kind):
    X = np.arange(6.0).reshape(3, 2)
    found = rows_of(kind(X), np.array([2, 0]))
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    assert found.tolist() == [[4, 5], [0, 1]]

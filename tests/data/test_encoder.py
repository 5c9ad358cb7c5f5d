import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.data.encoder import as_known_categories, informative_gaps
from whynear.model.pipeline import FittedPipeline


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "sex": rng.choice(["f", "m"], n),
            "count": rng.integers(0, 5, n),
        }
    )


def test_every_category_gets_a_column_and_two_of_them_share_one():
    encoder = wn.TableEncoder("onehot").fit(table())
    made = encoder.transform(table())
    assert list(made) == ["size", "colour=blue", "colour=green", "colour=red", "sex=m", "count"]
    assert_array_equal(made["colour=red"], table()["colour"] == "red")
    assert_array_equal(made["sex=m"], table()["sex"] == "m")
    assert encoder.sources_ == ["size", "colour", "colour", "colour", "sex", "count"]
    assert_array_equal(encoder.get_feature_names_out(), made.columns)
    assert_array_equal(encoder.get_feature_names_out(list(table())), made.columns)
    with pytest.raises(ValueError, match="input_features lacks 'sex'"):
        encoder.get_feature_names_out(["size", "colour", "count"])


def test_what_was_made_can_be_summed_and_read_back():
    encoder = wn.TableEncoder("onehot").fit(table())
    assert_array_equal(encoder.sums([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1, 9, 5, 6])
    for row in range(5):
        held = encoder.decoded(encoder.transform(table()).iloc[row])
        assert held == table().iloc[row].tolist()


@pytest.mark.parametrize(("impute", "expected"), [("median", 2.5), ("most_frequent", 1.0)])
def test_missing_values_are_filled_in_and_that_is_recorded(impute, expected):
    frame = pd.DataFrame({"a": [1.0, 1.0, 4.0, 9.0, None], "b": ["x", "y", None, "y", "z"]})
    encoder = wn.TableEncoder("onehot", impute).fit(frame)
    made = encoder.transform(frame)
    assert made["a"].iloc[4] == expected
    assert made["b=y"].iloc[2] == 1
    assert encoder.n_filled_ == {"a": 1, "b": 1}
    assert encoder.fill_values_ == {"a": expected, "b": "y"}


def test_nothing_is_filled_in_or_encoded_by_default():
    with pytest.raises(ValueError, match=r"'colour' holds text, such as .*categories='onehot'"):
        wn.TableEncoder().fit(table())
    gaps = table().assign(size=np.nan, count=[np.nan, *range(59)])
    with pytest.raises(ValueError, match="NaN: 1 in column 'count'"):
        wn.TableEncoder("onehot").fit_transform(gaps)
    gaps["count"] = 1.0
    assert not wn.TableEncoder("onehot").fit_transform(gaps)["size"].any()  # a column without any value
    gaps.loc[0, "colour"] = None
    with pytest.raises(ValueError, match="lacks a value in 1 row of column 'colour'"):
        wn.TableEncoder("onehot").fit_transform(gaps)


def test_a_category_never_met_counts_as_none_of_them():
    encoder = wn.TableEncoder("onehot").fit(table())
    strange = table(2).assign(colour=["violet", "red"], sex=["f", "?"])
    with pytest.warns(UserWarning, match="'(colour|sex)' holds '(violet|\\?)'"):
        made = encoder.transform(strange)
    assert not made.filter(like="colour").iloc[0].any()
    assert made["sex=m"].tolist() == [0.0, 0.5]
    assert encoder.decoded(made.iloc[0])[1] is None


def test_names_that_meet_are_kept_apart():
    frame = table(20).assign(**{"sex=m": 1.0})
    made = wn.TableEncoder("onehot").fit_transform(frame)
    assert list(made) == ["size", "colour=blue", "colour=green", "colour=red", "sex=m", "count", "sex=m'"]


def test_wrong_tables_and_settings_are_refused():
    with pytest.raises(TypeError, match="takes a DataFrame, got ndarray"):
        wn.TableEncoder().fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"'onehot' and impute .* got 'ordinal' and None"):
        wn.TableEncoder("ordinal").fit(table())
    encoder = wn.TableEncoder("onehot").fit(table())
    with pytest.raises(ValueError, match="lacks 'sex'"):
        encoder.transform(table().drop(columns="sex"))
    with pytest.raises(ValueError, match=r"'tall' in column 'size', row 1 .*, which is not a number"):
        encoder.transform(table(2).assign(size=["tall", "1"]))
    with pytest.raises(ValueError, match="dates or durations in column 'size'"):
        encoder.transform(table(2).assign(size=pd.Timestamp("2020-01-01")))


@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
@pytest.mark.parametrize("learner", [wn.GMLVQ(random_state=0), wn.LANN(random_state=0, epochs=1)])
def test_results_behind_it_are_stated_in_the_columns_of_the_table(learner, tmp_path):
    frame = table(120)
    frame.loc[3, "size"] = None
    y = np.where((frame["colour"] == "red") ^ (frame["sex"] == "m"), "a", "b")
    model = make_pipeline(wn.TableEncoder("onehot", "median"), StandardScaler(), clone(learner)).fit(frame, y)
    fitted = FittedPipeline.of(model)
    rest, made = fitted.without_encoder, fitted.numbers(frame)
    assert wn.as_metric(model) == wn.as_metric(rest)
    assert wn.as_metric(model).feature_names == tuple(made)
    shuffled = frame[["sex", "count", "size", "colour"]].iloc[3]
    why, inner = wn.explain(model, shuffled), wn.explain(rest, made.iloc[3])
    assert why.values.index.tolist() == list(frame)
    assert why.values["size"] is None
    assert why.values["colour"] == frame["colour"][3]
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
    assert_allclose(why.contributions["colour"], inner.contributions.filter(like="colour").sum(axis=1))
    assert_allclose(why.relevances.sum(), 1)
    assert_allclose(why.held_off_by.sum(), why.nearest_other.sq_distance - why.nearest.sq_distance)
    assert why.nearest.values["sex"] in ("f", "m")
    assert why.frame().shape == (4, 8)
    assert why.to_dict()["features"] == list(frame)
    profiles = wn.class_profiles(model)
    assert profiles.index.tolist() == list(frame)
    assert_allclose(profiles.sum(), 1)
    wn.save(model, tmp_path / "model")
    assert_array_equal(wn.load(tmp_path / "model").predict(frame), model.predict(frame))


def test_cases_given_to_profiles_are_encoded_too():
    frame = table(120)
    y = np.where(frame["colour"] == "red", "a", "b")
    model = make_pipeline(wn.TableEncoder("onehot"), wn.LGRLVQ(random_state=0)).fit(frame, y)
    assert wn.class_profiles(model, frame, y).loc["colour"].min() > 0.5


GRADES = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)


def test_ordered_categories_become_their_places_and_come_back():
    table = pd.DataFrame({"grade": pd.Series(["high", "low", None, "mid"], dtype=GRADES), "a": [1.0, 2.0, 3.0, 4.0]})
    encoder = wn.TableEncoder(impute="median").fit(table)
    assert encoder.orders_ == {"grade": ["low", "mid", "high"]}
    assert encoder.transform(table)["grade"].tolist() == [2, 0, 1, 1]
    assert encoder.text_columns == ("grade",)
    assert encoder.transform(table.assign(grade=["mid", "low", "high", "high"]))["grade"].tolist() == [1, 0, 2, 2]
    assert encoder.decoded([1.6, 5.0]) == ["high", 5.0]
    with pytest.warns(UserWarning, match=r"'grade' holds 'top', .* encoded as the middle one"):
        assert encoder.transform(table.assign(grade="top"))["grade"].tolist() == [1] * 4


@pytest.mark.parametrize("dtype", [GRADES, object])
def test_a_category_missing_in_some_rows_keeps_its_place_in_the_order(dtype):
    table = pd.DataFrame({"grade": pd.Series(["low", "high"], dtype=GRADES)})
    encoder = wn.TableEncoder().fit(table)
    assert encoder.transform(pd.DataFrame({"grade": pd.Series(["high"], dtype=dtype)}))["grade"].tolist() == [2]


def gaps():
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 40)
    table = pd.DataFrame({"told": rng.random(80), "colour": rng.choice(["red", "blue"], 80), "plain": rng.random(80)})
    table.loc[5:35, "told"] = None
    table.loc[45:75, "colour"] = None
    table.loc[::9, "plain"] = None
    return table, y


def test_informative_gaps_have_an_indicator_that_is_part_of_the_column():
    table, y = gaps()
    encoder = wn.TableEncoder("onehot", "median", indicators=True).fit(table, y)
    assert encoder.indicators_ == ["told", "colour"]
    made = encoder.transform(table)
    assert list(made.columns) == ["told", "told=missing", "colour=red", "colour=missing", "plain"]
    assert made["told=missing"].tolist() == table["told"].isna().tolist()
    assert encoder.sums(np.ones(5)).tolist() == [2, 2, 1]
    assert encoder.decoded([0.5, 1.0, 0.9, 0.0, 0.25]) == [0.5, "red", 0.25]
    assert wn.TableEncoder("onehot", "median", indicators=True).fit(table).indicators_ == []
    assert wn.TableEncoder("onehot", "median").fit(table, y).indicators_ == []


def test_a_model_with_readings_indicators_and_orders_is_saved(tmp_path):
    table, y = gaps()
    grade = pd.Series(["low", "high"] * 40, dtype=GRADES)
    price = [f"{value:.2f} €".replace(".", ",") for value in np.random.default_rng(1).random(80)]
    table = table.assign(grade=grade, price=price, age=[-999, *range(79)])
    encoder = wn.TableEncoder("onehot", "median", True, {"price": "number ,"}, {"age": ("-999",)})
    model = make_pipeline(encoder, StandardScaler(), wn.GRLVQ(random_state=0)).fit(table, y)
    wn.save(model, tmp_path / "model")
    again = wn.load(tmp_path / "model")
    assert again[0].n_filled_["age"] == 1
    assert_allclose(again.predict_proba(table), model.predict_proba(table))
    assert again[0].get_params() == encoder.get_params()


def test_known_categories_are_found_behind_blanks():
    encoder = wn.TableEncoder("onehot").fit(pd.DataFrame({"sex": ["f", "m", "x"], "other": ["a ", "a", "b"]}))
    given = pd.DataFrame({"sex": [" f", "m ", "x"], "other": ["a ", "a", " b"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encoder.transform(given)
    assert found.loc[:, ["sex=f", "sex=m", "sex=x"]].to_numpy().tolist() == np.eye(3).tolist()
    assert found["other=a "].tolist() == [1.0, 0.0, 0.0]  # which is a category of its own here


def test_categories_written_as_digits_are_known_beside_gaps():
    chrom = ["1", "2", "7", "X", None] * 4
    grade = pd.Series([1, 2, 3, 2] * 5, dtype=pd.CategoricalDtype([1, 2, 3], ordered=True))
    encoder = wn.TableEncoder("onehot", "median").fit(pd.DataFrame({"chrom": chrom, "grade": grade}))
    given = pd.DataFrame({"chrom": [1.0, np.nan, 7.0], "grade": [1.0, 3.0, np.nan]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encoder.transform(given)
    assert found["chrom=1"].tolist() == [1.0, encoder.fill_values_["chrom"] == "1", 0.0]
    assert found["chrom=7"].tolist()[2] == 1.0
    assert found["grade"].tolist() == [0.0, 2.0, 1.0]
    with pytest.warns(UserWarning, match="Column 'chrom' holds '9', which is none of the categories"):
        encoder.transform(given.assign(chrom=[9.0, np.nan, 7.0]))


def dated():
    days = ["04.03.2022", None, "06.03.2022", "31.12.1969"]
    moments = ["2022-03-04 12:30", "2022-03-05 00:00", None, "2022-03-06 00:00"]
    return pd.DataFrame({"day": days, "at": pd.to_datetime(moments)})


READ_DATES = {"day": "date %d.%m.%Y", "at": "date ISO8601"}


def test_dates_are_days_that_are_shown_as_dates():
    encoder = wn.TableEncoder(impute="median", readings=READ_DATES).fit(dated())
    made = encoder.transform(dated())
    assert made["day"].tolist() == [19055.0, 19055.0, 19057.0, -1.0]
    assert [encoder.decoded(row) for row in made.to_numpy()] == [
        ["2022-03-04", "2022-03-04 12:30"],
        ["2022-03-04", "2022-03-05 00:00"],
        ["2022-03-06", "2022-03-05 00:00"],
        ["1969-12-31", "2022-03-06 00:00"],
    ]
    assert encoder.decoded([np.nan, 19055.0]) == [None, "2022-03-04 00:00"]
    assert {name: column.has_times for name, column in encoder.date_columns.items()} == {"day": False, "at": True}


def test_a_table_is_shown_with_its_dates_however_they_are_given():
    encoder = wn.TableEncoder(impute="median", readings=READ_DATES).fit(dated())
    shown = encoder.with_dates(dated().assign(size=1.5))
    assert shown["day"].tolist() == ["2022-03-04", None, "2022-03-06", "1969-12-31"]
    assert shown["size"].tolist() == [1.5] * 4
    pd.testing.assert_frame_equal(encoder.with_dates(encoder.read(dated()).assign(size=1.5)), shown)
    pd.testing.assert_frame_equal(encoder.with_dates(shown), shown)
    np.testing.assert_array_equal(encoder.transform(shown[["day", "at"]]), encoder.transform(dated()))


def test_dates_of_an_older_file_are_shown_without_times():
    encoder = wn.TableEncoder(impute="median", readings=READ_DATES).fit(dated())
    del encoder.timed_
    assert encoder.decoded([19055.0, 19055.75]) == ["2022-03-04", "2022-03-04"]


def test_a_column_without_dates_is_shown_as_it_is():
    encoder = wn.TableEncoder("onehot", readings={"code": "category"}).fit(table().assign(code=1))
    pd.testing.assert_frame_equal(encoder.with_dates(table()), table())
    assert encoder.shown_value("size", 19055.0) == 19055.0


def test_errors_name_the_table_as_it_is_called():
    encoder = wn.TableEncoder("onehot").fit(table())
    for change, fact in [({"size": "tall"}, "holds 'tall'"), ({"colour": None}, "lacks a value in 2 rows"),
                         ({"size": np.nan}, "contains NaN: 2 in column 'size'")]:  # fmt: skip
        with pytest.raises(ValueError, match=f"^new.csv {fact}"):
            encoder.made_of(table(2).assign(**change), "new.csv")


def test_what_is_made_of_a_column_depends_on_nothing_else_than_the_way_of_it():
    frame = table(40).assign(count=lambda table: table["count"].where(table["count"] > 1))
    first = wn.TableEncoder("onehot", "median", missing={"size": ("-9",)}).fit(frame)
    second = wn.TableEncoder("onehot", "median", missing={"size": ("-9",)}).fit(frame.iloc[::-1])
    assert [first.way_of(name) for name in frame] == [second.way_of(name) for name in frame]
    third = wn.TableEncoder("onehot", "median").fit(frame[frame["colour"] != "red"])
    different = {name for name in frame if first.way_of(name) != third.way_of(name)}
    assert {"colour", "size"} <= different
    assert first.way_of("colour")["categories"] == ["blue", "green", "red"]


def test_ordered_categories_are_known_in_their_order():
    grades = pd.Series(["low", "high", "mid"] * 4, dtype=GRADES)
    encoder = wn.TableEncoder("onehot").fit(pd.DataFrame({"grade": grades, "colour": ["red", "blue"] * 6}))
    assert encoder.known_categories == {"colour": ["blue", "red"], "grade": ["low", "mid", "high"]}
    assert set(encoder.text_columns) == set(encoder.known_categories)


RNG = np.random.default_rng(0)
ROWS = np.arange(120)


def table_of_informative_gaps(gone):
    values = pd.DataFrame(RNG.random((120, 3)), columns=["told", "random", "whole"])
    values.loc[gone, "told"] = np.nan
    values.loc[RNG.choice(120, 40, replace=False), "random"] = np.nan
    return values


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gaps_of_one_class_are_informative_and_random_ones_are_not(n_classes):
    y = np.array(["u", "v", "w"])[ROWS % n_classes]
    gone = (y == "u") & (ROWS % 4 != 3)
    assert informative_gaps(table_of_informative_gaps(gone), y) == ["told"]


def test_gaps_of_large_numbers_are_informative():
    y = RNG.random(120)
    assert informative_gaps(table_of_informative_gaps(y > 0.8), y) == ["told"]


def test_few_gaps_and_one_class_say_nothing():
    y = np.where(ROWS < 4, "u", "v")
    assert informative_gaps(table_of_informative_gaps(ROWS < 4), y) == []
    assert informative_gaps(table_of_informative_gaps(ROWS < 60), np.array(["u"] * 120)) == []


def test_chance_rarely_finds_one_among_many_columns():
    gone = RNG.random((120, 300)) < 0.3
    X = pd.DataFrame(np.where(gone, np.nan, 1.0)).add_prefix("x")
    assert informative_gaps(X, np.where(ROWS % 2, "u", "v")) == []


CHROMOSOMES = ["1", "2", "7", "X"]


@pytest.mark.parametrize(
    ("values", "known", "expected"),
    [
        ([1.0, 7.0], CHROMOSOMES, ["1", "7"]),
        ([1, 7], CHROMOSOMES, [1, 7]),  # which are text to the encoder
        (["1.0", " X "], CHROMOSOMES, ["1", "X"]),
        ([Decimal(2), Decimal("7.0")], CHROMOSOMES, [Decimal(2), "7"]),
        ([1.1, 2.0], ["1.10", "2", "beta"], ["1.10", "2"]),
        ([1, 2], ["1.0", "2.0", "x"], ["1.0", "2.0"]),
        ([1.0, 2.0], ["1", "1.0", "1.00"], [1.0, "2"]),
        ([1.5], ["1.50", "1.500"], ["1.5"]),  # it could be two
        ([9.0, 9.5], CHROMOSOMES, ["9", "9.5"]),
        ([7.0], ["007", "x"], ["7"]),  # a code
        ([True, False], ["TRUE", "FALSE", "unknown"], ["TRUE", "FALSE"]),
        ([True], ["True", "x"], [True]),
        ([True], ["1", "x"], ["True"]),
        (["red", "mauve"], ["red"], ["red", "mauve"]),
        ([9007199254740993, 5], ["9007199254740993", "9007199254740992", "5.0"], [9007199254740993, "5.0"]),
    ],
)
@pytest.mark.parametrize("is_ordered", [None, False, True])
def test_values_are_written_as_the_categories_that_they_are(values, known, expected, is_ordered):
    column = pd.Series(values, dtype=object) if is_ordered is None else pd.Series(values)
    if is_ordered:
        column = column.astype(pd.CategoricalDtype(list(dict.fromkeys(values)), ordered=True))
    assert list(map(str, as_known_categories(column, known))) == list(map(str, expected))


def test_gaps_and_other_values_stay():
    given = pd.Series([1.0, None, [1], pd.NA, float("nan"), "X"], dtype=object, index=list("abcdef"), name="chrom")
    found = as_known_categories(given, CHROMOSOMES)
    assert (found.name, list(found.index)) == ("chrom", list("abcdef"))
    assert found.isna().tolist() == [False, True, False, True, True, False]
    assert [found["a"], found["c"], found["f"]] == ["1", [1], "X"]


@pytest.mark.parametrize("values", [[1, 7], ["1", "X"], [np.nan, np.nan]])
def test_a_column_of_known_categories_is_returned_itself(values):
    column = pd.Series(values)
    assert as_known_categories(column, CHROMOSOMES) is column

"""Values behind a prediction that the training rows do not have."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from tests.helpers.dated_tables import DATES, numbers_like_days, visits, visits_model

import whynear as wn
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, kinds_known, unusual_values


def numbers(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.uniform(-1.0, 1.0, (n, 3)), columns=["a", "b", "c"]).assign(flat=2.0)


def labels(X):
    return np.where(X["a"].fillna(0.0) > 0, "up", "down")


def mixed():
    X = numbers().assign(colour=["red", "blue", "green"] * 10).drop(columns="flat")
    X.loc[::5, "b"] = None
    return X


def found(model, X):
    fitted = FittedPipeline.of(model)
    table = fitted.table(X)
    return unusual_values(fitted, table, fitted.seen(table))


@pytest.mark.parametrize(
    "steps", [[], [StandardScaler()], [MinMaxScaler((-1, 1))], [VarianceThreshold(), StandardScaler()]]
)
@pytest.mark.parametrize("learner", [wn.GMLVQ(random_state=0), wn.LMNN(), wn.MinimumNormRegressor()])
@pytest.mark.filterwarnings("ignore:X holds the same value")
def test_numbers_outside_the_training_range_are_found_in_units_of_the_table(steps, learner):
    X = numbers()
    y = X["a"] + 0.5 * X["b"] - 0.2 * X["c"] if isinstance(learner, wn.MinimumNormRegressor) else labels(X)
    model = make_pipeline(*steps, learner).fit(X, y)
    assert found(model, X) == [[]] * len(X)  # the training rows are within their own range
    new = X.iloc[:3].assign(a=[5.0, 0.0, -5.0], c=[0.0, 0.0, 7.0], flat=[2.0, 3.0, 2.0])
    first, second, third = found(model, new)
    assert second == []  # a column without weight is nothing that a prediction rests on
    assert [(one.column, one.kind, one.value) for one in first] == [("a", "out_of_range", 5.0)]
    assert [one.column for one in third] == ["a", "c"]
    assert (first[0].low, first[0].high) == (pytest.approx(X["a"].min()), pytest.approx(X["a"].max()))


def test_categories_written_as_digits_are_known_beside_gaps():
    X = numbers().assign(chrom=["1", "2", "7", "X", None] * 6)
    encoder = wn.TableEncoder("onehot", "median")
    model = make_pipeline(encoder, StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, labels(X))
    new = X.iloc[:4].assign(chrom=[1.0, np.nan, 7.0, 9.0])
    with pytest.warns(UserWarning, match="holds '9'"):
        of_chrom = [[(one.kind, str(one)) for one in row if one.column == "chrom"] for row in found(model, new)]
    assert [[kind for kind, _ in row] for row in of_chrom] == [[], ["filled_in"], [], ["unseen_category"]]
    assert of_chrom[3][0][1].startswith("'chrom' = '9', which is none of the training categories '1', '2', '7', 'X'")


def test_a_row_is_judged_by_the_slow_rule():
    rng = np.random.default_rng(1)
    X = numbers().drop(columns="flat")
    model = make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, labels(X))
    new = pd.DataFrame(rng.uniform(-2.0, 2.0, (50, 3)), columns=list(X))
    expected = [[name for name in X if not X[name].min() <= row[name] <= X[name].max()] for _, row in new.iterrows()]
    assert [[one.column for one in row] for row in found(model, new)] == expected


ENCODED = {
    "TableEncoder": [wn.TableEncoder("onehot", "median"), StandardScaler()],
    "ColumnTransformer": [
        make_column_transformer(
            (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["a", "b", "c"]),
            (
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
                ["colour"],
            ),
            sparse_threshold=0.0,
        )
    ],
}


@pytest.mark.parametrize("steps", ENCODED.values(), ids=ENCODED)
@pytest.mark.filterwarnings("ignore:.*(holds 'mauve'|unknown categories)")
def test_gaps_and_new_categories_are_found_in_the_columns_of_the_table(steps):
    X = mixed()
    model = make_pipeline(*steps, wn.LMNN()).fit(X, labels(X))
    assert kinds_known(FittedPipeline.of(model)) == ("filled_in", "out_of_range", "unseen_category")
    new = pd.DataFrame({"a": [0.1, 9.0], "b": [None, 0.0], "c": [0.0, 0.0], "colour": [np.nan, "mauve"]})
    gaps, strange = found(model, new)
    assert [(one.column, one.kind, one.value) for one in gaps] == [
        ("b", "filled_in", None),
        ("colour", "filled_in", None),
    ]
    assert gaps[0].filled == pytest.approx(X["b"].median())
    assert gaps[1].filled == X["colour"].mode()[0]
    assert [(one.column, one.kind, one.value) for one in strange] == [
        ("a", "out_of_range", 9.0),
        ("colour", "unseen_category", "mauve"),
    ]
    assert strange[1].categories == ("blue", "green", "red")


def test_whole_numbers_as_categories_are_known_in_any_type():
    X = pd.DataFrame({"code": [1, 2, 3] * 10, "a": np.arange(30.0)})
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["code"]), (StandardScaler(), ["a"]), sparse_threshold=0.0
    )
    model = make_pipeline(encoder, wn.LMNN()).fit(X, X["code"] > 1)
    one, other = found(model, pd.DataFrame({"code": [2.0, 9.0], "a": [1.0, 1.0]}))
    assert one == []
    assert [value.column for value in other] == ["code"]


def test_an_imputer_alone_fills_in_too():
    X = numbers().drop(columns="flat")
    X.loc[3, "a"] = None
    model = make_pipeline(SimpleImputer(), StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, labels(X))
    (one,) = found(model, X.iloc[[3]])[0]
    assert (one.column, one.filled) == ("a", pytest.approx(X["a"].mean()))


def test_behind_steps_that_mix_columns_ranges_are_not_known():
    X = numbers().drop(columns="flat")
    model = make_pipeline(SimpleImputer(), PCA(2), wn.GMLVQ(random_state=0)).fit(X, labels(X))
    assert kinds_known(FittedPipeline.of(model)) == ("filled_in",)
    (gap,) = found(model, X.iloc[[0]].assign(a=None, b=99.0).astype(float))[0]
    assert (gap.column, gap.kind, gap.filled) == ("a", "filled_in", None)


def test_a_stream_widens_its_range():
    X = numbers().drop(columns="flat")
    learner = wn.GMLVQ(random_state=0)
    for part in (X[:10], X[10:], X[:5] * 3):
        learner.partial_fit(part, labels(part), classes=["down", "up"])
    every = pd.concat([X, X[:5] * 3])
    np.testing.assert_array_equal(learner.input_range_, [every.min(), every.max()])
    del learner.input_range_  # as a learner of an older file
    learner.partial_fit(X[:10], labels(X[:10]))
    assert not hasattr(learner, "input_range_")
    assert found(learner, X[:1] * 100) == [[]]


@pytest.mark.parametrize(
    ("value", "sentence", "short"),
    [
        (
            UnusualValue("height", "out_of_range", 17000.0, low=150.0, high=199.5),
            "'height' = 17000, outside the training range 150 to 199.5",
            "height = 17000 (150 to 199.5)",
        ),
        (UnusualValue("age", "filled_in", filled=41.5), "'age', which is missing and was taken as 41.5", "age (41.5)"),
        (UnusualValue("age", "filled_in"), "'age', which is missing", "age"),
        (
            UnusualValue("colour", "unseen_category", "mauve", categories=tuple("abcdefg")),
            "'colour' = 'mauve', which is none of the training categories 'a', 'b', 'c', 'd', 'e' and 2 more",
            "colour = mauve",
        ),
    ],
)
def test_it_is_said_with_column_value_and_range(value, sentence, short):
    assert (str(value), value.short) == (sentence, short)
    assert value.to_dict()["column"] == value.column


def test_an_explanation_names_what_it_rests_on():
    X = numbers(40).drop(columns="flat").assign(d=np.linspace(-1, 1, 40))
    model = wn.LMNN().fit(X, labels(X))
    usual, strange = (wn.explain(model, X.iloc[0] * factor) for factor in (1.0, 50.0))
    assert usual.unusual == ()
    assert "Caution" not in repr(usual)
    assert [value.column for value in strange.unusual] == list(X)
    assert ". Caution, it rests on 'a' = " in repr(strange)
    assert repr(strange).endswith(" and on 1 more")
    assert [value["column"] for value in strange.to_dict()["unusual"]] == list(X)


def test_dates_are_said_as_dates():
    model = visits_model()
    early = visits().iloc[[0]].drop(columns=["kind", "dose"]).assign(visit="04.03.2012", taken="2012-03-04 12:30")
    visit, taken = found(model, early)[0]
    read = pd.to_datetime(visits()["visit"], format="%d.%m.%Y").dt.strftime("%Y-%m-%d")
    assert str(visit) == f"'visit' = 2012-03-04, outside the training range {read.min()} to {read.max()}"
    assert taken.short == f"taken = 2012-03-04 12:30 ({visits()['taken'].min()} to {visits()['taken'].max()})"


def test_a_date_that_was_filled_in_is_said_as_a_date():
    table = visits().drop(columns="dose")
    table.loc[::7, "visit"] = None
    model = wn.learn_table(table, "kind", learner="grlvq", reading=wn.Reading(date=DATES)).model
    (gap,) = found(model, table.iloc[[0]].drop(columns="kind"))[0]
    assert gap.filled == model[0].decoded(model[0].transform(table.drop(columns="kind")).iloc[0])[0]
    assert str(gap) == f"'visit', which is missing and was taken as {gap.filled}"
    assert not numbers_like_days(str(gap))

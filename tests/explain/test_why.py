import json
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler

from tests.helpers.dated_tables import numbers_like_days, visits, visits_model
from tests.helpers.explained_learners import LEARNERS, LocalVote, fitted, table
from tests.helpers.notebook_html import HOSTILE, shown
from whynear import GMLVQ, GRLVQ, LGRLVQ, LMNN, Explanation, Explanations, LocalMetric, MinimumNormRegressor, as_metric
from whynear.data.cells import is_dated
from whynear.explain import explain

CASES = (0, 70, 77, 133)


@pytest.fixture(params=[(name, scaled) for name in LEARNERS for scaled in (False, True)], ids=str)
def model(request):
    return fitted(*request.param)


def last(model):
    return model[-1] if hasattr(model, "steps") else model


def place(near):
    """The place, from 0, of a case among those of a learner, which are numbered from 1."""
    return near.name - 1


def before(model, X):
    return model[:-1].transform(X) if hasattr(model, "steps") else X


# What holds for every learner


@pytest.mark.parametrize("case", CASES)
def test_contributions_sum_to_the_squared_distances(model, case):
    why = explain(model, table()[0].iloc[case])
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"], rtol=1e-9, atol=1e-12)
    assert_allclose(why.neighbors["distance"] ** 2, why.neighbors["sq_distance"])
    for near in (why.nearest, why.nearest_other):
        assert_allclose(near.contributions.sum(), near.sq_distance, rtol=1e-9, atol=1e-12)
        assert_allclose(near.distance**2, near.sq_distance)


@pytest.mark.parametrize("case", CASES)
def test_the_prediction_is_the_learners_and_has_the_largest_support(model, case):
    X, _ = table()
    why = explain(model, X.iloc[case])
    assert why.prediction == model.predict(X.iloc[[case]])[0] == why.support.idxmax()
    assert_allclose(why.probabilities, model.predict_proba(X.iloc[[case]])[0])
    votes = why.neighbors.groupby("label")["vote"].sum()
    assert_allclose(why.support, votes.reindex(why.support.index, fill_value=0.0))
    assert_array_equal(why.neighbors["for_prediction"], why.neighbors["label"] == why.prediction)


@pytest.mark.parametrize("case", CASES)
def test_relevances_sum_to_one_and_everything_is_under_the_users_columns(model, case):
    X, _ = table()
    why = explain(model, X.iloc[case])
    assert why.relevances.sum() == pytest.approx(1)
    for part in (why.relevances, why.values, why.contributions.columns, why.nearest.values):
        assert list(getattr(part, "index", part)) == list(X)
    assert sorted(why.held_off_by.index) == sorted(X)
    assert_allclose(why.values, X.iloc[case])
    assert why.coordinates == "columns"


@pytest.mark.parametrize("case", CASES)
def test_the_nearest_of_the_class_and_of_any_other_are_those_of_a_search_over_all(model, case):
    X, _ = table()
    why, learner = explain(model, X.iloc[case]), last(model)
    x = np.asarray(before(model, X.iloc[[case]]))
    known = learner.evidence(before(model, X.iloc[[case]]))
    metric = learner.metric_
    sq = metric.sq_distances(x)[0] if isinstance(metric, LocalMetric) else metric.sq_distances(x, known.cases)[0]
    own = known.labels == why.prediction
    for near, chosen in ((why.nearest, own), (why.nearest_other, ~own)):
        assert near.sq_distance == pytest.approx(sq[chosen].min(), rel=1e-9, abs=1e-12)
        assert near.label == known.labels[place(near)]
        assert chosen[place(near)]
    assert_allclose(why.held_off_by.sum(), why.nearest_other.sq_distance - why.nearest.sq_distance, atol=1e-9)
    assert (np.diff(why.held_off_by) <= 0).all()


def test_it_equals_a_slow_double_loop(model):
    """The distances written out as sums over pairs of features, in the user's columns."""
    X, _ = table()
    x = X.iloc[70]
    why, stated = explain(model, x), as_metric(model)
    for case, (_, row) in zip(why.neighbors[why.nearest.kind] - 1, why.contributions.iterrows(), strict=True):
        one = stated[case] if isinstance(stated, LocalMetric) else stated
        difference = x.to_numpy() - cases_in_columns(model, x)[case]
        for i, name in enumerate(X):
            part = sum(difference[i] * one.matrix()[i, j] * difference[j] for j in range(len(difference)))
            assert row[name] == pytest.approx(part, rel=1e-7, abs=1e-10)


def cases_in_columns(model, x):
    cases = last(model).evidence(before(model, x.to_frame().T)).cases
    return model[0].inverse_transform(cases) if hasattr(model, "steps") else cases


def test_cases_are_stated_in_the_units_of_the_table(model):
    X, _ = table()
    why = explain(model, X.iloc[70])
    for near in (why.nearest, why.nearest_other):
        assert_allclose(near.values, cases_in_columns(model, X.iloc[70])[place(near)])
    assert_allclose(why.neighbor_values.loc[why.nearest.name], why.nearest.values)


def test_local_relevances_are_the_neighbours_own_weighted_by_their_votes():
    X, _ = table()
    model = fitted("LocalVote", scaled=False)
    why = explain(model, X.iloc[70])
    expected, total = np.zeros(4), 0.0
    for _, neighbor in why.neighbors.iterrows():
        weights = model.metric_.weights[neighbor["case"] - 1]
        expected += neighbor["vote"] * weights / weights.sum()
        total += neighbor["vote"]
    assert_allclose(why.relevances, expected / total)


@pytest.mark.parametrize("learner", ["GMLVQ", "GRLVQ", "LMNN"])
def test_global_relevances_are_the_metrics(learner):
    model = fitted(learner)
    expected = model[-1].metric_.relevances()
    assert_allclose(explain(model, table()[0].iloc[3]).relevances, expected / expected.sum())


# The case


@pytest.mark.parametrize("given", ["array", "list", "series", "shuffled", "row", "table", "shuffled table"])
def test_a_case_may_come_in_any_form(given):
    X, _ = table()
    order = ["petal width (cm)", "sepal length (cm)", "petal length (cm)", "sepal width (cm)"]
    x = {
        "array": X.to_numpy()[70],
        "list": X.to_numpy()[70].tolist(),
        "series": X.iloc[70],
        "shuffled": X.iloc[70][order],
        "row": X.to_numpy()[70:71],
        "table": X.iloc[70:71],
        "shuffled table": X.loc[[70], order],
    }[given]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why = explain(fitted("GMLVQ"), x)
    pd.testing.assert_frame_equal(why.frame(), explain(fitted("GMLVQ"), X.iloc[70]).frame())


def test_a_learner_of_arrays_names_its_columns_itself_and_matches_by_place():
    X, y = table()
    model = GRLVQ(random_state=0).fit(X.to_numpy(), y)
    why = explain(model, X.iloc[70])
    assert list(why.values.index) == ["x0", "x1", "x2", "x3"]
    shuffled = explain(model, pd.Series(X.iloc[70].to_numpy()[::-1], index=["x3", "x2", "x1", "x0"]))
    assert_allclose(shuffled.contributions, why.contributions)


def test_the_case_is_left_as_it_was():
    X, _ = table()
    x = X.iloc[70].to_numpy().copy()
    x.setflags(write=False)
    explain(fitted("LMNN"), x)
    row = X.iloc[[70]].copy()
    explain(fitted("LMNN"), row)
    pd.testing.assert_frame_equal(row, X.iloc[[70]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x.drop("sepal width (cm)"), "x lacks 'sepal width"),
        (lambda x: pd.concat([x, pd.Series({"species": 1.0})]), "x has unknown 'species'"),
        (lambda x: x.rename({"sepal width (cm)": "width"}), "lacks 'sepal width .cm.' and has unknown 'width'"),
        (lambda x: pd.concat([x, x[:1]]), "'sepal length .cm.' more than once"),
        (lambda x: x.where(x.index != "petal width (cm)"), "NaN: 1 in column 'petal width .cm.'"),
        (lambda x: x.replace(x.iloc[0], np.inf), "infinity .inf.: 1 in column 'sepal length"),
        (
            lambda x: x.astype(object).where(x.index != "petal width (cm)", "wide"),
            "holds 'wide' in column 'petal width",
        ),
        (lambda x: x.to_numpy()[:3], "must have the 4 features of the learner, got 3"),
        (lambda x: np.tile(x, (2, 1))[:0], "must have at least one case to explain, got 0 rows"),
        (lambda x: np.zeros((1, 1, 4)), r"got shape \(1, 1, 4\)"),
    ],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_other_cases_are_refused_by_name(change, message, scaled):
    with pytest.raises(ValueError, match=message):
        explain(fitted("GMLVQ", scaled), change(table()[0].iloc[70].copy()))


# The learner


@pytest.mark.parametrize("wrong", [GMLVQ, StandardScaler().fit([[0.0], [1.0]]), MinimumNormRegressor])
def test_what_is_no_classifier_with_evidence_is_refused(wrong):
    with pytest.raises(TypeError, match="with a method evidence is needed"):
        explain(wrong, [1.0])


def test_a_learner_must_be_fitted():
    with pytest.raises(NotFittedError):
        explain(GMLVQ(), [1.0, 2.0])


def test_a_search_gives_what_its_best_pipeline_gives():
    X, y = table()
    pipeline = make_pipeline(StandardScaler(), "passthrough", make_pipeline(GRLVQ(random_state=0)))
    search = GridSearchCV(pipeline, {"pipeline__grlvq__sigma": [5.0]}, cv=2).fit(X, y)
    direct = explain(fitted("GRLVQ"), X.iloc[70])
    pd.testing.assert_frame_equal(explain(search, X.iloc[70]).frame(), direct.frame())


def test_dropped_columns_add_nothing_and_missing_values_are_imputed():
    X, y = table()
    X = X.assign(constant=1.0)[["constant", *X]]
    model = make_pipeline(SimpleImputer(), VarianceThreshold(), MinMaxScaler(), LGRLVQ(random_state=0)).fit(X, y)
    x = X.iloc[70].copy()
    x["sepal width (cm)"] = np.nan
    why = explain(model, x)
    assert list(why.contributions) == list(X)
    assert not why.contributions["constant"].any()
    assert why.relevances["constant"] == 0
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
    frame = why.frame().set_index("feature")
    assert frame["value"].isna().tolist() == [False, False, True, False, False]
    assert frame["nearest_value"].isna().tolist() == [True, False, False, False, False]
    assert why.units == "per scaled unit"
    assert json.loads(json.dumps(why.to_dict(), allow_nan=False))["values"][2] is None
    with pytest.raises(ValueError, match="infinity"):
        explain(model, x.replace(x.iloc[3], np.inf))


@pytest.mark.parametrize(
    ("step", "names"), [(PCA(3), ["pca0", "pca1", "pca2"]), (PowerTransformer(), list(table()[0]))]
)
def test_steps_that_mix_or_bend_columns_leave_the_learners_coordinates(step, names):
    X, y = table()
    model = make_pipeline(StandardScaler(), step, LGRLVQ(random_state=0)).fit(X, y)
    why = explain(model, X.iloc[70])
    assert why.coordinates == "steps"
    assert list(why.contributions) == list(why.relevances.index) == names
    assert_allclose(why.values, model[:-1].transform(X.iloc[[70]])[0])
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
    assert why.units == "per unit"


def test_steps_that_hand_over_tables_keep_their_names():
    X, y = table()
    model = make_pipeline(StandardScaler(), PCA(2), GRLVQ(random_state=0)).set_output(transform="pandas").fit(X, y)
    assert list(explain(model, X.iloc[0]).contributions) == ["pca0", "pca1"]


def test_units_are_those_of_the_scaled_columns():
    x = table()[0].iloc[0]
    assert explain(fitted("GRLVQ"), x).units == "per standard deviation"
    assert explain(fitted("GRLVQ", scaled=False), x).units == "per unit"


# Corners


def test_a_neighbour_of_another_class_is_looked_for_when_all_agree():
    X, _ = table()
    for learner in ("LMNN", "LocalVote"):
        why = explain(fitted(learner), X.iloc[0])
        assert why.neighbors["for_prediction"].all()
        assert why.nearest_other.label != why.prediction
        assert why.nearest_other.name not in set(why.neighbors[why.nearest.kind])


@pytest.mark.parametrize("learner", [LocalVote(k=2), LMNN(n_neighbors=2)])
def test_contradicting_copies_at_distance_zero(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    X[1] = X[0]
    y = np.arange(20) % 2
    why = explain(learner.fit(X, y), X[0])
    assert why.neighbors["sq_distance"].tolist()[:2] == [0, 0]
    assert set(why.neighbors["label"][:2]) == {0, 1}
    assert why.prediction == 0
    assert why.nearest.sq_distance == why.nearest_other.sq_distance == 0
    assert not why.held_off_by.any()
    assert "is as near, at 0, but outvoted" in repr(why)
    assert np.isfinite(why.frame().drop(columns="feature")).all(axis=None)


def test_one_feature_and_whole_numbers_as_classes():
    X = np.arange(10.0)[:, None]
    model = GRLVQ(random_state=0).fit(X, (X[:, 0] > 4).astype(int))
    why = explain(model, [1.0])
    assert (why.prediction, why.nearest_other.label) == (0, 1)
    assert isinstance(why.prediction, int)
    assert why.relevances.tolist() == [1.0]
    assert repr(why).startswith("predicted 0 with probability")
    json.dumps(why.to_dict(), allow_nan=False)


def test_a_nearer_case_that_is_outvoted_is_named():
    X = np.array([[0.0], [0.9], [1.0], [9.0]])
    model = LocalVote().fit(X, ["a", "b", "b", "a"])
    model.metric_ = LocalMetric(X, np.full((4, 1), 0.01))
    why = explain(model, [0.1])
    assert (why.prediction, why.nearest_other.label) == ("b", "a")
    assert why.held_off_by.sum() < 0
    assert "the nearest of another class, case 1 ('a'), is nearer, at 0.01, but outvoted" in repr(why)


def test_a_learner_that_knows_a_single_class_has_no_other_case():
    model = LocalVote().fit(np.arange(4.0)[:, None], ["a"] * 4)
    why = explain(model, [1.2])
    assert why.nearest_other is None
    assert why.held_off_by.empty
    assert why.frame()["other_value"].isna().all()
    assert "no case of another class" in repr(why)
    assert why.to_dict()["nearest_other"] is None
    assert len(why.plot().containers) == 1


# Read, sent


def test_the_sentence_names_prediction_cases_and_features():
    why = explain(fitted("GRLVQ"), table()[0].iloc[0])
    text = repr(why)
    assert text.startswith("predicted 'setosa' with probability 0.9")
    near, other = why.nearest, why.nearest_other
    nearest = f"the nearest of this class is prototype {near.name}, at distance {near.distance:.3g}"
    farther = f"prototype {other.name} ('versicolor'), is farther away, at {other.distance:.3g}, mainly because of"
    assert f": {nearest}; the nearest of another class, {farther} {why.held_off_by.index[0]!r}" in text


def test_the_frame_has_a_row_per_feature_in_the_order_of_the_table():
    X, _ = table("breast_cancer")
    why = explain(fitted("GMLVQ", name="breast_cancer"), X.iloc[41])
    frame = why.frame()
    assert frame["feature"].tolist() == list(X)
    assert_allclose(frame["value"], X.iloc[41])
    assert frame["relevance"].sum() == pytest.approx(1)
    assert_allclose(frame["nearest_contribution"].sum(), why.nearest.sq_distance)
    assert_allclose(frame["held_off_by"], frame["other_contribution"] - frame["nearest_contribution"])
    assert (frame["nearest_contribution"] < 0).any()  # never clipped


def test_the_dictionary_survives_json(model):
    why = explain(model, table()[0].iloc[70])
    sent = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert sent["prediction"] == why.prediction
    assert sent["features"] == list(why.values.index)
    assert_allclose(sent["probabilities"], why.probabilities)
    kind = why.nearest.kind
    assert [neighbor[kind] for neighbor in sent["neighbors"]] == why.neighbors[kind].tolist()
    assert_allclose([neighbor["values"] for neighbor in sent["neighbors"]], why.neighbor_values)
    assert_allclose([neighbor["contributions"] for neighbor in sent["neighbors"]], why.contributions)
    assert sent["nearest_other"]["label"] == why.nearest_other.label
    assert_allclose([entry["difference"] for entry in sent["held_off_by"]], why.held_off_by)


def test_dates_are_explained_as_dates():
    """Those of the case as it is given, those of rows, and those of prototypes, which lie between rows."""
    X, model = visits().drop(columns=["kind", "dose"]), visits_model()
    why = explain(model, X.iloc[[3]])
    day, month, year = X["visit"].iloc[3].split(".")
    assert why.values[["visit", "taken"]].tolist() == [f"{year}-{month}-{day}", X["taken"].iloc[3]]
    assert is_dated(why.nearest.values["visit"])
    assert is_dated(why.neighbor_values["taken"].iloc[0])
    assert explain(model, model[0].read(X.iloc[[3]])) == why
    for text in (repr(why), why._repr_html_(), why.frame().to_csv(), json.dumps(why.to_dict())):
        assert numbers_like_days(text) == []
    labels = [label.get_text() for label in why.plot().get_yticklabels()]
    assert f"visit = {why.values['visit']}" in labels


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
    with pytest.raises(ValueError, match=rf"{message} were explained, .* Take it by its place"):
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

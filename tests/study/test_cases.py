"""Selected cases, and short explanations of many."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.measured_tables import houses
from tests.helpers.studies import houses_study, iris_study
from whynear.explain.why import explain_each
from whynear.study import cases
from whynear.study.cases import (
    MOST_CLASSES,
    MOST_EXPLAINED,
    MOST_FEATURES,
    MOST_PARTS,
    MOST_VOTERS,
    SHOWN_PARTS,
    cases_frame,
    explained_places,
    reasons_of,
    rows_of_prototypes,
    selected_rows,
    selected_values,
    spread,
    voters_of,
)


def test_cases_are_explained_by_a_model_that_was_fitted_without_them():
    study = iris_study()
    kinds = {(case.true, case.kind) for case in study.cases}
    assert {("0", "typical"), ("1", "typical"), ("2", "typical")} <= kinds
    for case in study.cases:
        predicted = study.comparison.predictions.loc[case.row]
        assert (predicted["true"] == predicted["predicted"]) == (case.kind != "wrong")
        assert_allclose(case.why.contributions.sum(axis=1), case.why.neighbors["sq_distance"])


def predicted(true, right, probability):
    """Held-out predictions, right where said."""
    return pd.DataFrame({"true": true, "predicted": np.where(right, true, "other"), "probability": probability})


def test_a_typical_a_wrong_and_a_borderline_row_of_a_class_are_selected():
    y = np.repeat(["u", "v"], [15, 5])
    right = np.ones(20, dtype=bool)
    right[[2, 3]] = False
    probability = np.linspace(0.5, 0.975, 20)  # the median of the right ones of u is that of row 8 or 9
    found = selected_rows(predicted(y, right, probability))
    assert found == [(8, "typical"), (3, "wrong"), (0, "borderline"), (17, "typical")]


def test_no_more_than_a_fifth_of_a_class_is_selected_but_one_row():
    y = np.repeat(["u", "v"], [10, 3])
    found = selected_rows(predicted(y, np.ones(13, dtype=bool), np.linspace(0.5, 0.9, 13)))
    assert [y[place] for place, _ in found] == ["u", "u", "v"]


def test_classes_that_would_be_left_with_one_row_are_not_explained():
    y = np.repeat(["u", "v"], [10, 2])
    found = selected_rows(predicted(y, np.ones(12, dtype=bool), np.full(12, 0.9)))
    assert {y[place] for place, _ in found} == {"u"}


def test_only_the_largest_classes_are_explained():
    y = np.repeat([f"c{i}" for i in range(MOST_CLASSES + 2)], np.arange(5, 5 + MOST_CLASSES + 2))
    found = selected_rows(predicted(y, np.ones(len(y), dtype=bool), np.full(len(y), 0.9)))
    assert {y[place] for place, _ in found} == {f"c{i}" for i in range(2, MOST_CLASSES + 2)}


def test_the_table_of_cases_has_a_row_for_each():
    study = iris_study()
    frame = cases_frame(study.cases)
    assert frame["row"].tolist() == [case.row for case in study.cases]
    assert frame["predicted"].tolist() == [case.why.prediction for case in study.cases]
    assert (frame["nearest_other"] != frame["predicted"]).all()
    assert list(cases_frame(())) == list(frame)


def quiet(_step, _share):
    pass


def values_predicted(errors):
    return pd.DataFrame({"true": np.asarray(errors, dtype=float), "predicted": 0.0})


def test_a_typical_row_and_the_largest_errors_of_both_signs_are_selected():
    found = selected_values(values_predicted([0.1, -3, 1, 5, -0.2]), np.zeros(5, dtype=int))
    assert found == [(2, "typical"), (1, "overestimate"), (3, "underestimate")]


def test_the_row_with_most_unusual_values_is_selected_and_not_taken_for_typical():
    unusual = np.array([0, 0, 1, 2, 2, 0])
    found = selected_values(values_predicted([0.1, -3, 1, 0.5, -0.7, 5]), unusual)
    assert (4, "unusual") in found  # of the two with two unusual values, that of the larger error
    assert dict(found)[1] != "unusual"
    assert [place for place, kind in found if kind == "typical"] == [1]


def test_no_row_is_selected_twice():
    found = selected_values(values_predicted([1.0, 2.0, 3.0]), np.array([0, 0, 4]))
    assert found == [(1, "typical"), (2, "underestimate")]


def test_exact_predictions_have_no_over_and_underestimate():
    assert selected_values(values_predicted(np.zeros(5)), np.zeros(5, dtype=int)) == [(2, "typical")]


def test_cases_are_explained_by_a_map_fitted_without_them():
    study = houses_study()
    assert [case.kind for case in study.cases][:1] == ["typical"]
    assert {"overestimate", "underestimate"} <= {case.kind for case in study.cases}
    for case in study.cases:
        row = study.comparison.predictions.loc[case.row]
        assert case.why.prediction == pytest.approx(row["predicted"], rel=1e-9)
        assert case.true == row["true"]
        assert case.row not in case.why.neighbors["row"].tolist()
        assert set(case.why.neighbors["row"]) <= set(study.problem.X.index)


def test_reasons_are_those_of_the_same_maps():
    study = houses_study()
    assert [reason.place for reason in study.reasons] == list(range(80))
    reason = study.reasons[17]
    why = wn.explain(study.comparison.model_without(17).model, study.problem.X.iloc[[17]])
    assert reason.text == repr(why)
    assert "Caution, it rests on 'age', which is missing" in reason.text
    assert [one.column for one in reason.unusual] == ["age"]
    assert reason.voters == voters_of(why)
    assert [part.feature for part in reason.parts] == why.ranked.index[:SHOWN_PARTS].tolist()
    for part in reason.parts:
        assert part.adds == (why.contributions[part.feature],)
        value, mean = part.values
        assert (value is None) == (part.feature == "age")
        assert (mean is None) == (part.feature == "town")


def test_cases_are_not_explained_again(monkeypatch):
    study, explained = houses_study(), []
    monkeypatch.setattr(
        cases,
        "explain_each",
        lambda model, rows, known: explained.extend(rows.index) or explain_each(model, rows, known),
    )
    found = reasons_of(study.problem.X, study.comparison, study.cases, quiet)
    assert found == study.reasons
    assert len(explained) == 80 - len(study.cases)


def test_folds_without_a_varying_column_explain_nothing():
    X = pd.DataFrame({"a": [0.0] * 29 + [1.0]})
    y = np.linspace(0, 1, 30)
    study = wn.study(X.assign(y=y), "y", splitting=wn.Splitting(folds=3))
    explained = {reason.place for reason in study.reasons}
    held_out_with_it = study.comparison.predictions["fold"].to_numpy() == study.comparison.predictions["fold"].iloc[-1]
    assert not explained & set(np.flatnonzero(held_out_with_it))
    assert explained


@pytest.fixture(scope="module")
def study():
    iris = load_iris(as_frame=True).frame[::3].reset_index(drop=True)
    return wn.study(iris, "target", learner="grlvq", splitting=wn.Splitting(folds=3))


def test_every_case_of_a_small_table_is_explained_by_a_model_without_it(study):
    assert [reason.place for reason in study.reasons] == list(range(50))
    for reason in study.reasons[::10]:
        model = study.comparison.model_without(reason.place)
        known = rows_of_prototypes(study.problem.X, study.comparison, model)
        (why,) = explain_each(model, study.problem.X.iloc[[reason.place]], known)
        assert reason.text == repr(why) == repr(wn.explain(model.model, study.problem.X.iloc[[reason.place]]))
        assert (reason.nearest.label, reason.other.label) == (why.nearest.label, why.nearest_other.label)
        assert len(reason.parts) == min(SHOWN_PARTS, 4)
        assert (reason.voters, reason.unusual) == (voters_of(why), why.unusual)
        for part in reason.parts:
            near = why.nearest.contributions, why.nearest_other.contributions
            assert part.adds == tuple(parts[part.feature] for parts in near)


def test_prototypes_are_shown_with_the_values_of_rows_that_were_not_held_out(study):
    X, fold = study.problem.X, study.comparison.predictions["fold"]
    for case in study.cases:
        why = case.why
        assert why.kind == "prototype"
        assert (fold.loc[why.neighbors["nearest_row"]] != fold.iloc[case.place]).all()
        assert_allclose(why.neighbor_values.astype(float), X.loc[why.neighbors["nearest_row"]])
        assert_allclose(why.nearest.values.astype(float), X.loc[why.nearest.nearest_row])
        assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
        assert voters_of(why).columns == ("prototype", "nearest row", "class", "distance", "vote")
        assert f"prototype {why.nearest.name}" in repr(why)


def test_cases_explained_before_are_not_explained_again(study, monkeypatch):
    explained = []
    monkeypatch.setattr(
        cases,
        "explain_each",
        lambda model, rows, known: explained.extend(rows.index - 1) or explain_each(model, rows, known),
    )
    found = reasons_of(study.problem.X, study.comparison, study.cases, quiet)
    assert found == study.reasons
    assert sorted([*explained, *(case.place for case in study.cases)]) == list(range(50))


def test_wrong_predictions_come_before_others_where_not_all_can_be_explained(study, monkeypatch):
    monkeypatch.setattr(cases, "MOST_EXPLAINED", 20)
    places = [reason.place for reason in reasons_of(study.problem.X, study.comparison, study.cases, quiet)]
    assert study.comparison.wrong.any()
    assert set(np.flatnonzero(study.comparison.wrong)[:10]) <= set(places)
    assert {case.place for case in study.cases} <= set(places)
    assert len(places) < 40


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


def test_the_rows_that_vote_are_listed_with_their_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, 6)), columns=list("abcdef"), index=[f"p{row}" for row in range(40)])
    why = wn.explain(wn.LMNN(n_neighbors=10).fit(X, np.where(X["c"] > 0, "up", "down")), X.iloc[5] + 0.1)
    found = voters_of(why)
    assert len(found.lines) == MOST_VOTERS
    assert len(found.features) == len(found.values) == MOST_FEATURES
    assert found.values == tuple(f"{X.loc['p5', name] + 0.1:.4g}" for name in found.features)
    name, label, distance, vote, *values = found.lines[0]
    assert (name, label) == (why.nearest.name, "up" if X.loc[name, "c"] > 0 else "down")
    assert (distance, vote) == (f"{why.nearest.distance:.3g}", f"{why.neighbors['vote'][0]:.3g}")
    assert values == [f"{X.loc[name, feature]:.4g}" for feature in found.features]
    assert found.parts == tuple(map(tuple, why.contributions[list(found.features)][:MOST_VOTERS].to_numpy()))


def test_the_rows_near_a_measured_target_are_listed_with_their_values():
    X, y = houses()
    why = wn.explain(wn.learn_table(X.assign(price=y), "price").model, X.loc[["h05"]])
    found = voters_of(why)
    assert len(found.lines) == len(why.neighbors)
    assert found.features == tuple(why.ranked.index)
    assert found.parts[1] == tuple(why.neighbor_contributions.iloc[1][list(found.features)])
    name, measured, _, distance, *values = found.lines[1]
    assert (measured, distance) == (f"{y[name]:.4g}", f"{why.neighbors['distance'][1]:.4g}")
    assert values[found.features.index("town")] == X.loc[name, "town"]


def test_categories_and_gaps_are_shown_as_they_are():
    table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 10, "colour": ["red", "red", "blue", "blue"] * 10})
    model = wn.learn_table(
        table.assign(y=table["colour"]), "y", learner="lmnn", reading=wn.Reading(categories="onehot", impute="median")
    )
    found = voters_of(wn.explain(model.model, table.iloc[[2]].assign(size=None)))
    assert dict(zip(found.features, found.values, strict=True)) == {"size": "missing", "colour": "blue"}
    assert found.lines[0][4 + found.features.index("colour")] == "blue"

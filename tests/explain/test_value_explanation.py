import json
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import whynear as wn
from tests.helpers.dated_tables import numbers_like_days, visits, visits_model
from tests.helpers.measured_tables import houses, model_of_houses, numbers
from tests.helpers.mixed_tables import NUMBERS
from tests.helpers.mixed_tables import table as mixed_table
from tests.helpers.notebook_html import HOSTILE, shown
from whynear.explain.case_explanation import values_of_cases, with_caution, write_figure
from whynear.explain.value_explanation import NEIGHBORS, LinearParts, is_linear_map
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue
from whynear.study.methods import remember_rows


def explained(row=5):
    return wn.explain(model_of_houses(), houses()[0].iloc[[row]])


def test_the_sentence_says_the_value_its_side_of_the_mean_the_features_with_signs_and_the_rows():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
    model = wn.MinimumNormRegressor().fit(X, 2 * X["a"] - 10 * X["b"])
    assert repr(wn.explain(model, X.iloc[[3]])) == (
        "predicted -4, 2 below the mean -2: 'b' (-5), 'a' (+3); the 4 nearest rows (1 at distance 0) measured -8 to 4, "
        "on average -2"
    )
    assert repr(wn.explain(model, pd.DataFrame({"a": [2.5], "b": [0.25]}))).startswith(
        "predicted 2.5, 4.5 above the mean -2: 'b' (+2.5), 'a' (+2); the 4 nearest rows measured"
    )


def test_a_map_without_intercept_is_stated_from_zero():
    X, y = numbers()
    model = wn.MinimumNormRegressor(fit_intercept=False).fit(X, y)
    assert " above zero: " in repr(wn.explain(model, X.iloc[[0]]))


def test_a_map_of_zeros_adds_nothing():
    X, _ = numbers()
    why = wn.explain(wn.MinimumNormRegressor().fit(X, np.full(len(X), 3.0)), X.iloc[[0]])
    assert repr(why).startswith("predicted 3, 0 above the mean 3: no feature adds to it; the 5 nearest rows")


def test_the_frame_has_a_line_for_each_feature():
    why = explained()
    frame = why.frame().set_index("feature")
    assert frame.index.tolist() == ["size", "age", "town", "noise"]
    assert frame["contribution"].tolist() == why.contributions.tolist()
    assert frame.loc["size", "contribution"] == pytest.approx(
        frame.loc["size", "coefficient"] * (frame.loc["size", "value"] - frame.loc["size", "mean"])
    )
    assert pd.isna(frame.loc["town", "coefficient"])
    assert frame["distance_share"].sum() == pytest.approx(why.neighbors["sq_distance"].iloc[0])


def test_everything_is_plain_in_json():
    held = json.loads(json.dumps(explained(3).to_dict(), allow_nan=False))
    assert held["features"] == ["size", "age", "town", "noise"]
    assert held["values"][1] is None
    assert held["coefficients"][2] is None
    assert held["mean_prediction"] + sum(held["contributions"]) == pytest.approx(held["prediction"])
    assert held["neighbors"][0]["row"] == "h03"
    assert sum(held["neighbors"][1]["distance_shares"]) == pytest.approx(held["neighbors"][1]["sq_distance"])
    assert held["unusual"][0]["column"] == "age"


def test_notebooks_show_the_sentence_the_features_and_the_rows():
    why = explained()
    text = shown(why)
    assert repr(why)[1:] in text
    assert "adds to the prediction" in text
    assert "nearest row" in text
    assert "h05" in text


def test_hostile_names_are_shown_as_they_are():
    X, y = numbers()
    X = X.set_axis(HOSTILE[:3] if len(HOSTILE) >= 3 else [*HOSTILE, *"xyz"][:3], axis=1)
    page = wn.explain(wn.MinimumNormRegressor().fit(X, y), X.iloc[[0]])._repr_html_()
    assert HOSTILE[0] not in page


def test_explanations_are_equal_by_value():
    assert explained() == explained()
    assert explained() != explained(6)


MODELS = {
    "bare": lambda: wn.MinimumNormRegressor(),
    "without intercept": lambda: wn.MinimumNormRegressor(fit_intercept=False),
    "two directions": lambda: make_pipeline(StandardScaler(), wn.MinimumNormRegressor(2)),
    "scaled": lambda: make_pipeline(VarianceThreshold(), MinMaxScaler(), wn.MinimumNormRegressor()),
    "mixed": lambda: make_pipeline(StandardScaler(), PCA(2), wn.MinimumNormRegressor()),
}


# The law: the mean prediction and the contributions sum to the prediction


@pytest.mark.parametrize("name", MODELS)
@given(seed=st.integers(0, 1000))
def test_contributions_and_the_mean_sum_to_the_prediction(name, seed):
    X, y = numbers(20, seed)
    model = MODELS[name]().fit(X, y)
    why = wn.explain(model, X.iloc[[3]])
    assert why.prediction == pytest.approx(model.predict(X)[3], rel=1e-12)
    assert why.mean_prediction + why.contributions.sum() == pytest.approx(why.prediction, rel=1e-9, abs=1e-9)


def test_they_do_so_behind_an_encoder_and_for_neighbours_too():
    X, _ = houses()
    model = model_of_houses()
    for why in wn.explain(model, X):
        assert why.mean_prediction + why.contributions.sum() == pytest.approx(why.prediction, rel=1e-9)
        sums = why.mean_prediction + why.neighbor_contributions.sum(axis=1)
        assert_allclose(sums, why.neighbors["predicted"], rtol=1e-9)
        assert_allclose(why.distance_shares.sum(axis=1), why.neighbors["sq_distance"])
        assert_allclose(why.neighbors["predicted"], model.predict(X.loc[why.neighbors["row"]]))


def test_the_contribution_is_what_moving_a_value_to_its_mean_takes_away():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(X, y)
    x = X.iloc[[7]]
    why = wn.explain(model, x)
    for name in X:
        moved = x.assign(**{name: X[name].mean()})
        assert why.contributions[name] == pytest.approx(why.prediction - model.predict(moved)[0], abs=1e-9)


def test_categories_behind_a_column_transformer_add_one_number():
    X, _ = mixed_table()
    y = 2 * X["size"] + 10 * (X["colour"] == "red") + np.sin(np.arange(len(X)))
    scaled = ColumnTransformer([("n", StandardScaler(), NUMBERS), ("c", OneHotEncoder(), ["colour", "sex"])])
    why = wn.explain(make_pipeline(scaled, wn.MinimumNormRegressor()).fit(X, y), X.iloc[[4]])
    assert list(why.contributions.index) == list(X)
    assert why.mean_prediction + why.contributions.sum() == pytest.approx(why.prediction, rel=1e-9)
    assert why.coefficients["size"] == pytest.approx(2, abs=0.1)
    assert why.coefficients[["colour", "sex"]].isna().all()
    assert why.neighbor_values["colour"].iloc[0] == X["colour"].iloc[4]


def test_a_gap_that_says_something_is_a_part_of_its_column():
    X, y = houses(gaps=False)
    X.loc[X.index[::4], "age"] = np.nan
    model = wn.learn_table(X.assign(price=y + 50 * X["age"].isna()), "price").model
    assert model[0].indicators_ == ["age"]
    why = wn.explain(model, X.iloc[[4]])
    assert list(why.contributions.index) == list(X)
    assert why.contributions["age"] > 20
    assert why.mean_prediction + why.contributions.sum() == pytest.approx(why.prediction, rel=1e-9)


# Neighbours


def test_neighbours_are_the_rows_with_the_most_similar_contributions():
    X, y = houses()
    model = model_of_houses()
    why = wn.explain(model, X.iloc[[5]])
    all_rows = pd.DataFrame([one.contributions for one in wn.explain(model, X)], index=X.index)
    distances = np.sqrt(((all_rows - why.contributions) ** 2).sum(axis=1)).sort_values(kind="stable")
    assert why.neighbors["row"].tolist() == distances.index[:NEIGHBORS].tolist()
    assert_allclose(why.neighbors["distance"], distances[:NEIGHBORS])
    assert why.neighbors["measured"].tolist() == y[why.neighbors["row"]].tolist()


def test_rows_that_differ_are_not_near_because_they_are_predicted_alike():
    X = pd.DataFrame({"a": [0.0, 1.0, 10.0, 5.0], "b": [10.0, 9.0, 0.0, 5.0]}, index=["p", "q", "r", "s"])
    model = wn.MinimumNormRegressor().fit(X, [10.0, 10.0, 10.0, 10.5])
    model = model.with_metric(wn.LinearMetric([[1.0, 1.0]], ["a", "b"]))
    assert wn.explain(model, X.iloc[[0]]).neighbors["row"].tolist() == ["p", "q", "s", "r"]


def test_neighbours_have_the_values_of_their_rows():
    X, _ = houses()
    why = wn.explain(model_of_houses(), X.iloc[[5]])
    for row, values in why.neighbor_values.iterrows():
        assert values["town"] == X.loc[row, "town"]
        assert values["size"] == pytest.approx(X.loc[row, "size"])


def test_without_names_neighbours_are_cases_numbered_from_one():
    X, y = numbers()
    why = wn.explain(wn.MinimumNormRegressor().fit(X.to_numpy(), y.to_numpy()), X.to_numpy()[4])
    assert why.kind == "case"
    assert why.neighbors["case"].iloc[0] == 5


def test_a_model_of_an_older_file_has_no_neighbours():
    X, y = numbers()
    model = wn.MinimumNormRegressor().fit(X, y)
    for name in ("cases_", "targets_", "row_names_"):
        delattr(model, name)
    why = wn.explain(model, X.iloc[[0]])
    assert not len(why.neighbors)
    assert "nearest" not in repr(why)
    assert why.frame()["contribution"].notna().all()
    assert why.to_dict()["neighbors"] == []
    assert "nearest" in why._repr_html_()
    assert wn.explain(model, X.iloc[:2]).frame()["nearest"].isna().all()


def test_a_saved_model_explains_as_before(tmp_path):
    X, _ = houses()
    model = model_of_houses()
    wn.save(model, tmp_path / "model")
    assert wn.explain(wn.load(tmp_path / "model"), X.iloc[[3]]) == wn.explain(model, X.iloc[[3]])


# What is unusual


def test_unusual_values_are_said():
    X, _ = houses()
    x = X.iloc[[3]].assign(size=999.0, town="Aachen")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the new category
        why = wn.explain(model_of_houses(), x)
    assert {value.column: value.kind for value in why.unusual} == {
        "size": "out_of_range",
        "age": "filled_in",
        "town": "unseen_category",
    }
    text = repr(why)
    assert "Caution, it rests on 'size' = 999, outside the training range" in text
    assert "'age', which is missing and was taken as" in text
    assert "'town' = 'Aachen', which is none of the training categories 'Bonn', 'Köln', 'Trier'" in text
    assert why.values["age"] is None


# Contributions that cancel


def test_contributions_that_cancel_are_said_to_have_a_meaning_only_together():
    base = np.random.default_rng(0).standard_normal(40)
    X = pd.DataFrame({"up": 100 + 50 * base, "down": 100 + 50 * base}, index=[f"r{i}" for i in range(40)])
    X["down"] -= np.sin(np.arange(40))
    model = wn.MinimumNormRegressor().fit(X, X["up"] - X["down"])
    why = wn.explain(model, X.iloc[[int(base.argmax())]])
    assert why.cancels
    assert ", which others cancel: read the contributions only together; the 5 nearest rows" in repr(why)
    assert why.to_dict()["cancels"]


def test_a_value_far_out_of_range_cancels_nothing():
    X, y = numbers()
    why = wn.explain(wn.MinimumNormRegressor().fit(X, y), X.iloc[[0]].assign(a=1000.0))
    assert not why.cancels
    assert "cancel" not in repr(why)


# What is explained


def test_several_rows_are_explained_by_name():
    X, _ = houses()
    model = model_of_houses()
    several = wn.explain(model, X.iloc[:3])
    assert several.of("h01") == wn.explain(model, X.iloc[[1]])
    frame = several.frame()
    assert list(frame) == list(wn.ValueExplanation.SUMMARY)
    assert frame["nearest"].tolist() == ["h00", "h01", "h02"]
    assert "h01" in several._repr_html_()
    assert [held["row"] for held in several.to_dict()] == ["h00", "h01", "h02"]


def test_a_search_and_a_series_are_explained_alike():
    X, y = numbers()
    model = wn.MinimumNormRegressor().fit(X, y)
    assert wn.explain(model, X.iloc[2]) == wn.explain(model, X.iloc[[2]]) == wn.explain(make_pipeline(model), X.iloc[2])


def test_other_regressors_and_unfitted_ones_are_refused():
    X, y = numbers()
    with pytest.raises(TypeError, match=r"a method evidence is needed, .* got Ridge"):
        wn.explain(Ridge().fit(X, y), X.iloc[0])
    with pytest.raises(NotFittedError):
        wn.explain(wn.MinimumNormRegressor(), X.iloc[0])


def test_bad_values_are_refused_by_name():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(X, y)
    with pytest.raises(ValueError, match="'b'"):
        wn.explain(model, X.iloc[[0]].assign(b=np.nan))
    with pytest.raises(ValueError, match="'c'"):
        wn.explain(model, X.iloc[[0]].drop(columns="c"))


def test_dates_their_means_and_those_of_neighbours_are_dates():
    X, model = visits().drop(columns=["kind", "dose"]), visits_model("dose")
    why = wn.explain(model, X.iloc[[3]])
    days = pd.to_datetime(X["visit"], format="%d.%m.%Y")
    assert why.values["visit"] == str(days[3].date())
    assert why.mean_values["visit"] == str(days.mean().date())
    assert why.neighbor_values["taken"].isin(X["taken"]).all()
    later = X.iloc[[3]].assign(visit=str(days[3].date() + pd.Timedelta(days=10)))
    assert wn.explain(model, later).prediction - why.prediction == pytest.approx(10 * why.coefficients["visit"])
    for text in (repr(why), why._repr_html_(), why.frame().to_csv(), json.dumps(why.to_dict())):
        assert numbers_like_days(text) == []
    assert any(f"(mean {why.mean_values['visit']})" in label.get_text() for label in why.plot().get_yticklabels())


mpl.use("agg")

FORMULA = "price $\\frac{$"  # no formula: reading it as one fails


def wide(n_features=30):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, n_features)))
    X.columns = [FORMULA, *(f"f{j}" for j in range(1, n_features))]
    x = X.iloc[[0]].assign(**{FORMULA: 3.0})
    return wn.explain(wn.MinimumNormRegressor().fit(X, X @ np.linspace(-2, 1, n_features)), x)


def test_bars_are_signed_named_with_their_values_and_sum_to_the_prediction():
    why = wn.explain(model_of_houses(), houses()[0].iloc[[3]])
    ax = why.plot()
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(why.contributions.sum())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert any(label.startswith("size = ") and "(mean " in label for label in labels)
    assert any(label.startswith("age = missing (mean ") for label in labels)
    assert f"town = {why.values['town']}" in labels  # categories have no mean
    assert ax.get_title(loc="left").startswith(f"predicted {why.prediction:.4g}: the mean")
    for bar in ax.patches:  # in grey print too
        assert (bar.get_hatch() is not None) == (bar.get_width() < 0)


def test_small_contributions_are_summed():
    why = wide()
    ax = why.plot(most=5)
    assert [tick.get_text() for tick in ax.get_yticklabels()][-1] == "25 other features"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(why.contributions.sum())


def test_the_heat_map_shows_this_case_and_its_rows():
    why = wn.explain(model_of_houses(), houses()[0].iloc[[5]])
    ax = why.plot_neighbors()
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    first = why.neighbors.iloc[0]
    assert names[:2] == ["this case", f"{first['row']}\n{first['measured']:.4g}"]
    assert len(names) == 6


@pytest.mark.parametrize("draw", ["plot", "plot_neighbors"])
def test_names_are_no_formulas(draw, tmp_path):
    ax = getattr(wide(), draw)()
    ax.figure.savefig(tmp_path / "a.png")
    assert any(FORMULA in tick.get_text() for tick in ax.get_yticklabels())


def test_it_is_written_as_a_file(tmp_path):
    write_figure(wide(), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_reason_without_unusual_values_stands_alone():
    assert with_caution("predicted 3", ()) == "predicted 3"


def test_three_unusual_values_are_named_and_the_others_counted():
    values = [UnusualValue(name, "filled_in") for name in "abcde"]
    assert with_caution("predicted 3", values) == (
        "predicted 3. Caution, it rests on 'a', which is missing and on 'b', which is missing and on 'c', which is "
        "missing and on 2 more"
    )


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_the_extension_sets_the_format(tmp_path, name, start):
    X, y = load_iris(return_X_y=True, as_frame=True)
    write_figure(wn.explain(wn.GRLVQ(random_state=0).fit(X, y), X.iloc[[0]]), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_cases_have_the_units_of_the_table_and_the_gaps_of_their_rows():
    X, _ = houses()
    model = FittedPipeline.of(model_of_houses())
    numbers = np.array([2, 3])
    filled = values_of_cases(model, model.learner.cases_, numbers)
    assert_allclose(filled, model.numbers(X).iloc[numbers], atol=1e-9)
    remember_rows(model.model, X)
    known = values_of_cases(model, model.learner.cases_, numbers)
    assert np.isnan(known).tolist() == [[False] * 6, [False, True, False, False, False, False]]


def test_coefficients_are_those_of_least_squares_in_the_units_of_the_table():
    X, y = numbers()
    expected = LinearRegression().fit(X, y)
    for steps in ((), (StandardScaler(),)):
        parts = LinearParts(FittedPipeline.of(make_pipeline(*steps, wn.MinimumNormRegressor()).fit(X, y)))
        assert_allclose(parts.coefficients, expected.coef_)
        assert_allclose(parts.origin, X.mean())


def test_the_coefficients_times_the_deviations_are_the_contributions():
    X, y = numbers()
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(X, y)
    parts = LinearParts(FittedPipeline.of(model))
    assert_allclose(parts.contributions(model[0].transform(X)), (X - X.mean()) * parts.coefficients)


def test_a_column_of_categories_adds_one_number_and_has_no_coefficient():
    X, _ = houses()
    model = FittedPipeline.of(model_of_houses())
    parts = LinearParts(model)
    assert parts.features == ("size", "age", "town", "noise")
    added = parts.contributions(np.asarray(model.seen(X)))
    assert added.shape == (80, 4)
    assert_allclose(added.sum(axis=1) + model.learner.target_origin_, model.model.predict(X), atol=1e-9)
    assert np.isnan(parts.coefficients[2])
    assert np.isnan(parts.origin[2])
    assert parts.coefficients[[0, 1]] == pytest.approx([3, -2], abs=0.4)


def test_behind_steps_that_mix_columns_features_are_their_output():
    X, y = numbers()
    model = make_pipeline(PCA(2), wn.MinimumNormRegressor()).fit(X, y)
    parts = LinearParts(FittedPipeline.of(model))
    assert parts.features == ("pca0", "pca1")
    assert_allclose(parts.coefficients, model[-1].coef_)


@pytest.mark.parametrize("other", [wn.MinimumNormRegressor, wn.MinimumNormRegressor(), StandardScaler(), wn.GMLVQ()])
def test_other_models_are_no_linear_maps(other):
    assert not is_linear_map(other)


def test_a_map_is_found_at_the_end_of_a_pipeline():
    assert is_linear_map(model_of_houses())

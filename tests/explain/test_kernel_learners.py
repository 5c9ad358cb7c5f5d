"""Explanations of learners whose training rows add signed shares to a score or a number."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.kernel_learners import KernelClasses, KernelNumbers
from tests.helpers.mixed_tables import table as mixed_table
from tests.helpers.notebook_html import shown
from whynear.cli.explain import _show
from whynear.explain.case_explanation import write_figure
from whynear.explain.explanation import MOST_NEIGHBORS
from whynear.explain.value_explanation import is_linear_map
from whynear.study.cases import voters_of
from whynear.testing.learner import _gives_evidence, table

mpl.use("agg")


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"), index=[f"r{i}" for i in range(n)])


def classes(X):
    found = np.where(X["a"] + 0.3 * X["b"] > 0.4, "high", np.where(X["c"] > 0, "low", "mid"))
    return pd.Series(found, X.index)


def measured(X):
    return 10 + 3 * X["a"] - X["b"] ** 2


def model_of(kind, X):
    learner, y = (KernelClasses(), classes(X)) if kind == "classes" else (KernelNumbers(), measured(X))
    return make_pipeline(StandardScaler(), learner).fit(X, y)


KINDS = pytest.mark.parametrize("kind", ["classes", "numbers"])


# The law: what is predicted without any row, the listed votes and the rest sum to the score or the number


@KINDS
@given(seed=st.integers(0, 1000))
def test_the_base_the_listed_rows_and_the_rest_sum_to_the_prediction(kind, seed):
    X = rows(25, seed)
    model, case = model_of(kind, X), rows(1, seed + 1)
    why = wn.explain(model, case)
    score = why.prediction if kind == "numbers" else why.support[why.prediction]
    assert why.base + why.neighbors["vote"].sum() + why.rest == pytest.approx(score, abs=1e-9)
    assert why.prediction == model.predict(case)[0]
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"], rtol=1e-9)
    assert why.neighbors["distance"].is_monotonic_increasing
    assert len(why.neighbors) + why.n_rest == len(X)


@KINDS
def test_the_nearest_rows_are_listed_with_their_shares(kind):
    X = rows()
    model = model_of(kind, X)
    why = wn.explain(model, X.iloc[[3]] + 0.1)
    assert len(why.neighbors) == len(why.contributions) == MOST_NEIGHBORS
    seen = model[0].transform(X.iloc[[3]] + 0.1)
    sq = model[-1].metric_.sq_distances(seen, model[-1].cases_)[0]
    nearest = np.argsort(sq, kind="stable")[:MOST_NEIGHBORS]
    assert why.neighbors["row"].tolist() == X.index[nearest].tolist()
    output = 0 if kind == "numbers" else list(model.classes_).index(why.prediction)
    assert_allclose(why.neighbors["vote"], np.exp(-np.sqrt(sq[nearest])) * model[-1].alpha_[nearest, output])
    assert (why.neighbors["for_prediction"] == (why.neighbors["vote"] > 0)).all()
    known = "measured" if kind == "numbers" else "label"
    truth = measured(X) if kind == "numbers" else classes(X)
    assert why.neighbors[known].tolist() == truth[why.neighbors["row"]].tolist()
    assert_allclose(why.neighbor_values, X.loc[why.neighbors["row"]])
    assert_allclose(why.relevances, model[-1].metric_.mean_shares())


def test_some_votes_are_negative():
    X = rows()
    assert min(why.neighbors["vote"].min() for why in wn.explain(model_of("classes", X), X)) < 0


def test_numbers_have_no_classes_and_no_nearest_case_of_another():
    X = rows()
    why = wn.explain(model_of("numbers", X), X.iloc[[3]])
    assert not len(why.probabilities)
    assert why.nearest_other is None
    assert why.nearest.label == measured(X)["r3"]
    assert why.of_numbers
    text = repr(why)
    assert text.startswith(f"predicted {why.prediction:.4g}, ")
    assert f"{why.base:.4g}, which is predicted without any row; the 8 nearest rows (1 at distance 0) measured" in text


@pytest.mark.parametrize("n_rows", [5, 9, 40])
@KINDS
def test_a_line_says_what_all_other_rows_add(kind, n_rows):
    X = rows(n_rows)
    why = wn.explain(model_of(kind, X), X.iloc[[0]])
    assert f"Without any row {why.base:.4g} is" in why.remark
    assert ("other row" in why.remark) == (n_rows > MOST_NEIGHBORS)
    assert f"the {n_rows - MOST_NEIGHBORS} other row" in why.remark or n_rows == 5
    assert why.remark.replace("'", "&#39;") in why._repr_html_()


def test_the_interval_of_held_out_errors_is_around_the_number():
    X = rows()
    model = model_of("numbers", X)
    model[-1].error_interval_ = (-1.0, 2.0)
    why = wn.explain(model, X.iloc[[0]])
    assert why.interval == pytest.approx((why.prediction - 1, why.prediction + 2))
    assert "(90% interval " in repr(why)
    assert why.to_dict()["interval"] == list(why.interval)


@KINDS
def test_everything_is_shown_and_plain_in_json(kind, tmp_path, capsys):
    from rich.console import Console

    X = rows()
    model = model_of(kind, X)
    why = wn.explain(model, X.iloc[[0]])
    held = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    votes = sum(near["vote"] for near in held["neighbors"])
    score = why.prediction if kind == "numbers" else why.support[why.prediction]
    assert held["base"] + votes + held["rest"] == pytest.approx(score)
    assert held["n_rest"] == len(X) - MOST_NEIGHBORS
    assert repr(why)[1:].replace("'", "’") in shown(why).replace("'", "’")
    write_figure(why, tmp_path / "a.svg")
    assert why.plot_neighbors() is not None
    assert why.frame().shape == (4, 8)
    several = wn.explain(model, X.iloc[:3])
    frame = several.frame()
    assert frame["prediction"].tolist() == [one.prediction for one in several]
    assert frame["nearest"].tolist() == [one.nearest.name for one in several]
    assert ("measured" in frame) == (kind == "numbers")
    _show(Console(width=200), why)
    printed = capsys.readouterr().out
    assert "nearest" in printed
    assert "the 32 other rows" in printed
    assert voters_of(why).columns == ("row", "measured" if kind == "numbers" else "class", "distance", "vote")


@KINDS
def test_text_is_explained_in_the_columns_of_the_table(kind):
    X, y = mixed_table()
    learner = KernelClasses() if kind == "classes" else KernelNumbers()
    target = y if kind == "classes" else np.sin(np.arange(len(X)))
    encoder = wn.TableEncoder("onehot", "median")
    why = wn.explain(make_pipeline(encoder, StandardScaler(), learner).fit(X, target), X.iloc[[3]])
    assert why.values.index.tolist() == list(X)
    assert why.values["colour"] == X["colour"][3]
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])


def test_a_kernel_learner_of_numbers_is_no_linear_map_and_must_be_fitted():
    assert not is_linear_map(model_of("numbers", rows()))
    with pytest.raises(NotFittedError):
        wn.explain(KernelNumbers(), rows().iloc[0])


def test_profiles_of_classes_weigh_shares_by_their_size():
    X = rows()
    model = model_of("classes", X)
    assert_allclose(wn.class_profiles(model, X).sum(), 1)


def test_signed_shares_pass_the_check_of_evidence():
    X, y = table()
    assert (KernelClasses().fit(X, y).evidence(X).votes < 0).any()
    _gives_evidence(KernelClasses(), X, y)

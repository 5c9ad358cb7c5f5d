import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.learners import NearestClassMean
from tests.helpers.notebook_html import shown
from tests.helpers.relevance import local
from whynear.interpret.validation import LEAST, TOLERANCES, least_norm_metrics


def noisy(seed=0, n=120):
    """Two of six columns decide."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_the_largest_tolerance_that_costs_nothing_is_chosen():
    X, y = noisy()
    found = wn.relevance_tolerance(make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)), X, y)
    curve = found.frame()
    assert list(curve) == ["tolerance", "train_error", "validation_error", "excess", "standard_error"]
    assert tuple(curve["tolerance"]) == TOLERANCES
    assert_allclose(curve["excess"], curve["validation_error"] - curve["validation_error"][0])
    as_good = curve["tolerance"][curve["excess"] <= curve["standard_error"] + 1e-12]
    assert found.best == max(as_good.max(), LEAST)


def test_a_tolerance_that_costs_too_much_is_not_chosen():
    X, y = noisy(n=400)
    learner = NearestClassMean()
    found = wn.relevance_tolerance(learner, X, y, candidates=[0.05, 0.9])
    assert found.best == 0.05
    assert found.curve["excess"].iloc[-1] > 0.1


def test_resamples_of_the_held_out_rows_say_how_sure_the_choice_is():
    X, y = noisy()
    found = wn.relevance_tolerance(wn.GRLVQ(random_state=0), X, y)
    assert len(found.resampled) == 20
    assert set(found.resampled) <= {LEAST, *TOLERANCES}
    assert found.stability == found.resampled.count(found.best) / 20
    sure = wn.relevance_tolerance(wn.GRLVQ(random_state=0), X, y, candidates=[0.0])
    assert sure.stability == 1


def test_rows_of_a_group_are_held_out_together_and_are_not_independent():
    X, y = noisy(n=60)
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(60), 4)
    alone = wn.relevance_tolerance(NearestClassMean(), X, y, candidates=[0.05, 0.9])
    together = wn.relevance_tolerance(NearestClassMean(), X, y, candidates=[0.05, 0.9], groups=groups)
    errors = [found.curve["standard_error"].iloc[-1] for found in (alone, together)]
    assert errors[1] == pytest.approx(2 * errors[0], rel=0.2)
    assert len(together.resampled) == 20


def test_never_less_than_what_resampling_changes():
    X, y = noisy()
    assert wn.relevance_tolerance(NearestClassMean(), X, y, candidates=[0.9]).best == LEAST


def test_validation_rows_and_a_fitted_learner_are_used_as_they_are():
    (X, y), (X_val, y_val) = noisy(0), noisy(1)
    learner = make_pipeline(StandardScaler(), NearestClassMean()).fit(X, y)
    found = wn.relevance_tolerance(learner, X, y, X_val, y_val, candidates=[0.1])
    assert found.curve["validation_error"][0] == np.mean(learner.predict(X_val) != y_val)
    (metric,) = least_norm_metrics(learner, X, [0.1])
    swapped = learner[-1].with_metric(wn.as_metric(metric.omega * learner[0].scale_))
    assert found.curve["validation_error"][1] == np.mean(swapped.predict(learner[0].transform(X_val)) != y_val)
    with pytest.raises(ValueError, match="belong together"):
        wn.relevance_tolerance(learner, X, y, X_val)


def test_learners_without_a_metric_of_their_own_vote():
    X, y = noisy()
    found = wn.relevance_tolerance(make_pipeline(StandardScaler(), KNeighborsClassifier(5)), X, y, candidates=[0.1])
    assert found.curve["validation_error"][0] < 0.25


def test_regression_is_judged_by_squared_errors():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    y = X @ [1.0, 2.0, 0.0, 0.0, 0.0] + 0.3 * rng.standard_normal(80)
    found = wn.relevance_tolerance(wn.MinimumNormRegressor(), X, y)
    assert found.criterion == "mse"
    assert list(found.frame())[:3] == ["tolerance", "train_mse", "mse"]
    assert LEAST <= found.best <= 0.3


@pytest.mark.parametrize("kind", ["weights", "omegas"])
def test_a_local_metric_keeps_one_map_for_each_anchor(kind):
    metric, left, right = local(kind)
    X = np.vstack([left, right])
    exact, wide = least_norm_metrics(metric, X, [0.0, 0.1])
    assert len(exact) == len(wide) == len(metric)
    for anchor, rows in ((0, left), (1, right)):
        ours, theirs = exact[anchor], metric[anchor]
        assert_allclose(ours.sq_distances(rows, rows), theirs.sq_distances(rows, rows), rtol=1e-6, atol=1e-9)
    assert np.abs(wide.omegas[:2]).sum() < np.abs(exact.omegas[:2]).sum()


@pytest.mark.parametrize("candidates", [[], [1.0], [-0.1]])
def test_tolerances_outside_zero_to_one_are_refused(candidates):
    with pytest.raises(ValueError, match="candidates"):
        wn.relevance_tolerance(NearestClassMean(), *noisy(), candidates=candidates)


def test_it_is_drawn_and_shown():
    found = wn.relevance_tolerance(NearestClassMean(), *noisy(), candidates=[0.05, 0.1])
    ax = Figure().subplots()
    assert found.plot(ax) is ax
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"validation error", "train error"}
    assert "tolerance" in shown(found)


def test_masked_training_rows_are_refused_beside_validation_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, "u", "v")
    masked = np.ma.masked_array(np.where(np.eye(40, 3) > 0, -999.0, X), mask=np.eye(40, 3, dtype=bool))
    with pytest.raises(ValueError, match="3 masked values"):
        wn.relevance_tolerance(wn.GRLVQ(random_state=0).fit(X, y), masked, y, X_val=X, y_val=y)


@pytest.mark.parametrize(("cell", "message"), [(np.inf, "infinity .inf.: 1 in column 'b'"), ("hello", "column 'b'")])
def test_a_value_that_is_no_number_is_named_with_its_column_behind_a_scaler(cell, message):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["a", "b", "c"]).astype(object)
    y = np.where(X["a"] > 0, "u", "v")
    X.iloc[1, 1] = cell
    with pytest.raises(ValueError, match=message):
        wn.relevance_tolerance(make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)), X, y)

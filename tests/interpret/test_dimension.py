import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.learners import NearestClassMean
from tests.helpers.notebook_html import shown
from tests.helpers.spectra import spectra
from whynear.interpret.validation import EffectiveDimension


def noisy_copies(seed, n=60):
    """Two classes separated by a few directions, in many columns with noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    hidden = np.column_stack([4.0 * y + rng.standard_normal(n), rng.standard_normal(n)])
    mixing = np.random.default_rng(99).standard_normal((2, 40))
    return hidden @ mixing + rng.standard_normal((n, 40)), y


def test_wine_spectra_reach_the_papers_correlation_at_twelve_directions(real_data):
    X, y, X_test, y_test = spectra(real_data)
    result = wn.effective_dimension(wn.MinimumNormRegressor(), X, y, X_test, y_test, scoring="correlation")
    assert result.best == 12
    assert round(result.curve["correlation"].max(), 4) == 0.9954
    assert list(result.curve.columns) == ["effective_dim", "train_mse", "mse", "correlation"]
    assert result.curve["train_mse"].is_monotonic_decreasing
    by_mse = wn.effective_dimension(wn.MinimumNormRegressor(), X, y, X_test, y_test)
    assert by_mse.criterion == "mse"
    assert by_mse.curve["mse"].min() == by_mse.curve.set_index("effective_dim")["mse"][by_mse.best]


def test_projection_predicts_with_the_regularized_metric():
    (X, y), (X_val, y_val) = noisy_copies(0, 30), noisy_copies(1)
    learner = make_pipeline(StandardScaler(), NearestClassMean()).fit(X, y)
    result = wn.effective_dimension(learner, X, y, X_val, y_val, candidates=[1, 5, 29])
    for K, error in result.curve[["effective_dim", "validation_error"]].itertuples(index=False):
        swapped = learner[-1].with_metric(wn.regularize(learner, X, int(K)))
        assert error == np.mean(swapped.predict(learner[0].transform(X_val)) != y_val)


def test_extremes_average_the_errors_of_all_extreme_maps():
    (X, y), (X_val, y_val) = noisy_copies(0, 30), noisy_copies(1)
    X, X_val = X[:, :8], X_val[:, :8]
    model = NearestClassMean().fit(X, y)
    result = wn.effective_dimension(model, X, y, X_val, y_val, candidates=[3], scheme="extremes")
    metrics = wn.relevance_intervals(model, X, 3, extremes=True).extreme_metrics()
    errors = [np.mean(model.with_metric(metric).predict(X_val) != y_val) for metric in metrics]
    assert len(errors) == 16
    assert_allclose(result.curve["validation_error"], np.mean(errors))


def test_the_smallest_number_of_directions_wins_among_equals():
    X, y = noisy_copies(0)
    result = wn.effective_dimension(NearestClassMean(), X, y)
    best = result.curve["validation_error"].min()
    equal = result.curve.loc[result.curve["validation_error"] <= best + 1e-12, "effective_dim"]
    assert result.best == equal.min()
    assert result.best <= 3
    assert best < 0.1


def test_learners_that_take_no_metric_vote_by_nearest_neighbours():
    X, y = noisy_copies(0)
    nca = make_pipeline(StandardScaler(), NeighborhoodComponentsAnalysis(2, max_iter=10, random_state=0))
    with_knn = make_pipeline(*nca, KNeighborsClassifier(3))
    for learner in (nca, with_knn):
        result = wn.effective_dimension(learner, X, y, candidates=[2, 10])
        assert result.curve["validation_error"].min() < 0.2


def test_a_full_rank_vote_is_that_of_scikit_learn():
    (X, y), (X_val, y_val) = noisy_copies(0), noisy_copies(1)
    learner = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")).fit(X, y)
    # scikit-learn weights by distance, this library by squared distance: one neighbour votes alike under both
    learner = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(X, y)
    result = wn.effective_dimension(learner, X, y, X_val, y_val, candidates=[40])
    assert result.curve["validation_error"][0] == np.mean(learner.predict(X_val) != y_val)


def test_an_unfitted_learner_is_fitted_and_a_fitted_one_is_left_alone():
    (X, y), (X_val, y_val) = noisy_copies(0), noisy_copies(1)
    fitted = NearestClassMean().fit(X, y)
    metric = fitted.metric_
    first = wn.effective_dimension(fitted, X, y, X_val, y_val, candidates=[2])
    assert fitted.metric_ is metric
    second = wn.effective_dimension(NearestClassMean(), X, y, X_val, y_val, candidates=[2])
    assert first.curve.equals(second.curve)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scheme": "magic"}, "scheme must be"),
        ({"scoring": "mse"}, r"scoring must be one of error \(for a classifier\)"),
        ({"candidates": [0]}, r"between 1 and the rank 40 of the data, got \[0\]"),
        ({"candidates": []}, "got none"),
        ({"X_val": np.ones((2, 40))}, "belong together"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    X, y = noisy_copies(0)
    with pytest.raises(ValueError, match=message):
        wn.effective_dimension(NearestClassMean(), X, y, **changes)


def test_the_curve_is_drawn_into_given_axes():
    X, y = noisy_copies(0)
    result = wn.effective_dimension(NearestClassMean(), X, y, candidates=[1, 2, 3])
    ax = Figure().add_subplot()
    assert result.plot(ax) is ax
    assert "directions" in ax.get_xlabel()
    assert len(ax.get_legend().get_texts()) == 2
    assert result.frame().equals(result.curve)


@pytest.mark.parametrize("criterion", ["validation_error", "mse", "correlation"])
def test_an_effective_dimension_shows_the_results_of_its_choice(criterion):
    kept, values = np.array([1, 4, 9]), np.array([0.5, 0.25, 0.375])
    train = "train_error" if criterion == "validation_error" else "train_mse"
    curve = pd.DataFrame({"effective_dim": kept, train: values / 2, "mse": values, criterion: values})
    text = shown(EffectiveDimension(4, curve, "projection", criterion))
    assert f"The {criterion.replace('_', ' ')} is 0.25 with 4 directions and 0.375 with 9." in text


def test_an_effective_dimension_of_a_single_candidate_is_shown():
    curve = pd.DataFrame({"effective_dim": [3], "train_error": [0.0], "validation_error": [0.0]})
    assert "3 directions" in shown(EffectiveDimension(3, curve, "projection", "validation_error"))

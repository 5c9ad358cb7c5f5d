"""The relevance of the features under a learned metric."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import iris_study
from whynear.interpret.validation import LEAST, EffectiveDimension
from whynear.model.pipeline import FittedPipeline
from whynear.study.interpretation import TOLERANCES, _bounded, _can_be_held_out, interpret
from whynear.study.methods import Methods, fewest_directions

X = pd.DataFrame(np.random.default_rng(0).standard_normal((80, 3)), columns=["sure", "noise", "other noise"])
Y = np.where(X["sure"] > 0, "u", "v")


def interpreted(rows=80, **options):
    steps = []
    settings = {"sources": None, "effective_dim": None, "n_jobs": None, **options}
    model = Methods(0).fitted("grlvq", X[:rows], Y[:rows])
    found = interpret(
        FittedPipeline.of(model), X[:rows], Y[:rows], report=lambda step, share: steps.append((step, share)), **settings
    )
    return found, steps


def test_features_are_bounded_and_the_largest_comes_first():
    frame = iris_study().interpretation.frame()
    assert list(frame.columns) == ["feature", "lower", "upper"]
    assert frame["upper"].is_monotonic_decreasing
    assert (frame["lower"] <= frame["upper"]).all()
    constant = frame.set_index("feature").loc["constant"]
    assert (constant["lower"], constant["upper"]) == (0, 0)
    assert frame["feature"][0].startswith("petal")


def test_the_tolerance_is_chosen_and_every_feature_bounded():
    found, steps = interpreted()
    assert [step for step, _ in steps] == [
        "choose the tolerance of the intervals",
        "bound the relevance of every feature",
    ]
    assert found.relevance.tolerance == found.tolerance.best
    assert found.tolerance.best in TOLERANCES
    assert found.frame()["feature"][0] == "sure"
    assert not found.averaged


def test_a_choice_that_resamples_do_not_agree_on_is_undecided():
    found, _ = interpreted()
    sure = replace(found.tolerance, best=0.1, resampled=(0.1,) * 15 + (0.3,) * 5)
    assert replace(found, tolerance=sure).choice == "15 of 20 resamples of the held-out cases choose the same."
    unsure = replace(sure, resampled=(0.05,) * 6 + (0.1,) * 14)
    assert replace(found, tolerance=unsure).choice == (
        "14 of 20 resamples of the held-out cases choose the same, so it is undecided: they choose 5% to 10%."
    )
    assert replace(found, tolerance=None).choice == ""


def test_given_directions_are_used_and_few_rows_choose_nothing():
    found, steps = interpreted(effective_dim=2)
    assert (found.effective_dim, found.tolerance, found.relevance.tolerance) == (2, None, 0.0)
    assert "choose the tolerance of the intervals" not in [step for step, _ in steps]
    found, _ = interpreted(rows=16)
    assert (found.tolerance, found.relevance.tolerance) == (None, LEAST)


def test_what_an_encoder_made_of_a_column_is_summed():
    parts, _ = interpreted(effective_dim=3)
    found, _ = interpreted(effective_dim=3, sources=["sure", "noise", "noise"])
    assert found.relevance.feature_names == ("sure", "noise")
    assert found.relevance.upper[0] == pytest.approx(parts.relevance.upper[0])


@pytest.mark.parametrize(
    ("criterion", "errors", "expected"),
    [
        ("validation_error", [0.5, 0.11, 0.1], 2),
        ("validation_error", [0.1, 0.11, 0.1], 1),
        ("validation_error", [0.5, 0.3, 0.0], 3),
        ("validation_mse", [4.0, 1.1, 1.0], 2),
    ],
)
def test_the_fewest_directions_within_a_standard_error_are_kept(criterion, errors, expected):
    curve = pd.DataFrame({"effective_dim": [1, 2, 3], criterion: errors})
    assert fewest_directions(EffectiveDimension(3, curve, "projection", criterion), 100) == expected


def test_rows_are_held_out_where_classes_and_a_column_are_likely_in_every_part():
    assert _can_be_held_out(X, Y)
    assert not _can_be_held_out(X[:19], Y[:19])
    assert not _can_be_held_out(X, np.array(["single", *Y[1:]]))
    assert not _can_be_held_out(pd.DataFrame({"a": np.eye(1, 80).ravel()}), Y)


def test_many_local_maps_are_averaged_and_few_are_not():
    rng = np.random.default_rng(0)
    anchors, weights = rng.standard_normal((6, 3)), rng.uniform(1, 2, (6, 3))
    metric = wn.LocalMetric(anchors, weights=weights)
    assert _bounded(metric, n_rows=24) == (metric, False)
    mean, averaged = _bounded(metric, n_rows=20)
    assert averaged
    assert_allclose(mean.relevances(), metric.mean_shares())


def test_the_tolerance_is_chosen_with_groups_together_if_every_class_has_two(monkeypatch):
    groups, given = pd.Series(np.arange(80) // 4, name="patient"), []

    def watched(*words, **named):
        given.append(named["groups"])
        return wn.relevance_tolerance(*words, **named)

    monkeypatch.setattr(import_module("whynear.study.interpretation"), "relevance_tolerance", watched)
    assert interpreted(groups=groups)[0].tolerance is not None
    assert given[0] is groups
    assert not _can_be_held_out(X, Y, pd.Series(Y == "u"))

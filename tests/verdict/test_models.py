import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.verdicts import classes, of_kind, two_of_four, with_categories_and_gaps
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.kernel_ridge import KERNELS
from whynear.verdict.models import KernelModels, beats_guessing


@pytest.mark.parametrize("kind", ["relevance linear", "ring"])
def test_without_a_feature_the_models_are_those_of_the_table_without_it(kind):
    columns, target, _ = of_kind(kind)
    models = KernelModels(columns, target)
    for j in (0, columns.n_features - 1):
        rest = columns.only(np.delete(np.arange(columns.n_features), j))
        assert_allclose(
            models.without([j]).loss, KernelModels(rest, target, ridges=models.settled).answers.loss, atol=1e-9
        )


def test_with_only_some_features_the_models_are_those_of_a_table_of_them():
    X, y = two_of_four()
    models = KernelModels(feature_columns(X), classes(y))
    alone = KernelModels(feature_columns(X[["one", "noise_1"]]), classes(y))
    assert_allclose(models.with_only([0, 3]).loss, alone.answers.loss, atol=1e-9)


def test_a_category_is_left_out_as_a_whole():
    X, y = with_categories_and_gaps()
    models = KernelModels(feature_columns(X), classes(y))
    rest = KernelModels(feature_columns(X.drop(columns="colour")), classes(y), ridges=models.settled)
    assert_allclose(models.without([0]).loss, rest.answers.loss, atol=1e-9)


def test_without_any_feature_the_models_guess():
    X, y = two_of_four()
    target = classes(y)
    found = KernelModels(feature_columns(X), target).without(range(4), tune=True)
    assert not beats_guessing(found, target)
    assert_allclose(found.loss, target.guessed().loss, atol=0.02)


def test_the_best_kernel_has_the_least_loss_and_is_near_itself():
    columns, target, _ = of_kind("ring")
    models = KernelModels(columns, target)
    losses = {name: models.full[name].loss.mean() for name in KERNELS}
    assert models.best == min(losses, key=losses.get) != "linear"
    assert models.best in models.near
    assert "linear" not in models.near


def test_a_model_of_random_labels_does_not_beat_guessing():
    X, _ = two_of_four()
    for seed in range(10):
        target = classes(np.random.default_rng(seed).permutation(np.arange(120) % 2))
        assert not beats_guessing(KernelModels(feature_columns(X), target).answers, target)

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from whynear.datasets import make_relevance

counts = st.integers(0, 3)


@given(st.integers(4, 40), counts, counts, st.integers(2, 4), counts, st.sampled_from(["linear", "xor"]))
def test_names_groups_and_strength_agree(n, strong, groups, size, useless, target):
    assume(strong + groups >= (2 if target == "xor" else 1))
    data = make_relevance(n, strong, groups, size, useless, target=target, random_state=0)
    assert list(data.X.columns) == data.feature_names
    assert data.X.shape == (n, strong + groups * size + useless)
    assert data.hidden.shape == (n, strong + groups)
    named = dict(zip(data.feature_names, data.strength, strict=True))
    kinds = {"strong": "strong", "weak": "weak", "noise": "irrelevant"}
    assert all(kinds[name.split("_")[0]] == kind for name, kind in named.items())
    assert [name for group in data.groups for name in group] == [f for f, k in named.items() if k == "weak"]
    assert all(len(group) == size for group in data.groups)
    assert abs(np.sum(data.y == 1) - np.sum(data.y == 0)) <= 1


def test_the_linear_target_splits_the_sum_at_its_median():
    data = make_relevance(201, 2, 1, random_state=0)
    total = data.hidden.sum(axis=1)
    assert total[data.y == 0].max() < total[data.y == 1].min()
    assert np.sum(data.y == 1) == 101


@pytest.mark.parametrize("h", [2, 3, 5, 12])
def test_the_xor_target_is_the_parity_of_all_signs(h):
    data = make_relevance(300, h - 1, 1, target="xor", random_state=1)
    assert_array_equal(data.y, np.prod(np.sign(data.hidden), axis=1) < 0)
    assert (np.abs(np.sign(data.hidden).mean(axis=0)) < 0.2).all()


@pytest.mark.parametrize("h", [2, 3, 4])
def test_every_corner_of_xor_is_equally_full(h):
    data = make_relevance(160, h, 0, target="xor", random_state=2)
    sizes = np.bincount((data.hidden > 0) @ (2 ** np.arange(h)), minlength=2**h)
    assert set(sizes) == {160 // 2**h}


def test_copies_differ_from_their_coordinate_by_the_noise():
    data = make_relevance(2000, 1, 2, 3, 0, noise=0.05, random_state=3)
    for g, group in enumerate(data.groups):
        error = data.X[group].sub(data.hidden[:, 1 + g], axis=0)
        assert error.std().to_numpy() == pytest.approx(0.05, rel=0.1)
    assert_array_equal(data.X["strong_0"], data.hidden[:, 0])


def test_without_noise_copies_are_exact():
    data = make_relevance(50, 0, 2, 4, 1, noise=0, random_state=4)
    for g, group in enumerate(data.groups):
        assert_array_equal(data.X[group], np.repeat(data.hidden[:, [g]], 4, axis=1))


def test_noise_features_know_nothing_of_the_class():
    data = make_relevance(4000, n_irrelevant=6, random_state=5)
    useless = data.X.loc[:, data.strength == "irrelevant"]
    assert np.abs(useless.corrwith(data.X["strong_0"])).max() < 0.06
    assert np.abs(np.corrcoef(useless.T, data.y)[-1, :-1]).max() < 0.06


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_strong": 0, "n_weak_groups": 0}, "at least 1 hidden coordinates"),
        ({"n_strong": 1, "n_weak_groups": 0, "target": "xor"}, "at least 2 hidden coordinates"),
        ({"target": "and"}, "target must be one of linear, xor, got 'and'"),
        ({"group_size": 1}, "group_size must be an integer >= 2"),
        ({"n_strong": -1}, "n_strong must be an integer >= 0"),
        ({"n_irrelevant": 1.5}, "n_irrelevant must be an integer >= 0"),
    ],
)
def test_what_cannot_be_made_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        make_relevance(**bad)

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.metric.base import Evidence, votes_by_class


def evidence(n_queries):
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 6, (n_queries, 3))
    sq = np.sort(rng.random((n_queries, 3)), axis=1)
    labels = np.array(["b", "a", "c", "a", "b", "a"])
    return Evidence(rng.random((6, 2)), labels, indices, sq, rng.random((n_queries, 3)), np.array(["a", "b", "c"]))


@pytest.mark.parametrize("n_queries", [1, 5])  # fewer votes than cases, and more
def test_support_is_the_sum_of_the_votes_of_each_class(n_queries):
    found = evidence(n_queries)
    expected = np.zeros((n_queries, 3))
    for query in range(n_queries):
        for case, vote in zip(found.indices[query], found.votes[query], strict=True):
            expected[query, list(found.classes).index(found.labels[case])] += vote
    assert_array_equal(found.support(), expected)


def test_two_votes_for_one_class_both_count():
    assert_array_equal(votes_by_class(np.array([[1, 1, 0]]), np.array([[2.0, 3.0, 4.0]]), 3), [[4.0, 5.0, 0.0]])


def test_evidence_is_compared_by_value():
    assert evidence(2) == evidence(2)
    assert evidence(2) != evidence(3)


def test_the_support_of_signed_shares_is_the_base_and_their_sum():
    held, shares = evidence(2), np.random.default_rng(1).standard_normal((2, 3, 3))
    found = replace(held, shares=shares, base=np.array([0.5, 0.25, 0.25]))
    assert_allclose(found.support() - shares.sum(axis=1), np.tile([0.5, 0.25, 0.25], (2, 1)))
    assert_allclose(replace(found, base=None).support(), shares.sum(axis=1))


def test_numbers_have_one_output_and_no_classes():
    shares = np.array([[[1.0], [-3.0], [0.5]]])
    found = replace(evidence(1), classes=np.empty(0), labels=np.arange(6.0), shares=shares, base=np.array([10.0]))
    assert_allclose(found.support(), [[8.5]])

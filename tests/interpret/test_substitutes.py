import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.helpers.relevance import KINDS, case
from whynear import LinearMetric, LocalMetric, relevance_intervals
from whynear.datasets import make_relevance
from whynear.interpret import programs


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(3, 8), st.sampled_from([0.0, 0.01, 0.1]))
def test_copying_a_strong_column_turns_both_weak_and_each_names_the_other(seed, d, slack):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((3 * d, d)), np.append(1.0, rng.uniform(0.3, 1.0, d - 1))
    before = relevance_intervals(LinearMetric([w]), X, slack=slack)
    assert before.strength[0] == "strong"
    assert before.substitutes.of == {}
    after = relevance_intervals(LinearMetric([[*w, 0.0]]), np.column_stack([X, X[:, 0]]), slack=slack)
    assert list(after.strength[[0, d]]) == ["weak", "weak"]
    assert_allclose(after.upper[[0, d]], before.upper[0] + slack / 2 * before.rows[0].mu, rtol=1e-9)
    assert after.substitutes.of == {"x0": (f"x{d}",), f"x{d}": ("x0",)}
    assert after.substitutes.groups == (("x0", f"x{d}"),)
    assert after.substitutes.left_out == ()


def test_the_copies_of_each_hidden_coordinate_form_a_group():
    for seed in range(5):
        data = make_relevance(n_weak_groups=2, noise=0.0, random_state=seed)
        row = [[float(name in ("strong_0", "weak_0_0", "weak_1_0")) for name in data.X]]
        found = relevance_intervals(LinearMetric(row, data.feature_names), data.X)
        assert found.substitutes.groups == tuple(tuple(group) for group in data.groups)
        frame = found.substitutes.frame()
        assert list(frame.columns) == ["feature", "substitutes", "group"]
        assert dict(zip(frame["feature"], frame["group"], strict=True))["weak_1_2"] == 2


def test_the_same_call_names_the_same_substitutes():
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((20, 5)), 3, axis=1)
    answers = [relevance_intervals(LinearMetric([np.tile([1.0, 0, 0], 5)]), X).substitutes for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0].groups) == 5


@settings(max_examples=40)
@given(st.builds(case, st.integers(0, 10_000), st.sampled_from(KINDS)).filter(lambda drawn: drawn[2] > 0))
def test_substitutes_of_any_feature_can_be_found(drawn):
    X, w, kept = drawn
    found = relevance_intervals(LinearMetric([w]), X, kept)
    names = found.feature_names
    answer = found.substitutes_of(names)
    assert tuple(answer.of) == names
    for name, others in answer.of.items():
        assert name not in others
    for name, strength in zip(names, found.strength, strict=True):
        if strength == "irrelevant" and found.upper[names.index(name)] == 0:
            assert answer.of[name] == ()


def test_a_lone_feature_has_no_substitute_even_where_every_direction_needs_it():
    X = np.random.default_rng(2).standard_normal((30, 4))
    X = np.column_stack([X, X[:, 3]])
    found = relevance_intervals(LinearMetric([[1.0, 1, 1, 1, 0]]), X)
    assert found.substitutes_of(["x0", "x1"]).of == {"x0": (), "x1": ()}
    square = relevance_intervals(LinearMetric([[1.0, 1, 1, 1]]), X[:, :4])
    assert square.substitutes_of(square.feature_names).of == {f"x{i}": () for i in range(4)}


def test_one_feature_alone_has_nothing_beside_it():
    found = relevance_intervals(LinearMetric([[2.0]]), np.arange(5.0)[:, None])
    assert found.substitutes_of(["x0"]).of == {"x0": ()}


def test_copies_in_the_maps_of_a_local_metric_name_each_other():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.standard_normal((20, 3)) - 50, rng.standard_normal((60, 3)) + 50])
    X = np.column_stack([X, X[:, 0]])
    anchors = np.array([X[:20].mean(axis=0), X[20:].mean(axis=0)])
    omegas = np.array([[[1.0, 1, 0, 0]], [[1.0, 0, 1, 0]]])
    found = relevance_intervals(LocalMetric(anchors, omegas=omegas), X)
    assert found.substitutes.of == {"x0": ("x3",), "x3": ("x0",)}


def test_only_the_weak_features_with_the_largest_bounds_are_examined_by_default():
    rng = np.random.default_rng(4)
    X = np.repeat(rng.standard_normal((70, 30)), 2, axis=1)
    found = relevance_intervals(LinearMetric([np.repeat(np.linspace(1, 2, 30), 2)]), X)
    assert (found.strength == "weak").all()
    answer = found.substitutes
    assert (len(answer.of), len(answer.left_out)) == (50, 10)
    assert answer.left_out == found.feature_names[:10]
    assert found.substitutes is answer


def test_unknown_names_are_refused():
    found = relevance_intervals(LinearMetric([[1.0, 1.0]], ["a", "b"]), np.random.default_rng(0).random((9, 2)))
    with pytest.raises(ValueError, match="among the 2 of the metric, got 'c'"):
        found.substitutes_of(["a", "c"])
    assert isinstance(found.substitutes.frame(), pd.DataFrame)


def test_a_failing_solver_claims_no_substitutes(monkeypatch):
    X = np.random.default_rng(5).standard_normal((20, 3))
    found = relevance_intervals(LinearMetric([[1.0, 1, 1, 0]]), np.column_stack([X, X[:, 0]]))

    def fail(U, b, t):
        raise ArithmeticError("no map of least norm")

    monkeypatch.setattr(programs, "least_norm", fail)
    assert found.substitutes.of == {"x0": (), "x3": ()}

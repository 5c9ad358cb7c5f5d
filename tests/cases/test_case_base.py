import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear import LANN, DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric, as_metric
from whynear.cases import index, index_cache
from whynear.cases.case_base import CaseBase
from whynear.datasets import make_casebase

NAMES = ["a", "b", "c", "d"]


def cases(n=300, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).round(2)


def metrics(X, seed=1):
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    anchors = X.astype(np.float32).astype(float)
    return {
        "linear": LinearMetric(rng.standard_normal((d, d))),
        "flat": LinearMetric(rng.standard_normal((2, d))),
        "diagonal": DiagonalMetric(rng.exponential(size=d)),
        "sparse": DiagonalMetric(np.eye(d)[0]),
        "manhattan": MinkowskiMetric(rng.exponential(size=d), p=1),
        "third": MinkowskiMetric(rng.exponential(size=d), p=3),
        "nothing": DiagonalMetric(np.zeros(d)),
        "local": LocalMetric(anchors, weights=rng.exponential(size=X.shape)),
        "local full": LocalMetric(anchors, omegas=rng.standard_normal((len(X), 2, d))),
    }


def slow_nearest(metric, stored, query, k):
    """All distances in float64 from the vectors as they are kept, ties to the lower number."""
    if isinstance(metric, LocalMetric):
        sq = metric.sq_distances_at(query[None], metric.anchors, np.arange(len(stored))[None])[0]
    else:
        sq = metric.sq_distances_at(query[None], stored, np.arange(len(stored))[None])[0]
    order = np.lexsort((np.arange(len(sq)), sq))[:k]
    return order + 1, sq[order]


@pytest.mark.parametrize("kind", list(metrics(cases(3))))
def test_retrieved_are_exactly_the_nearest_of_the_stored_vectors(tmp_path, kind):
    X = np.unique(cases(), axis=0)
    metric = metrics(X)[kind]
    with CaseBase(tmp_path / "base", metric) as base:
        base.add(X)
        stored = np.ascontiguousarray(base.get(np.arange(1, len(X) + 1)).X)
        assert_array_equal(stored, X.astype(np.float32))
        for query in (*cases(5, seed=9), X[3], 1e6 * X[4], np.zeros(4)):
            ids, sq = slow_nearest(metric, stored, query, 12)
            found = base.retrieve(query, k=12)
            assert_array_equal(found.ids, ids)
            assert_array_equal(found.sq_distances, sq)


@settings(max_examples=30)
@given(
    st.integers(1, 40), st.integers(1, 5), st.integers(1, 50), st.sampled_from([1.0, 1e-20, 1e18]), st.integers(0, 99)
)
def test_ties_and_magnitudes_change_nothing(tmp_path_factory, n, d, k, size, seed):
    rng = np.random.default_rng(seed)
    X = size * rng.integers(0, 3, (n, d)).astype(float)
    metric = DiagonalMetric(rng.exponential(size=d) / size**2)
    with CaseBase(tmp_path_factory.mktemp("ties") / "base", metric) as base:
        base.add(X)
        query = size * rng.integers(0, 3, d).astype(float)
        ids, sq = slow_nearest(metric, X.astype(np.float32).astype(float), query, k)
        found = base.retrieve(query, k=k)
        assert_array_equal(found.ids, ids)
        assert_array_equal(found.sq_distances, sq)


@pytest.mark.parametrize("kind", ["linear", "third"])
def test_long_lists_are_measured_in_blocks(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(index, "MOST_BYTES_KEPT", 100)
    X = cases(20_000)
    metric = metrics(cases())[kind]
    with CaseBase(tmp_path / "base", metric) as base:
        base.add(X)
        for query in (X[0], 1e6 * X[0]):
            ids, sq = slow_nearest(metric, X.astype(np.float32).astype(float), query, 500)
            found = base.retrieve(query, k=500)
            assert_array_equal(found.ids, ids)
            assert_array_equal(found.sq_distances, sq)


@pytest.fixture
def eager_files(monkeypatch):
    """Write the index to its file from the first case on, and again after every fifth."""
    monkeypatch.setattr(index_cache, "FEWEST_CASES_KEPT", 5)


@pytest.mark.parametrize("kind", ["linear", "sparse", "third"])
def test_an_index_that_grew_finds_what_a_new_one_finds(tmp_path, eager_files, kind):
    X, metric = cases(400), metrics(cases())[kind]
    growing = CaseBase(tmp_path / "growing", metric)
    for start in range(0, 400, 40):
        growing.add(X[start : start + 40] * (1 + start))  # far beyond the unit of the first ones
        growing.add(X[start : start + 2])
        found = growing.retrieve(X[0], k=9)
        with CaseBase(tmp_path / "growing") as fresh:
            (tmp_path / "growing-index").unlink()
            assert_array_equal(fresh.retrieve(X[0], k=9).ids, found.ids)
    assert (tmp_path / "growing-index").exists()


def test_another_metric_searches_like_a_fresh_base_and_leaves_the_cases_alone(tmp_path, eager_files):
    X = cases()
    first, second = metrics(X)["linear"], metrics(X)["diagonal"]
    payloads = [{"row": row} for row in range(len(X))]
    with CaseBase(tmp_path / "changed", first) as changed, CaseBase(tmp_path / "fresh", second) as fresh:
        changed.add(X, payloads)
        fresh.add(X, payloads)
        changed.retrieve(X[0])
        before = changed.get(np.arange(1, 301))
        changed.set_metric(second)
        after = changed.get(np.arange(1, 301))
        pd.testing.assert_frame_equal(before.X, after.X)
        assert before.payloads == after.payloads
        assert changed.retrieve(X[0]).to_dict()["cases"] == fresh.retrieve(X[0]).to_dict()["cases"]
    with CaseBase(tmp_path / "changed") as opened:
        assert opened.metric == second
    with CaseBase(tmp_path / "changed", first) as opened:
        assert opened.metric == first
        generation = opened.generation
    with CaseBase(tmp_path / "changed", first) as opened:
        assert opened.generation == generation


def test_every_change_raises_the_generation_and_nothing_else_does(tmp_path):
    base = CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4)))
    seen = [base.generation]
    for change in (
        lambda: base.add(cases(3)),
        lambda: base.add(cases(1)),
        lambda: base.remove([2]),
        lambda: base.set_metric(DiagonalMetric(np.arange(4.0))),
    ):
        change()
        seen.append(base.generation)
    base.retrieve(np.zeros(4))
    base.like(1)
    base.add(np.empty((0, 4)))
    base.set_metric(DiagonalMetric(np.arange(4.0)))
    assert seen == list(range(seen[0], seen[0] + 5))
    assert base.generation == seen[-1]


def test_ids_are_stable_and_never_used_again(tmp_path):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4))) as base:
        assert_array_equal(base.add(cases(3)), [1, 2, 3])
        base.remove([3])
        base.compact()
    with CaseBase(tmp_path / "base") as base:
        assert_array_equal(base.add(cases(2)), [4, 5])
        assert_array_equal(np.sort(base.retrieve(np.zeros(4), k=9).ids), [1, 2, 4, 5])
        assert len(base) == 4
        with pytest.raises(ValueError, match="no case with the id 3"):
            base.get([1, 3])
        with pytest.raises(ValueError, match="no case with the id 3"):
            base.remove([1, 3])
        assert len(base) == 4


PAYLOADS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@settings(max_examples=25)
@given(st.lists(PAYLOADS, min_size=1, max_size=5))
def test_payloads_come_back_as_they_went_in(tmp_path_factory, payloads):
    path = tmp_path_factory.mktemp("payloads") / "base"
    with CaseBase(path, DiagonalMetric(np.ones(2))) as base:
        ids = base.add(np.zeros((len(payloads), 2)), payloads)
    with CaseBase(path) as base:
        assert base.get(ids).payloads == payloads
        assert base.retrieve([0, 0], k=len(payloads)).payloads == payloads


@pytest.mark.parametrize(
    ("payload", "fact"),
    [
        ({"x": np.int64(1)}, "int64"),
        ({"x": float("nan")}, "Out of range"),
        ({1: "x"}, "strings as keys"),
        ({"x": (1, 2)}, "not tuples"),
        ("text", "must be a dict"),
    ],
)
def test_payloads_json_cannot_hold_are_refused_by_row(tmp_path, payload, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        with pytest.raises((TypeError, ValueError), match=rf"payloads\[1\].*{fact}"):
            base.add(np.zeros((2, 2)), [{}, payload])
        with pytest.raises(ValueError, match="one dict for each of the 2 cases, got 1"):
            base.add(np.zeros((2, 2)), [{}])
        assert len(base) == 0


def test_columns_are_matched_by_name(tmp_path):
    X = pd.DataFrame(cases(50), columns=NAMES)
    metric = DiagonalMetric([4.0, 3.0, 2.0, 1.0], NAMES)
    with CaseBase(tmp_path / "base", metric) as base:
        base.add(X[["d", "b", "a", "c"]])
        assert_array_equal(base.get([7]).X.iloc[0], X.iloc[6].astype(np.float32))
        wanted = base.retrieve(X.iloc[0].to_numpy()).ids
        mixed = X[["c", "a", "d", "b"]]
        for query in (mixed.iloc[0], mixed.iloc[0].to_dict(), mixed.iloc[[0]]):
            assert_array_equal(base.retrieve(query).ids, wanted)
        base.set_metric(DiagonalMetric([1.0, 2.0, 3.0, 4.0], NAMES[::-1]))
        assert base.metric == metric
        with pytest.raises(ValueError, match="lacks 'b' and has unknown 'z'"):
            base.set_metric(DiagonalMetric(np.ones(4), ["a", "z", "c", "d"]))
        with pytest.raises(ValueError, match="3 features and the case base 4 columns"):
            base.set_metric(DiagonalMetric(np.ones(3)))


@pytest.mark.parametrize(
    ("frame", "fact"),
    [
        (pd.DataFrame({"a": [1.0, np.nan], "b": [1, 2]}), "NaN: 1 in column 'a'"),
        (pd.DataFrame({"a": [1.0, np.inf], "b": [1, 2]}), "inf.*1 in column 'a'"),
        (pd.DataFrame({"a": ["1", "two"], "b": [1, 2]}), "'two' in column 'a', row 1"),
        (pd.DataFrame({"a": [1.0], "c": [1]}), "lacks 'b' and has unknown 'c'"),
        (pd.DataFrame({"a": [1e60], "b": [1]}), r"1e\+60 in column 'a', larger"),
        (pd.DataFrame({"a": [1e-60], "b": [1]}), "1e-60 in column 'a', smaller"),
        (np.ones((1, 3)), "must have 2 features"),
    ],
)
def test_cases_that_cannot_be_kept_are_refused_by_name(tmp_path, frame, fact):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        with pytest.raises(ValueError, match=fact):
            base.add(frame)
        assert len(base) == 0


def test_columns_that_float32_blurs_are_named(tmp_path):
    base = CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["time", "b"]))
    with pytest.warns(UserWarning, match="differences within 'time'"):
        base.add([[1.7e9, 0.5], [1.7e9 + 1, 0.7]])


@pytest.mark.parametrize("query", [[1.0, np.nan], {"a": 1.0}, {"a": 1.0, "b": "x"}, np.ones((2, 2)), [1.0], "ab"])
def test_bad_queries_are_refused(tmp_path, query):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2), ["a", "b"])) as base:
        base.add([[1, 2]])
        with pytest.raises(ValueError, match=r"query|could not convert|Expected"):
            base.retrieve(query)


def test_a_stored_case_is_not_like_itself(tmp_path):
    X = cases(100)
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4))) as base:
        base.add(X)
        base.add(X[:1])
        found = base.like(1, k=101)
        assert 1 not in found.ids
        assert found.ids[0] == 101
        assert len(found) == 100
        with pytest.raises(ValueError, match="no case with the id 500"):
            base.like(500)


def test_an_empty_base_answers_with_nothing(tmp_path):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        found = base.retrieve([0, 0], rerank=lambda query, cases, payloads: np.zeros(len(cases)), explain=True)
        assert len(found) == 0
        assert found.frame().empty
        assert found.contributions.shape == (0, 2)


def test_the_second_phase_sees_the_filtered_cases_and_decides(tmp_path):
    X = pd.DataFrame(cases(1000), columns=NAMES)
    seen = {}

    def rerank(query, cases, payloads):
        seen.update(query=query, cases=cases, payloads=payloads)
        return [payload["row"] for payload in payloads]

    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4), NAMES)) as base:
        base.add(X, [{"row": row} for row in range(1000)])
        found = base.retrieve(X.iloc[0], k=3, filter_k=50, rerank=rerank)
        nearest = base.retrieve(X.iloc[0], k=50)
        assert_array_equal(seen["cases"].index, nearest.ids)
        assert_array_equal(seen["query"], X.iloc[0])
        assert_array_equal(found.ids, np.sort(nearest.ids)[::-1][:3])
        assert_array_equal(found.similarities, found.ids - 1)
        assert found.n_filtered == 50
        assert min(found.filter_seconds, found.rerank_seconds) > 0
        assert nearest.similarities is None
        assert nearest.rerank_seconds == 0
        assert base.retrieve(X.iloc[0], k=3, rerank=rerank).n_filtered == 10
        assert list(found.frame()) == ["id", "sq_distance", "similarity", "payload"]
        assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
        with pytest.raises(ValueError, match="filter_k must be an integer >= 3"):
            base.retrieve(X.iloc[0], k=3, filter_k=2)
        with pytest.raises(ValueError, match="one finite similarity for each of the 10 cases"):
            base.retrieve(X.iloc[0], rerank=lambda *_: [1.0])


@pytest.mark.parametrize("kind", ["linear", "diagonal", "third", "local", "local full"])
def test_contributions_sum_to_the_score_of_the_filter(tmp_path, kind):
    X = np.unique(cases(), axis=0)
    with CaseBase(tmp_path / "base", metrics(X)[kind]) as base:
        base.add(X)
        found = base.retrieve(cases(1, seed=5)[0], explain=True)
        assert_allclose(found.contributions.sum(axis=1), found.sq_distances)
        assert_array_equal(found.contributions.index, found.ids)


def test_a_filter_by_a_good_metric_finds_more_of_the_truly_similar(tmp_path):
    data = make_casebase(2000, 20, random_state=0)
    X = data.X.to_numpy()
    useful = DiagonalMetric(np.where(data.kind == "noise", 0.0, 1 / X.var(axis=0)), list(data.X.columns))

    def truth(query, cases, _payloads):
        return data.similarity(query.name - 1, cases.index.to_numpy() - 1)

    with CaseBase(tmp_path / "base", useful) as base:
        ids = base.add(data.X)
        found = [base.like(int(case), k=20, filter_k=40, rerank=truth).similarities.mean() for case in ids[:20]]
        base.set_metric(DiagonalMetric(np.ones(20), list(data.X.columns)))
        plain = [base.like(int(case), k=20, filter_k=40, rerank=truth).similarities.mean() for case in ids[:20]]
    assert np.mean(found) > np.mean(plain)


def test_the_training_cases_of_lann_are_found_by_their_own_maps(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LANN(random_state=0)).fit(X, y)
    metric = as_metric(model)
    with CaseBase(tmp_path / "base", model) as base:
        base.add(X)
        found = base.retrieve(X.iloc[60], k=8, explain=True)
        sq = np.sort(metric.sq_distances(X.iloc[[60]])[0])[:8]
        assert_allclose(found.sq_distances, sq, rtol=1e-12, atol=1e-12)
        assert_allclose(found.contributions.sum(axis=1), found.sq_distances)
        with pytest.raises(ValueError, match=r"150 anchors only, and 1 of 2 cases are no anchors, first row 1 of X"):
            base.add(X.iloc[:2] + np.array([[0.0], [0.5]]))
        assert len(base) == 150


def test_equal_anchors_with_different_maps_serve_equal_cases_in_turn(tmp_path):
    metric = LocalMetric([[0, 0], [1, 1], [0, 0]], weights=[[1, 0], [1, 1], [0, 1]])
    with CaseBase(tmp_path / "base", metric) as base:
        base.add([[0, 0], [0, 0], [1, 1]])
        found = base.retrieve([2, 3], k=3, explain=True)
        assert_array_equal(found.ids, [1, 3, 2])
        assert_array_equal(found.sq_distances, [4, 5, 9])
        assert_array_equal(found.contributions, [[4, 0], [1, 4], [0, 9]])


def test_a_local_metric_is_refused_for_cases_it_does_not_know(tmp_path):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(2))) as base:
        base.add([[0, 0], [5, 5]])
        with pytest.raises(ValueError, match="first the stored case 2"):
            base.set_metric(LocalMetric([[0, 0], [1, 1]], weights=np.ones((2, 2))))
        assert isinstance(base.metric, DiagonalMetric)


def test_all_cases_come_in_blocks(tmp_path):
    X = cases(25)
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4), NAMES)) as base:
        base.add(X, [{"row": row} for row in range(25)])
        blocks = list(base.blocks(10))
    assert [len(block) for block in blocks] == [10, 10, 5]
    assert_array_equal(np.concatenate([block.ids for block in blocks]), np.arange(1, 26))
    assert_array_equal(pd.concat([block.X for block in blocks]), X.astype(np.float32))
    assert [payload["row"] for block in blocks for payload in block.payloads] == list(range(25))


def test_inputs_stay_as_they_are(tmp_path):
    X = np.asfortranarray(cases(20))
    X.setflags(write=False)
    query = X[3]
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4))) as base:
        base.add(X)
        base.add(X.astype(np.float32)[::2])
        base.add(np.ones((2, 4), dtype=int))
        found = base.retrieve(query, k=1)
        assert (found.ids[0], len(base)) == (4, 32)

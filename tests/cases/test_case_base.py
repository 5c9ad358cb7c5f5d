import json
import os
import socket
import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.case_bases import cases, metrics, slow_nearest
from whynear import LANN, DiagonalMetric, LocalMetric, as_metric
from whynear.cases.case_base import CaseBase
from whynear.cases.database import WriterNote
from whynear.cases.index import Anchors
from whynear.datasets import make_casebase

NAMES = ["a", "b", "c", "d"]


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


# The names of rows


def test_cases_keep_the_index_labels_of_the_table(tmp_path):
    X = pd.DataFrame(cases(6), columns=NAMES, index=["p0", "p1", "p2", "p3", "p4", 17])
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4), NAMES)) as base:
        ids = base.add(X)
        assert base.retrieve(X.iloc[2], k=1).rows == ["p2"]
        assert base.get(ids).rows == X.index.tolist()
        assert (base.id_of("p4"), base.id_of("17")) == (5, 6)
        base.remove([5])
        with pytest.raises(ValueError, match=r"holds no case of the row p4\. Use names"):
            base.id_of("p4")
    with CaseBase(tmp_path / "base") as again:
        assert again.like(1, k=5).frame()["row"].isin(X.index).all()


def test_cases_without_names_are_called_by_their_ids(tmp_path):
    with CaseBase(tmp_path / "base", DiagonalMetric(np.ones(4), NAMES)) as base:
        base.add(cases(3))
        base.add(pd.DataFrame(cases(3), columns=NAMES))
        assert base.get([1, 5]).rows == [1, 5]
        assert base.id_of(5) == base.id_of("5") == 5
        base.add(pd.DataFrame(cases(1), columns=NAMES, index=[5]))
        assert base.get([5, 7]).rows == [5, 5]
        with pytest.raises(ValueError, match=r"2 cases of rows named 5, with the ids 5, 7\. Give the rows"):
            base.id_of("5")


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
        with pytest.raises(ValueError, match=r"150 anchors only, .* no anchors, first row 1 of X"):
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


def test_anchors_are_found_within_the_rounding_of_float32():
    anchors = Anchors(LocalMetric([[1.1, 5.0], [2.2, 6.0], [1.1, 5.0]], weights=np.ones((3, 2))))
    cases = np.array([[2.2, 6.0], [1.1, 5.0], [1.1, 5.0], [1.1, 5.0]], dtype=np.float32)
    assert_array_equal(anchors.not_anchors(cases), [])
    assert_array_equal(anchors.places(cases), [1, 0, 2, 0])
    assert_array_equal(anchors.not_anchors(cases + np.array([[0], [1e-3], [0], [0]])), [1])


def test_columns_without_weight_do_not_matter():
    anchors = Anchors(LocalMetric([[1.0, 5.0], [2.0, 6.0]], weights=[[1, 0], [2, 0]]))
    assert_array_equal(anchors.places(np.array([[2.0, -9.0]])), [1])
    nothing = Anchors(LocalMetric([[1.0], [2.0]], weights=[[0], [0]]))
    assert_array_equal(nothing.not_anchors(np.array([[7.0]])), [])


def test_a_lock_of_this_very_process_is_said_to_be_so(path):
    first, second = CaseBase(path), CaseBase(path, timeout=0)
    with first._store.writing(), pytest.raises(TimeoutError, match=f"process {os.getpid()}, which is this one,"):
        second.add([[1.0, 2.0, 3.0]])
    assert not path.with_name("base-writer").exists()


def test_the_note_of_a_dead_process_is_ignored(path):
    note = {"process": 4194304999, "machine": socket.gethostname(), "since": "2001"}
    path.with_name("base-writer").write_text(json.dumps(note))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match="a process that left no note"):
        CaseBase(path, timeout=0).add([[1.0, 2.0, 3.0]])


def test_a_note_names_its_process_until_it_is_removed(tmp_path):
    note = WriterNote(tmp_path / "base")
    assert note.writer() == "a process that left no note"
    note.write()
    assert note.writer().startswith(f"process {os.getpid()}, which is this one, since 20")
    note.remove()
    assert not note.path.exists()


def test_the_note_of_another_process_is_not_removed(tmp_path):
    note = WriterNote(tmp_path / "base")
    note.path.write_text(json.dumps({"process": 1, "machine": "elsewhere", "since": "2001"}))
    assert note.writer() == "process 1 on elsewhere since 2001"
    note.remove()
    assert note.path.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"process": "x"}'])
def test_a_note_that_is_half_written_is_none(tmp_path, content):
    note = WriterNote(tmp_path / "base")
    note.path.write_text(content)
    assert note.writer() == "a process that left no note"


def test_a_folder_that_cannot_be_written_has_no_note(tmp_path):
    note = WriterNote(tmp_path / "nowhere" / "base")
    note.write()
    note.remove()
    assert not note.path.exists()

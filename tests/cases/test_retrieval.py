import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.case_bases import cases, metrics
from tests.helpers.notebook_html import HOSTILE, shown
from whynear import CaseBase, DiagonalMetric
from whynear.cases.retrieval import Cases, Filtered, answer


@pytest.fixture
def base(tmp_path):
    with CaseBase(tmp_path / "cases.db", DiagonalMetric([1.0, 4.0, 1.0, 1.0], HOSTILE)) as base:
        X = pd.DataFrame(np.arange(120.0).reshape(30, 4), columns=HOSTILE)
        base.add(X, [{"name": f"case {j}", "<b>": "<i>" * 100} for j in range(30)])
        yield base


def test_a_retrieval_shows_the_cases_found_with_their_payloads(base):
    found = base.retrieve([0.0, 1.0, 2.0, 3.0], k=3)
    text = shown(found)
    assert "Retrieval(3 cases)" in text
    assert all(payload["name"] in text for payload in found.payloads)
    assert "<b>: <i><i>" in text
    assert "similarity" not in text


def test_explained_and_re_ranked_cases_say_so(base):
    def rerank(query, cases, payloads):
        return np.arange(len(cases))

    text = shown(base.retrieve([0.0, 1.0, 2.0, 3.0], k=20, filter_k=25, rerank=rerank, explain=True))
    assert "Retrieval(20 cases, re-ranked out of the 25 nearest)" in text
    assert "similarity" in text
    assert "differs most in" in text
    assert "and 5 more cases" in text


def test_a_case_equal_to_the_query_differs_in_nothing(base):
    equal, other = (shown(base.retrieve(case, k=1, explain=True)) for case in ([0, 1, 2, 3], [0, 2, 2, 3]))
    assert not any(name[:10] in equal for name in HOSTILE)
    assert HOSTILE[1][:10] in other


def test_a_base_without_cases_finds_none(tmp_path):
    with CaseBase(tmp_path / "empty.db", DiagonalMetric([1.0])) as base:
        assert "Retrieval(0 cases)" in shown(base.retrieve([1.0]))


NAMES = ["a", "b", "c", "d"]


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
        assert list(found.frame()) == ["id", "row", "sq_distance", "similarity", "payload"]
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


def filtered(n=4):
    X = pd.DataFrame({"a": np.arange(float(n))}, index=pd.Index(np.arange(10, 10 + n), name="id"))
    found = Cases(X, [{"n": row} for row in range(n)], list(X.index))
    metric = DiagonalMetric([1.0], ["a"])
    return Filtered(pd.Series({"a": 0.0}), found, np.arange(float(n)) ** 2, metric, None, 0.5)


def test_without_a_similarity_the_nearest_are_returned():
    found = answer(filtered(), 2, None, explain=True)
    assert found.ids.tolist() == [10, 11]
    assert found.contributions["a"].tolist() == [0, 1]
    assert (found.n_filtered, found.filter_seconds, found.rerank_seconds) == (4, 0.5, 0.0)


def test_cases_of_equal_similarity_stay_in_the_order_of_distance():
    found = answer(filtered(), 3, lambda query, cases, payloads: [1, 2, 1, 2], explain=False)
    assert found.ids.tolist() == [11, 13, 10]
    assert found.similarities.tolist() == [2, 2, 1]
    assert [payload["n"] for payload in found.payloads] == [1, 3, 0]
    assert found.contributions is None


@pytest.mark.parametrize("scores", [[1, 2, 3], [1, 2, 3, np.nan], [[1], [2], [3], [4]]])
def test_similarities_must_be_one_finite_number_per_case(scores):
    with pytest.raises(ValueError, match="one finite similarity for each of the 4 cases"):
        answer(filtered(), 2, lambda *_: scores, explain=False)

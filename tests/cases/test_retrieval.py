import numpy as np
import pandas as pd
import pytest

from tests.helpers.notebook_html import HOSTILE, shown
from whynear import CaseBase, DiagonalMetric


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

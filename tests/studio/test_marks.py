import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

import whynear as wn
from tests.helpers.dated_tables import numbers_like_days, visits
from whynear.studio.marks import keep, learned_metric, ranking, study_metric, triples_of
from whynear.studio.store import Refused


def test_triples_pair_like_and_unlike_cases_of_the_same_query():
    marks = [(1, 2, True), (1, 3, False), (4, 5, True), (4, 6, False), (1, 7, True)]
    assert triples_of(marks) == [(1, 2, 3), (1, 7, 3), (4, 5, 6)]
    assert triples_of([(1, 2, True), (4, 5, False)]) == []


def test_the_nearest_rows_are_those_of_the_metric_of_the_study(live, iris):
    X = iris[0].to_numpy()
    found = ranking(live, [], 1, k=5)
    sq = wn.as_metric(live.model).sq_distances(X[:1], X)[0]
    sq[0] = np.inf
    expected = (np.argsort(sq, kind="stable")[:5] + 1).tolist()
    assert [one.row for one in found.found] == expected
    assert [one.rank_before for one in found.found] == [1, 2, 3, 4, 5]
    assert all(one.rank_after is None for one in found.found)
    assert found.weights is None


def marks_by(column, live):
    """Marks of several queries: cases are like one if they are near in this column."""
    values = live.numbers[column].to_numpy()
    rng, marks = np.random.default_rng(0), []
    for query in rng.choice(len(values), 12, replace=False).tolist():
        for case in rng.choice(len(values), 8, replace=False).tolist():
            if case != query:
                marks.append((query + 1, case + 1, bool(abs(values[case] - values[query]) < 0.3)))
    return marks


def test_marks_that_follow_one_column_teach_its_weight(live):
    marks = marks_by("sepal width (cm)", live)
    found = ranking(live, marks, marks[0][0], k=5)
    assert found.triples == len(triples_of(marks)) > 20
    assert found.agreeing_after > found.agreeing_before
    assert max(found.weights, key=found.weights.get) == "sepal width (cm)"
    assert sum(found.weights.values()) == pytest.approx(1.0)
    assert {one.alike for one in found.found} >= {True, False}


def test_what_was_learned_keeps_no_study_in_memory(live):
    copy = replace(live)
    assert learned_metric(copy, ()) is None
    assert learned_metric(copy, ((0, 1, 60),)) is learned_metric(copy, ((0, 1, 60),))
    alive = weakref.ref(copy)
    del copy
    gc.collect()
    assert alive() is None


def test_the_case_base_keeps_all_rows_and_the_learned_metric(live):
    marks = marks_by("sepal width (cm)", live)
    assert not ranking(live, marks, 1, k=3).kept
    kept = keep(live, marks)
    assert kept.cases == 150
    with wn.CaseBase(kept.file) as base:
        triples = tuple((one - 1, two - 1, three - 1) for one, two, three in triples_of(marks))
        assert base.metric == learned_metric(live, triples)
        assert base.get([1]).payloads == [{"target": "setosa"}]
    assert ranking(live, marks, 1, k=3).kept
    keep(live, marks[:40])
    assert not ranking(live, marks, 1, k=3).kept


def test_without_a_pair_of_marks_there_is_nothing_to_keep(live):
    with pytest.raises(Refused, match="mark one case as like"):
        keep(live, [(1, 2, True)])
    with pytest.raises(Refused, match="k must be"):
        ranking(live, [], 1, k=0)


def test_of_local_metrics_the_mean_weights_rank(live, iris):
    X, y = iris
    model = wn.LANN(random_state=0).fit(X, y)
    local = type(live)(live.folder, live.table, live.target, live.settings, live.problem)
    object.__setattr__(local, "model", model)
    metric = study_metric(local)
    per_deviation = metric.weights * X.to_numpy().var(axis=0)
    np.testing.assert_allclose(per_deviation, wn.as_metric(model).mean_shares())


def test_values_of_dates_are_dates(dated_live):
    found = ranking(dated_live, [], 1)
    assert found.values["taken"] == visits()["taken"][0]
    assert numbers_like_days(found.model_dump_json()) == []

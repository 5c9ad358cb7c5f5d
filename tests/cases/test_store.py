import os
import sqlite3

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.case_bases import METRIC, filled
from tests.helpers.mixed_tables import model_of_patients, patients
from whynear import LinearMetric, LocalMetric
from whynear.cases.case_base import CaseBase
from whynear.cases.database import CaseBaseError
from whynear.cases.store import Store
from whynear.metric import Metric


def test_an_empty_file_becomes_a_base_only_with_a_metric(tmp_path):
    path = tmp_path / "base"
    path.touch()
    with pytest.raises(CaseBaseError, match=r"holds no case base yet"):
        CaseBase(path)
    with CaseBase(path, METRIC) as base:
        assert len(base) == 0


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        ("UPDATE cases SET vector = x'00' WHERE id = 7", "case 7 has another length"),
        ("UPDATE cases SET payload = '{' WHERE id = 7", "the payload or the name of case 7"),
        ("UPDATE metric_arrays SET content = zeroblob(16)", "its metric is not what was stored"),
        ("UPDATE metric SET kind = 'Nonsense'", "its metric"),
        ("DELETE FROM changes", "it has no state"),
    ],
)
def test_damaged_content_is_named(tmp_path, damage, fact):
    path = filled(tmp_path / "base")
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    with pytest.raises(CaseBaseError, match=rf"base is damaged \({fact}"), CaseBase(path) as base:
        base.retrieve([0.0, 0.0], k=100)


def test_an_interrupt_leaves_the_old_state(tmp_path, monkeypatch):
    with CaseBase(filled(tmp_path / "base")) as base:

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(base._store, "_record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            base.add([[1.0, 1.0]])
        monkeypatch.undo()
        assert len(base) == 100
        assert_array_equal(base.add([[1.0, 1.0]]), [101])


def test_a_metric_that_cannot_be_stored_makes_no_file(tmp_path):
    class Odd(LinearMetric):
        pass

    assert issubclass(Odd, Metric)
    with pytest.raises(TypeError, match=r"Odd cannot be stored"):
        CaseBase(tmp_path / "base", Odd(np.eye(2)))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("metric", [METRIC, LinearMetric([[1.0, 2.0]], scale=[2.0, 3.0]), None])
def test_the_stored_metric_is_the_one_given(tmp_path, metric):
    metric = metric or LocalMetric(np.eye(2), omegas=np.ones((2, 1, 2)), feature_names=["é", "b\n"])
    with CaseBase(tmp_path / "base", metric):
        pass
    with CaseBase(tmp_path / "base") as base:
        assert base.metric == metric
        assert base.columns == metric.feature_names


@pytest.fixture(scope="module")
def model():
    return model_of_patients()


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        ("UPDATE encoder SET content = replace(content, 'median', 'medium')", "its metric or its encoder is not what"),
        ("UPDATE encoder SET content = 7", "its metric or its encoder is not what"),
        ("UPDATE encoder SET content = zeroblob(9)", "its encoder"),
        ("DELETE FROM encoder", "its encoder"),
        ("DROP TABLE encoder", "its metric is not what was stored"),
        ("UPDATE metric_arrays SET content = zeroblob(length(content))", "its metric"),
    ],
)
def test_a_damaged_encoder_is_refused(tmp_path, model, damage, fact):
    with CaseBase(tmp_path / "base", model):
        pass
    with sqlite3.connect(tmp_path / "base") as connection:
        connection.execute(damage)
    with pytest.raises(CaseBaseError, match=rf"base is damaged \({fact}"):
        CaseBase(tmp_path / "base")


def test_an_encoder_of_other_columns_than_the_metric_is_refused(tmp_path, model):
    """Which no accident makes: the fingerprint is that of both."""
    Store(tmp_path / "base", METRIC, 1.0, model[0]).close()
    with pytest.raises(CaseBaseError, match="its encoder makes other columns than its metric has"):
        CaseBase(tmp_path / "base")


def test_text_that_is_no_encoder_is_refused(tmp_path, model, monkeypatch):
    for text, fact in [
        ("{", "does not fit together"),
        ('"text"', "it holds a str"),
        ('{"array": "a"}', "fit together"),
    ]:
        monkeypatch.setattr("whynear.cases.store.encoder_as_text", lambda _, text=text: text)
        path = tmp_path / f"base {len(text)}"
        with pytest.raises(CaseBaseError, match=f"is damaged .its encoder: .*{fact}"):
            CaseBase(path, model)


def test_a_base_that_was_interrupted_while_it_was_made_has_no_encoder_yet(tmp_path, model, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "put_metric", interrupted)
        with pytest.raises(KeyboardInterrupt):
            CaseBase(tmp_path / "base", model)
    with CaseBase(tmp_path / "base", METRIC) as base:
        assert base.encoder is None
        assert base.columns == METRIC.feature_names


def test_the_stored_encoder_is_the_one_given(tmp_path, model):
    with CaseBase(tmp_path / "base", model):
        pass
    with CaseBase(tmp_path / "base") as base:
        X = patients()[0]
        assert base.encoder.transform(X).equals(model[0].transform(X))
        assert [base.encoder.way_of(name) for name in X] == [model[0].way_of(name) for name in X]

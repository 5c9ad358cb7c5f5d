import os
import random
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.case_bases import METRIC, filled
from tests.helpers.mixed_tables import model_of_patients, patients
from whynear import LinearMetric, LocalMetric
from whynear.cases.case_base import CaseBase
from whynear.cases.database import CaseBaseError
from whynear.cases.store import Store, details_sum, vector_sum
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


# Stored cases have checksums: a changed byte is refused, never another value.


OLDER = Path(__file__).parents[1] / "data" / "0.1.0" / "cases.db"


def content(path):
    """Return everything that a base answers with."""
    with CaseBase(path) as base:
        cases = list(base.blocks())
        found = base.retrieve([0.5, -0.5], k=20)
        X = np.concatenate([block.X.to_numpy() for block in cases]).tolist()
        details = [(block.ids.tolist(), block.payloads, block.rows) for block in cases]
        return X, details, base.columns, base.metric.fingerprint, found.frame().to_dict("list"), base.generation


@pytest.fixture
def named(tmp_path):
    rng = np.random.default_rng(3)
    with CaseBase(tmp_path / "base", METRIC) as base:
        X = pd.DataFrame(rng.standard_normal((200, 2)), columns=["a", "b"], index=[f"row {n}" for n in range(200)])
        base.add(X, [{"text": "payload of a case " * (n % 5), "n": n} for n in range(200)])
        base.add(rng.standard_normal((50, 2)))
        base.remove([7, 211])
    return tmp_path / "base"


def test_a_changed_byte_gives_an_error_or_the_same_answers(named, tmp_path):
    good, expected, generator = named.read_bytes(), content(named), random.Random(4)
    noticed = 0
    for turn in range(250):
        mutant = bytearray(good)
        mutant[generator.randrange(len(good))] = generator.randrange(256)
        path = tmp_path / f"mutant {turn}"
        path.write_bytes(mutant)
        try:
            assert content(path) == expected, f"seed 4, turn {turn}"
        except (ValueError, OSError):
            noticed += 1
        for left in tmp_path.glob(f"{path.name}*"):
            left.unlink()
    assert noticed > 100


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        ("UPDATE cases SET vector = zeroblob(8) WHERE id = 9", "the values of case 9"),
        ("UPDATE cases SET vector = 'abcdefgh' WHERE id = 9", "case 9 has another length"),
        ("UPDATE cases SET vector_sum = NULL WHERE id = 9", ""),
        ("UPDATE cases SET id = 999 WHERE id = 9", "the values of case 999"),
        ("UPDATE cases SET payload = '{}' WHERE id = 9", "the payload or the name of case 9"),
        ("UPDATE cases SET payload = 281474976710655 WHERE id = 9", "the payload or the name of case 9"),
        ("UPDATE cases SET payload = NULL WHERE id = 9", "the payload or the name of case 9"),
        ("UPDATE row_names SET name = '\"other\"' WHERE id = 9", "the payload or the name of case 9"),
        ("DELETE FROM row_names WHERE id = 9", "the payload or the name of case 9"),
        ("DELETE FROM cases WHERE id = 9", "it has 247 cases, and 248 were stored"),
        ("UPDATE changes SET n_cases = 200", "its state"),
        ("UPDATE changes SET n_cases = 'many'", "its state"),
        ("DELETE FROM metric", "it has no metric"),
    ],
)
def test_what_was_not_stored_is_refused(named, damage, fact):
    try:
        with sqlite3.connect(named) as connection:
            connection.execute(damage)
    except sqlite3.IntegrityError:
        return  # SQLite refuses it by itself
    for use in (lambda base: base.check(), lambda base: list(base.blocks())):
        with pytest.raises(CaseBaseError, match=rf"base is damaged \({fact}"), CaseBase(named) as base:
            use(base)


def test_a_whole_base_passes_its_check(named):
    with CaseBase(named) as base:
        assert base.check() == len(base) == 248
        base.add([[1.0, 2.0]], [{"ü": "\ud800"}])
        assert base.check() == 249


def test_a_damaged_page_is_named_by_the_check(tmp_path):
    path = filled(tmp_path / "base", n=5000)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = bytes(4096)
    path.write_bytes(data)
    with pytest.raises(CaseBaseError, match=r"base is damaged"), CaseBase(path) as base:
        base.check()


def test_a_name_is_found_only_if_it_is_the_stored_one(named):
    with sqlite3.connect(named) as connection:
        connection.execute("UPDATE row_names SET name = '\"other\"' WHERE id = 9")
    with CaseBase(named) as base:
        assert base.id_of("row 9") == 10
        with pytest.raises(CaseBaseError, match=r"the payload or the name of case 9"):
            base.id_of("other")


def test_a_file_without_checksums_opens_and_takes_cases(tmp_path):
    shutil.copy(OLDER, tmp_path / "base")
    with CaseBase(tmp_path / "base") as base:
        n, last = len(base), max(base.retrieve(np.zeros(len(base.columns)), k=10**6).ids)
        assert base.check() == 0
        assert_array_equal(base.add(np.ones((2, len(base.columns))), [{"a": 1}, {}]), [last + 1, last + 2])
        assert len(base) == n + 2
        assert base.get([last + 1]).payloads == [{"a": 1}]


@pytest.mark.parametrize("payload", ["'[]'", "'{},{}'", "7", "'{'", "x'00'"])
def test_a_payload_of_another_kind_is_refused_without_checksums_too(tmp_path, payload):
    shutil.copy(OLDER, tmp_path / "base")
    with sqlite3.connect(tmp_path / "base") as connection:
        connection.execute(f"UPDATE cases SET payload = {payload} WHERE id = 1")
    with pytest.raises(CaseBaseError, match=r"is damaged \((a|the) payload"), CaseBase(tmp_path / "base") as base:
        base.get([1])


def test_checksums_depend_on_all_that_they_cover():
    vectors = {vector_sum(case, blob) for case in (1, 2) for blob in (b"", b"a", b"b")}
    details = {details_sum(case, name, text) for case in (1, 2) for name in (None, "", "a") for text in (None, "", "a")}
    assert len(vectors) == 6
    assert len(details) == 18

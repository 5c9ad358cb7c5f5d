import inspect
import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.helpers.mixed_tables import MIXED, model_of, table
from tests.helpers.strategies import metrics

import whynear as wn
from whynear import DiagonalMetric, LinearMetric, LocalMetric, as_metric, load, save
from whynear.model.files import encoder_as_text, encoder_of_text, register
from whynear.utils.archive import ArchiveError, read_archive, write_archive


@register
class Remembering(BaseEstimator):
    """An estimator whose fitted state is whatever it is given."""

    def __init__(self, metric=None, mapping=None, random_state=None):
        self.metric = metric
        self.mapping = mapping
        self.random_state = random_state

    def fit(self, X, y=None, **state):
        for name, value in state.items():
            setattr(self, name, value)
        return self


def same(first, second):
    if isinstance(first, np.ndarray):
        return type(second) is type(first) and first.dtype == second.dtype and np.array_equal(first, second)
    if isinstance(first, (list, tuple)):
        return type(first) is type(second) and all(map(same, first, second)) and len(first) == len(second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    return type(first) is type(second) and (first == second or first != first)


scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5)
arrays = st.sampled_from(
    [np.arange(6.0).reshape(2, 3), np.array([], dtype=np.int32), np.array(["a", "ü"]), np.array(["a", 1, None], object)]
)
states = st.recursive(
    scalars | arrays | metrics(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@given(metric=metrics())
@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
def test_a_metric_comes_back_equal(folder, metric):
    save(metric, folder / "m")
    assert load(folder / "m") == metric


@given(state=states, params=st.dictionaries(st.integers(0, 3), st.integers(1, 3)))
@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
def test_a_fitted_learner_comes_back_with_all_it_holds(folder, state, params):
    learner = Remembering(mapping=params, random_state=7).fit(None, state_=state)
    save(learner, folder / "l")
    again = load(folder / "l")
    assert again.get_params() == learner.get_params()
    assert same(again.state_, learner.state_)


def test_a_learner_can_go_on_training_after_loading(folder):
    save(Remembering().fit(None, weights_=np.zeros(3)), folder / "w")
    load(folder / "w").weights_[0] = 1


def test_a_pipeline_keeps_its_metric_and_scale(folder):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(constant=1.0, empty=np.nan)
    steps = [SimpleImputer(keep_empty_features=True), VarianceThreshold(), StandardScaler()]
    scaled = make_pipeline(*steps).fit(X)
    pipeline = make_pipeline(*steps, Remembering()).fit(X, y)
    pipeline[-1].metric_ = DiagonalMetric(np.arange(4.0))
    save(pipeline, folder / "p")
    again = load(folder / "p")
    assert_array_equal(again[:-1].transform(X), scaled.transform(X))
    assert as_metric(again) == as_metric(pipeline)
    save(as_metric(pipeline), folder / "pm")
    assert_array_equal(load(folder / "pm").scale, as_metric(pipeline).scale)
    assert load(folder / "pm").feature_names == tuple(X.columns)


def test_saving_anchors_is_said(folder):
    with pytest.warns(UserWarning, match="contains the 2 anchors"):
        save(LocalMetric(np.eye(2), np.eye(2)), folder / "local")


def test_what_cannot_be_saved_is_refused_by_name_and_writes_nothing(folder):
    with pytest.raises(TypeError, match="PCA cannot be saved so; metrics and the learners"):
        save(PCA(), folder / "no")
    with pytest.raises(TypeError, match=r"random_state holds RandomState.*an int for random_state"):
        save(Remembering(random_state=np.random.RandomState(0)), folder / "no")
    with pytest.raises(TypeError, match="rows_ holds DataFrame"):
        save(Remembering().fit(None, rows_=pd.DataFrame()), folder / "no")
    with pytest.raises(TypeError, match="holds PCA"):
        save(make_pipeline(PCA()), folder / "no")
    assert not (folder / "no").exists()


def test_the_file_is_plain_json_and_npy(folder):
    save(LinearMetric([[1.0, 2.0]], ["a", "<script>"]), folder / "plain")
    with zipfile.ZipFile(folder / "plain") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["format"] == 1
        assert manifest["library"].startswith("whynear ")
        part = manifest["header"]["object"]["arrays"]["omega"]["array"]
        with archive.open(f"{part}.npy") as file:
            assert_array_equal(np.load(file, allow_pickle=False), [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"estimator": "Popen", "params": {"dict": []}, "fitted": {"dict": []}}, "holds a Popen, which this version"),
        ({"metric": "QuantumMetric", "names": [], "arrays": {}}, "holds a QuantumMetric"),
        ({"metric": "LinearMetric", "names": ["a"], "arrays": {"omega": {"array": "omega"}}}, "feature_names must"),
        ({"metric": "LinearMetric", "names": ["a", "b"], "arrays": {}}, "does not fit together"),
        ({"metric": "LinearMetric", "names": ["a"], "arrays": {"omega": {"array": "gone"}}}, "gone"),
        ({"estimator": "Remembering", "params": {"dict": [["x", 1]]}, "fitted": {"dict": []}}, "does not fit together"),
        ({"estimator": "Remembering", "params": {"dict": []}, "fitted": {"dict": [["fit", 1]]}}, "sets 'fit'"),
        ({"estimator": "Remembering", "params": {"dict": []}, "fitted": {"dict": [["__class__", 1]]}}, "__class__"),
        ({"python": "import os"}, "holds \\['python'\\], which this version does not know"),
    ],
)
def test_content_that_makes_no_sense_is_refused_with_the_files_name(folder, node, message):
    write_archive(folder / "odd", {"object": node}, {"omega": np.ones((1, 2))})
    with pytest.raises(ArchiveError, match=f"odd cannot be read: .*{message}"):
        load(folder / "odd")


def test_content_nested_without_end_is_refused(folder):
    node = []
    for _ in range(900):
        node = [node]
    write_archive(folder / "deep", {"object": node}, {})
    with pytest.raises(ArchiveError, match="deep cannot be read"):
        load_at_depth(folder / "deep", sys.getrecursionlimit())


def load_at_depth(path, limit):
    """Load with little room left on the stack."""
    depth = len(inspect.stack())
    sys.setrecursionlimit(depth + 700)
    try:
        return load(path)
    finally:
        sys.setrecursionlimit(limit)


def test_a_metric_of_a_strange_kind_is_refused_before_it_is_written(folder):
    class Strange(DiagonalMetric):
        pass

    with pytest.raises(TypeError, match="Strange cannot be saved"):
        save(Strange([1.0]), folder / "strange")


def test_a_pickle_in_place_of_a_model_does_not_run(folder):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(folder / "exploded"),)

    (folder / "bomb").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ArchiveError, match="bomb cannot be read"):
        load(folder / "bomb")
    assert not (folder / "exploded").exists()


def test_an_interrupted_or_failing_save_keeps_the_old_file(folder):
    save(DiagonalMetric([1.0]), folder / "kept")
    with pytest.raises(TypeError):
        save(Remembering(random_state=object()), folder / "kept")
    with pytest.raises(OSError, match=r"needs .* bytes"):
        save(DiagonalMetric([2.0]), folder / "missing" / "kept")
    assert load(folder / "kept") == DiagonalMetric([1.0])
    assert read_archive(folder / "kept")[0]["object"]["names"] == ["x0"]


@pytest.mark.parametrize("name", [name for name in MIXED if name != "by selector"])
def test_a_pipeline_with_a_column_transformer_is_saved(name, tmp_path):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    wn.save(pipeline, tmp_path / "model")
    again = wn.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    assert wn.as_metric(again) == wn.as_metric(pipeline)
    assert wn.as_metric(again).units == wn.as_metric(pipeline).units


def test_what_is_chosen_by_a_function_cannot_be_saved_and_nothing_is_written(tmp_path):
    with pytest.raises(TypeError, match=r"transformers.* holds make_column_selector, which"):
        wn.save(model_of(MIXED["by selector"]), tmp_path / "model")
    X, y = table()
    function = ColumnTransformer([("log", FunctionTransformer(np.abs), ["size"])], remainder="drop")
    with pytest.raises(TypeError, match="cannot be saved without pickle"):
        wn.save(make_pipeline(function, wn.GMLVQ(random_state=0)).fit(X, y), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_loaded_pipeline_caches_nothing_in_the_folder_of_another_machine(tmp_path):
    X, y = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20) % 2
    model = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0), memory=str(tmp_path / "cache")).fit(X, y)
    wn.save(model, tmp_path / "model")
    assert wn.load(tmp_path / "model").memory is None


@pytest.mark.parametrize("content", [[1, 2], "text", None, {"dict": []}, {"tuple": []}, {"dtype": "f8"}])
def test_only_metrics_and_models_are_loaded(tmp_path, content):
    write_archive(tmp_path / "a", {"object": content}, {})
    with pytest.raises(ArchiveError, match=r"a cannot be read: it holds a \w+, which"):
        wn.load(tmp_path / "a")


def test_parameters_of_steps_are_checked(tmp_path):
    node = {"estimator": "MinMaxScaler", "params": {"dict": [["clip", "x" * 9]]}, "fitted": {"dict": []}}
    write_archive(tmp_path / "a", {"object": node}, {})
    with pytest.raises(ArchiveError, match=r"The 'clip' parameter of MinMaxScaler must be"):
        wn.load(tmp_path / "a")


def test_an_encoder_is_text_and_back(tmp_path):
    X, _ = table()
    encoder = wn.TableEncoder("onehot", "median", readings={"age": "number ,"}, missing={"count": ("-1",)}).fit(X)
    again = encoder_of_text(encoder_as_text(encoder))
    assert again.transform(X).equals(encoder.transform(X))
    assert again.get_params() == encoder.get_params()
    assert encoder_as_text(again) == encoder_as_text(encoder)
    for text in ("", "[1]", '{"estimator": "GRLVQ", "params": {"dict": []}, "fitted": {"dict": []}}', "[" * 10**5):
        with pytest.raises(ArchiveError):
            encoder_of_text(text)


def test_training_cases_in_a_file_are_said(folder):
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
    with pytest.warns(UserWarning, match="contains the values of 12 training cases"):
        save(wn.LMNN(n_neighbors=2).fit(X, y), folder / "cases")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(wn.GRLVQ(random_state=0).fit(X, y), folder / "prototypes")


def test_what_saves_itself_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"Strange cannot be saved so.* Call .*: \.save\(path\)"):
        save(type("Strange", (), {"save": lambda self, path: None})(), tmp_path / "file")


# A small model file must not take much memory, whatever it says; and nothing in it gives a traceback.


LOAD = """
import json, sys
import whynear as wn
from multiprocessing import get_context
from whynear.model import files
from whynear.utils.archive import ArchiveError
from tests.helpers.memory import peak_bytes
wn.load
def loaded(path):
    start, fault = peak_bytes(), ""
    try:
        wn.load(path)
    except ArchiveError as error:
        fault = str(error)
    return fault, peak_bytes() - start
with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
    print(json.dumps(pool.map(loaded, sys.argv[1:], chunksize=1)))
"""


def node(**state):
    pairs = [[name, value] for name, value in state.items()]
    return {"estimator": "StandardScaler", "params": {"dict": []}, "fitted": {"dict": pairs}}


def labels(values, shape=None, dtype="U"):
    return {"labels": values, "shape": [len(values)] if shape is None else shape, "dtype": dtype}


def written(path, state, arrays=None):
    write_archive(path, {"object": node(**state)}, arrays or {})
    return path


LONG = ["x" * 60_000, *["a", "b"] * 5_000]
WIDE = labels(["x" * 1_000, *["a"] * 1_000])
ONE = {"array": "big"}
LOCAL = {"metric": "LocalMetric", "names": ["x"], "arrays": {"anchors": ONE, "weights": {"array": "other"}}}
UNFOLDED = {"array": ONE, "metric": LOCAL}
ABSURD = {
    "terabytes": {"mean_": labels(["x" * 3_000_000, *["a"] * 1_000_000])},
    "no such shape": {"mean_": labels(["a"], [10**30])},
    "empty shape": {"mean_": labels([], [0, 10**30])},
    "many dimensions": {"mean_": labels(["a"], [1] * 100)},
    "shape of text": {"mean_": labels(["a"], "wide")},
    "nested labels": {"mean_": labels([[1, 2], [3]], [2], "O")},
    "labels that are none": {"mean_": {"labels": 5, "shape": [1], "dtype": "O"}},
    "numbers as labels": {"mean_": labels([10**400] * 3)},
    "dtype": {"mean_": {"dtype": "f8,("}},
    "wide dtype": {"mean_": {"dtype": "V99999999999"}},
    "not a part": {"mean_": {"array": ["big"]}},
    "dict of lists": {"mean_": {"dict": [[[1], 2]]}},
    "metric of labels": {"mean_": {"metric": "LinearMetric", "names": 3, "arrays": {"omega": 3}}},
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Every file by its name, what is wrong with it, and the bytes that loading it took at the most."""
    folder = tmp_path_factory.mktemp("hostile")
    states = {"long": {"mean_": labels(LONG)}, "wide": {f"a{i}": WIDE for i in range(500)}, **ABSURD}
    paths = {name: written(folder / name, state) for name, state in states.items()}
    parts = {"big": np.zeros((1 << 20, 1)), "other": np.ones((1 << 20, 1))}
    for name, kind in UNFOLDED.items():
        paths[name] = written(folder / name, {f"a{i}": kind for i in range(400)}, parts)
    command = [sys.executable, "-c", LOAD, *map(str, paths.values())]
    answers = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout)
    return {name: (path, *answer) for (name, path), answer in zip(paths.items(), answers, strict=True)}


def test_one_long_label_does_not_widen_all_others(loaded):
    path, fault, peak = loaded["long"]
    assert path.stat().st_size < 200_000
    assert fault == ""
    assert peak < 100 << 20
    assert wn.load(path).mean_.tolist() == LONG


def test_many_wide_arrays_of_labels_share_one_limit(loaded):
    path, fault, peak = loaded["wide"]
    assert fault == ""
    assert peak < 60 * path.stat().st_size + (150 << 20)


def test_labels_of_an_ordinary_width_keep_their_type(tmp_path):
    names = np.array(["short", "a longer one", "ü"] * 1_000)
    again = wn.load(written(tmp_path / "names", {"mean_": labels(names.tolist())})).mean_
    assert again.dtype == names.dtype
    assert again.tolist() == names.tolist()


@pytest.mark.parametrize("kind", UNFOLDED)
def test_one_part_is_not_unfolded_into_many_arrays(loaded, kind):
    path, fault, peak = loaded[kind]
    assert "its part big is used twice" in fault
    assert peak < 5 * path.stat().st_size


@pytest.mark.parametrize("what", ABSURD)
def test_a_header_that_asks_for_the_impossible_is_refused_or_harmless(loaded, what):
    path, fault, peak = loaded[what]
    assert not fault or fault.startswith(f"{path} cannot be read: ")
    assert peak < 40 * path.stat().st_size + (100 << 20)


def test_memory_that_runs_out_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    path = written(tmp_path / "file", {"mean_": labels(["a"])})

    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(np, "array", exhausted)
    with pytest.raises(ArchiveError, match="file cannot be read: it takes more memory than there is"):
        wn.load(path)
    monkeypatch.setattr("whynear.utils.archive._read", exhausted)
    with pytest.raises(ArchiveError, match="file cannot be read: it takes more memory than there is"):
        wn.load(path)


# Files that an older version wrote: they open, and say what they said then.


OLDER = Path(__file__).parents[1] / "data" / "0.1.0"
EXPECTED = json.loads((OLDER / "expected.json").read_text())
COLUMNS = ["height", "weight", "age"]


@pytest.fixture
def cases():
    """The rows that the files were made of; the models behind no encoder saw the one gap as 24 rows without it."""
    return pd.read_csv(OLDER / "cases.csv")


@pytest.mark.parametrize("kind", ["linear", "diagonal", "minkowski"])
def test_a_metric_measures_as_it_did(kind, cases):
    X = cases[COLUMNS].to_numpy()
    metric = wn.load(OLDER / f"{kind}.whynear")
    measured = metric.sq_distances(X[8:12], np.nan_to_num(X[:4], nan=EXPECTED["gap"]))
    np.testing.assert_allclose(measured, EXPECTED[kind], rtol=1e-12, atol=1e-12)


def test_a_local_metric_measures_as_it_did(cases):
    metric = wn.load(OLDER / "local.whynear")
    np.testing.assert_allclose(metric.sq_distances(cases[COLUMNS].to_numpy()[8:12]), EXPECTED["local"], rtol=1e-12)


@pytest.mark.parametrize("name", ["gmlvq", "lgrlvq", "lmnn", "lann", "slider", "minimum_norm", "encoded"])
def test_a_model_predicts_as_it_did(name, cases):
    model, expected = wn.load(OLDER / f"{name}.whynear"), EXPECTED[name]
    table = cases[[*COLUMNS, "colour"]] if name == "encoded" else cases[COLUMNS].fillna(EXPECTED["gap"])
    if name == "minimum_norm":
        np.testing.assert_allclose(model.predict(table), expected["predicted"], rtol=1e-9, atol=1e-9)
        return
    assert model.predict(table).tolist() == expected["predicted"]
    np.testing.assert_allclose(model.predict_proba(table), expected["probabilities"], rtol=1e-9, atol=1e-9)


def test_a_case_base_finds_what_it_found(tmp_path, cases):
    shutil.copy(OLDER / "cases.db", tmp_path / "cases.db")
    with wn.CaseBase(tmp_path / "cases.db") as base:
        found = base.retrieve(cases[COLUMNS].to_numpy()[0], k=3).frame()
        base.add(cases[COLUMNS].fillna(0.0).set_axis([f"new {row}" for row in range(len(cases))]))
        assert base.retrieve(cases[COLUMNS].to_numpy()[0], k=2).rows == [found["id"][0], "new 0"]
    expected = EXPECTED["case_base"]
    assert found["row"].tolist() == expected["id"]
    assert found["id"].tolist() == expected["id"]
    assert found["payload"].tolist() == expected["payload"]
    np.testing.assert_allclose(found["sq_distance"], expected["sq_distance"], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "kind"), [("lmnn", "case"), ("lann", "case"), ("slider", "case"), ("gmlvq", "prototype")]
)
def test_a_model_that_knows_no_rows_numbers_what_votes_from_one(name, kind, cases):
    why = wn.explain(wn.load(OLDER / f"{name}.whynear"), cases[COLUMNS].fillna(EXPECTED["gap"]).iloc[[8]])
    assert why.nearest.kind == kind
    assert why.neighbors[kind].ge(1).all()


@pytest.mark.parametrize("name", ["lmnn", "gmlvq", "minimum_norm", "encoded"])
def test_a_model_without_training_ranges_says_nothing_about_them(name, cases):
    columns = [*COLUMNS, "colour"] if name == "encoded" else COLUMNS
    table = cases.iloc[[8]][columns].assign(height=1e6)
    model = wn.load(OLDER / f"{name}.whynear")
    assert "out_of_range" not in wn.predict_table(model, table)
    if name != "minimum_norm":
        assert not any(one.kind == "out_of_range" for one in wn.explain(model, table).unusual)

import warnings
from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.decimal_tables import as_texts, measured_rows, model_of_commas
from tests.helpers.partitions import in_chunks, in_partitions
from whynear.large import batch_prediction as prediction
from whynear.large.batch_prediction import is_too_large, predict_to_parquet
from whynear.large.beyond_memory import MemoryLimit

X, Y = load_wine(return_X_y=True, as_frame=True)
NAMES = np.array(["one", "two", "three"], dtype=object)[Y]
MODEL = make_pipeline(StandardScaler(), wn.GRLVQ()).fit(X, NAMES)


def test_an_array_gives_an_array_of_the_same_chunks():
    model, table = wn.GRLVQ().fit(X.to_numpy(), Y), in_chunks(X.to_numpy())
    found = wn.distributed.predict(model, table)
    assert isinstance(found, da.Array)
    assert found.chunks == table.chunks[:1]
    assert found.dtype == model.classes_.dtype
    assert_array_equal(found.compute(), model.predict(X.to_numpy()))


def test_a_dataframe_gives_a_series_with_its_index():
    table = X.set_axis([f"row {i:03}" for i in range(len(X))])
    found = wn.distributed.predict(MODEL, dd.from_pandas(table, npartitions=4))
    assert isinstance(found, dd.Series)
    expected = pd.Series(MODEL.predict(X), index=table.index, name="prediction")
    pd.testing.assert_series_equal(found.compute(), expected, check_dtype=False, check_index_type=False)


def test_delayed_partitions_give_an_array():
    assert_array_equal(wn.distributed.predict(MODEL, in_partitions(X)).compute(), MODEL.predict(X))


def test_measured_targets_are_predicted():
    table, target = load_diabetes(return_X_y=True)
    model = wn.MinimumNormRegressor().fit(table, target)
    assert_allclose(wn.distributed.predict(model, in_chunks(table)).compute(), model.predict(table), rtol=1e-12)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        wn.distributed.predict(wn.GRLVQ(), in_partitions(X))


@pytest.fixture
def whole():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    frame["colour"] = rng.choice(["red", "blue"], 300)
    frame["patient"] = [f"P{n}" for n in range(300)]
    return frame.assign(kind=np.where(frame["a"] > 0, "up", "down"), value=frame["b"] * 2.0)


@pytest.fixture
def model(whole):
    return wn.learn_table(whole[["a", "b", "colour", "kind"]], "kind", learner="grlvq", score=False).model


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(prediction, "MOST_BATCH_ROWS", 41)
    monkeypatch.setattr(prediction, "FEWEST_BATCH_ROWS", 41)


def in_parts(frame, folder):
    folder.mkdir()
    for number, rows in enumerate((frame[:90], frame[90:])):
        rows.to_parquet(folder / f"{number}.parquet", index=False, row_group_size=50)
    return folder


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("kind", ["file", "folder", "text", "frame"])
def test_predictions_in_batches_are_those_of_the_table_in_memory(tmp_path, whole, model, kind):
    whole.loc[[200, 299], "a"] = [99.0, -99.0]
    table = whole
    if kind == "file":
        table = tmp_path / "t.parquet"
        whole.to_parquet(table, index=False, row_group_size=70)
    elif kind == "text":
        table = tmp_path / "t.csv"
        whole.to_csv(table, index=False)
    elif kind == "folder":
        table = in_parts(whole, tmp_path / "parts")
    written = predict_to_parquet(model, table, tmp_path / "out.parquet")
    expected = wn.predict_table(model, whole)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected, check_dtype=False)
    assert written.n_rows == 300
    assert written.unusual["out_of_range"] == 2
    assert written.source == {"file": "t.parquet", "text": "t.csv", "folder": "parts/", "frame": "The table"}[kind]


@pytest.mark.usefixtures("small_batches")
def test_rows_are_named_by_a_column(tmp_path, whole, model):
    table = in_parts(whole, tmp_path / "parts")
    predict_to_parquet(model, table, tmp_path / "out.parquet", index="patient")
    assert pd.read_parquet(tmp_path / "out.parquet")["patient"].tolist() == whole["patient"].tolist()


@pytest.mark.usefixtures("small_batches")
def test_the_column_that_named_the_training_rows_and_a_saved_index_name_rows(tmp_path, whole):
    known = wn.learn_table(
        whole.drop(columns="value"), "kind", learner="grlvq", score=False, reading=wn.Reading(index="patient")
    ).model
    table = in_parts(whole, tmp_path / "parts")
    predict_to_parquet(known, table, tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["patient"][0] == "P0"
    other = wn.learn_table(whole[["a", "b", "kind"]], "kind", learner="grlvq", score=False).model
    whole.set_axis([f"row {n}" for n in range(300)], axis=0).to_parquet(tmp_path / "t.parquet")
    predict_to_parquet(other, tmp_path / "t.parquet", tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["row"][299] == "row 299"


@pytest.mark.usefixtures("small_batches")
def test_numbers_are_predicted_as_numbers(tmp_path, whole):
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(whole[["a", "b"]], whole["value"])
    table = in_parts(whole, tmp_path / "parts")
    predict_to_parquet(model, table, tmp_path / "out.parquet")
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "out.parquet")["predicted"], whole["value"], atol=1e-9)


@pytest.mark.usefixtures("small_batches")
def test_a_fault_is_named_and_nothing_is_written(tmp_path, whole, model):
    whole.loc[222, "a"] = np.inf
    table = in_parts(whole, tmp_path / "parts")
    (tmp_path / "out.parquet").write_text("kept")
    with pytest.raises(ValueError, match=r"parts/ contains infinity \(inf\): 1 in column 'a'"):
        predict_to_parquet(model, table, tmp_path / "out.parquet")
    assert (tmp_path / "out.parquet").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "parts"]


@pytest.mark.usefixtures("small_batches")
def test_an_interrupt_leaves_nothing_half_written(tmp_path, whole, model):
    def interrupt(step, share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_to_parquet(model, in_parts(whole, tmp_path / "parts"), tmp_path / "out.parquet", progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


@pytest.mark.usefixtures("small_batches")
def test_progress_counts_rows(tmp_path, whole, model):
    said = []
    table = in_parts(whole, tmp_path / "parts")
    predict_to_parquet(model, table, tmp_path / "o.parquet", progress=lambda step, share: said.append((step, share)))
    assert said[0] == ("predict, row 1 of 300", 0.0)
    assert ("predict, row 42 of 300", 41 / 300) in said
    assert said[-1] == ("done", 1.0)


@pytest.mark.usefixtures("small_batches")
def test_notes_are_given_once_and_not_without_end(tmp_path, whole, model):
    table = in_parts(whole.assign(colour=["pink"] * 300), tmp_path / "parts")
    (tmp_path / "parts" / "README").write_text("said")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predict_to_parquet(model, table, tmp_path / "out.parquet")
    notes = [str(one.message) for one in caught]
    assert len(notes) == len(set(notes)) == 2
    assert notes[0].startswith("parts/: 1 file of the folder")
    table = in_parts(whole.assign(colour=[f"c{n}" for n in range(300)]), tmp_path / "more")
    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        patch.setattr(prediction, "MOST_NOTES", 3)
        predict_to_parquet(model, table, tmp_path / "out.parquet")
    assert len(caught) == 4
    assert str(caught[-1].message).endswith("more notes on batches were left out.")


def test_too_little_memory_is_refused(tmp_path, whole, model):
    table = in_parts(whole, tmp_path / "parts")
    message = r"A prediction for parts/ takes at least 453 MB of memory, and memory=200MB is allowed. .*--memory 0.5GB"
    with pytest.raises(ValueError, match=message):
        predict_to_parquet(model, table, tmp_path / "out.parquet", memory="200MB")


def test_a_text_file_beyond_the_memory_is_refused(tmp_path, whole, model):
    whole.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"t.csv takes more than 450 MB of memory, and memory=400MB"):
        predict_to_parquet(model, tmp_path / "t.csv", tmp_path / "out.parquet", memory="400MB")


def test_only_tables_in_parts_can_be_too_large(tmp_path, whole, monkeypatch):
    table = in_parts(whole, tmp_path / "parts")
    assert not is_too_large(table)
    monkeypatch.setattr(MemoryLimit, "rows", lambda self, n_columns: 200)
    assert is_too_large(table)
    assert not is_too_large(whole)
    assert not is_too_large("iris")


def test_without_pyarrow_the_line_to_type_is_said(tmp_path, model, monkeypatch):
    monkeypatch.setattr(prediction, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"o.parquet needs pyarrow to be written.*whynear\[parquet\]"):
        predict_to_parquet(model, "iris", tmp_path / "o.parquet")


@pytest.mark.filterwarnings("ignore:.*cannot be promised")
def test_rejected_rows_are_marked_in_every_batch(whole, small_batches, tmp_path):
    option = wn.RejectOption(wn.GRLVQ(random_state=0), accuracy=0.9, random_state=0)
    option.fit(whole[["a", "b", "c"]], whole["kind"])
    written = predict_to_parquet(option, in_parts(whole, tmp_path / "parts"), tmp_path / "out.parquet", accuracy=0.85)
    found = pd.read_parquet(tmp_path / "out.parquet")
    expected = wn.predict_table(option, whole, accuracy=0.85)
    for name in ("accepted", "certainty", "reason"):
        assert found[name].tolist() == expected[name].tolist()
    assert written.promise == expected.attrs["promise"] != ""


def test_a_table_without_rows_is_refused_and_no_file_is_left(tmp_path):
    iris = wn.datasets.load("iris")
    learner = wn.GRLVQ(random_state=0).fit(iris.X, iris.y)
    for predict in (wn.predict_table, partial(wn.predict_to_parquet, out=tmp_path / "predictions.parquet")):
        with pytest.raises(ValueError, match="has no rows to predict"):
            predict(learner, iris.X.iloc[:0])
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_batches")
@pytest.mark.filterwarnings("ignore:.*separated by semicolons")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_decimal_sign_is_that_of_the_whole_table(tmp_path, kind):
    """Only one column shows that 1,234 is less than two; the batches of the other one must know it too."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(1000, 9999, 90) / 1000, "b": rng.normal(size=90)})
    model = make_pipeline(StandardScaler(), wn.MinimumNormRegressor()).fit(frame, frame["a"])
    text = frame.assign(a=frame["a"].map("{:.3f}".format), b=frame["b"].map("{:.5f}".format))
    text = text.apply(lambda column: column.str.replace(".", ","))
    table = tmp_path / "parts"
    table.mkdir()
    if kind == "file":
        table = table / "t.csv"
        text.to_csv(table, index=False, sep=";")
    else:
        for number, rows in enumerate((text[:50], text[50:])):
            rows.to_csv(table / f"{number}.csv", index=False, sep=";")
    predict_to_parquet(model, table, tmp_path / "out.parquet")
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "out.parquet")["predicted"], frame["a"], atol=1e-4)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("learned", ["numbers", "commas"])
@pytest.mark.parametrize("kind", ["stored", "stored in parts", "frame"])
def test_the_decimal_sign_of_numbers_stored_as_text_is_that_of_the_whole_table(tmp_path, kind, learned):
    """Only the last rows show that 1,234 is more than a thousand, in a column that ends after others."""
    rows = measured_rows(120).assign(dose=[*[5.0] * 119, 6.5])
    model = model_of_commas(tmp_path / "learned.csv")
    if learned == "numbers":
        model = wn.learn_table(measured_rows(), "kind", learner="lmnn", score=False).model
    decimal = "," if learned == "numbers" else "."
    table = as_texts(rows, decimal).assign(dose=[*["5"] * 119, f"6{decimal}5"])
    if kind == "stored":
        table.to_parquet(tmp_path / "t.parquet", row_group_size=30)
    elif kind == "stored in parts":
        in_parts(table, tmp_path / "t.parquet")
    read = partial(predict_to_parquet, model, out=tmp_path / "out.parquet")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(table if kind == "frame" else tmp_path / "t.parquet")
    expected = wn.predict_table(model, rows)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected, check_dtype=False)
    said = ["Column 'dose' is written with decimal points, the table that the model was fitted to with decimal commas."]
    assert [str(note.message).partition(": ")[2] for note in caught] == said * (learned == "commas")


@pytest.mark.parametrize("name", ["predicted", "probability"])
def test_names_of_rows_in_a_column_that_is_called_like_a_result_are_those_of_rows(tmp_path, whole, model, name):
    predict_to_parquet(model, whole.rename(columns={"patient": name}), tmp_path / "out.parquet", index=name)
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert found["row"].tolist() == whole["patient"].tolist()
    assert set(found["predicted"]) == {"up", "down"}


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("first", [1, 200])
def test_names_of_rows_that_mix_numbers_and_text_are_written_as_text(tmp_path, whole, model, first):
    mixed = [place if place < first else f"P{place}" for place in range(300)]
    halves = [place if place < first else place + 0.5 for place in range(300)]
    for names in (mixed, halves):
        predict_to_parquet(model, whole.set_axis(names), tmp_path / "out.parquet")
        assert pd.read_parquet(tmp_path / "out.parquet")["row"].tolist() == list(map(str, names))


def test_names_of_rows_that_are_whole_numbers_stay_numbers(tmp_path, whole, model):
    predict_to_parquet(model, whole.set_axis(range(5, 305)), tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["row"].tolist() == list(range(5, 305))

"""All files of a study."""

import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.blank_figures import save_empty
from whynear.report import writing
from whynear.report.earlier import FILES, RECORD, finish_moving
from whynear.report.writing import UNFINISHED, write_study


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_same_seed_gives_the_same_files_byte_for_byte(tmp_path, monkeypatch, drawn):
    if not drawn:
        monkeypatch.setattr(Figure, "savefig", save_empty)
    iris = load_iris(as_frame=True).frame
    first, second = (
        [path.read_bytes() for path in wn.study(iris[::5], "target", learner="gmlvq", folds=3).save(tmp_path / name)]
        for name in ("one", "two")
    )
    assert first == second


@pytest.mark.slow
def test_what_is_written_can_be_read_again(study, saved):
    assert {"study.json", "model.whynear", "relevance.csv", "cases.csv", "predictions.csv"} <= set(saved)
    content = json.loads(saved["study.json"].read_text())
    assert content["format"] == 1
    assert content["finding"] == study.finding()
    assert content["relevance"]["upper"] == study.relevance.upper.tolist()
    model = wn.load(saved["model.whynear"])
    X = study.problem.X
    assert (model.predict(X) == study.model.predict(X)).all()
    predictions = pd.read_csv(saved["predictions.csv"])
    assert list(predictions.columns) == ["row", "true", "predicted", "probability", "by", "fold", "certainty"]
    assert len(pd.read_csv(saved["cases.csv"])) == len(study.cases)
    assert saved["intervals.svg"].read_text().startswith("<svg")


@pytest.fixture
def blank(monkeypatch):
    """Figures without anything on them."""
    monkeypatch.setattr(Figure, "savefig", save_empty)


@pytest.mark.slow
@pytest.mark.usefixtures("blank")
def test_all_files_are_in_the_folder_and_the_page_is_the_last(study, tmp_path):
    written = write_study(study, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    assert set(FILES) <= {path.name for path in written}
    assert written[-1].name == "report.html"


@pytest.mark.usefixtures("blank")
def test_older_files_stay_where_a_file_cannot_be_written(study, tmp_path, monkeypatch):
    (tmp_path / "relevance.csv").write_text("older")

    def fail(path: Path, *_):
        if path.name == "report.html":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "write_data", fail)
    with pytest.raises(OSError, match="No space left"):
        write_study(study, tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["relevance.csv"]
    assert (tmp_path / "relevance.csv").read_text() == "older"


@pytest.mark.usefixtures("blank")
def test_no_part_of_the_study_is_called_an_older_file(study, tmp_path, monkeypatch):
    """Parts that were kept while it was computed do not outlive a write that fails, and its error must not say so."""
    (tmp_path / UNFINISHED).mkdir()
    for name in ("predictions.csv", "model.whynear"):
        (tmp_path / UNFINISHED / name).write_text("a part")
    found = []

    def seen(path: Path, *_):
        found.append(path.exists())

    monkeypatch.setattr(writing, "write_data", seen)
    monkeypatch.setattr(writing, "save", lambda _, path: seen(path))
    monkeypatch.setattr(writing, "move_in", lambda *_: None)
    write_study(study, tmp_path)
    assert len(found) > len(FILES)
    assert not any(found)


class Killed(BaseException):
    """Ends a process where it stands."""


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("last", ["report.html", "relevance.csv", "study.json"])
def test_files_are_not_taken_for_a_study_before_all_of_them_are_written(study, tmp_path, monkeypatch, last):
    real = writing.write_data

    def killed(path: Path, *how):
        if path.name == last:
            raise Killed
        real(path, *how)

    (tmp_path / UNFINISHED).mkdir()
    (tmp_path / UNFINISHED / "study.json").write_text("of another study")
    (tmp_path / "study.json").write_text("older")
    monkeypatch.setattr(writing, "write_data", killed)
    with pytest.raises(Killed):
        write_study(study, tmp_path, overwrite=True)
    (tmp_path / "study.json").unlink()
    finish_moving(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [UNFINISHED]


@pytest.mark.usefixtures("blank")
def test_a_warning_names_the_file_by_its_final_path(study, tmp_path, monkeypatch):
    def save(_model, path):
        path.write_text("")
        writing.warnings.warn(f"{path} contains rows.", stacklevel=2)

    monkeypatch.setattr(writing, "save", save)
    with pytest.warns(UserWarning, match="contains rows") as caught:
        write_study(study, tmp_path)
    assert str(caught[0].message) == f"{tmp_path / 'model.whynear'} contains rows."
    assert not (tmp_path / UNFINISHED).exists()


class BackwardsWriters:
    """Writers that are done in another order than they were given: threads may be."""

    def __init__(self, _n_threads):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, write, names):
        return [write(name) for name in reversed(list(names))]


@pytest.mark.usefixtures("blank")
def test_the_record_is_written_when_all_other_files_are_there(study, tmp_path, monkeypatch):
    folder, real, there = tmp_path / UNFINISHED, writing.write_data, []

    def write(path, *words):
        if path.name == RECORD:
            there.extend(one.name for one in folder.iterdir())
        real(path, *words)

    monkeypatch.setattr(writing, "ThreadPoolExecutor", BackwardsWriters)
    monkeypatch.setattr(writing, "write_data", write)
    written = {path.name for path in write_study(study, tmp_path)}
    assert set(there) == written - {RECORD}

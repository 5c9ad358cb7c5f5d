"""Folders that hold a study already, or files of none."""

import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.disk_order import steps_on_disk
from tests.helpers.studies import iris_study, numeric_study
from whynear.report import files
from whynear.report.files import check_no_other_study, save
from whynear.study.settings import StudySettings

WAY_OUT = r"Choose another folder \(--out\), or replace (that study|it) \(--overwrite; in Python overwrite=True\)\.$"

pytestmark = pytest.mark.usefixtures("blank_figures")


@pytest.fixture
def folder(tmp_path):
    save(iris_study(), tmp_path)
    return tmp_path


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def test_another_study_is_refused_by_name_and_nothing_is_changed(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    described = r"holds another study: of The table, target='target', learner='gmlvq', folds=3\. "
    with pytest.raises(FileExistsError, match=described + WAY_OUT):
        numeric_study().save(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"source": "other.csv"},
        {"target": "other"},
        {"settings": StudySettings.of(learner="gmlvq", folds=3, random_state=1)},
        {"settings": StudySettings()},
    ],
)
def test_another_table_target_or_setting_makes_another_study(folder, change):
    given = {"source": "The table", "target": "target", "settings": StudySettings.of(learner="gmlvq", folds=3)}
    check_no_other_study(folder, **given)
    with pytest.raises(FileExistsError, match=WAY_OUT):
        check_no_other_study(folder, **{**given, **change})
    check_no_other_study(folder, **{**given, **change}, overwrite=True)


def test_a_replaced_study_leaves_no_file_and_other_files_stay(folder):
    (folder / "notes.txt").write_text("mine")
    old = names_in(folder)
    written = numeric_study().save(folder, overwrite=True)
    assert old - {path.name for path in written} > {"notes.txt"}, "the studies differ in their files"
    assert names_in(folder) == {path.name for path in written} | {"notes.txt"}
    assert set(json.loads((folder / "study.json").read_text())["files"]) == {path.name for path in written}


def test_the_same_study_with_fewer_cases_leaves_no_case_of_the_first(folder):
    study = iris_study()
    assert (folder / f"case-{len(study.cases)}.csv").exists()
    written = replace(study, cases=study.cases[:1]).save(folder)
    assert names_in(folder) == {path.name for path in written}
    assert not (folder / "case-2.csv").exists()


@pytest.mark.parametrize("name", ["cases.csv", "predictions.csv", "report.html"])
def test_a_file_of_no_study_is_not_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileExistsError, match=f"has a file {name}, which belongs to no study .*{WAY_OUT}"):
        iris_study().save(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert names_in(tmp_path) == {name}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"source": "a", "target": "b", "given": 3}', "\xff"])
def test_a_damaged_study_is_another_study(tmp_path, text):
    (tmp_path / "study.json").write_text(text, encoding="latin-1")
    with pytest.raises(FileExistsError, match=f"holds another study.*{WAY_OUT}"):
        iris_study().save(tmp_path)
    assert names_in(tmp_path) == {"study.json"}


@pytest.mark.parametrize(
    "listed", [["../mine.txt"], ["/etc/passwd"], [".."], ["unfinished"], [3, None], "mine.txt", {"a": 1}]
)
def test_files_that_a_damaged_study_lists_elsewhere_are_not_removed_with_it(tmp_path, listed):
    (tmp_path / "mine.txt").write_text("mine")
    folder = tmp_path / "out"
    put(folder / files.UNFINISHED, "new", ["report.html"])
    (folder / "study.json").write_text(json.dumps({"files": listed}))
    files.move_in(folder, ["study.json", "report.html"])
    assert (tmp_path / "mine.txt").exists()
    assert set(files_in(folder)) == {"study.json", "report.html"}


def test_a_long_description_is_cut(tmp_path):
    (tmp_path / "study.json").write_text(json.dumps({"source": "a" * 999, "target": "b" * 999}))
    with pytest.raises(FileExistsError) as refused:
        iris_study().save(tmp_path)
    assert len(str(refused.value)) < 800


class Killed(BaseException):
    """Ends a process where it stands."""


def files_in(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def put(folder, study, names):
    """Write the files of a study, which say whose they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(study)
    (folder / "study.json").write_text(json.dumps({"of": study, "files": ["study.json", *names]}))


@pytest.mark.parametrize("older", [True, False])
@pytest.mark.parametrize("n_steps", range(9))
def test_a_process_killed_while_files_are_moved_leaves_no_mixture(tmp_path, monkeypatch, older, n_steps):
    new, names = tmp_path / files.UNFINISHED, ["model.whynear", "new.csv", "report.html"]
    if older:
        put(tmp_path, "old", ["model.whynear", "old.csv", "old.svg", "report.html"])
    put(new, "new", names)
    before, expected, left = files_in(tmp_path), files_in(new), iter(range(n_steps))

    def counted(real):
        def step(*words, **options):
            if next(left, None) is None:
                raise Killed
            return real(*words, **options)

        return step

    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        patch.setattr(files.os, "replace", counted(os.replace))
        patch.setattr(Path, "unlink", counted(Path.unlink))
        files.move_in(tmp_path, ["study.json", *names])
    if (tmp_path / "study.json").exists():
        assert files_in(tmp_path) in (before, expected)
    files.finish_moving(tmp_path)
    assert files_in(tmp_path) == (before if older and n_steps == 0 else expected)


def test_each_step_of_moving_is_on_the_disk_before_the_next(tmp_path, monkeypatch):
    """A power cut may undo any step that is not: a record must not be there without its files."""
    put(tmp_path, "old", ["old.csv", "report.html"])
    put(tmp_path / files.UNFINISHED, "new", ["model.whynear", "report.html"])
    steps, sync = steps_on_disk(monkeypatch), ("sync", tmp_path.name)
    files.move_in(tmp_path, ["study.json", "model.whynear", "report.html"])
    first, others, last = steps[:2], steps[2:-3], steps[-3:]
    assert first == [("move", "study.json", "older.json"), sync]
    assert sorted(step[1] for step in others) == ["model.whynear", "old.csv", "report.html"]
    assert last == [sync, ("move", "study.json", "study.json"), sync]

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.disk_order import steps_on_disk
from whynear.studio.project import Project, file_name


@given(st.text(max_size=300))
def test_a_name_never_leaves_its_folder(name):
    clean = file_name(name)
    assert clean == Path(clean).name
    assert clean not in ("", ".", "..")
    assert not clean.startswith(".")
    assert not set(clean) & set("/\\\0\n\r:")
    assert len(clean) <= 100


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("../../../etc/passwd.csv", "passwd.csv"),
        ("..\\..\\x.csv", "x.csv"),
        ("/", "table"),
        ("a\0b.csv", "a_b.csv"),
        ("con:stream.csv", "con_stream.csv"),
        ("x" * 300 + ".csv", "x" * 96 + ".csv"),
    ],
)
def test_path_tricks_become_plain_names(name, clean):
    assert file_name(name) == clean


def test_a_table_lies_in_a_folder_of_its_own(tmp_path):
    project = Project(tmp_path / "p")
    row = project.new_table("../x.csv")
    path = project.folder / row["file"]
    assert path.parent.parent == project.folder / "tables"
    project.half_of(row).write_text("x")
    assert project.add_table(row)["bytes"] == 1
    assert project.file_of(row["id"]) == path
    assert path.read_text() == "x"
    project.remove_table(row["id"])
    assert not path.parent.exists()
    project.close()


class Killed(BaseException):
    """Ends a process where it stands."""


def killed(*_, **__):
    raise Killed


def put_table(project, *, whole=True):
    row = project.new_table("x.csv")
    project.half_of(row).write_text("x")
    return project.add_table(row) if whole else row


def folders_in(project):
    return [path.name for kind in ("tables", "studies") for path in sorted((project.folder / kind).glob("*"))]


def test_what_was_sent_in_half_when_the_server_was_killed_is_gone(tmp_path):
    project = Project(tmp_path)
    kept = put_table(project)["id"]
    put_table(project, whole=False)
    project.close()
    again = Project(tmp_path)
    assert folders_in(again) == [kept]
    again.close()


@pytest.mark.parametrize("step", ["add_table", "remove_table", "remove_study"])
@pytest.mark.parametrize("noted", [True, False])
def test_a_server_killed_at_any_step_leaves_a_table_or_study_whole_or_nothing_of_it(tmp_path, monkeypatch, step, noted):
    project = Project(tmp_path)
    row = put_table(project, whole=step != "add_table")
    study = {"id": "a" * 16, "name": "s", "source": "x.csv", "table_id": row["id"], "target": "y", "settings": {}}
    project.store.add_study({**study, "state": "finished"})
    project.folder_of(study["id"]).mkdir(parents=True)
    given = {"add_table": row, "remove_table": row["id"], "remove_study": study["id"]}[step]
    with monkeypatch.context() as patch:
        if not noted:
            patch.setattr(project.store, step, killed)
        elif step == "add_table":
            patch.setattr("whynear.studio.project.os.replace", killed)
        else:
            patch.setattr("whynear.studio.project.shutil.rmtree", killed)
        with pytest.raises(Killed):
            getattr(project, step)(given)
    project.close()
    again = Project(tmp_path)
    known = [known["id"] for known in (*again.store.tables(), *again.store.studies())]
    assert folders_in(again) == known
    assert (row["id"] in known) == (noted if step == "add_table" else step != "remove_table" or not noted)
    assert all(again.file_of(known["id"]).read_text() == "x" for known in again.store.tables())
    again.close()


def test_one_server_at_a_time_works_in_a_folder(tmp_path):
    first = Project(tmp_path)
    with pytest.raises(ValueError, match="in use by another studio"):
        Project(tmp_path)
    first.close()
    Project(tmp_path).close()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError, match="not a folder"):
        Project(tmp_path / "file")


def test_a_table_is_on_the_disk_before_it_is_known_and_set_aside_there_before_it_is_forgotten(tmp_path, monkeypatch):
    project = Project(tmp_path / "p")
    steps = steps_on_disk(monkeypatch)
    for step in ("add_table", "remove_table"):
        done = getattr(project.store, step)
        monkeypatch.setattr(project.store, step, lambda row, done=done, step=step: steps.append(step) or done(row))
    row = put_table(project)
    project.remove_table(row["id"])
    project.close()
    folder, half = row["id"], f"{row['id']}.half"
    assert steps == [
        ("sync", "p"),
        ("sync", "tables"),
        ("sync", "x.csv"),
        ("sync", half),
        "add_table",
        ("move", half, folder),
        ("move", folder, half),
        ("sync", "tables"),
        "remove_table",
        ("remove", "x.csv"),
        ("remove", half),
    ]

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert path.parent.is_dir()
    assert path.parent.parent == project.folder / "tables"
    project.store.add_table({**row, "bytes": 1})
    assert project.file_of(row["id"]) == path
    project.remove_table(row["id"])
    assert not path.parent.exists()
    project.close()


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

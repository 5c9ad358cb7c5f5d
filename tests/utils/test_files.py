"""Places for files and folders, tried before anything is computed."""

import pytest

from tests.helpers.disk_order import steps_on_disk
from whynear.utils import files
from whynear.utils.files import check_file, check_folder, make_folder, remove_halves, sync_file, write_data, write_whole


def test_a_place_for_a_file(tmp_path):
    check_file(tmp_path / "new")
    with pytest.raises(ValueError, match="must be a file, got a folder instead"):
        check_file(tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        check_file(tmp_path / "no" / "where")
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_a_folder(tmp_path):
    check_folder(tmp_path / "new" / "deeper", ["a.csv"])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="it is not a folder"):
        check_folder(tmp_path / "file")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(FileExistsError, match="it is a folder"):
        check_folder(tmp_path, ["a.csv"])


@pytest.mark.parametrize("name", ["a.csv", "[a]*.csv", "a" * 50])
def test_only_what_a_killed_process_left_of_a_file_is_removed(tmp_path, monkeypatch, name):
    class Killed(BaseException):
        """Ends a process where it stands."""

    def killed(*_):
        raise Killed

    kept = {tmp_path / each for each in (name, f"{name}.0123456789abcdef", ".a.csv", f".{name[:32]}.mine", ".b.0123")}
    for path in kept:
        path.write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", killed)
        patch.setattr(files.os, "unlink", killed)
        with pytest.raises(Killed):
            write_whole(tmp_path / name, lambda file: file.write(b"half"), 4)
    assert len(set(tmp_path.iterdir()) - kept) == 1
    remove_halves(tmp_path / name)
    assert set(tmp_path.iterdir()) == kept
    remove_halves(tmp_path / "no" / "where")


@pytest.mark.parametrize("data", ["größer\n", b"\x00\xff"])
def test_text_and_bytes_are_written_as_they_are(tmp_path, data):
    write_data(tmp_path / "file", data)
    assert (tmp_path / "file").read_bytes() == (data.encode() if isinstance(data, str) else data)


def test_a_file_is_on_the_disk_before_it_gets_its_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    steps = steps_on_disk(monkeypatch)
    write_data(tmp_path / "file", "new")
    (_, half), (_, moved, to), after = steps
    assert (half, to, after) == (moved, "file", ("sync", tmp_path.name))


def test_a_new_folder_and_those_above_it_are_on_the_disk(tmp_path, monkeypatch):
    steps = steps_on_disk(monkeypatch)
    make_folder(tmp_path / "a" / "b")
    assert steps == [("sync", tmp_path.name), ("sync", "a")]
    make_folder(tmp_path / "a" / "b")
    assert len(steps) == 2
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_a_file_that_others_wrote_is_brought_to_the_disk(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    steps = steps_on_disk(monkeypatch)
    sync_file(tmp_path / "file")
    assert steps == [("sync", "file")]
    assert (tmp_path / "file").read_text() == "x"

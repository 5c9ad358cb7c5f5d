"""Places for files and folders, tried before anything is computed."""

import pytest

from whynear.utils.files import check_file, check_folder, write_data


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


@pytest.mark.parametrize("data", ["größer\n", b"\x00\xff"])
def test_text_and_bytes_are_written_as_they_are(tmp_path, data):
    write_data(tmp_path / "file", data)
    assert (tmp_path / "file").read_bytes() == (data.encode() if isinstance(data, str) else data)

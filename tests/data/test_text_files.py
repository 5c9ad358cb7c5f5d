import gzip
from pathlib import Path

import pytest

from whynear.data.text_files import delimiter_of, opened_text


@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("t.csv", ","), ("T.CSV.GZ", ","), ("t.v1.tsv", "\t"), ("t.txt.gz", "\t"), ("t.gz", None), ("t", None)],
)
def test_the_ending_names_the_separator(name, delimiter):
    assert delimiter_of(Path(name)) == delimiter


def test_a_compressed_file_is_unpacked_and_its_place_is_that_of_the_file(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 1000))
    with opened_text(path) as text:
        assert text.unpacked.read() == b"a,b\n" * 1000
        assert text.file.tell() == path.stat().st_size


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n" * 100)[:-9]], ids=["other", "cut"])
def test_a_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.csv\.gz must be a whole gzip file"), opened_text(path) as text:
        text.unpacked.read()

import gzip
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.data.text_files import TextPieces, as_utf_8, delimiter_of, opened_text


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


TABLE = "größe,preis\n1,5 €\n"
PATH = Path("t.csv")


def test_letters_without_the_signs_of_windows_are_latin_1():
    data, notes = as_utf_8("größe\n".encode("latin-1"), PATH)
    assert (data.decode(), "latin-1" in notes[0]) == ("größe\n", True)


@pytest.mark.parametrize(
    ("data", "offset", "line"),
    [
        ("é\n".encode() + b"\xe9\n", 3, 2),
        (b"a,b\n1,\xc3", 6, 2),
        (b"a\n\x81\xff\n", 2, 2),
        (b"\xef\xbb\xbf" + "é".encode() + b"\xe9\n", 5, 1),
    ],
    ids=["both UTF-8 and not", "cut off", "no letter of Windows", "behind a mark"],
)
def test_what_fits_nothing_is_located(data, offset, line):
    with pytest.raises(ValueError, match=rf"must be utf-8 text, .* byte offset {offset} \(line {line}\)"):
        as_utf_8(data, PATH)


BYTES = [b"a,b\n", b"\r", b"\n", "é".encode(), "€".encode(), b"\xe9", b"\xe9.", b"\x80", b"\x81", b"\xef\xbb\xbf", b"7"]


def pieces_of(data, cuts):
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(places)]


def decoded(data, cuts=(), encoding="auto"):
    text = TextPieces("t.csv", encoding)
    return "".join(text.texts(pieces_of(data, cuts))), text.notes()


@given(st.lists(st.sampled_from(BYTES), max_size=12), st.lists(st.integers(0, 40), max_size=8))
def test_pieces_give_the_text_of_the_whole_or_the_same_refusal(parts, cuts):
    """However they are cut: the encoding is found as it is from all bytes, and the same byte is located."""
    data = b"".join(parts)
    try:
        whole, notes = as_utf_8(data, "t.csv")
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
            decoded(data, cuts)
    else:
        assert decoded(data, cuts) == (whole.decode(), notes)


@pytest.mark.parametrize(("encoding", "named"), [("utf-8", ""), ("utf-8-sig", ""), ("utf-16", "utf-16"),
    ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be"), ("cp1252", "cp1252")])  # fmt: skip
def test_an_encoding_is_found_and_named_from_all_bytes_and_from_pieces(encoding, named):
    data = (TABLE * 200).encode(encoding)
    whole, notes = as_utf_8(data, PATH)
    for text, said in [(whole.decode(), notes), *(decoded(data, range(0, len(data), size)) for size in (1, 7, 10_000))]:
        assert text.removeprefix("\ufeff") == TABLE * 200
        assert said == [f"The file is not UTF-8 and was read as {named}; --encoding names another."] * bool(named)


def test_a_named_encoding_is_the_only_one_tried():
    with pytest.raises(ValueError, match=r"must be ascii text, got 0xc3 .* --encoding utf-8"):
        as_utf_8(TABLE.encode(), PATH, "ascii")
    assert as_utf_8(TABLE.encode("cp1252"), PATH, "cp1252") == (TABLE.encode(), [])
    assert decoded(TABLE.encode("cp1252"), [3], "cp1252") == (TABLE, [])
    assert decoded(b"\xef\xbb\xbfa", [1, 2], "latin-1") == ("a", [])
    with pytest.raises(ValueError, match=r"ascii text, got 0xc3 at byte offset 2 .* --encoding utf-8"):
        decoded(TABLE.encode(), [3], "ascii")
    with pytest.raises(ValueError, match=r"encoding must be a text encoding .*, got 'rot13'"):
        TextPieces("t.csv", "rot13")


def test_what_was_read_is_handed_on_at_once():
    """A live stream is not held back: four bytes are enough to know that they are not UTF-16."""
    read = []

    def live():
        for piece in (b"a,b\n", b"1,2\n", b"3,4\n"):
            read.append(piece)
            yield piece

    lines = TextPieces("standard input").lines(live())
    assert next(lines) == "a,b\n"
    assert read == [b"a,b\n"]
    assert list(lines) == ["1,2\n", "3,4\n"]


@given(
    st.lists(st.sampled_from(["a", "é", '"', "\r\n", "\r", "\n", "\x0b", "\u2028", "\x85"]), max_size=20),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_lines_are_those_that_python_reads(parts, cuts):
    data = "".join(["a", *parts]).encode()
    expected = list(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    assert list(TextPieces("t.csv").lines(pieces_of(data, cuts))) == expected

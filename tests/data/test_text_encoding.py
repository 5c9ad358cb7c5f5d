from pathlib import Path

import pytest

from whynear.data.text_files import as_utf_8

TABLE = "größe,preis\n1,5 €\n"
PATH = Path("t.csv")


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_an_encoding_is_found_and_named(encoding, found):
    data, notes = as_utf_8(TABLE.encode(encoding), PATH)
    assert data.decode().removeprefix("\ufeff") == TABLE
    assert notes == (
        [] if found is None else [f"The file is not UTF-8 and was read as {found}; --encoding names another."]
    )


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
    with pytest.raises(
        ValueError, match=rf"t.csv must be utf-8 text, got 0x.. at byte offset {offset} \(line {line}\)"
    ):
        as_utf_8(data, PATH)


def test_a_named_encoding_is_the_only_one_tried():
    with pytest.raises(ValueError, match=r"must be ascii text, got 0xc3 .* --encoding utf-8"):
        as_utf_8(TABLE.encode(), PATH, "ascii")
    assert as_utf_8(TABLE.encode("cp1252"), PATH, "cp1252") == (TABLE.encode(), [])

"""Tables that mean harm or were damaged: escaped, neutralised, or refused by line."""

import codecs
import csv
import io
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from tests.helpers.fault_tables import cases, refused, studied, write

SCRIPT, FORMULA, IMAGE, SUM = "<script>alert(1)</script>", "=cmd()", "<img src=x onerror=alert(2)>", "@SUM(A1)"
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study of a table, marked by a byte order mark, whose names are code; one of them stands there twice."""
    folder = tmp_path_factory.mktemp("hostile")
    table = cases().assign(y=[IMAGE, SUM] * 12, id=[f"=1+{row}" for row in range(24)])
    text = table.set_axis([SCRIPT, FORMULA, FORMULA, "y", "id"], axis=1).to_csv(index=False)
    path = write(folder, codecs.BOM_UTF8 + text.encode(), "<b>cases.csv")
    return studied(folder, path, "--index", "id")


class _Dangers(HTMLParser):
    """Collects what a browser would run or fetch of the names above."""

    def __init__(self):
        super().__init__()
        self.found, self.tag = [], ""

    def handle_starttag(self, tag, attrs):
        self.tag = tag
        self.found += [(tag, name) for name, value in attrs if name.startswith("on") or "alert" in (value or "")]
        self.found += [tag] if tag in ("b", "img") else []

    def handle_data(self, data):
        self.found += ["script"] if self.tag == "script" and "alert" in data else []


def test_markup_in_names_is_text_in_the_page(hostile):
    page = (hostile.folder / "report.html").read_text()
    assert page.count("<script") == page.count("</script") == 2  # its own: its data, and what makes it alive
    page = page[: page.index("<script")]
    parser = _Dangers()
    parser.feed(page)
    assert parser.found == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=alert(2)&gt;" in page


def test_markup_in_names_is_text_in_every_figure(hostile):
    figures = sorted(hostile.folder.glob("*.svg"))
    assert len(figures) > 5
    for path in figures:
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
        assert not tags & {"script", "img"}, path.name


def test_no_field_of_a_table_is_a_formula(hostile):
    assert list(hostile.relevance.index[:1]) == [SCRIPT]
    assert f"'{FORMULA}" in hostile.relevance.index
    for path in hostile.folder.glob("*.csv"):
        fields = [field for row in csv.reader(io.StringIO(path.read_text())) for field in row]
        texts = [field for field in fields if not NUMBER.fullmatch(field)]
        assert not [field for field in texts if field.startswith(("=", "+", "-", "@"))], path.name
    assert "'=1+0,'@SUM(A1)" not in (hostile.folder / "predictions.csv").read_text()
    assert f"'=1+0,{IMAGE}" in (hostile.folder / "predictions.csv").read_text()


def test_names_stay_as_they_are_where_they_harm_nothing(hostile):
    assert sorted(hostile.content["profiles"]) == [IMAGE, SUM]
    assert {column["column"] for column in hostile.content["columns"]} >= {SCRIPT, FORMULA}


def test_duplicate_names_are_suffixed_and_reported(hostile):
    assert "Duplicate column names were suffixed: '=cmd()' (column 3) is now '=cmd().1'." in hostile.caveats
    assert sorted(hostile.content["relevance"]["features"]) == [SCRIPT, FORMULA, f"{FORMULA}.1"]


def test_a_byte_order_mark_is_no_part_of_the_first_name(hostile):
    assert hostile.content["relevance"]["features"][0] == SCRIPT


TEXT = cases().to_csv(index=False)
LINES = TEXT.splitlines(keepends=True)


def _with_line(number, line):
    return "".join([*LINES[: number - 1], line, *LINES[number:]])


@pytest.mark.parametrize(
    ("table", "fact", "remedy"),
    [
        (_with_line(5, "1,2\0,3,u\n"), "line 5: a text table must not have NUL bytes", "Remove it"),
        (_with_line(7, "1,2,3,u,4\n"), "line 7: every row must have 4 fields as the header has, got 5", "quote"),
        (_with_line(1, "Measured in May\n"), "line 2: every row must have 1 field as the header has, got 4", "a title"),
        (_with_line(8, "1,2,u\n"), "line 8: every row must have 4 fields as the header has, got 3", "Complete"),
        (_with_line(9, '1,2,3,"u\n'), "line 9: quotes must be closed", "Correct the quotes."),
        (_with_line(3, "1,2,3,ü\n").encode("latin-1"), "got 0xfc at byte offset", "--encoding latin-1"),
        (TEXT.encode("utf-16"), "must be utf-8 text, got 0xff at byte offset 0 (line 1)", "--encoding utf-16"),
        (b"PK\x03\x04\0\0", "line 1: a text table must not have NUL bytes", "Remove it"),
    ],
    ids=["NUL", "long row", "title", "short row", "open quote", "latin-1", "utf-16", "no text at all"],
)
def test_damaged_text_is_refused_by_line(tmp_path, table, fact, remedy):
    said = refused(tmp_path, table, "--strict")
    assert str(tmp_path / "cases.csv") in said
    assert fact in said
    assert remedy in said
    if "--encoding" not in remedy:
        assert refused(tmp_path, table) == said


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_another_encoding_is_read_where_it_is_named(tmp_path):
    table = cases().rename(columns={"size": "größe"}).to_csv(index=False).encode("latin-1")
    assert "größe" in studied(tmp_path, table, "--encoding", "latin-1").relevance.index

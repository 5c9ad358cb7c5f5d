import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.utils import text
from whynear.utils.text import (
    beside_error,
    bytes_of,
    counted,
    exceeds_error,
    harmless,
    in_words,
    label,
    listed,
    machine_bytes,
    printable,
    probability,
    short_number,
)

ROOT = Path(__file__).parents[2]
WRITTEN_BY_USERS = ("docs/tables.md", "src/whynear/data/numbers.py")  # cells such as 31 %


@given(st.text(st.characters(categories=["Cc", "Cs", "Lu", "Zs", "Zl", "Zp"])))
def test_printable_text_is_one_line_that_can_be_encoded_and_commands_nothing(text):
    shown = printable(text)
    assert len(shown) == len(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in shown)
    shown.encode()
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["", "Größe, cm²", "温度", "a b\u00a0c", "👩‍🔬", "“x” ± 1"])
def test_what_can_be_printed_stays_as_it_is(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"), [("\x1b[2J", "\ufffd[2J"), ("a\r\nb", "a  b"), ("\udc80", "\ufffd"), ("\u202ecba", "\ufffdcba")]
)
def test_what_commands_a_terminal_is_replaced(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "\t=cmd()", "\r@sum", " =1"])
def test_no_name_is_a_formula(name):
    assert harmless(name).startswith("'")


def test_lists_end_and_numbers_agree():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(range(7)) == "'0', '1', '2', '3', '4' and 2 more"
    assert counted(1, "row", "rows") == "1 row"
    assert counted(0, "row", "rows") == "0 rows"
    assert [counted(count, "feature") for count in (0, 1, 2)] == ["0 features", "1 feature", "2 features"]


def pages() -> dict[str, str]:
    """The guide, and all texts of the library and of its pages, by their files."""
    found = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("web/src/**/*.ts")]
    texts = {path: path.read_text(encoding="utf-8") for path in found}
    for path in ROOT.glob("src/whynear/**/*.py"):
        parts = [node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if is_text(node)]
        texts[path] = "\n".join(parts)
    return {str(path.relative_to(ROOT)): text for path, text in texts.items() if "_build" not in path.parts}


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_percentages_are_written_in_one_way_everywhere():
    apart = re.compile(r"(\d|^) %(?![\w(]| \d)", re.MULTILINE)
    assert {name for name, text in pages().items() if apart.search(text)} <= set(WRITTEN_BY_USERS)


def test_numbers_of_ordinary_size_are_written_without_an_exponent():
    shown = {19_054.0: "19054", -245_000.4: "-245000", 9_999.7: "10000", 0.5: "0.5", 12.3456: "12.35", 2.5e7: "2.5e+07"}
    assert {value: short_number(value) for value in shown} == shown
    assert short_number(12_345.6, 3, signed=True) == "+12346"
    assert short_number(-0.12345, 3, signed=True) == "-0.123"


def test_a_missing_value_is_called_missing():
    assert label(float("nan")) == label(None) == "missing"


def test_no_probability_below_one_is_shown_as_certain():
    assert [probability(chance) for chance in (0.5, 0.994, 0.9968, 0.99994, 0.99996, 1.0)] == [
        "0.50",
        "0.99",
        "0.997",
        "0.9999",
        "over 0.9999",
        "1.00",
    ]


@pytest.mark.parametrize(
    ("difference", "error", "exceeds"),
    [(0.3, 0.1, True), (-0.3, 0.1, True), (0.2, 0.1, False), (0.0, 0.0, False), (0.1, float("inf"), False)],
)
def test_a_difference_in_either_direction_is_compared_with_twice_its_error(difference, error, exceeds):
    assert exceeds_error(difference, error) == exceeds
    assert beside_error(difference, error, "d").startswith("difference of d is more than ") == exceeds


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2GB", 2 * 10**9), ("500 mb", 500 * 10**6), ("1.5GiB", 3 * 2**29), ("64KiB", 2**16), ("7B", 7), (12, 12)],
)
def test_a_size_is_read_as_it_is_written(written, meant):
    assert bytes_of(written) == meant


@pytest.mark.parametrize("wrong", ["2", "GB", "two GB", "-1GB", "0MB", "", 0, -5, True, 1.5, None])
def test_anything_else_is_refused_with_an_example(wrong):
    with pytest.raises(ValueError, match=r"such as '500MB' or '2GB', got .* \(--memory 2GB\)"):
        bytes_of(wrong)


def test_words_have_the_unit_that_a_reader_expects():
    assert [in_words(n) for n in (10.0, 5e8, 1e9, 2.34e9)] == ["1 MB", "500 MB", "1 GB", "2.3 GB"]


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(text, "_CGROUP_LIMIT", limit)
    whole = machine_bytes()
    assert whole > 10**8
    limit.write_text("100000000\n")
    assert machine_bytes() == 10**8
    limit.write_text("max\n")
    assert machine_bytes() == whole


def test_a_system_that_does_not_say_has_a_few_gigabytes(monkeypatch, tmp_path):
    monkeypatch.setattr(text, "_CGROUP_LIMIT", tmp_path / "none")
    monkeypatch.delattr(text.os, "sysconf")
    assert machine_bytes() == text.UNKNOWN_MACHINE_BYTES

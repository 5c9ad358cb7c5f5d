import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.utils.text import counted, harmless, label, listed, printable


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


def test_a_missing_value_is_called_missing():
    assert label(float("nan")) == label(None) == "missing"

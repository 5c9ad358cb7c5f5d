import pytest

from papers import wording
from papers.outcome import Line, Outcome
from papers.plans import load_plan


def line(ours=None, published=None, criterion=None, better="higher", digits=2):
    return Line("row", "column", published, 0.1, ours, 0.02, criterion, better, digits)


def test_values_have_their_decimals_and_deviations():
    assert wording.ours(line(1234.567)) == "1,234.57 ± 0.02"
    assert wording.published(line(published=0.5, digits=1)) == "0.5 ± 0.1"
    assert wording.ours(line()) == wording.published(line()) == ""
    assert wording.with_deviation(3.0, None, 0) == "3"


@pytest.mark.parametrize(
    ("better", "criterion", "text"),
    [
        ("higher", 0.9, "≥ 0.90"),
        ("lower", 0.9, "≤ 0.90"),
        ("equal", 0.04, "within 0.04"),
        ("equal", 0, "the same"),
        ("higher", None, ""),
    ],
)
def test_a_criterion_shows_its_direction(better, criterion, text):
    assert wording.criterion(line(0.5, criterion=criterion, better=better)) == text


def test_differences_have_a_sign():
    assert wording.difference(line(0.75, published=0.5)) == "+0.25"
    assert wording.difference(line(0.25, published=0.5)) == "-0.25"
    assert wording.difference(line(0.25)) == ""


def test_criteria_are_counted():
    lines = line(0.9, criterion=0.8), line(0.7, criterion=0.8), line(0.7)
    assert [wording.met(each) for each in lines] == ["yes", "no", ""]
    assert wording.summary(Outcome("lann-fig1", lines, 1)) == "1 of 2 criteria met"
    assert wording.summary(Outcome("lann-fig1", lines[2:], 1)) == "no criteria"


def test_substitute_data_are_named_with_the_reason():
    assert wording.substitute(load_plan("lann-fig1")) == ""
    text = wording.substitute(load_plan("schulz-fig11"))
    assert text.startswith("adrenal: The data of 147 patients")
    assert "Breast cancer" in text

import pytest

from papers import wording
from papers.outcome import Line, Outcome
from papers.page import page
from papers.plans import PAPERS, load_plan

RUN = {"cells": 1234, "cpu_seconds": 600}


def line(row, column, ours, criterion=None, published=None):
    return Line(row, column, published, None, ours, None, criterion, "higher", 2)


@pytest.fixture
def outcomes():
    table = (
        line("iris", "kNN", 0.9),
        line("iris", "LANN", 0.8, 0.95, 0.96),
        line("wine", "kNN", 0.7),
        line("wine", "LANN", 0.97, 0.95),
    )
    return [Outcome("lann-table1-fifth", table, 2.0), Outcome("lann-fig1", (line("a | b", "value", 0.25),), 1.0)]


def test_the_overview_has_a_row_for_each_outcome(outcomes):
    text = page(outcomes, RUN)
    assert "The 1,234 computations took 10 minutes of CPU time" in text
    assert "| [lann-table1-fifth](#lann-table1-fifth) | 1 of 2 criteria met | iris, LANN | 2 |" in text
    assert "| [lann-fig1](#lann-fig1) | no criteria |  | 1 |" in text


def test_sections_are_ordered_by_paper_and_papers_without_outcomes_are_left_out(outcomes):
    text = page(outcomes, RUN)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [f"## {PAPERS['lann']}"]
    assert text.index("### lann-table1-fifth") < text.index("### lann-fig1")


def test_rows_with_several_columns_form_a_wide_table_that_marks_what_is_not_met(outcomes):
    text = page(outcomes, RUN)
    assert "| data set | kNN | LANN | published | criterion |" in text  # empty columns are left out
    assert "| iris | 0.90 | 0.80 **(not met)** | 0.96 | ≥ 0.95 |" in text
    assert "| wine | 0.70 | 0.97 |  | ≥ 0.95 |" in text


def test_a_bar_in_a_name_does_not_end_its_cell(outcomes):
    assert "| a \\| b | 0.25 |" in page(outcomes, RUN)


def test_pictures_are_looked_for_in_their_folder(outcomes):
    assert "](pictures/lann-fig1.svg)" in page(outcomes, RUN, "pictures/")


def test_data_that_are_not_available_are_named(outcomes):
    text = page(outcomes, RUN)
    assert "*Data not available.* adrenal: The data are not public." in text
    assert "Differences from the paper:\n\n- " in text


def line_of_wording(ours=None, published=None, criterion=None, better="higher", digits=2):
    return Line("row", "column", published, 0.1, ours, 0.02, criterion, better, digits)


def test_values_have_their_decimals_and_deviations():
    assert wording.ours(line_of_wording(1234.567)) == "1,234.57 ± 0.02"
    assert wording.published(line_of_wording(published=0.5, digits=1)) == "0.5 ± 0.1"
    assert wording.ours(line_of_wording()) == wording.published(line_of_wording()) == ""
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
    assert wording.criterion(line_of_wording(0.5, criterion=criterion, better=better)) == text


def test_differences_have_a_sign():
    assert wording.difference(line_of_wording(0.75, published=0.5)) == "+0.25"
    assert wording.difference(line_of_wording(0.25, published=0.5)) == "-0.25"
    assert wording.difference(line_of_wording(0.25)) == ""


def test_criteria_are_counted():
    lines = line_of_wording(0.9, criterion=0.8), line_of_wording(0.7, criterion=0.8), line_of_wording(0.7)
    assert [wording.met(each) for each in lines] == ["yes", "no", ""]
    assert wording.summary(Outcome("lann-fig1", lines, 1)) == "1 of 2 criteria met"
    assert wording.summary(Outcome("lann-fig1", lines[2:], 1)) == "no criteria"


def test_substitute_data_are_named_with_the_reason():
    assert wording.substitute(load_plan("lann-fig1")) == ""
    text = wording.substitute(load_plan("schulz-fig11"))
    assert text.startswith("adrenal: The data of 147 patients")
    assert "Breast cancer" in text

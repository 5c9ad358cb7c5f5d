import json

import pytest

from papers.catalog import EXPERIMENTS
from papers.outcome import Line, Measured, Outcome, outcome
from papers.plans import Plan, Published


def line(ours, published=None, criterion=None, better="higher"):
    return Line("row", "column", published, None, ours, None, criterion, better, digits=3)


@pytest.mark.parametrize(
    ("better", "criterion", "ours", "met"),
    [
        ("higher", 0.90, 0.91, True),
        ("higher", 0.90, 0.90 - 1e-12, True),
        ("higher", 0.90, 0.89, False),
        ("lower", 0.18, 0.17, True),
        ("lower", 0.18, 0.19, False),
        ("higher", None, 0.5, None),
        ("higher", 0.9, None, None),
    ],
)
def test_a_criterion_is_met_if_ours_reaches_it(better, criterion, ours, met):
    assert line(ours, criterion=criterion, better=better).met is met


def test_equal_means_near_on_both_sides():
    assert line(12.0, published=12.0, criterion=0, better="equal").met
    assert not line(11.0, published=12.0, criterion=0.5, better="equal").met
    assert not line(13.0, published=12.0, criterion=0.5, better="equal").met


def plan_of(*published):
    return Plan("lann-table0", "title", "about", "set", 3, {}, published, None, ())


def test_our_values_are_combined_with_the_published_ones():
    known = Published("a", "x", 0.9, 0.01, 0.02, None, "higher", 2)
    absent = Published("b", "x", 0.5, None, 0.1, None, "lower", 2)
    found = outcome(plan_of(known, absent), {("a", "x"): Measured(0.87, 0.1), ("c", "x"): Measured(1.0)}, 3.0)
    assert found.name == "lann-table0"
    assert [(each.row, each.ours, each.published, each.criterion) for each in found.lines] == [
        ("a", 0.87, 0.9, pytest.approx(0.88)),
        ("b", None, 0.5, pytest.approx(0.6)),
        ("c", 1.0, None, None),
    ]
    assert found.lines[0].difference == pytest.approx(-0.03)
    assert [each.row for each in found.missed] == ["a"]


def test_an_outcome_survives_json():
    found = Outcome("lann-table0", (line(0.1, 0.2, 0.3), line(None)), 1.5)
    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_an_experiment_without_a_drawing_has_rows_and_columns_to_draw():
    plain = [name for name, make in EXPERIMENTS.items() if make().draw is None]
    assert plain == ["lann-table1-fifth", "lann-table1-tenfold"]
    assert all(EXPERIMENTS[name]().plan.published for name in plain)


def test_making_an_experiment_twice_gives_the_same_cells():
    for make in EXPERIMENTS.values():
        assert make().cells == make().cells

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tests.helpers.notebook_html import HOSTILE
from tests.helpers.verdicts import made_up
from whynear.verdict import StandIns
from whynear.verdict.drawing import STYLES

mpl.use("agg")

PARTS = {"verdicts": lambda found: found, "sets": lambda found: found.sets, "stand-ins": lambda found: found.stand_ins}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def texts(labels):
    return [label.get_text() for label in labels]


@pytest.mark.parametrize("part", PARTS)
def test_drawing_uses_the_given_axes_and_shows_nothing(part, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    _, ax = plt.subplots()
    found = PARTS[part](made_up())
    assert found.plot(ax=ax) is ax
    assert found.plot() is not ax


def test_features_are_sorted_by_verdict_from_the_top():
    ax = made_up(("late", "b", "c", "d", "e")).plot()
    assert texts(ax.get_yticklabels())[::-1] == ["late", "e", "b", "c", "d"]
    assert ax.get_xlabel() == "points of accuracy lost without it (bars: 90% interval)"
    assert texts(made_up().plot(most=2).get_yticklabels())[::-1] == ["a", "b"]


def test_the_legend_names_the_words_that_occur():
    assert texts(made_up().plot().get_legend().get_texts()) == list(STYLES)
    assert texts(made_up().plot(most=2).get_legend().get_texts()) == ["indispensable", "replaceable"]


def test_words_differ_without_colour():
    assert len({style["marker"] for style in STYLES.values()}) == len(STYLES)


def test_the_curve_shows_the_choice_and_the_score_of_all():
    ax = made_up().sets.plot()
    assert ax.get_xlabel() == "number of features"
    assert ax.get_ylabel() == "accuracy on held-out rows, %"
    assert texts(ax.get_legend().get_texts()) == ["all features", "chosen: 1", "this many features"]
    assert {line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"} == {90}


def test_stand_ins_are_a_matrix_of_prices():
    ax = made_up().stand_ins.plot()
    assert texts(ax.get_yticklabels()) == texts(ax.get_xticklabels()) == ["a", "b"]
    assert sorted(texts(ax.texts)) == ["-0.5", "0.5"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("stand-in", "feature")


@pytest.mark.filterwarnings("error")
def test_no_stand_ins_are_an_empty_matrix():
    ax = StandIns((), ()).plot()
    ax.figure.canvas.draw()
    assert texts(ax.texts) == []


@pytest.mark.filterwarnings("ignore:Glyph", "error:constrained_layout")
@pytest.mark.parametrize("part", PARTS)
def test_hostile_and_long_names_can_be_drawn(part):
    names = ("a price in $ per $ \\frac{", "x" * 200, *HOSTILE)
    ax = PARTS[part](made_up(names)).plot()
    ax.figure.canvas.draw()
    shown = texts(ax.get_yticklabels())
    assert part == "sets" or names[0] in shown
    assert max(map(len, shown)) <= 40


@pytest.mark.parametrize("d", [4, 40])
def test_no_label_of_a_figure_of_verdicts_is_cut_off(d):
    ax = made_up([f"feature number {j}" for j in range(d)]).plot()
    ax.figure.canvas.draw()
    edge = ax.figure.bbox
    labels = [*ax.get_yticklabels(), ax.xaxis.label, ax.get_legend()]
    boxes = [label.get_window_extent() for label in labels]
    assert all(box.x0 >= 0 and box.y0 >= 0 and box.x1 <= edge.x1 and box.y1 <= edge.y1 for box in boxes)


def test_drawing_changes_nothing():
    found = made_up()
    found.plot()
    found.sets.plot()
    found.stand_ins.plot()
    assert found == made_up()

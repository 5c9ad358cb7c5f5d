import json

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from tests.helpers.notebook_html import HOSTILE, shown
from tests.helpers.verdicts import made_up, two_of_four
from whynear.datasets import make_truth
from whynear.verdict import StandIns, verdicts
from whynear.verdict.verdicts import STYLES

COLUMNS = ["feature", "verdict", "loss_without", "loss_error", "p_value", "effect", "q_value", "stability"]


@pytest.fixture(scope="module")
def linear():
    data = make_truth("relevance linear", 0)
    return verdicts(LogisticRegression(), data.X, data.y, random_state=0, n_resamples=4), data


@pytest.fixture(scope="module")
def small():
    X, y = two_of_four()
    return verdicts(LogisticRegression(), X, y, random_state=0, n_resamples=4), X, y


def test_the_frame_has_a_row_for_each_feature(linear):
    found, data = linear
    frame = found.frame()
    assert list(frame) == COLUMNS
    assert list(frame["feature"]) == list(data.X)
    assert_array_equal(frame["loss_without"], found.loss)
    assert not frame.isna().any().any()


def test_features_are_named_by_verdict_dearest_first(small):
    found, _, _ = small
    assert set(found.named("indispensable")) == {"one", "two"}
    assert found.named("replaceable") == ()
    losses = [found.loss[found.feature_names.index(name)] for name in found.named("indispensable")]
    assert losses == sorted(losses, reverse=True)
    assert repr(found) == "Verdicts(4 features: 2 indispensable, 0 replaceable, 0 undecided, 2 no evidence)"


def test_everything_can_be_written_as_json(small):
    written = json.loads(json.dumps(small[0].to_dict()))
    assert [one["verdict"] for one in written["features"]] == [
        "indispensable",
        "indispensable",
        "no evidence",
        "no evidence",
    ]
    assert set(written["sufficient"]) == {"one", "two"}
    assert written["curve"][-1]["n_features"] == 4


def test_notebooks_show_verdicts_and_losses(linear):
    text = shown(linear[0])
    assert "strong_0 indispensable" in text
    assert "accuracy" in text
    assert "4 resamples" in text


def test_notebooks_show_hostile_names_as_text_and_not_all_of_many():
    text = shown(made_up([*HOSTILE, *(f"f{j}" for j in range(40))]))
    assert "<script>alert(1)</script>" in text
    assert "29 more features" in text


mpl.use("agg")

PARTS = {"verdicts": lambda found: found, "sets": lambda found: found.sets, "stand-ins": lambda found: found.stand_ins}


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

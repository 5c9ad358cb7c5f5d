import pickle

import pytest
from matplotlib.figure import Figure

import whynear as wn
from tests.helpers.notebook_html import shown
from tests.helpers.studies import hostile, iris_study
from whynear.utils.axes import short_name
from whynear.utils.text import printable


@pytest.mark.slow
@pytest.mark.parametrize("measured", [False, True])
def test_a_study_shows_what_it_found_the_methods_and_the_features(measured):
    table = hostile()
    if measured:
        table["<i>target</i>"] = table.iloc[:, 0] + 0.1 * table.iloc[:, 1]
    study = wn.study(table, "<i>target</i>", learner="auto" if measured else "grlvq", folds=2)
    text = shown(study)
    assert study.finding() in text
    assert all(caveat in text for caveat in study.caveats)
    assert all(name in text for name in study.accuracy)
    frame = study.frame()
    verdicts = zip(frame["feature"], frame["verdict"], strict=True)
    assert all(f"{short_name(printable(name))} {word}" in text for name, word in verdicts)


def test_the_plot_returns_its_axes_and_draws_into_given_ones():
    study = iris_study()
    ax = Figure().add_subplot()
    assert study.plot(ax, most=3) is ax
    assert ax.has_data()
    assert study.plot().get_figure() is not ax.get_figure()


def test_the_plot_shows_the_verdicts_of_the_features_in_the_order_of_the_table_of_features():
    study = iris_study()
    frame = study.frame()
    ax = study.plot(Figure().add_subplot())
    assert [label.get_text() for label in ax.get_yticklabels()][::-1] == frame["feature"].tolist()
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(frame["verdict"])
    first = study.plot(Figure().add_subplot(), most=2)
    assert [label.get_text() for label in first.get_yticklabels()][::-1] == frame["feature"].tolist()[:2]
    assert first.get_ylabel() == f"the first 2 of {len(frame)}"


def test_a_study_does_not_change_with_the_tables_it_returned():
    study = iris_study()
    before = study.finding()
    accuracy, frame = study.accuracy, study.frame()
    accuracy.iloc[:] = frame["upper"] = 0.0
    with pytest.raises(TypeError, match="does not support item assignment"):
        study.settings["random_state"] = 7
    with pytest.raises(AttributeError):
        study.accuracy = accuracy
    assert study.finding() == before
    assert before in repr(study)


def test_a_study_can_be_sent_to_another_process():
    study = iris_study()
    sent = pickle.loads(pickle.dumps(study))
    assert sent.finding() == study.finding()
    assert sent.settings == study.settings

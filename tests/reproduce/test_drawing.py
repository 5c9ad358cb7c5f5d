from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce.drawing import MOST_PANELS, draw_outcome, outcome_size
from whynear.reproduce.outcome import Line, Outcome


def line(row, column, published=None, ours=0.5):
    return Line(row, column, published, None, ours, 0.1, None, "higher", 3)


def test_every_column_has_a_panel_and_every_row_a_line():
    found = Outcome(
        "lann-table0", tuple(line(row, column) for row in ("iris", "wine") for column in ("kNN", "LANN")), 1
    )
    figure = drawn(draw_outcome, found)
    assert [ax.get_title() for ax in figure.axes] == ["kNN", "LANN"]
    assert {"iris", "wine", "ours", "published"} <= words_on(figure)


def test_a_value_that_is_missing_is_not_drawn():
    known, unknown = line("a", "x", published=0.4), line("b", "x", ours=None)
    (ax,) = drawn(draw_outcome, Outcome("lann-table0", (known, unknown), 1)).axes
    assert len(ax.containers) == 2  # published and ours, of the first row


def test_rows_that_the_first_column_lacks_are_left_out():
    lines = line("iris", "kNN"), line("iris", "LANN"), line("mean gain", "LANN")
    assert "mean gain" not in words_on(drawn(draw_outcome, Outcome("lann-table0", lines, 1)))


def test_only_the_first_columns_are_drawn():
    many = Outcome("lann-table0", tuple(line("iris", f"column {n}") for n in range(MOST_PANELS + 3)), 1)
    assert len(drawn(draw_outcome, many).axes) == MOST_PANELS


def test_the_size_grows_with_rows_and_columns():
    small = outcome_size(Outcome("a", (line("iris", "kNN"),), 1))
    large = outcome_size(Outcome("a", (line("iris", "kNN"), line("iris", "LANN"), line("wine", "kNN")), 1))
    assert small[0] < large[0]
    assert small[1] < large[1]

import json
from dataclasses import asdict

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.disk_order import steps_on_disk
from tests.helpers.slow_memory import drifting_stream
from whynear.stream.results import (
    FILES,
    PART_OF_PREDICTIONS,
    RECORD,
    UNFINISHED,
    Counts,
    StreamResult,
    _are_counts,
    continued,
    opened_predictions,
    remove_run,
    write_result,
)


def test_the_files_hold_what_was_counted_and_a_name_is_no_markup(tmp_path):
    X, y = drifting_stream(0, n=300)
    model = wn.SelfAdjustingMemory(max_size=100).partial_fit(X, y)
    result = StreamResult("<b>.csv", "y", 300, 299, 200, 220, 2, 1, 0, model.history, model)
    write_result(result, tmp_path)
    found = json.loads((tmp_path / "stream.json").read_text())
    assert found["n_late"] == 2
    assert found["accuracy"] == 200 / 299
    assert "Predicting no change is better here." in found["finding"]
    assert "2 late rows, 1 repeated row left out." in found["finding"]
    page = (tmp_path / "report.html").read_text()
    assert "&lt;b&gt;.csv" in page
    assert "<b>" not in page
    assert "<svg" in page
    assert len((tmp_path / "history.csv").read_text().splitlines()) == 4
    assert wn.load(tmp_path / "model.whynear").n_seen_ == 300


# The state of a run in its folder.


COUNTS = Counts("rows.csv", "kind", index="id", drop=["colour"], n_rows=7)


def kept_in(folder, counts):
    model = wn.SelfAdjustingMemory(random_state=0).begin(["a"])
    model.counts_ = asdict(counts)
    wn.save(model, folder / UNFINISHED)


def test_the_kept_run_goes_on_if_table_columns_and_settings_are_the_same(tmp_path):
    wanted, model = Counts("rows.csv", "kind", index="id", drop=["colour"]), wn.SelfAdjustingMemory(random_state=0)
    assert continued(tmp_path, model, wanted) == (model, wanted)
    kept_in(tmp_path, COUNTS)
    assert continued(tmp_path, model, wanted)[1] == COUNTS
    for other in (Counts("rows.csv", "kind"), Counts("more.csv", "kind", index="id", drop=["colour"])):
        with pytest.raises(FileExistsError, match="holds an unfinished run of rows"):
            continued(tmp_path, model, other)
    with pytest.raises(FileExistsError, match="holds an unfinished run"):
        continued(tmp_path, wn.SelfAdjustingMemory(random_state=1), wanted)


def test_predictions_go_on_where_they_were_counted(tmp_path):
    (tmp_path / PART_OF_PREDICTIONS).write_bytes(b"row,actual\nhalf a li")
    with opened_predictions(tmp_path, 11) as file:
        file.write(b"1,x\n")
    assert (tmp_path / PART_OF_PREDICTIONS).read_bytes() == b"row,actual\n1,x\n"


def test_a_finished_run_is_refused_until_it_is_removed(tmp_path):
    for name in (*FILES, "notes.txt"):
        (tmp_path / name).write_text("")
    with pytest.raises(FileExistsError, match="holds a finished run"):
        continued(tmp_path, wn.SelfAdjustingMemory(), COUNTS)
    remove_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_file_of_predictions_is_on_the_disk_before_a_state_counts_them(tmp_path, monkeypatch):
    steps = steps_on_disk(monkeypatch)
    opened_predictions(tmp_path, 0).close()
    assert steps == [("sync", tmp_path.name)]


def test_a_run_that_is_removed_is_none_before_its_files_go(tmp_path, monkeypatch):
    """A power cut may undo any removal that is not on the disk: a run must not be there without its files."""
    for name in (UNFINISHED, PART_OF_PREDICTIONS, *FILES):
        (tmp_path / name).touch()
    steps = steps_on_disk(monkeypatch)
    remove_run(tmp_path)
    assert steps[:3] == [("remove", UNFINISHED), ("remove", RECORD), ("sync", tmp_path.name)]
    assert len(steps) == 3 + len({PART_OF_PREDICTIONS, *FILES} - {RECORD})


@pytest.mark.parametrize("change", [{}, {"n_rows": 2**2000}, {"n_same": 11}, {"n_predicted": 11}, {"n_unnamed": 11}])
def test_no_more_rows_are_counted_than_were_read(change):
    counts = {**asdict(Counts("rows.csv", "kind", n_rows=10, n_predicted=9, n_same=4)), **change}
    assert _are_counts(counts) == (not change)


def test_replacements_are_marked_and_names_are_drawn_as_they_are():
    n = 20
    shares = np.vstack([np.tile([0.9, 0.02, 0.08], (10, 1)), np.tile([0.03, 0.9, 0.07], (10, 1))])
    table = pd.DataFrame({"case": np.arange(100, 2100, 100), "accuracy": 0.9, "metric": "raw", "memory": "both",
                          "short_term": 5, "long_term": 6})  # fmt: skip
    relevances = pd.DataFrame(shares, columns=["$a$", "b", "c"])
    history = wn.StreamHistory(table, relevances, np.tile([30.0, 5.0], (n, 1)), (), 0)
    ax = history.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$a$", "b", "c", "accuracy"]
    marks = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in marks] == [1100]
    plt.close("all")

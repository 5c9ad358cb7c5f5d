"""A run over a file: predictions are those of the learner, and a killed run ends like one that was not."""

import gc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.disk_order import steps_on_disk
from tests.helpers.slow_memory import drifting_stream
from tests.helpers.stream_kills import kill_and_count
from whynear.stream import running
from whynear.stream.results import UNFINISHED
from whynear.stream.running import run_stream

SMALL = {"max_size": 100, "min_size": 8, "random_state": 0}


@pytest.fixture
def table(tmp_path):
    X, y = drifting_stream(0, n=500)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.array(["cat", "dog", "eel"])[y])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def predictions(folder):
    return (folder / "predictions.csv").read_text()


def test_predictions_are_those_of_the_learner_and_are_counted(table, tmp_path):
    result = run_stream(str(table), "kind", tmp_path / "out", every=120, **SMALL)
    frame = pd.read_csv(table)
    found = wn.SelfAdjustingMemory(**SMALL).prequential(frame[["a", "b", "c"]], frame["kind"])
    written = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert written["predicted"].tolist()[1:] == found.tolist()[1:]
    assert written["right"].sum() == result.n_right == (written["predicted"] == written["actual"]).sum()
    assert result.n_predicted == 499
    assert result.n_same == (frame["kind"] == frame["kind"].shift()).sum()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(running.FILES)
    with pytest.raises(FileExistsError, match="finished run"):
        run_stream(str(table), "kind", tmp_path / "out", **SMALL)


def test_a_parquet_file_gives_the_same_as_the_text_and_goes_on_too(table, tmp_path, monkeypatch):
    frame = pd.read_csv(table)
    frame.loc[7, "b"] = np.nan
    frame.to_csv(table, index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False, row_group_size=70)  # parts span groups
    of_text = run_stream(str(table), "kind", tmp_path / "text", every=100, **SMALL)
    original = running._Run.learn

    def stops(self, part):
        if part.first == 201:
            raise KeyboardInterrupt
        original(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(running._Run, "learn", stops)
        with pytest.raises(KeyboardInterrupt):
            run_stream(str(tmp_path / "rows.parquet"), "kind", tmp_path / "out", every=100, **SMALL)
    result = run_stream(str(tmp_path / "rows.parquet"), "kind", tmp_path / "out", every=100, **SMALL)
    assert predictions(tmp_path / "out") == predictions(tmp_path / "text")
    changed = {"source", "finding"}
    found, expected = ({k: v for k, v in each.to_dict().items() if k not in changed} for each in (result, of_text))
    assert found == expected


@pytest.mark.parametrize("stop", ["learn", "keep", "finish"])
def test_an_interrupted_run_goes_on_where_it_was(table, tmp_path, monkeypatch, stop):
    whole = run_stream(str(table), "kind", tmp_path / "whole", every=100, **SMALL)
    calls = 0

    def fails(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == (1 if stop == "finish" else 3):
            if stop == "learn":
                original(self, *arguments)
            raise KeyboardInterrupt
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        original = getattr(running._Run, stop)
        patch.setattr(running._Run, stop, fails)
        with pytest.raises(KeyboardInterrupt):
            run_stream(str(table), "kind", tmp_path / "out", every=100, **SMALL)
    assert (tmp_path / "out" / UNFINISHED).exists()
    again = run_stream(str(table), "kind", tmp_path / "out", every=100, **SMALL)
    assert predictions(tmp_path / "out") == predictions(tmp_path / "whole")
    assert again.to_dict() == whole.to_dict()


def test_another_table_or_setting_does_not_go_on_with_an_unfinished_run(table, tmp_path, monkeypatch):
    def stopped(self):
        raise OSError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(running._Run, "finish", stopped)
        with pytest.raises(OSError, match="stopped"):
            run_stream(str(table), "kind", tmp_path / "out", every=100, **SMALL)
    with pytest.raises(FileExistsError, match="other columns or settings"):
        run_stream(str(table), "kind", tmp_path / "out", every=100, **{**SMALL, "max_size": 90})
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *lines[2:], lines[1]]))
    with pytest.raises(ValueError, match="differ from those of the unfinished run"):
        run_stream(str(table), "kind", tmp_path / "out", every=100, **SMALL)
    run_stream(str(table), "kind", tmp_path / "out", every=100, overwrite=True, **SMALL)


def test_missing_values_late_rows_and_rows_that_come_again_are_counted_and_noted(tmp_path):
    """Fault 28: a row that comes again is left out, a late one is learned, a gap takes the running mean."""
    lines = ["id,day,a,b,kind"]
    lines += [f"r{i},{i},{i % 7},{'' if i % 10 == 3 else i % 3},{'odd' if i % 2 else 'even'}" for i in range(60)]
    lines[21], lines[41] = lines[20], "late,5,1,1,odd"
    lines[50] = "r49,49,1,1,"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    result = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="id", time="day", every=25, **SMALL)
    assert (result.n_rows, result.n_repeated, result.n_late, result.n_without_target) == (60, 1, 1, 1)
    assert result.n_predicted == 60 - 1 - 1 - 1
    notes = [note for _, note in result.history.notes]
    assert "row 21: row 'r19' came again, and was left out" in notes
    assert "row 41: late: its time is before that of an earlier row" in notes
    assert any("missing for the first time: 'b'" in note for note in notes)
    written = pd.read_csv(tmp_path / "out" / "predictions.csv", keep_default_na=False)
    assert written["row"].is_unique
    assert "late" in set(written["row"])


def test_rows_without_a_name_are_learned_and_counted(tmp_path):
    """Only a name can come again: rows whose name is missing are not the same row."""
    lines = [f"{('', ' NA', '?')[i % 3] if i % 4 == 0 else f'r{i}'},{i % 7},{'xy'[i % 2]}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,kind", *lines]))
    result = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="id", every=25, **SMALL)
    assert (result.n_rows, result.n_predicted, result.n_repeated, result.n_unnamed) == (60, 59, 0, 15)
    assert "15 rows without a name" in result.finding()
    assert result.to_dict()["n_unnamed"] == 15
    written = pd.read_csv(tmp_path / "out" / "predictions.csv", keep_default_na=False)
    assert written["row"].tolist() == ["" if i % 4 == 0 else f"r{i}" for i in range(60)]


def test_signs_of_missing_values_are_those_of_all_tables_but_a_dash_may_be_a_class(tmp_path):
    lines = ["a,kind", "1,-", "n.a.,+", "--,-", "2,?", "3,n.a.", ".,+", "4,#N/A"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    result = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", **SMALL)
    assert (result.n_rows, result.n_predicted, result.n_without_target) == (7, 3, 3)
    assert result.model.classes_.tolist() == ["+", "-"]


def test_an_index_that_pandas_wrote_is_no_feature_but_may_name_the_rows(table, tmp_path):
    frame = pd.read_csv(table)
    frame.to_csv(tmp_path / "numbered.csv")
    frame.set_axis(frame.index.to_numpy() + 1000, axis=0).to_parquet(tmp_path / "numbered.parquet")
    whole = run_stream(str(table), "kind", tmp_path / "whole", **SMALL)
    for name, index in (("numbered.csv", "column_1"), ("numbered.parquet", "__index_level_0__")):
        with pytest.warns(UserWarning, match="is no feature|is now 'column_1'"):
            found = run_stream(str(tmp_path / name), "kind", tmp_path / f"{name} out", index=index, **SMALL)
        assert found.model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert found.n_right == whole.n_right


@pytest.mark.filterwarnings("ignore:rows.csv. Columns without a name were named")
@pytest.mark.parametrize("every", [1, 60])
def test_a_column_without_a_name_that_names_the_rows_may_hold_a_number_again(tmp_path, every):
    rows = [f"{i - (i == 7)},{i % 7},{'xy'[i % 2]}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join([",a,kind", *rows]))
    found = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="column_1", every=every, **SMALL)
    assert (found.n_rows, found.n_repeated) == (60, 1)
    left_out = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "2", drop=["column_1"], every=every, **SMALL)
    assert left_out.model.feature_names_in_.tolist() == ["a"]
    with pytest.raises(ValueError, match="numbers the rows, but holds '6' in row 8"):
        run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "3", every=every, **SMALL)


@pytest.mark.filterwarnings("ignore:rows.csv. The columns were read as separated")
@pytest.mark.parametrize("every", [1, 7, 60])
def test_points_between_thousands_are_read_as_in_all_tables(tmp_path, every):
    rows = [f"{'500' if i < 2 else f'{i % 5 + 1}.250'};{i % 7},5;{'xy'[i % 2]}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["q;z;kind", *rows]))
    with pytest.warns(UserWarning, match=r"rows\.csv: The numbers are written with decimal commas"):
        result = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", every=every, **SMALL)
    assert result.model.input_range_.T.tolist() == [[500, 5250], [0.5, 6.5]]


@pytest.mark.parametrize("decimal", ["auto", ","])
def test_numbers_of_a_parquet_file_are_numbers_beside_decimal_commas(tmp_path, decimal):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": ["5,5", "6", "7,5"], "b": [1.234, 2.345, 0.5], "kind": ["x", "y", "x"]})
    frame.to_parquet(tmp_path / "t.parquet")
    found = run_stream(str(tmp_path / "t.parquet"), "kind", tmp_path / "out", decimal=decimal)
    assert found.model.input_range_.T.tolist() == [[5.5, 7.5], [0.5, 2.345]]


def test_an_unfinished_run_goes_on_with_the_sign_before_decimals_that_it_found(tmp_path, monkeypatch):
    """Rows before and after must not be read in two ways."""
    rows = [f"{i % 7}{',5' if i >= 10 else ''};{'xy'[i % 2]}" for i in range(40)]
    rows[25] = "red;x"
    (tmp_path / "rows.csv").write_text("\n".join(["a;kind", *rows]))
    table, out = str(tmp_path / "rows.csv"), tmp_path / "out"
    for every, refused, goes_on in ((20, ".", ","), (5, ".", None)):
        with pytest.raises(ValueError, match="holds 'red' in row 26"):
            run_stream(table, "kind", out, every=every, overwrite=True, **SMALL)
        with pytest.raises(FileExistsError, match="other columns or settings"):
            run_stream(table, "kind", out, every=every, decimal=refused, **SMALL)
        with pytest.raises(ValueError, match="holds 'red' in row 26"):
            run_stream(table, "kind", out, every=every, **({"decimal": goes_on} if goes_on else {}), **SMALL)


@pytest.mark.parametrize("every", [1, 7, 60])
def test_notes_are_of_the_case_of_their_row_however_long_the_parts_are(tmp_path, every):
    lines = [f"r{i},{i},{i % 7},{'' if i == 33 else i % 3},{'odd' if i % 2 else 'even'}" for i in range(60)]
    lines[20], lines[30], lines[40] = lines[19], "r30,30,1,1,", "late,5,1,1,new"
    (tmp_path / "rows.csv").write_text("\n".join(["id,day,a,b,kind", *lines]))
    result = run_stream(
        str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="id", time="day", every=every, **SMALL
    )
    assert result.history.notes == (
        (2, "new class: 'odd'"),
        (21, "row 21: row 'r19' came again, and was left out"),  # before the case of row 22
        (32, "missing for the first time: 'b'"),  # row 34, after one that was left out and one without a target
        (39, "row 41: late: its time is before that of an earlier row"),
        (39, "new class: 'new'"),
    )


def test_text_in_a_column_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "rows.csv").write_text("a,colour,kind\n1,red,x\n2,blue,y\n3,red,x\n")
    with pytest.raises(ValueError, match=r"Column 'colour' holds 'red' in row 1.*--drop 'colour'"):
        run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out")
    assert run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", drop=["colour"]).n_predicted == 2


def test_a_refused_value_leaves_no_file_open(tmp_path, recwarn):
    (tmp_path / "rows.csv").write_text("a,kind\n1,cat\n2,dog\nx,dog\n")
    with pytest.raises(ValueError, match="holds 'x'"):
        run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", **SMALL)
    gc.collect()
    assert not [one for one in recwarn if one.category is ResourceWarning]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no file that is always full")
def test_a_full_disk_is_named_though_the_file_cannot_be_closed_either(table, tmp_path, monkeypatch):
    def opened(*_):
        return Path("/dev/full").open("wb")

    monkeypatch.setattr(running, "opened_predictions", opened)
    every = 100  # rows, which fit in the buffer of the file: it is written again when it is closed
    with pytest.raises(OSError, match=r"predictions.* \(No space left on device\)\. Free some"):
        run_stream(str(table), "kind", tmp_path / "out", every=every, **SMALL)


def test_the_row_of_a_refused_value_is_counted_with_those_left_out(tmp_path):
    (tmp_path / "rows.csv").write_text("id,a,kind\nr1,1,x\nr1,1,x\nr2,2,\nr3,red,y\n")
    with pytest.raises(ValueError, match="Column 'a' holds 'red' in row 4"):
        run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="id")


def test_a_row_without_a_time_is_not_late_and_hides_no_late_one(tmp_path):
    lines = ["day,a,kind", *(f"{day},{n},{'xy'[n % 2]}" for n, day in enumerate([1, 2, "", 3, "nan", 2.5, 4]))]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    assert run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", time="day").n_late == 1


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y"])
def test_rows_in_the_order_of_their_dates_are_not_late_and_a_killed_run_goes_on_with_their_format(
    tmp_path, monkeypatch, form
):
    days = pd.date_range("2023-01-01", periods=200, freq="D").strftime(form).str.replace("-0", "-").tolist()
    days[150] = days[20]
    lines = [f"{day},{i % 7},{'xy'[i % 2]}" for i, day in enumerate(days)]
    (tmp_path / "rows.csv").write_text("\n".join(["day,a,kind", *lines]))
    arguments = {"time": "day", "every": 50, **SMALL}
    whole = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "whole", **arguments)
    assert whole.n_late == 1
    learn = running._Run.learn

    def stops(self, part):
        if part.first == 51:  # days 20 to 31 come in the first part, which told them from months
            raise KeyboardInterrupt
        learn(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(running._Run, "learn", stops)
        with pytest.raises(KeyboardInterrupt):
            run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", **arguments)
    with pytest.raises(FileExistsError, match="other columns or settings"):
        run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", **{**arguments, "time": "day=%m/%d/%Y"})
    found = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", **arguments)
    assert found.to_dict() == whole.to_dict()


@pytest.fixture
def unfinished(table, tmp_path, monkeypatch):
    """The folder of a run over a table that was stopped after its third part of 100 rows."""
    kept, keep = [], running._Run.keep

    def stop(self, digest):
        keep(self, digest)
        kept.append(digest)
        if len(kept) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(running._Run, "keep", stop)
        with pytest.raises(KeyboardInterrupt):
            run_stream(str(table), "kind", tmp_path / "out", every=100, **SMALL)
    return tmp_path / "out"


def test_a_table_that_lost_rows_does_not_end_an_unfinished_run(table, unfinished):
    whole = table.read_text()
    table.write_text("\n".join(whole.splitlines()[:251]))
    with pytest.raises(ValueError, match=r"has 250 rows, and the unfinished run .* has learned 300"):
        run_stream(str(table), "kind", unfinished, every=100, **SMALL)
    assert (unfinished / UNFINISHED).exists()
    table.write_text(whole)
    assert run_stream(str(table), "kind", unfinished, every=100, **SMALL).n_rows == 500


def test_other_parts_and_other_columns_do_not_go_on_with_an_unfinished_run(table, unfinished):
    with pytest.raises(ValueError, match="ended after row 300, where no part of every=250 rows ends"):
        run_stream(str(table), "kind", unfinished, every=250, **SMALL)
    for columns in ({"drop": ["a"]}, {"time": "a"}, {"index": "a"}):
        with pytest.raises(FileExistsError, match="other columns or settings"):
            run_stream(str(table), "kind", unfinished, every=100, **columns, **SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_killed_command_ends_like_one_that_was_not(suffix, tmp_path):
    found = kill_and_count(5, seed=3, folder=tmp_path, suffix=suffix)
    assert found == (5, 0, 0, 0)


@pytest.mark.parametrize(
    "counts",
    [None, {}, {"n_rows": "7"}, {"n_bytes": -1}, {"names": [1]}, {"names": None}, {"latest": []}, {"n_more": 1}],
)
def test_a_state_of_another_content_is_refused(table, unfinished, counts):
    model = wn.load(unfinished / UNFINISHED)
    model.counts_ = {**model.counts_, **counts} if isinstance(counts, dict) and counts else counts
    wn.save(model, unfinished / UNFINISHED)
    with pytest.raises(ValueError, match=r"unfinished\.whynear is not the state .*--overwrite"):
        run_stream(str(table), "kind", unfinished, every=100, **SMALL)


def test_a_model_of_another_kind_is_no_state(table, unfinished):
    wn.save(wn.GRLVQ(), unfinished / UNFINISHED)
    with pytest.raises(ValueError, match="is not the state of an unfinished run"):
        run_stream(str(table), "kind", unfinished, every=100, **SMALL)


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"row,actual\n"), lambda path: path.unlink()])
def test_lost_predictions_are_not_filled_up(table, unfinished, damage):
    damage(unfinished / running.PART_OF_PREDICTIONS)
    with pytest.raises(ValueError, match=r"lacks predictions of the unfinished run. .*--overwrite"):
        run_stream(str(table), "kind", unfinished, every=100, **SMALL)


def test_predictions_have_their_name_on_the_disk_before_the_state_of_the_run_is_removed(table, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "write_result", lambda result, folder: None)
    steps = steps_on_disk(monkeypatch)
    run_stream(str(table), "kind", tmp_path / "out", every=500, **SMALL)
    assert steps[-3:] == [("move", "predictions.csv.part", "predictions.csv"), ("sync", "out"), ("remove", UNFINISHED)]


@pytest.mark.parametrize("every", [1, 2, 8])
def test_a_name_among_the_latest_is_found_again_however_long_the_parts_are(tmp_path, monkeypatch, every):
    monkeypatch.setattr(running, "REMEMBERED_NAMES", 3)
    names = ["a", "b", "a", "c", "d", "a", "d", "e"]  # the third row repeats the first, the sixth repeats none of three
    lines = [f"{name},{i % 3},{'odd' if i % 2 else 'even'}" for i, name in enumerate(names)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,kind", *lines]))
    result = run_stream(str(tmp_path / "rows.csv"), "kind", tmp_path / "out", index="id", every=every, **SMALL)
    assert [note.partition(":")[0] for _, note in result.history.notes if "came again" in note] == ["row 3", "row 7"]

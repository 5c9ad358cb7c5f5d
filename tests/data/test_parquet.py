import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from whynear.data import parquet
from whynear.data.parquet import parquet_batches, parquet_facts, read_parquet


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 3)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("row_group_size", [None, 4])
def test_batches_are_one_table_with_its_types(tmp_path, row_group_size):
    grades = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame(
        {
            "a": [1.5, np.nan, *np.arange(8.0)],
            "n": range(10),
            "gap": [1.0, *[np.nan] * 4, *range(5)],
            "text": list("abcdefghij"),
            "grade": pd.Series(["low", "high", "mid", "low", None, "high", "high", "mid", "low", "low"], dtype=grades),
            "colour": pd.Categorical(["red", "red", "red", "blue"] + ["red"] * 6),
            "day": pd.date_range("2020-01-01", periods=10, unit="us"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=row_group_size)
    back, notes = read_parquet(tmp_path / "t.parquet")
    assert_frame_equal(back, frame, check_categorical=False)
    assert back["grade"].dtype == grades
    assert notes == []


@pytest.mark.usefixtures("small_batches")
def test_a_saved_index_is_the_index_again(tmp_path):
    frame = pd.DataFrame({"a": range(7)}, index=[f"P{i}" for i in range(7)])
    frame.to_parquet(tmp_path / "t.parquet")
    assert_frame_equal(read_parquet(tmp_path / "t.parquet")[0], frame)
    frame.rename_axis("patient").to_parquet(tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet")[0].index.name == "patient"


def test_no_more_than_a_batch_is_read_at_a_time(tmp_path, monkeypatch):
    pd.DataFrame({"a": range(10)}).to_parquet(tmp_path / "t.parquet")
    import pyarrow.parquet as pq

    sizes = []
    original = pq.ParquetFile.iter_batches

    def watched(self, *words, **named):
        for batch in original(self, *words, **named):
            sizes.append(len(batch))
            yield batch

    monkeypatch.setattr(parquet, "BATCH_ROWS", 4)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert len(read_parquet(tmp_path / "t.parquet")[0]) == 10
    assert sizes == [4, 4, 2]


def test_the_end_of_a_file_says_what_it_holds(tmp_path):
    frame = pd.DataFrame({"n": range(5), "t": list("abcde"), "d": pd.date_range("2020", periods=5), "none": [None] * 5})
    frame["c"] = pd.Categorical(list("xyxyx"))
    frame.set_axis(list("vwxyz"), axis=0).to_parquet(tmp_path / "t.parquet", row_group_size=2)
    facts = parquet.parquet_facts(tmp_path / "t.parquet")
    assert facts.names == ("n", "t", "d", "none", "c", "__index_level_0__")
    assert facts.kinds == ("numbers", "text", "dates", None, "text", "text")
    assert (facts.rows_of_groups, facts.n_rows, facts.index) == ((2, 2, 1), 5, ("__index_level_0__",))


def test_a_row_group_is_read_in_tables_of_a_few_rows(tmp_path):
    frame = pd.DataFrame({"a": range(10), "b": list("abcdefghij")})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=6)
    pieces = list(parquet.parquet_batches(tmp_path / "t.parquet", 0, 4))
    assert [len(piece) for piece in pieces] == [4, 2]
    assert_frame_equal(pd.concat(pieces, ignore_index=True), frame[:6])


def written(path, **columns):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, compression="none")
    return path


def test_text_that_is_not_utf_8_is_refused_by_the_name_of_the_file(tmp_path):
    path = written(tmp_path / "t.parquet", a=["plain", "words"])
    path.write_bytes(path.read_bytes().replace(b"words", b"w\xffrds"))
    with pytest.raises(ValueError, match=r"t\.parquet must be a whole parquet file"):
        read_parquet(path)
    with pytest.raises(ValueError, match=r"t\.parquet must be a whole parquet file"):
        list(parquet.parquet_batches(path, 0, 10))


@pytest.mark.parametrize(
    ("note", "is_refused"),
    [
        (b"{", True),
        (b"\xf0", True),
        (b"[" * 200_000, True),
        (b"[]", False),
        (b'{"index_columns": 7}', False),
        (b'{"index_columns": ["a", "a"]}', False),
    ],
)
def test_a_note_of_pandas_of_another_kind_is_refused_or_left_out(tmp_path, note, is_refused):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, path = pa.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "t.parquet"
    pq.write_table(table.replace_schema_metadata({b"pandas": note}), path)
    for read in (read_parquet, parquet.parquet_facts):
        if is_refused:
            with pytest.raises(ValueError, match=r"t\.parquet must be a whole parquet file"):
                read(path)
        else:
            assert read(path) is not None


def test_bytes_are_read_as_text(tmp_path):
    path = written(tmp_path / "t.parquet", a=[b"\xc3\xbc", None, b"\xff"], b=["x", "y", "z"])
    assert read_parquet(path)[0]["a"].tolist()[::2] == ["ü", "\\xff"]
    assert read_parquet(path)[0]["a"].isna().tolist() == [False, True, False]
    assert parquet.parquet_facts(path).kinds == ("text", "text")


@pytest.mark.parametrize("stored", [["a", "b", "a.b"], ["a", "b", "a"]])
def test_some_columns_are_read_by_their_names(tmp_path, stored):
    pq = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table([[place, place] for place in range(3)], names=stored)
    pq.write_table(table, tmp_path / "t.parquet")
    names = parquet_facts(tmp_path / "t.parquet").names
    for wanted in ([names[0]], [names[2]], [names[2], names[1]]):
        (batch,) = parquet_batches(tmp_path / "t.parquet", 0, 10, wanted)
        assert batch.iloc[0].to_dict() == {name: names.index(name) for name in wanted}

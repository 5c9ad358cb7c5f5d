import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from whynear.large.parts import open_parts, rows_and_columns


@pytest.fixture
def whole():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=30), "n": range(30), "text": list("abc") * 10})


def read_again(table, n_rows):
    pieces = [batch for part in table.parts for batch in table.batches(part, n_rows)]
    assert all(len(piece) <= n_rows for piece in pieces)
    return pd.concat(pieces)


@pytest.mark.parametrize("n_rows", [1, 4, 100])
def test_the_row_groups_of_a_file_are_its_rows_numbered_from_one(tmp_path, whole, n_rows):
    whole.to_parquet(tmp_path / "t.parquet", row_group_size=8)
    table = open_parts(tmp_path / "t.parquet")
    assert [part.n_rows for part in table.parts] == [8, 8, 8, 6]
    assert (table.source, table.n_rows, table.noun, table.index) == ("t.parquet", 30, "row groups", None)
    assert_frame_equal(read_again(table, n_rows), whole.set_axis(range(1, 31), axis=0))


@pytest.mark.parametrize("n_rows", [3, 100])
def test_the_files_of_a_folder_are_numbered_on(tmp_path, whole, n_rows):
    for number, rows in enumerate((whole[:11], whole.head(0), whole[11:])):
        rows[["text", "a", "n"] if number else list(whole)].to_parquet(tmp_path / f"{number}.parquet", index=False)
    (tmp_path / "README.md").write_text("said")
    table = open_parts(tmp_path)
    assert [part.before for part in table.parts] == [0, 11]
    assert table.notes == (
        "1 file of the folder that can hold no part of the table was left out: 'README.md'.",
        "Files without rows were left out: '1.parquet'.",
    )
    assert_frame_equal(read_again(table, n_rows), whole.set_axis(range(1, 31), axis=0))


def test_text_files_are_parts_and_a_sign_in_one_makes_text_of_all(tmp_path, whole):
    whole[:10].to_csv(tmp_path / "1.csv", index=False)
    whole[10:].assign(n=["?", *range(19)]).to_csv(tmp_path / "2.csv", index=False)
    table = open_parts(tmp_path)
    assert (table.noun, table.n_rows, table.texts) == ("files", 30, {"n", "text"})
    assert read_again(table, 7)["n"].tolist() == [*map(str, range(10)), "?", *map(str, range(19))]


def test_names_of_rows_without_a_name_of_their_own_are_an_index(tmp_path, whole):
    named = whole.set_axis([f"P{row}" for row in range(30)], axis=0)
    named[:10].to_csv(tmp_path / "1.csv")
    named[10:].to_csv(tmp_path / "2.csv")
    table = open_parts(tmp_path)
    assert (table.index, table.columns) == ("__index_level_0__", ("__index_level_0__", "a", "n", "text"))
    rows = read_again(table, 7)
    assert rows["__index_level_0__"].tolist() == named.index.tolist()
    assert rows["n"].tolist() == list(range(30))


def test_a_saved_index_is_known(tmp_path, whole):
    whole.set_index("text").to_parquet(tmp_path / "t.parquet")
    assert open_parts(tmp_path / "t.parquet").index == "text"


def test_a_table_without_rows_is_refused(tmp_path, whole):
    whole.head(0).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t.parquet must have rows and columns, got .* 0 x 3"):
        open_parts(tmp_path / "t.parquet")


def test_damaged_files_and_other_columns_are_named(tmp_path, whole):
    whole.to_parquet(tmp_path / "1.parquet")
    whole.drop(columns="a").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2.parquet lacks 'a', compared with 1.parquet"):
        open_parts(tmp_path)
    (tmp_path / "2.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(ValueError, match=r"2.parquet must be a whole parquet file, got a damaged one"):
        open_parts(tmp_path)
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "1.parquet").rename(tmp_path / ".hidden.parquet")
    for number, frame in enumerate((whole, whole.drop(columns="n")), start=1):
        frame.to_csv(tmp_path / f"{number}.csv", index=False)
    with pytest.raises(ValueError, match=r"2.csv lacks 'n', compared with 1.csv"):
        open_parts(tmp_path)


def test_the_size_is_known_before_rows_are_read(tmp_path, whole):
    whole.to_parquet(tmp_path / "1.parquet")
    assert rows_and_columns(tmp_path / "1.parquet") == (30, 3)
    whole[:5].to_parquet(tmp_path / "2.parquet")
    assert rows_and_columns(tmp_path) == (35, 3)


def test_rows_of_text_files_are_estimated_from_the_first(tmp_path, whole):
    for number in (1, 2, 3):
        whole.to_csv(tmp_path / f"{number}.csv", index=False)
    assert rows_and_columns(tmp_path) == (90, 3)


def test_levels_of_a_saved_index_are_no_columns(tmp_path, whole):
    whole.set_index(["n", "text"]).to_parquet(tmp_path / "t.parquet")
    table = open_parts(tmp_path / "t.parquet")
    assert (table.columns, table.index) == (("a",), None)

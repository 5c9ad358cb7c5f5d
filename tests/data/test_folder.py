import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from whynear.data.reading import files_of_table, name_of_folder, read_file
from whynear.datasets import read_table
from whynear.large.parts import open_parts


@pytest.fixture
def whole():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=30), "n": range(30), "text": list("abc") * 10})


def in_pieces(frame, folder, kind="parquet", cuts=(7, 20)):
    for number, piece in enumerate(np.split(np.arange(len(frame)), cuts), start=9):
        rows = frame.iloc[piece]
        path = folder / f"part-{number}.{kind}"
        if kind == "parquet":
            rows.to_parquet(path, index=False)
        else:
            rows.to_csv(path, index=False)
    return folder


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_the_files_of_a_folder_are_one_table_in_the_order_of_their_numbers(tmp_path, whole, kind):
    frame, notes = read_table(in_pieces(whole, tmp_path, kind))
    assert_frame_equal(frame, whole, check_dtype=False)
    assert notes == []
    assert [path.name.split(".")[0] for path in files_of_table(tmp_path)[0]] == ["part-9", "part-10", "part-11"]


def test_a_folder_is_named_with_a_slash(tmp_path, whole, monkeypatch):
    (tmp_path / "visits").mkdir()
    assert read_file(in_pieces(whole, tmp_path / "visits")).source == "visits/"
    monkeypatch.chdir(tmp_path / "visits")
    from pathlib import Path

    assert name_of_folder(Path(".")) == "visits/"


def test_other_files_are_said_and_hidden_ones_ignored(tmp_path, whole):
    in_pieces(whole, tmp_path)
    for name in ("README.md", "_SUCCESS", ".part-9.parquet.crc"):
        (tmp_path / name).write_text("text")
    (tmp_path / "plots").mkdir()
    frame, notes = read_table(tmp_path)
    assert len(frame) == 30
    assert notes == ["2 files of the folder that can hold no part of the table were left out: 'README.md', 'plots'."]


def test_a_folder_without_a_table_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("nothing here")
    with pytest.raises(ValueError, match=r"Parquet files .* got 'README.md' instead. Name a folder"):
        read_table(tmp_path)


def test_folders_within_a_folder_are_refused(tmp_path, whole):
    in_pieces(whole, tmp_path)
    (tmp_path / "year=2020").mkdir()
    whole.to_parquet(tmp_path / "year=2020" / "x.parquet")
    with pytest.raises(ValueError, match=r"folder 'year=2020' with tables of its own, .*'x.parquet'. Move"):
        read_table(tmp_path)


def test_files_of_two_kinds_are_refused(tmp_path, whole):
    in_pieces(whole, tmp_path)
    whole.to_csv(tmp_path / "copy.csv", index=False)
    with pytest.raises(ValueError, match=r"different kinds, .*'part-9.parquet' and 'copy.csv'. Keep"):
        read_table(tmp_path)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_with_other_columns_is_named(tmp_path, whole, kind):
    in_pieces(whole, tmp_path, kind)
    odd = whole.rename(columns={"n": "m"})
    path = tmp_path / f"part-30.{kind}"
    odd.to_parquet(path) if kind == "parquet" else odd.to_csv(path, index=False)
    with pytest.raises(ValueError, match=rf"part-30.{kind} lacks 'n' .* 'm', compared with part-9"):
        read_table(tmp_path)


def test_columns_are_found_by_name(tmp_path, whole):
    in_pieces(whole, tmp_path)
    whole[["text", "n", "a"]].to_parquet(tmp_path / "part-30.parquet", index=False)
    frame, _ = read_table(tmp_path)
    assert_frame_equal(frame, pd.concat([whole, whole], ignore_index=True))


def test_a_column_of_another_type_is_named(tmp_path, whole):
    in_pieces(whole, tmp_path)
    whole.assign(n="x").to_parquet(tmp_path / "part-30.parquet", index=False)
    with pytest.raises(ValueError, match=r"part-30.parquet holds text in column 'n', and part-9.*numbers"):
        read_table(tmp_path)
    whole.assign(n=None).to_parquet(tmp_path / "part-30.parquet", index=False)
    assert read_table(tmp_path)[0]["n"].isna().sum() == 30


@pytest.mark.parametrize("first", [True, False])
def test_a_column_that_is_the_index_of_some_files_is_refused(tmp_path, whole, first):
    whole[:10].set_index("text").to_parquet(tmp_path / f"{1 if first else 3}.parquet")
    whole[10:].to_parquet(tmp_path / "2.parquet", index=False)
    facts = ["no index", "the index 'text'"]
    message = r"has {}, and \d\.parquet has {}\. Export the files again".format(*facts[:: 1 if first else -1])
    for read in (read_table, open_parts):
        with pytest.raises(ValueError, match=message):
            read(tmp_path)


def test_a_sign_in_one_text_file_makes_the_column_text_in_all(tmp_path, whole):
    in_pieces(whole, tmp_path, "csv")
    whole.assign(n=["?", *range(29)]).to_csv(tmp_path / "part-30.csv", index=False)
    frame, _ = read_table(tmp_path)
    assert frame["n"].tolist() == [*map(str, range(30)), "?", *map(str, range(29))]


def test_a_damaged_file_is_named(tmp_path, whole):
    in_pieces(whole, tmp_path)
    path = tmp_path / "part-10.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"part-10.parquet must be .* parquet file, got a damaged one"):
        read_table(tmp_path)


def test_a_ragged_line_of_one_file_is_named(tmp_path, whole):
    in_pieces(whole, tmp_path, "csv")
    with (tmp_path / "part-10.csv").open("a") as file:
        file.write("1,2\n")
    with pytest.raises(ValueError, match=r"part-10.csv, line 15: every row must have 3 fields"):
        read_table(tmp_path)


def test_files_without_rows_are_said(tmp_path, whole):
    in_pieces(whole, tmp_path)
    whole.head(0).to_parquet(tmp_path / "part-30.parquet", index=False)
    frame, notes = read_table(tmp_path)
    assert len(frame) == 30
    assert notes == ["Files without rows were left out: 'part-30.parquet'."]


def test_a_folder_without_rows_is_refused(tmp_path, whole):
    whole.head(0).to_parquet(tmp_path / "part-1.parquet")
    with pytest.raises(ValueError, match=r"must hold rows, got only files without any.* Export it again"):
        read_table(tmp_path)


def test_an_empty_text_file_is_named(tmp_path, whole):
    in_pieces(whole, tmp_path, "csv")
    (tmp_path / "part-30.csv").write_text("")
    with pytest.raises(ValueError, match=r"part-30.csv must have a header and rows, got an empty file"):
        read_table(tmp_path)


def test_rows_keep_the_names_that_pandas_saved(tmp_path, whole):
    named = whole.set_axis([f"P{n}" for n in range(30)], axis=0)
    for number, rows in enumerate((named[:12], named[12:])):
        rows.to_parquet(tmp_path / f"{number}.parquet")
    assert_frame_equal(read_table(tmp_path)[0], named)


def test_rows_keep_the_names_that_a_first_column_without_a_name_holds(tmp_path, whole):
    named = whole.set_axis([f"P{n}" for n in range(30)], axis=0)
    for number, rows in enumerate((named[:12], named[12:])):
        rows.to_csv(tmp_path / f"{number}.csv")
    assert_frame_equal(read_table(tmp_path)[0], named, check_index_type=False)


def test_categories_of_several_files_are_joined(tmp_path, whole):
    for number, colours in enumerate((["red", "blue"], ["green", "red"])):
        pd.DataFrame({"colour": pd.Categorical(colours)}).to_parquet(tmp_path / f"{number}.parquet", index=False)
    assert read_table(tmp_path)[0]["colour"].tolist() == ["red", "blue", "green", "red"]


def test_a_column_may_be_categories_in_one_file_and_text_in_the_next(tmp_path):
    text = pd.Series(["red", "blue"])
    for number, column in enumerate([text.astype("category"), text]):
        pd.DataFrame({"colour": column, "size": [1.0, 2.0]}).to_parquet(tmp_path / f"{number}.parquet")
    frame, _ = read_table(tmp_path)
    assert frame["colour"].astype(str).tolist() == ["red", "blue", "red", "blue"]

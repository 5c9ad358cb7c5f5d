import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large import partitions
from whynear.large.partitions import computed, read_table, stored_numbers

N = 30
TABLE = pd.DataFrame(np.random.default_rng(0).standard_normal((N, 3)), columns=["a", "b", "c"])
CLASSES = np.where(np.arange(N) < 20, "u", "v")


def read(X=TABLE, y=CLASSES, learner=None, **settings):
    learner = wn.GRLVQ() if learner is None else learner
    pairs = list(zip(in_partitions(X), in_partitions(y), strict=True))
    return read_table(learner, pairs, **{"classes": True, **settings})


def test_a_learner_notes_the_columns_and_their_ranges():
    learner = wn.GRLVQ()
    table = read(learner=learner)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    assert learner.n_features_in_ == 3
    assert_array_equal(learner.input_range_, [TABLE.min(), TABLE.max()])
    assert (table.n_rows, table.names) == (N, ("a", "b", "c"))


def test_rows_targets_and_names_come_back_in_order():
    table = read(named=True)
    X, codes = table.gathered()
    assert_array_equal(X, TABLE)
    labels = np.concatenate(
        [s.labels[part[1]] for s, part in zip(table.summaries, computed(table.blocks), strict=True)]
    )
    assert_array_equal(labels, CLASSES)
    assert len(codes) == N
    assert_array_equal(table.row_names(), np.arange(1, N + 1))
    assert_array_equal(table.gathered(step=7)[0], TABLE[::7])


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ([f"row {i}" for i in range(N)], [f"row {i}" for i in range(N)]),
        (np.arange(N) * 2, np.arange(N) * 2),
        (None, None),
    ],
    ids=["text", "numbers", "none"],
)
def test_names_of_rows_are_those_of_the_index(index, names):
    X = TABLE.to_numpy() if index is None else TABLE.set_axis(index)
    found = read(X, named=True).row_names()
    assert found is None if names is None else found.tolist() == list(names)


def test_files_that_each_count_their_rows_from_zero_are_counted_through():
    parts = [TABLE[:10], TABLE[10:].reset_index(drop=True)]
    pairs = list(zip(in_partitions(parts[0], [0, 10]) + in_partitions(parts[1], [0, 20]),
                     in_partitions(CLASSES, [0, 10, 30]), strict=True))  # fmt: skip
    assert_array_equal(read_table(wn.GRLVQ(), pairs, classes=True, named=True).row_names(), np.arange(1, N + 1))


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool"])
def test_small_numbers_stay_small(dtype):
    assert stored_numbers((TABLE > 0).astype(dtype)).dtype == dtype
    assert stored_numbers(TABLE.astype("int64")).dtype == "float64"


def gap(value, rows=(1, 25), column="b"):
    X = TABLE.astype(object) if isinstance(value, str) else TABLE.copy()
    X.loc[list(rows), column] = value
    return X


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (gap(np.nan), CLASSES, r"X contains NaN: 2 in column 'b'\. Drop these rows or columns, or impute"),
        (gap(-np.inf), CLASSES, r"X contains infinity \(inf\): 2 in column 'b'\. Replace these values"),
        (gap(1e200), CLASSES, "X holds 1e\\+200 in column 'b': its square overflows"),
        (TABLE, pd.Series([None, *CLASSES[1:]]), "y contains NaN or None: 1 targets are missing. Drop these rows"),
        (TABLE[:1], CLASSES[:1], "X has 1 row in 5 partitions, and at least 2 are needed"),
        (gap("much"), CLASSES, "could not convert string to float: 'much'"),
    ],
    ids=["NaN", "infinity", "size", "target", "one row", "text"],
)
def test_what_a_fit_in_memory_refuses_is_refused_in_the_same_words(X, y, message):
    with pytest.raises(ValueError, match=message):
        read(X, y)


def test_partitions_that_do_not_match_are_refused_by_number():
    with pytest.raises(ValueError, match=r"Partition 2 has 9 rows of X and 4 of y"):
        read_table(wn.GRLVQ(), list(zip(in_partitions(TABLE), in_partitions(CLASSES[:15]), strict=True)), classes=True)
    parts = in_partitions(TABLE, [0, 10, 30])
    parts[1] = in_partitions(TABLE[["a", "c"]], [10, 30])[0]
    with pytest.raises(ValueError, match=r"Partition 1 has other columns than the first"):
        read_table(wn.GRLVQ(), list(zip(parts, in_partitions(CLASSES, [0, 10, 30]), strict=True)), classes=True)


def test_the_summary_keeps_no_partition_in_memory():
    table = TABLE.astype(np.float32)
    for X in (table, table.to_numpy()):
        _, _, summary = partitions._read_classes(X, CLASSES, named=False)
        assert_array_equal(summary.head, X[:2])
        assert not np.shares_memory(np.asarray(summary.head), np.asarray(X))

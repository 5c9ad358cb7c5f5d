import os
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large.partitions import (
    TRIM_VARIABLE,
    _glibc,
    computed,
    freed_memory_kept,
    kept,
    n_workers,
    paired_partitions,
    partitions_of,
    shared,
    task,
)

X = np.arange(12.0).reshape(6, 2)


def test_collections_of_all_kinds_have_their_partitions_in_order():
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    for collection in (da.from_array(X, chunks=(2, 1)), frame, in_partitions(X, [0, 2, 4, 6])):
        found = computed(partitions_of(collection))
        assert len(found) == 3
        np.testing.assert_array_equal(np.concatenate(found), X)


def test_chunks_of_unknown_length_are_partitions_too():
    values = dd.from_pandas(pd.DataFrame(X), npartitions=3).to_dask_array()
    assert np.isnan(values.chunks[0]).all()
    np.testing.assert_array_equal(np.concatenate(computed(partitions_of(values))), X)


def test_a_table_in_memory_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match=r"X must be a Dask array.*got ndarray"):
        wn.distributed.fit(wn.GRLVQ(), X, X[:, 0])
    with pytest.raises(TypeError, match=r"y must be a Dask array.*got list"):
        paired_partitions(in_partitions(X), [1, 2])
    with pytest.raises(ValueError, match="y is None, and the target is needed"):
        paired_partitions(in_partitions(X), None)


def test_other_numbers_of_partitions_are_refused():
    with pytest.raises(ValueError, match=r"X has 5 partitions and y has 2\. Give both the same"):
        paired_partitions(in_partitions(X), in_partitions(X[:, 0], [0, 3, 6]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pandas, in Dask's reader
def test_files_of_which_dask_reads_several_at_once_keep_their_targets(tmp_path):
    table = pd.DataFrame(np.arange(600.0).reshape(60, 10), columns=list("abcdefghij")).assign(kind=np.arange(60) % 2)
    for part in range(20):
        table[3 * part : 3 * part + 3].to_parquet(tmp_path / f"{part:02}.parquet", index=False)
    read = dd.read_parquet(tmp_path)
    for y in (read["kind"], read[["kind"]]):
        pairs = paired_partitions(read[list("abcdefghij")], y)
        for X, target in zip(*(computed(part) for part in zip(*pairs, strict=True)), strict=True):
            np.testing.assert_array_equal((X["a"] // 10) % 2, target)
    with pytest.raises(ValueError, match="X has 20 partitions and y has 3"):
        paired_partitions(read[["a"]], dd.from_pandas(table["kind"], npartitions=3))
    model = wn.GRLVQ().fit(table[["a", "b"]], table["kind"])
    found = wn.distributed.predict(model, read[["a", "b"]]).compute()
    np.testing.assert_array_equal(found, model.predict(table[["a", "b"]]))


def test_a_task_is_work_on_partitions_with_settings_of_any_kind():
    held = kept([task(np.add, part, 1.0) for part in in_partitions(X, [0, 3, 6])])
    assert [part.sum() for part in computed(held)] == [21.0, 57.0]
    assert computed([task(sorted, dask.delayed([1, 3, 2]), key=lambda value: -value)]) == [[3, 2, 1]]
    assert computed([shared({"a": 1})]) == [{"a": 1}]
    assert n_workers() == 1


def blas_threads(_part=None):
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_tasks_at_once_use_one_thread_each_and_leave_the_limit_as_it_was():
    with threadpool_limits(2, user_api="blas"), dask.config.set(scheduler="threads", num_workers=4):
        before = blas_threads()
        within = computed([task(blas_threads, part) for part in in_partitions(X) * 4])
        assert {threads for found in within for threads in found} <= {1}
        assert blas_threads() == before


def test_without_dask_the_error_has_the_line_to_type():
    code = (
        "import sys; sys.modules['dask'] = None\n"
        "import whynear as wn\n"
        "try: wn.distributed.fit(wn.GRLVQ(), [1], [1])\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "Dask is not installed: pip install 'whynear[dask]'\n"


def test_dask_is_imported_on_use_only():
    code = "import sys, whynear as wn; wn.distributed.fit, wn.distributed.predict; print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


FAULTS = """
import resource
import numpy as np
from whynear.large.partitions import freed_memory_kept

def page_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 17)  # a megabyte
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(page_faults())
with freed_memory_kept(), freed_memory_kept():
    page_faults()
    print(page_faults())
print(page_faults())
"""


def faults(**variables):
    run = subprocess.run(
        [sys.executable, "-c", FAULTS], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return [int(line) for line in run.stdout.split()]


@pytest.mark.skipif(_glibc() is None, reason="only glibc can be told to keep memory")
def test_memory_that_is_returned_at_once_is_kept_inside_only():
    before, inside, after = faults(**{TRIM_VARIABLE: "65536"})
    assert before > 50 * 200  # each array anew, in pages of 4 kB
    assert inside < before / 20
    assert after > before / 2


def test_nothing_is_told_to_the_library_where_nothing_was_asked_for(monkeypatch):
    monkeypatch.delenv(TRIM_VARIABLE, raising=False)
    monkeypatch.setattr("whynear.large.partitions._glibc", object)  # any call would raise
    with freed_memory_kept():
        pass
    monkeypatch.setenv(TRIM_VARIABLE, "65536")
    with pytest.raises(AttributeError), freed_memory_kept():
        pass

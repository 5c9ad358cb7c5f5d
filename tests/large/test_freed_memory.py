import os
import subprocess
import sys

import pytest

from whynear.large.partitions import TRIM_VARIABLE, _glibc, freed_memory_kept

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

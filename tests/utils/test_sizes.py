import pytest

from whynear.utils import text
from whynear.utils.text import bytes_of, in_words, machine_bytes


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2GB", 2 * 10**9), ("500 mb", 500 * 10**6), ("1.5GiB", 3 * 2**29), ("64KiB", 2**16), ("7B", 7), (12, 12)],
)
def test_a_size_is_read_as_it_is_written(written, meant):
    assert bytes_of(written) == meant


@pytest.mark.parametrize("wrong", ["2", "GB", "two GB", "-1GB", "0MB", "", 0, -5, True, 1.5, None])
def test_anything_else_is_refused_with_an_example(wrong):
    with pytest.raises(ValueError, match=r"memory must be a size such as '500MB' or '2GB', got .* \(--memory 2GB\)"):
        bytes_of(wrong)


def test_words_have_the_unit_that_a_reader_expects():
    assert [in_words(n) for n in (10.0, 5e8, 1e9, 2.34e9)] == ["1 MB", "500 MB", "1 GB", "2.3 GB"]


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(text, "_CGROUP_LIMIT", limit)
    whole = machine_bytes()
    assert whole > 10**8
    limit.write_text("100000000\n")
    assert machine_bytes() == 10**8
    limit.write_text("max\n")
    assert machine_bytes() == whole


def test_a_system_that_does_not_say_has_a_few_gigabytes(monkeypatch, tmp_path):
    monkeypatch.setattr(text, "_CGROUP_LIMIT", tmp_path / "none")
    monkeypatch.delattr(text.os, "sysconf")
    assert machine_bytes() == text.UNKNOWN_MACHINE_BYTES

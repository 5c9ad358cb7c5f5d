"""Kills of ``whynear stream`` over a CSV file and a Parquet file; each killed run is gone on with until it ends."""

from tests.helpers.stream_kills import kill_and_count

SUFFIXES = (".csv", ".parquet")


def run(folder, count, seed):
    """Kill runs at random moments; in the end every row was counted once, and all files are as if undisturbed."""
    for suffix, kills in zip(SUFFIXES, (count - count // 2, count // 2), strict=True):
        (folder / suffix).mkdir()
        found = kill_and_count(kills, seed, folder / suffix, suffix)
        assert found == (kills, 0, 0, 0), f"{suffix}: {found}"
    return f"{count} kills, half of them over Parquet: no row lost, none counted twice, all files as if undisturbed"

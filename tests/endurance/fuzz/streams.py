"""The state of an unfinished run of ``whynear stream``: it goes on to the same end, or is refused."""

import shutil

from tests.endurance.fuzz.law import DOCUMENTED
from tests.endurance.fuzz.models import forge
from tests.endurance.fuzz.mutators import mutated
from tests.helpers.stream_kills import write_rows
from whynear.stream.results import PART_OF_PREDICTIONS, UNFINISHED
from whynear.stream.running import run_stream

SETTINGS = {"every": 40, "max_size": 60, "random_state": 0}
RESULTS = ("predictions.csv", "stream.json")


class Stop(Exception):
    """Ends a run as a kill does."""


def stream_state(folder):
    """Changed states: bytes of the file, its content with right checksums, or the predictions beside it."""
    table, whole, begun = write_rows(folder / "rows.csv"), folder / "whole", folder / "begun"
    table.write_text("\n".join(table.read_text().splitlines()[:161]))
    run_stream(str(table), "kind", whole, **SETTINGS)
    expected = [(whole / name).read_bytes() for name in RESULTS]
    steps = []

    def stop(*step):
        steps.append(step)
        if len(steps) == 3:
            raise Stop

    try:
        run_stream(str(table), "kind", begun, **SETTINGS, progress=stop)
    except Stop:
        state, written = (begun / UNFINISHED).read_bytes(), (begun / PART_OF_PREDICTIONS).read_bytes()

    def trial(rng):
        out = folder / "mutant"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        (out / UNFINISHED).write_bytes(state)
        (out / PART_OF_PREDICTIONS).write_bytes(written)
        if (what := rng.random()) < 0.2:
            (out / UNFINISHED).write_bytes(mutated(state, rng))
        elif what < 0.3:
            (out / PART_OF_PREDICTIONS).write_bytes(mutated(written, rng))
        elif what < 0.35:
            (out / PART_OF_PREDICTIONS).unlink()
        else:
            forge(out / UNFINISHED, state, rng)
        try:
            run_stream(str(table), "kind", out, **SETTINGS)
        except DOCUMENTED:
            if what < 0.35:
                raise
            return "refused"  # the columns of the table do not fit another model
        found = [(out / name).read_bytes() for name in RESULTS]
        assert what >= 0.2 or found == expected, "another result"
        return "accepted"

    return trial


READERS = {"stream-state": stream_state}

"""Work to record, with what is on the disk before it and what must hold after it, and power cuts of all of it."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.endurance.kills.study import state
from tests.endurance.power import work
from tests.endurance.power.disk import Said, cuts
from tests.endurance.power.recording import recorded_in_a_fork
from tests.helpers.stream_kills import files_of, write_rows
from tests.helpers.studies import numeric_study, small_study
from whynear.report.files import finish_moving


class Trial(NamedTuple):
    work: Callable[..., None]
    check: Callable[..., None]
    prepare: Callable[[Path], None] = lambda folder: None
    arguments: tuple[Any, ...] = ()
    is_forked: bool = False  # from this process, since its work cannot be sent to another one


def run(trial, recorder, folder, count, seed):
    """Record work, and check what that many power cuts leave; the first broken promise is an AssertionError."""
    original = folder / "recorded"
    original.mkdir()
    trial.prepare(original)
    record = recorded_in_a_fork if trial.is_forked else recorder.recorded
    recording = record(trial.work, original, *trial.arguments)
    said = [operation.value for operation in recording.operations if isinstance(operation, Said)]
    for cut, left in cuts(recording, count, seed, folder):
        try:
            trial.check(left, cut.said, said[len(cut.said) :])
        except Exception as error:
            place = f"operation {cut.place} of {len(recording.operations)}"
            raise AssertionError(f"after a power cut at {place} that leaves {cut.kept}: {error}") from error
        shutil.rmtree(left)
    return f"{count} power cuts in {len(recording.operations)} operations, {len(said)} of them acknowledgements"


def model(_folder):
    return Trial(work.save_others, work.check_model, work.save_first)


def case_base(_folder):
    return Trial(work.change_cases, work.check_cases)


def studio(_folder):
    return Trial(work.change_project, work.check_project)


def stream(folder):
    """A run over a stream in a new folder."""
    table, whole = _stream(folder, "rows", seed=0)
    return Trial(work.learn_stream, partial(work.check_stream, table=table, whole=whole), arguments=(table,))


def stream_again(folder):
    """A run over a stream in place of a finished one."""
    (_, older), (table, whole) = _stream(folder, "older", seed=1), _stream(folder, "rows", seed=0)
    check = partial(work.check_stream, table=table, whole=whole, older=older)
    return Trial(work.learn_stream, check, partial(_put, older), (table, True))


def _stream(folder, name, seed):
    """Return a table, and the files of a run over it."""
    table = str(write_rows(folder / f"{name}.csv", seed, n_rows=100))
    work.learn_stream(folder / name, lambda step: None, table)
    return table, files_of(folder / name / work.OUT)


def _put(files, folder):
    (folder / work.OUT).mkdir()
    for name, data in files.items():
        (folder / work.OUT / name).write_bytes(data)


def study(folder):
    """A study that is saved in place of another one."""
    new, older = ({path.name: path.read_bytes() for path in one.save(folder / name)}
                  for one, name in ((small_study(), "new"), (numeric_study(), "older")))  # fmt: skip

    def save(place, say):
        small_study().save(Path(place, work.OUT), overwrite=True)
        say("saved")

    def check(place, said, later):
        found = state(place / work.OUT, older, new)
        assert found == "the new study" or not said, f"a saved study is lost: {found}"
        finish_moving(place / work.OUT)
        assert state(place / work.OUT, older, new) == found.removesuffix(", partly moved")

    return Trial(save, check, partial(_put, older), is_forked=True)


TRIALS = {
    "model": model,
    "case_base": case_base,
    "stream": stream,
    "stream_again": stream_again,
    "study": study,
    "studio": studio,
}

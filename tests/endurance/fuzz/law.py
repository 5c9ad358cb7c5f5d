"""The law for everything that reads: what is given is refused in a sentence, or what is returned is valid."""

import linecache
import random
import resource
import signal
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import whynear
from whynear.utils.archive import TOO_LARGE

DOCUMENTED = (ValueError, TypeError, OSError, ImportError)
MOST_CPU_SECONDS = 10
MOST_BYTES = 500 << 20
LIBRARY = str(Path(whynear.__file__).parent)


class TookTooLong(BaseException):
    """Raised where a trial takes more processor time than allowed; nothing that reads may catch it."""


@dataclass
class Count:
    """What became of mutants; each bug with the first turn that showed it."""

    mutants: int = 0
    refused: int = 0
    accepted: int = 0
    bugs: dict[str, str] = field(default_factory=dict)

    def __str__(self):
        facts = f"{self.mutants} mutants, {self.refused} refused, {self.accepted} accepted, {len(self.bugs)} bugs"
        return "\n".join([facts, *self.bugs.values()])


def fuzz(trial, seed, *, seconds=float("inf"), first=0, most=10**9):
    """Try mutants until the time is over; ``trial(rng)`` reads one, and returns "refused" or "accepted"."""
    count, end = Count(), time.monotonic() + seconds
    for turn in range(first, first + most):
        if time.monotonic() > end:
            break
        count.mutants += 1
        try:
            with limited_time(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                became = trial(random.Random(f"{seed} {turn}"))
        except (Exception, TookTooLong) as error:
            became = "refused" if is_documented(error) else "bug"
            if became == "bug":
                text = "".join(traceback.format_exception(error, limit=-12))
                count.bugs.setdefault(kind_of(error), f"--- seed {seed}, turn {turn}: {kind_of(error)}\n{text}")
        count.refused += became == "refused"
        count.accepted += became == "accepted"
    return count


def is_documented(error):
    """Whether an error is a refusal that the library raised itself, in a sentence that says what is wrong."""
    said = str(error)
    if not isinstance(error, DOCUMENTED) or isinstance(error, UnicodeError) or not said.strip() or TOO_LARGE in said:
        return False
    if isinstance(error, OSError) and error.filename is not None:
        return True
    place = last_place(error)
    return place.filename.startswith(LIBRARY) and linecache.getline(place.filename, place.lineno).strip()[:5] == "raise"


def last_place(error):
    """Where an error was raised."""
    return traceback.extract_tb(error.__traceback__)[-1]


def kind_of(error):
    """What tells bugs apart: the type of the error, where it was raised, and the last line of the library before."""
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if place.filename.startswith(LIBRARY)] or places
    return f"{type(error).__name__} at {Path(places[-1].filename).name}, {ours[-1].filename}:{ours[-1].lineno}"


@contextmanager
def limited_time():
    """Raise `TookTooLong` where more processor time is taken than allowed."""

    def raise_it(*_):
        raise TookTooLong(f"more than {MOST_CPU_SECONDS} s")

    before = signal.signal(signal.SIGPROF, raise_it)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def limit_memory():
    """Let this process take no more than the allowed bytes beside those that it has."""
    lines = Path("/proc/self/status").read_text().splitlines()
    held = next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (held + MOST_BYTES, resource.RLIM_INFINITY))

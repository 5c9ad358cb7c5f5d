"""What a disk may hold after a power cut, given the operations on files before it.

The model is that of POSIX, stricter than most file systems. Content that was written to a file is certain once the file
was synced: before that any part of it may be there, or none. That a file was made, renamed or removed is certain once
its folder was synced: before that each such change may have happened or not, whatever came before or after it. A file
is renamed, also from one folder to another, or cut short completely or not at all.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ROOT = 0  # the number of the recorded folder; others follow
SECTORS = (512, 4096)  # bytes that a disk writes completely or not at all
PLAIN = ("nothing", "everything", "only names", "only content", "only the latest name")  # what a power cut leaves
PART = "a part"  # by chance


class Made(NamedTuple):
    folder: int
    name: str
    number: int
    is_folder: bool


class Moved(NamedTuple):
    folder: int
    name: str
    to_folder: int
    to_name: str
    number: int


class Removed(NamedTuple):
    folder: int
    name: str


class Written(NamedTuple):
    number: int
    start: int
    data: bytes


class Resized(NamedTuple):
    number: int
    size: int


class Synced(NamedTuple):
    number: int


class Said(NamedTuple):
    """What the process acknowledged at this moment."""

    value: Any


class Recording(NamedTuple):
    """The files of a folder by their numbers, those in each folder by their names, and what then happened to them."""

    files: dict[int, bytes]
    folders: dict[int, dict[str, int]]
    operations: list[Any]


class Cut(NamedTuple):
    """A power cut: the operation before it, what of the uncertain outlasts it, and what was acknowledged until then."""

    place: int
    kept: str
    said: list[Any]


def cuts(recording: Recording, count: int, seed: int, folder: Path) -> Iterator[tuple[Cut, Path]]:
    """Yield power cuts of a recording, each with a folder that holds what is then on the disk.

    Half of them are right after files got or lost a name, in random order until all of these are there; what outlasts
    the others is left to chance.
    """
    rng, disk, said, done = Random(seed), Disk(recording), [], 0
    for number, (place, kept) in enumerate(sorted(_chosen(recording.operations, count, rng))):
        for operation in recording.operations[done:place]:
            if isinstance(operation, Said):
                said.append(operation.value)
            else:
                disk.do(operation)
        done, left = place, folder / str(number)
        disk.write(left, kept, rng)
        yield Cut(place, kept, list(said)), left


def _chosen(operations, count, rng):
    """Return places in the operations, each with what of the uncertain is left."""
    after = range(1, len(operations) + 1)
    named = [place for place in after if isinstance(operations[place - 1], Made | Moved | Removed)]
    plain = [(place, kept) for place in named for kept in PLAIN]
    chosen = rng.sample(plain, min(count // 2, len(plain)))
    ends = [0, *(place for place in after if not _go_on(*operations[place - 1 : place + 1]))]
    while len(chosen) < count:
        end = rng.randrange(len(ends))
        chosen.append((rng.randint(ends[end - 1] + 1 if end else 0, ends[end]), PART))
    return chosen


def _go_on(operation, following=None):
    """Return whether both change the content of one file: a file is written in many pieces, which count as one."""
    contents = isinstance(operation, Written | Resized) and isinstance(following, Written | Resized)
    return contents and operation.number == following.number


class Disk:
    """The certain content and names, and the changes of them that are not certain."""

    def __init__(self, recording: Recording):
        self.files = dict(recording.files)
        self.folders = {number: dict(names) for number, names in recording.folders.items()}
        self.changed: dict[int, list[Written | Resized]] = {}
        self.renamed: list[Made | Moved | Removed] = []

    def do(self, operation):
        match operation:
            case Written() | Resized():
                self.changed.setdefault(operation.number, []).append(operation)
            case Synced(number) if number in self.folders:
                _rename(self.folders, [one for one in self.renamed if number in _folders_of(one)])
                self.renamed = [one for one in self.renamed if number not in _folders_of(one)]
            case Synced(number):
                self.files[number] = _changed(self.files[number], self.changed.pop(number, []))
            case Made():
                (self.folders if operation.is_folder else self.files)[operation.number] = (
                    {} if operation.is_folder else b""
                )
                self.renamed.append(operation)
            case _:
                self.renamed.append(operation)

    def write(self, target, kept, rng):
        """Make a folder that holds what a power cut leaves."""
        folders = {number: dict(names) for number, names in self.folders.items()}
        _rename(folders, self._kept_names(kept, rng))
        self._write(target, ROOT, folders, kept, rng)

    def _kept_names(self, kept, rng):
        if kept in ("everything", "only names"):
            return self.renamed
        if kept == "only the latest name":
            return self.renamed[-1:]
        if kept != PART:
            return []
        if rng.random() < 0.5:
            return self.renamed[: rng.randint(0, len(self.renamed))]
        return [one for one in self.renamed if rng.random() < 0.5]

    def _write(self, path, number, folders, kept, rng):
        if number not in folders:
            path.write_bytes(self._kept_content(number, kept, rng))
            return
        path.mkdir()
        for name, inside in folders[number].items():
            self._write(path / name, inside, folders, kept, rng)

    def _kept_content(self, number, kept, rng):
        before, changes = self.files[number], self.changed.get(number, [])
        if kept in ("nothing", "only names"):
            return before
        if kept in ("everything", "only content", "only the latest name"):
            return _changed(before, changes)
        if rng.random() < 0.2:
            return _changed(before, changes)
        before, changes = _until_cut_short(before, changes, rng)
        return rng.choice((_none, _beginning, _sectors, _zeros))(before, changes, rng)


def _folders_of(operation):
    return {operation.folder, getattr(operation, "to_folder", operation.folder)}


def _rename(folders, operations):
    """Make, move and remove names, also where an earlier change of them is missing."""
    for operation in operations:
        match operation:
            case Made(folder, name, number):
                folders[folder][name] = number
            case Removed(folder, name):
                folders[folder].pop(name, None)
            case Moved(folder, name, to_folder, to_name, number):
                if folders[folder].get(name) == number:
                    del folders[folder][name]
                folders[to_folder][to_name] = number


def _changed(content, changes):
    for change in changes:
        size = change.size if isinstance(change, Resized) else max(len(content), change.start)
        content = content[:size].ljust(size, b"\0")
        if isinstance(change, Written):
            content = content[: change.start] + change.data + content[change.start + len(change.data) :]
    return content


def _until_cut_short(before, changes, rng):
    """Return the content after some of the times that a file was cut short, and the changes from there to the next."""
    places = [0]
    content = before
    for place, change in enumerate(changes, 1):
        if isinstance(change, Resized) and change.size < len(content):
            places.append(place)
        content = _changed(content, [change])
    first = rng.randrange(len(places))
    last = places[first + 1] - 1 if first + 1 < len(places) else len(changes)
    return _changed(before, changes[: places[first]]), changes[places[first] : last]


def _none(before, changes, rng):
    return before


def _beginning(before, changes, rng):
    """The first changes; of the last of these, the first sectors."""
    kept = changes[: rng.randint(0, len(changes))]
    if kept and isinstance(kept[-1], Written):
        _, start, data = last = kept[-1]
        sector = rng.choice(SECTORS)
        end = (start + rng.randint(0, len(data))) // sector * sector
        kept[-1] = last._replace(data=data[: max(end - start, 0)])
    return _changed(before, kept)


def _sectors(before, changes, rng):
    """Some sectors as they were, and some as they were to be."""
    after, sector = _changed(before, changes), rng.choice(SECTORS)
    size = rng.choice((len(before), len(after)))
    old, new = before.ljust(size, b"\0"), after.ljust(size, b"\0")
    parts = (rng.choice((old, new))[start : start + sector] for start in range(0, size, sector))
    return b"".join(parts)[:size]


def _zeros(before, changes, rng):
    """The new size, and nothing in what is new."""
    size = len(_changed(before, changes))
    return before[:size].ljust(size, b"\0")

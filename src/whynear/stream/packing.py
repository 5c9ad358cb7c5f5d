"""The state of a stream as plain values for a file, and back; inconsistent files are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from whynear.stream import kernels
from whynear.stream.history import COLUMNS, COUNTS, Record
from whynear.stream.kernels import BASE, END, FIRST_SLOT, LONG_SIZE, N_CHANGES, N_LEVELS, PENDING, START, Memory, Rule
from whynear.stream.memory import LONG_ARRAYS, SHORT_ARRAYS, new_memory, tight
from whynear.stream.state import MEMORY_NAMES, Settings, StreamState

DERIVED_ARRAYS = ("starts", "n_right", "memory_n_right", "weights_before")  # found again from the others


def packed(state: StreamState) -> dict[str, Any]:
    """Return a state as arrays, lists, text and numbers."""
    memories = [_packed_memory(memory) for memory in state.memories]
    record = {**vars(state.record), "notes": [list(note) for note in state.record.notes]}
    return {
        "memories": memories,
        "accuracies": state.accuracies,
        "features": state.features,
        "missing": sorted(state.missing),
        "record": record,
        "seed": state.settings.compression.seed,
    }


def unpacked(fields: dict[str, Any], settings: Settings, n_classes: int) -> StreamState:
    """Return the state that `packed` packed."""
    features = [str(name) for name in fields["features"]]
    state = StreamState(
        settings._replace(compression=settings.compression._replace(seed=int(fields["seed"]))), features
    )
    _require(len(fields["memories"]) == len(settings.rules), "memories")
    state.memories = [
        _unpacked_memory(memory, rule, len(features), n_classes)
        for memory, rule in zip(fields["memories"], settings.rules, strict=True)
    ]
    _require(len({memory.state[END] for memory in state.memories}) == 1, "memories")
    accuracies = np.asarray(fields["accuracies"], dtype=np.float64)
    _require(accuracies.shape == state.accuracies.shape and bool(np.isfinite(accuracies).all()), "accuracies")
    state.accuracies, state.missing = accuracies, set(map(str, fields["missing"]))
    state.record = _unpacked_record(fields["record"], len(features))
    for name, known in (("metric", settings.rules), ("memory", MEMORY_NAMES)):
        chosen = state.record.lines[:, COLUMNS.index(name)]
        _require(bool(np.isin(chosen, np.arange(len(known))).all()), "record")
    return state


def _packed_memory(memory: Memory) -> dict[str, Any]:
    fields = {name: value for name, value in tight(memory)._asdict().items() if name not in DERIVED_ARRAYS}
    fields["state"][FIRST_SLOT] = 0  # as in a loaded memory, so that equal memories give equal files
    return {**fields, "right": fields["right"][memory.state[FIRST_SLOT]]}  # of the longest window


def _unpacked_memory(fields: dict[str, Any], rule: Rule, n_features: int, n_classes: int) -> Memory:
    """Return a memory; shapes, types and ranges are checked, because compiled code does not check them."""
    state = np.array(fields["state"], dtype=np.int64)
    _require(state.shape == (kernels.N_STATE,), "state")
    start, end, n_long, n_changes = (int(state[place]) for place in (START, END, LONG_SIZE, N_CHANGES))
    _require(0 <= start == state[BASE] <= end and min(n_long, n_changes) >= 0 and state[PENDING] == 0, "state")
    _require(end - start + n_long <= rule.max_size, "state")
    empty = new_memory(n_features, rule)
    arrays = {name: _checked(fields[name], like, name) for name, like in empty._asdict().items() if name in fields}
    n = end - start
    for name in SHORT_ARRAYS:
        _require(arrays[name].shape[-1] == n, name)
    for name in LONG_ARRAYS:
        _require(arrays[name].shape[-1] == n_long, name)
    _require(len(arrays["changes"]) == n_changes, "changes")
    for name in ("codes", "long_codes"):
        _require(_is_within(arrays[name], 0, n_classes), name)
    for name in ("cases", "long_cases"):
        _require(bool((arrays[name][n_features:] > 0).all()), name)  # weights of the cases
    _require(_is_within(arrays["memory_right"], 0, 2) and _is_within(arrays["right"], 0, 2), "right")
    _require(_is_within(arrays["listed"], -1, n_changes), "listed")
    changed, following = arrays["changes"].T
    _require(_is_within(changed, 0, n) and _is_within(following, -1, np.arange(n_changes)), "changes")
    return _with_windows(empty._replace(**{**arrays, "state": state}), arrays["right"], rule)


def _checked(values: Any, like: Any, part: str) -> Any:
    """Return values as an array of the type of another, and of its shape but for the number of cases or changes."""
    array = np.array(values)
    _require(array.dtype == like.dtype and bool(np.isfinite(array).all()), part)
    shape = (0,) if part == "right" else like.shape  # one window
    varies = len(shape) - 1 if 0 in shape[-1:] else 0 if 0 in shape[:1] else None
    _require(array.ndim == len(shape), part)
    _require(all(array.shape[axis] == shape[axis] for axis in range(array.ndim) if axis != varies), part)
    return array


def _is_within(values: Any, least: int, below: Any) -> bool:
    return bool(((values >= least) & (values < below)).all())


def _with_windows(memory: Memory, right: Any, rule: Rule) -> Memory:
    """Return the memory with all windows made anew from the longest."""
    state = memory.state
    state[FIRST_SLOT], state[N_LEVELS] = 0, 1
    memory = memory._replace(right=np.zeros((len(memory.starts), len(right)), dtype=np.uint8))
    memory.right[0], memory.starts[0], memory.n_right[0] = right, state[START], right.sum(dtype=np.int64)
    memory.memory_n_right[:] = memory.memory_right.sum(axis=1, dtype=np.int64)
    memory.weights_before[:] = memory.weights
    kernels.move_windows(memory, rule)
    return memory


def _unpacked_record(fields: dict[str, Any], n_features: int) -> Record:
    record = Record(n_features)
    lines = np.array(fields["lines"], dtype=np.float64)
    _require(lines.ndim == 2 and len(COLUMNS) <= lines.shape[1] <= len(COLUMNS) + n_features, "record")
    record.lines, record.interval = lines, int(fields["interval"])
    _require(record.interval > 0, "record")
    record.counts = [int(count) for count in fields["counts"]]
    _require(len(record.counts) == len(COUNTS), "record")
    record.notes = [(int(number), str(text)) for number, text in fields["notes"]]
    record.n_notes = int(fields["n_notes"])
    return record


def _require(holds: bool, part: str) -> None:
    if not holds:
        raise ValueError(f"{part} of the stream has wrong sizes or values")

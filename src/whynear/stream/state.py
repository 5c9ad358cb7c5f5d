"""The state of a learner of streams, and as plain values for a file; inconsistent files are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whynear.metric import DiagonalMetric, Evidence, LocalMetric
from whynear.search.voting import vote_weights
from whynear.stream import kernels
from whynear.stream.history import COLUMNS, COUNTS, Record, StreamHistory, history_of
from whynear.stream.kernels import (
    BASE,
    BOTH,
    END,
    FIRST_SLOT,
    LONG,
    LONG_SIZE,
    N_CHANGES,
    N_LEVELS,
    PENDING,
    SHORT,
    STANDARD,
    START,
    Memory,
    Rule,
)
from whynear.stream.memory import LONG_ARRAYS, SHORT_ARRAYS, Compression, learn, new_memory, tight
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import LARGEST_VALUE
from whynear.utils.compiling import njit


def joined_classes(known: NDArray[Any] | None, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes that are known or among the labels; refuse kinds of labels that cannot be sorted.

    >>> joined_classes(np.array(["b"]), np.array(["c", "a", "b"])).tolist()
    ['a', 'b', 'c']
    """
    if known is not None:
        if known.dtype.kind != labels.dtype.kind and {known.dtype.kind, labels.dtype.kind} & set("OUS"):
            labels = labels.astype(object)
        labels = np.concatenate([known, labels])
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise TypeError(
            f"y holds classes of the kinds {' and '.join(kinds)}, which cannot be sorted together. "
            "Give all classes as text or all as numbers."
        ) from None


def recode(memories: Sequence[Memory], before: NDArray[Any], after: NDArray[Any]) -> None:
    """Change the codes of all remembered cases from places in the classes before to places in those after."""
    moved: Indices = np.searchsorted(after, before)
    for memory in memories:
        for codes in (memory.codes, memory.long_codes):
            codes[:] = moved[np.clip(codes, 0, None)]


MOST_FEATURES = 10_000  # of a stream; later ones are left out


def numbers_of(x: Mapping[Any, Any]) -> dict[str, float]:
    """Return the values of a case by the names of their features; missing ones (None, NaN) are left out.

    >>> numbers_of({"a": 1, "b": None, "c": True})
    {'a': 1.0, 'c': 1.0}
    """
    values = {}
    for name, value in x.items():
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"x holds {value!r} in {str(name)!r}, which is not a number. Encode it first, for example one-hot."
            ) from None
        if abs(number) > LARGEST_VALUE:
            raise ValueError(
                f"x holds {number:.3g} in {str(name)!r}: its square overflows. Give finite values below "
                f"{LARGEST_VALUE:g}, or None where it is missing."
            )
        if not math.isnan(number):
            values[str(name)] = number
    return values


def row_of(values: Mapping[str, float], features: Sequence[str], means: Array) -> Array:
    """Return a case as a row; a feature that it lacks takes its running mean.

    >>> row_of({"b": 5.0, "new": 1.0}, ["a", "b"], np.array([0.5, 2.0]))
    array([0.5, 5. ])
    """
    return np.array([values.get(name, mean) for name, mean in zip(features, means.tolist(), strict=True)])


def with_features(memory: Memory, values: Sequence[float], weight: float, *, case_weights: bool = False) -> Memory:
    """Return a memory with further features, which have the same value in all earlier cases: distances stay."""
    new = np.asarray(values, dtype=np.float64)
    d, n_known = len(new), len(memory.weights)

    def widened(cases: Array) -> Array:
        shape = d, cases.shape[1]
        weights = [cases[n_known:], np.ones(shape)] if case_weights else []
        return np.vstack([cases[:n_known], np.broadcast_to(new[:, None], shape), *weights])

    return memory._replace(
        cases=widened(memory.cases),
        long_cases=widened(memory.long_cases),
        weights=np.concatenate([memory.weights, np.full(d, weight)]),
        weights_before=np.concatenate([memory.weights_before, np.full(d, weight)]),
        log_weights=np.concatenate([memory.log_weights, np.zeros(d)]),
        moments=np.hstack([memory.moments, np.vstack([new, np.zeros(d)])]),
    )


@njit(nogil=True, cache=True)
def guarded(
    predictions: Indices, codes: Indices, accuracies: Array, fading: float, answers: Indices, chosen: Indices
) -> None:
    """Set the predictions and the memories that made them, and move the faded accuracies.

    Memory m predicts case t if its accuracy a_m before t is the largest, the first of equal ones; then
    a_m <- fading a_m + (1 - fading) [m was right].

    Parameters
    ----------
    predictions : (n_memories, n_cases)
        Codes of classes; -1 before the first case.
    """
    for i in range(len(codes)):
        best = np.argmax(accuracies)
        answers[i], chosen[i] = predictions[best, i], best
        for m in range(len(accuracies)):
            accuracies[m] = fading * accuracies[m] + (1.0 - fading) * (predictions[m, i] == codes[i])


METRIC_NAMES = ("plain", "raw", "z-scores")  # by the kind of a rule
MEMORY_NAMES = ("short-term", "long-term", "both")
ROWS_AT_ONCE = 100  # predicted in one compiled call


class Settings(NamedTuple):
    """What does not change in a stream."""

    rules: tuple[Rule, ...]
    compression: Compression
    fading: float  # of the accuracy, for one case


class _Part(NamedTuple):
    """Cases of one memory, as `Memory` holds them, their classes, and their numbers in the stream."""

    cases: Array
    codes: Indices
    numbers: Indices


class StreamState:
    """The memories of a stream, one for each metric, and what they share."""

    def __init__(self, settings: Settings, features: Sequence[str]) -> None:
        self.settings = settings
        self.features = list(features)
        self.memories = [new_memory(len(self.features), rule) for rule in settings.rules]
        self.accuracies = np.zeros(len(settings.rules))
        self.record = Record(len(self.features))
        self.missing: set[str] = set()  # features that some case lacked

    @property
    def answering(self) -> int:
        """The place of the memory in use now."""
        return int(np.argmax(self.accuracies))

    @property
    def memory(self) -> Memory:
        """The memory in use now."""
        return self.memories[self.answering]

    @property
    def metric_name(self) -> str:
        """The kind of metric in use now."""
        return METRIC_NAMES[self.settings.rules[self.answering].kind]

    @property
    def memory_name(self) -> str:
        """Whether the short-term memory, the long-term memory or both predict now."""
        return MEMORY_NAMES[kernels.chosen_memory(self.memory)]

    @property
    def n_seen(self) -> int:
        """The number of cases so far."""
        return int(self.memories[0].state[END])

    @property
    def _compared(self) -> tuple[int, int]:
        """The places of the first metric, plain if there are several, and of the one whose shares are shown."""
        kinds = [rule.kind for rule in self.settings.rules]
        return 0, kinds.index(STANDARD) if STANDARD in kinds else len(kinds) - 1

    def learn(self, X: Array, codes: Indices, n_classes: int) -> Indices:
        """Predict and then learn cases; return the predicted codes, -1 before the first case."""
        answers, begin = np.empty(len(X), dtype=np.intp), 0
        while begin < len(X):
            end = min(len(X), begin + self.record.cases_until_next(self.n_seen))
            answers[begin:end] = self._learn_part(X[begin:end], codes[begin:end], n_classes)
            begin = end
        return answers

    def _learn_part(self, X: Array, codes: Indices, n_classes: int) -> Indices:
        found = np.empty((len(self.memories), len(X)), dtype=np.intp)
        for m, rule in enumerate(self.settings.rules):
            self.memories[m] = learn(self.memories[m], rule, self.settings.compression, X, codes, n_classes, found[m])
        answers, chosen = np.empty(len(X), dtype=np.intp), np.empty(len(X), dtype=np.intp)
        guarded(found, codes, self.accuracies, self.settings.fading, answers, chosen)
        plain, learned = (found[place] == codes for place in self._compared)
        self.record.count(answers == codes, learned, plain)
        if self.record.is_due(self.n_seen):
            memory = self.memory
            chosen_now = self.answering, kernels.chosen_memory(memory)
            self.record.add(self.n_seen, *chosen_now, *_sizes(memory), self.shares())
        return answers

    def shares(self) -> Array:
        """Return the share of each feature in the mean squared distance of all cases so far, under the metric shown.

        That is the learned one; of two, that of z-scores.
        """
        memory = self.memories[self._compared[1]]
        parts = memory.weights * memory.moments[1]
        total = parts.sum()
        return parts / total if total > 0 else np.full(len(parts), 1.0 / max(1, len(parts)))

    def history(self) -> StreamHistory:
        """Return the history so far."""
        metrics = [METRIC_NAMES[rule.kind] for rule in self.settings.rules]
        return history_of(self.record, metrics, list(MEMORY_NAMES), self.features)

    def sizes(self) -> dict[str, int]:
        """Return the numbers of cases in the memories in use now."""
        return dict(zip(MEMORY_NAMES, _sizes(self.memory), strict=False))

    def note_new_classes(self, codes: Indices, classes: Sequence[Any], known: Set[Any]) -> None:
        """Note each class that is not known at the first of the next cases that has it; that of case 1 is not new."""
        found, places = np.unique(codes, return_index=True)
        for place, code in sorted(zip(places.tolist(), found.tolist(), strict=True)):
            if self.n_seen + place and classes[code] not in known:
                self.record.note(self.n_seen + place, f"new class: {classes[code]!r}")

    def row_of(self, x: Mapping[Any, Any]) -> Array:
        """Return a case to predict as a row; features that were never seen are left out."""
        return row_of(numbers_of(x), self.features, self.memories[0].moments[0])

    def learned_row(self, x: Mapping[Any, Any]) -> Array:
        """Return a case to learn as a row; features that were never seen are added, in the order of their names."""
        values = numbers_of(x)
        new = sorted(values.keys() - set(self.features))
        if len(self.features) + len(new) > MOST_FEATURES:
            self.record.note(self.n_seen, f"features beyond {MOST_FEATURES:,} are left out, such as {new[-1]!r}")
            new = new[: MOST_FEATURES - len(self.features)]
        if new:
            self.memories = [
                with_features(
                    memory,
                    [values[name] for name in new],
                    0.0 if rule.kind == STANDARD else 1.0,
                    case_weights=rule.case_weights,
                )
                for memory, rule in zip(self.memories, self.settings.rules, strict=True)
            ]
            self.features += new
            if self.n_seen:
                self.record.note(self.n_seen, f"new feature: {', '.join(map(repr, new[:5]))}")
        if gone := sorted(set(self.features) - values.keys() - self.missing):
            self.record.note(self.n_seen, f"missing for the first time: {', '.join(map(repr, gone[:5]))}")
            self.missing.update(gone)
        return row_of(values, self.features, self.memories[0].moments[0])

    def metric(self) -> DiagonalMetric | LocalMetric:
        """Return the metric in use now; if cases have weights, one for each case of `evidence`."""
        memory, rule, d = self.memory, self.settings.rules[self.answering], len(self.features)
        units: dict[str, Any] = {"feature_names": self.features}
        if rule.kind == STANDARD:
            deviations = np.sqrt(memory.moments[1] / max(1, self.n_seen))
            units["scale"] = np.where(deviations > 0, deviations, np.inf)
            units["units"] = "per standard deviation"
        if not rule.case_weights or not self.n_seen:
            return DiagonalMetric(memory.weights, **units)
        cases = np.hstack([part.cases for part in self._answering_parts().values()])
        return LocalMetric(cases[:d].T, weights=(memory.weights[:, None] * cases[d:]).T, **units)

    def _answering_parts(self) -> dict[int, _Part]:
        """Return the cases of the memories in use now, by the kind of memory."""
        memory, kind = self.memory, kernels.chosen_memory(self.memory)
        begin, n_short, n_long = int(memory.state[START] - memory.state[BASE]), *_sizes(memory)
        short, long = slice(begin, begin + n_short), slice(n_long)
        parts = {
            SHORT: _Part(memory.cases[:, short], memory.codes[short], memory.state[START] + np.arange(n_short)),
            LONG: _Part(memory.long_cases[:, long], memory.long_codes[long], memory.long_numbers[long]),
        }
        return {place: part for place, part in parts.items() if kind in (place, BOTH)}

    def evidence(self, rows: Array, classes: NDArray[Any], *, named: bool = True) -> Evidence:
        """Return the remembered cases that vote for rows; without names in less time."""
        memory, rule = self.memory, self.settings.rules[self.answering]
        kind, k = kernels.chosen_memory(memory), rule.n_neighbors
        used, n_short = self._answering_parts(), _sizes(memory)[0]
        codes = np.concatenate([part.codes for part in used.values()])
        sq, at = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
        for first in range(0, len(rows), ROWS_AT_ONCE):  # so that an interrupt takes effect soon
            part = slice(first, first + ROWS_AT_ONCE)
            kernels.voters(memory, rule, rows, kind, first, sq[part], at[part])
        sq, at = sq[:, : len(codes)], at[:, : len(codes)]
        return Evidence(
            cases=np.ascontiguousarray(np.hstack([part.cases for part in used.values()])[: rows.shape[1]].T),
            labels=classes[codes],
            indices=np.where(at >= 0, at, (n_short if kind == BOTH else 0) - 1 - at),
            sq_distances=sq,
            votes=vote_weights(sq, _squared if rule.squared_votes else _inverse),
            classes=classes,
            row_names=_names(used) if named else None,
        )


def _names(used: Mapping[int, _Part]) -> NDArray[Any]:
    """Return the memory of each case and its number in the stream, from 1."""
    return np.array(
        [f"{MEMORY_NAMES[place]} {number + 1}" for place, part in used.items() for number in part.numbers.tolist()]
    )


def _squared(sq: Array) -> Array:
    return sq[:, :1] / sq


def _inverse(sq: Array) -> Array:
    return np.sqrt(sq[:, :1] / sq)


def _sizes(memory: Memory) -> tuple[int, int]:
    state = memory.state
    return int(state[END] - state[START]), int(state[LONG_SIZE])


DERIVED_ARRAYS = ("starts", "n_right", "memory_n_right", "weights_before")  # found again from the others


def packed(state: StreamState) -> dict[str, Any]:
    """Return a state as arrays, lists, text and numbers."""
    record = {**vars(state.record), "notes": [list(note) for note in state.record.notes]}
    return {
        "memories": [_packed_memory(memory) for memory in state.memories],
        "accuracies": state.accuracies,
        "features": state.features,
        "missing": sorted(state.missing),
        "record": record,
        "seed": state.settings.compression.seed,
    }


def unpacked(fields: dict[str, Any], settings: Settings, n_classes: int) -> StreamState:
    """Return the state that `packed` packed."""
    features = [str(name) for name in fields["features"]]
    compression = settings.compression._replace(seed=int(fields["seed"]))
    state = StreamState(settings._replace(compression=compression), features)
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
    for name in (*SHORT_ARRAYS, *LONG_ARRAYS):
        _require(arrays[name].shape[-1] == (n if name in SHORT_ARRAYS else n_long), name)
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

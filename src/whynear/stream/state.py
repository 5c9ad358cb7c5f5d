"""All that a stream learner holds: its memories, the guard, the features and the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whynear.metric import DiagonalMetric, Evidence, LocalMetric
from whynear.search.voting import vote_weights
from whynear.stream import kernels
from whynear.stream.classes import recode
from whynear.stream.features import MOST_FEATURES, numbers_of, row_of, with_features
from whynear.stream.guard import guarded
from whynear.stream.history import StreamHistory, history_of
from whynear.stream.kernels import BASE, BOTH, END, LONG, LONG_SIZE, SHORT, STANDARD, START, Memory, Rule
from whynear.stream.memory import Compression, learn, new_memory
from whynear.stream.record import Record
from whynear.utils.arrays import Array, Indices

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
            self._note_now()
        return answers

    def _note_now(self) -> None:
        memory = self.memory
        self.record.add(self.n_seen, self.answering, kernels.chosen_memory(memory), *_sizes(memory), self.shares())

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

    def recode(self, before: NDArray[Any], after: NDArray[Any]) -> None:
        """Change the codes of remembered cases to places in other classes."""
        recode(self.memories, before, after)

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

"""Refusals of a table, with the settings that would have worked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from whynear.data.settings import Reading, written

Made = TypeVar("Made")
MOST_ROUNDS = 12  # of refusals that are collected into one suggestion


class TableRefused(ValueError):
    """A table that is not taken as it is, with the settings of a study that would take it.

    ``settings`` are those that remedy what the message names. `with_suggestion` extends them by those that remedy
    everything else, and sets ``is_tried``.
    """

    def __init__(self, message: str, **settings: Any) -> None:
        super().__init__(message)
        self.settings = settings
        self.is_tried = False


def with_suggestion(make: Callable[[Reading], Made], reading: Reading) -> Made:
    """Call ``make`` with a reading; if it refuses, find further settings with which it does not, and raise.

    The error then has all of them, so that a user needs one more try.
    """
    try:
        return make(reading)
    except TableRefused as refusal:
        _extend(refusal, make, reading)
        raise


def _extend(refusal: TableRefused, make: Callable[[Reading], Any], reading: Reading) -> None:
    found = refusal.settings
    for _ in range(MOST_ROUNDS):
        other_reading = replace(reading, **merged({name: getattr(reading, name) for name in found}, found))
        try:
            make(other_reading)
        except TableRefused as other:
            found = merged(found, other.settings)
        except ValueError:
            return
        else:
            refusal.settings, refusal.is_tried = found, True
            refusal.add_note(f"Try: reading={written(other_reading)}")
            return


def merged(settings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with others added: tuples are joined, everything else is replaced.

    >>> merged({"drop": ("a",), "strict": True}, {"drop": ("b",)})
    {'drop': ('a', 'b'), 'strict': True}
    """
    result = dict(settings)
    for name, value in others.items():
        before = result.get(name, ())
        result[name] = tuple(dict.fromkeys((*before, *value))) if isinstance(value, tuple) else value
    return result

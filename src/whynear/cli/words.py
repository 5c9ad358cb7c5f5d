"""The words of the command that runs, to suggest a command that works after one that is refused."""

from __future__ import annotations

import shlex
from contextvars import ContextVar
from typing import Any

from typer.core import TyperGroup

from whynear.study.repeat import option_words

_words: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


class RememberingGroup(TyperGroup):
    """A group of commands that keeps the words it was called with."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words, then parse them."""
        _words.set(tuple(args))
        return list(super().parse_args(ctx, args))


def suggestion(error: Exception) -> str | None:
    """Return the command with the settings that an error suggests; None if it suggests none that were tried."""
    from whynear.tables.refusal import TableRefused

    if not isinstance(error, TableRefused) or not error.is_tried or not _words.get():
        return None
    return shlex.join(["whynear", *_words.get(), *option_words(error.settings)])

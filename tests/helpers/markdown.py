"""Pages in Markdown: their blocks are run, what they print is compared, and where their links lead is looked up."""

import io
import re
import shlex
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from whynear.cli.app import app
from whynear.learn.registry import ALL_LEARNERS

FENCED = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\b(?:src|srcset)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]*)"""
    r"""|<link\b(?![^>]*rel=["']?canonical)[^>]*\bhref\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]*)"""
    r"""|url\(\s*["']?\s*((?:https?:)?//[^"')\s]*)"""
    r"""|@import\s+["']((?:https?:)?//[^"']*)""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, the line it stands on, and the block of text right below: what it prints."""

    language: str
    text: str
    line: int
    printed: str | None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in order."""
    found = list(FENCED.finditer(page))
    printed = {
        fence.start(): after[3]
        for fence, after in pairwise(found)
        if after[2] == "text" and not page[fence.end() : after.start()].strip()
    }
    return [
        Block(fence[2], fence[3], page.count("\n", 0, fence.start()) + 1, printed.get(fence.start())) for fence in found
    ]


def with_learners(page: str) -> str:
    """A page as it is built: a line with ``{every learner}`` once for each in the registry."""
    return re.sub(
        r"^.*\{every learner\}.*\n",
        lambda line: "\n".join(line[0].rstrip().replace("{every learner}", one.kind) for one in ALL_LEARNERS) + "\n",
        page,
        flags=re.MULTILINE,
    )


def run(page: list[Block], folder: Path) -> dict[str, Any]:
    """Run the Python of a page, and its commands of this library, one after the other in a folder; returns its names.

    Where a block of text stands right below, it must hold what is printed; numbers may differ by one in the last digit.
    """
    names: dict[str, Any] = {"__name__": "__page__"}
    with chdir(folder):
        for block in page:
            if block.language == "python":
                printed = io.StringIO()
                with redirect_stdout(printed):
                    exec(compile("\n" * block.line + block.text, "<page>", "exec"), names)
                if block.printed is not None:
                    assert alike(printed.getvalue(), block.printed), f"line {block.line}:\n{printed.getvalue()}"
            if block.language == "sh":
                for words in commands(block):
                    result = CliRunner().invoke(app, words[1:])
                    assert result.exit_code == 0, f"{shlex.join(words)}\n{result.output}"
    return names


def commands(block: Block) -> list[list[str]]:
    """The lines of a block that call this library, as words."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True)) and words[0] == "whynear"]


def alike(printed: str, expected: str) -> bool:
    """Whether two texts say the same, blanks aside, and numbers differ by no more than one in their last digit."""
    words, others = printed.split(), expected.split()
    return len(words) == len(others) and all(map(_alike, words, others))


def _alike(word: str, other: str) -> bool:
    if word == other:
        return True
    if NUMBER.sub("0", word) != NUMBER.sub("0", other):
        return False
    pairs = zip(NUMBER.findall(word), NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= 1.01 * _last_digit(b) for a, b in pairs)


def _last_digit(number: str) -> float:
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def links(page: str) -> list[str]:
    """Where the links of a page lead, those in code left out."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", FENCED.sub("", page)))


def anchors(page: str) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ +(.+?) *$", FENCED.sub("", page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of a file; those to other sites are left out."""
    return [
        link
        for link in links(page.read_text())
        if not link.startswith(("https:", "mailto:")) and _leads_nowhere(page, link)
    ]


def _leads_nowhere(page: Path, link: str) -> bool:
    file, _, heading = link.partition("#")
    target = page.parent / file if file else page
    return not target.exists() or (bool(heading) and heading not in anchors(target.read_text()))


def remote_loads(text: str) -> list[str]:
    """What a page or a style sheet would fetch from elsewhere; links that a reader may follow are no loads."""
    return [next(filter(None, groups)) for groups in LOADED.findall(text)]

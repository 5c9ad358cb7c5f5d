"""The built page belongs to the sources in the folder ``web``."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
STATIC = files("whynear.report").joinpath("static")
SETTINGS = ("package-lock.json", "package.json", "tsconfig.json", "vite.config.ts")
MOST_LINES = 4_000

pytestmark = pytest.mark.skipif(not WEB.is_dir(), reason="needs the sources of the page, in the folder web")


def sources():
    paths = [path for folder in ("public", "src") for path in (WEB / folder).rglob("*") if path.is_file()]
    return sorted([*SETTINGS, *(path.relative_to(WEB).as_posix() for path in paths)])


def test_the_page_was_built_from_these_sources():
    digest = hashlib.sha256()
    for name in sources():
        digest.update(name.encode() + b"\0" + (WEB / name).read_bytes() + b"\0")
    built = STATIC.joinpath("sources.sha256").read_text().strip()
    assert built == digest.hexdigest(), "the sources of the page have changed: run `make web`"


def test_the_sources_are_small_and_set_no_markup():
    texts = {name: (WEB / name).read_text() for name in sources() if name.endswith(".ts")}
    assert sum(text.count("\n") for text in texts.values()) < MOST_LINES
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert [name for name, text in texts.items() if re.search(markup, text)] == []


def test_the_lock_file_names_no_server():
    assert "resolved" not in (WEB / "package-lock.json").read_text()


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_what_is_built_can_stand_inside_a_page_and_loads_nothing(name):
    text = STATIC.joinpath(name).read_text()
    assert len(text) < 150_000
    assert not re.search(r"</(script|style)|<!--|@import|url\(|\beval\(|new Function|innerHTML", text)

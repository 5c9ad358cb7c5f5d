"""Every page of the gallery has its picture, says how to read it, and runs in the tests of the guide."""

import re

import pytest
from docs.gallery import FOLDER, LARGEST, NAMES, rounded

from tests.helpers.markdown import blocks

PAGES = {name: (FOLDER / f"{name}.md").read_text() for name in NAMES}


def test_every_page_has_a_picture():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*NAMES, "index"}
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_the_picture_that_it_draws(name):
    (shown,) = (block for block in blocks(PAGES[name]) if block.language == "{figure}")
    assert re.search(rf"^```{{figure}} {name}\.svg\n:alt: \S", PAGES[name], flags=re.MULTILINE)
    assert len(shown.text) > 100  # it is described for those who do not see it
    assert f'savefig("{name}.svg"' in PAGES[name]
    picture = (FOLDER / f"{name}.svg").read_text()
    assert len(picture) < LARGEST
    assert rounded(picture) == picture


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_how_to_read_it_and_what_not_to_conclude(name):
    assert re.findall(r"^## (.+)$", PAGES[name], flags=re.MULTILINE)[-2:] == [
        "How to read it",
        "What not to conclude",
    ]
    assert all(block.printed != "" for block in blocks(PAGES[name]))


def test_coordinates_are_rounded():
    assert rounded('<path d="M 1.23456 -7.5"/><text x="1.23456">') == '<path d="M 1.23 -7.5"/><text x="1.23456">'

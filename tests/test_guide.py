"""What the guide shows is what happens, and where it points there is something."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import whynear
from tests.helpers.markdown import alike, anchors, blocks, links, remote_loads, run

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
STEPS = [
    "tables.md",
    "spectra.md",
    "learning.md",
    "null_space.md",
    "relevance.md",
    "explaining.md",
    "finding.md",
    "study.md",
]
RUNNING = [
    pytest.param(
        name,
        marks=pytest.mark.slow if name in ("tour.md", "study.md", "tables.md", "relevance.md", "spectra.md") else (),
    )
    for name, page in PAGES.items()
    if any(block.language in ("python", "sh") for block in blocks(page))
]


@pytest.mark.parametrize("name", RUNNING)
def test_the_blocks_of_a_page_run_in_order_and_print_what_stands_below(name, tmp_path):
    run(blocks(PAGES[name]), tmp_path)
    plt.close("all")
    for figure in re.findall(r"_build/figures/([\w-]+\.svg)", PAGES[name]):
        assert (tmp_path / figure).exists(), f"no block of {name} writes {figure}"


def test_links_lead_to_files_and_headings():
    for name, page in PAGES.items():
        for link in links(page):
            if link.startswith(("https:", "mailto:")):
                continue
            file, _, heading = link.partition("#")
            path = (DOCS / name).parent / file if file else DOCS / name
            assert path.exists(), f"{name}: {link}"
            assert not heading or heading in anchors(path.read_text()), f"{name}: {link}"


def test_every_page_is_in_a_table_of_contents():
    listed = {
        ((DOCS / name).parent / f"{entry}.md").relative_to(DOCS).as_posix()
        for name, page in PAGES.items()
        for block in blocks(page)
        if block.language == "{toctree}"
        for entry in re.findall(r"^[\w/]+$", block.text, flags=re.MULTILINE)
    }
    assert listed == set(PAGES) - {"index.md"}


@pytest.mark.parametrize("name", STEPS)
def test_every_step_ends_with_when_not_to_trust_it(name):
    assert re.findall(r"^## (.+)$", PAGES[name], flags=re.MULTILINE)[-1] == "When not to trust this"


def test_the_reference_holds_every_public_name():
    reference = "\n".join(page for name, page in PAGES.items() if name.startswith("api/"))
    described = set(
        re.findall(r"^\.\. auto(?:class|function):: whynear\.(\w+)(?:\.\w+)?$", reference, flags=re.MULTILINE)
    )
    assert set(whynear.__all__) <= set(described)


def test_pages_name_what_there_is():
    for name, page in PAGES.items():
        for called in re.findall(r"\bwn\.(\w+)", page):
            assert hasattr(whynear, called), f"{name}: wn.{called}"


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a 0.52\n", "a   0.51", True),
        ("a 0.53", "a 0.51", False),
        ("[1.00, 2e-3]", "[1.01, 3e-3]", True),
        ("12 b", "13 b", True),
        ("15 b", "13 b", False),
        ("b 1", "c 1", False),
        ("b", "b 1", False),
    ],
)
def test_printed_numbers_may_differ_in_their_last_digit_only(printed, expected, same):
    assert alike(printed, expected) == same


def test_a_block_must_print_what_stands_below_it(tmp_path):
    page = "```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    run(blocks(page.format(2)), tmp_path)
    with pytest.raises(AssertionError, match="line 1"):
        run(blocks(page.format(7)), tmp_path)


@pytest.mark.parametrize(
    ("html", "fetched"),
    [
        ('<script src="https://a.example/x.js"></script>', ["https://a.example/x.js"]),
        ("<img alt='' src=//a.example/x.png>", ["//a.example/x.png"]),
        ('<link rel="stylesheet" href="http://a.example/x.css">', ["http://a.example/x.css"]),
        ('@import "https://a.example/x.css"; b {src: url(https://a.example/f.woff)}', 2),
        ('<a href="https://a.example">a</a> <script src="_static/x.js"></script> <link href="x.css">', []),
    ],
)
def test_what_a_page_would_fetch_is_found(html, fetched):
    found = remote_loads(html)
    assert found == fetched if isinstance(fetched, list) else len(found) == fetched

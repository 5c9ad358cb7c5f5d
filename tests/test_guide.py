"""What the guide shows is what happens, and where it points there is something."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import whynear
from tests.helpers.markdown import alike, blocks, broken_links, remote_loads, run

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
AROUND = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
STEPS = [
    "tables.md",
    "spectra.md",
    "learning.md",
    "null_space.md",
    "relevance.md",
    "explaining.md",
    "rejecting.md",
    "finding.md",
    "streams.md",
    "study.md",
    "studio.md",
]
DOWNLOADED = r'load\("(?!iris|wine"|breast_cancer|digits)\w+"\)'  # data sets that scikit-learn does not bring
SLOW = ("tour.md", "study.md", "studio.md", "tables.md", "relevance.md", "spectra.md", "coming_from.md")
RUNNING = [
    pytest.param(
        name,
        marks=pytest.mark.slow if name in SLOW or name.startswith("gallery/") else (),
    )
    for name, page in PAGES.items()
    if any(block.language in ("python", "sh") for block in blocks(page))
]


@pytest.mark.parametrize("name", RUNNING)
def test_the_blocks_of_a_page_run_in_order_and_print_what_stands_below(name, tmp_path, request):
    if re.search(DOWNLOADED, PAGES[name]):
        request.getfixturevalue("real_data")  # which skips the page where there are none
    run(blocks(PAGES[name]), tmp_path)
    plt.close("all")
    for figure in re.findall(r"_build/figures/([\w-]+\.svg)", PAGES[name]):
        assert (tmp_path / figure).exists(), f"no block of {name} writes {figure}"


@pytest.mark.parametrize("page", [*(DOCS / name for name in PAGES), *AROUND], ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    assert broken_links(page) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# A heading, with `code`\n\n```python\n# none\n```\n")
    page = tmp_path / "page.md"
    page.write_text("# Top\n[a](other.md#a-heading-with-code) [b](#top) [c](https://a.example) ![d](none.svg)\n"
                    "[e](other.md#none) [f](#gone) [g](gone.md) `[h](code.md)`\n")  # fmt: skip
    assert broken_links(page) == ["none.svg", "other.md#none", "#gone", "gone.md"]


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

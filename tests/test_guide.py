"""What the guide shows is what happens, and where it points there is something."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from docs.gallery import FOLDER, LARGEST, NAMES, rounded
from sklearn.datasets import load_iris

import whynear
from papers.catalog import EXPERIMENTS
from papers.page import write_page
from tests.helpers.browser import Browser, in_a_browser
from tests.helpers.markdown import alike, blocks, broken_links, remote_loads, run

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
AROUND = [DOCS.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
STEPS = ["tables", "spectra", "learning", "null_space", "relevance", "explaining", "rejecting", "finding", "streams",
         "study", "studio"]  # fmt: skip
DOWNLOADED = r'load\("(?!iris|wine"|breast_cancer|digits)\w+"\)'  # data sets that scikit-learn does not bring
SLOW = ("tour.md", "study.md", "studio.md", "tables.md", "relevance.md", "spectra.md", "coming_from.md")
RUNNING = [
    pytest.param(name, marks=pytest.mark.slow if name in SLOW or name.startswith("gallery/") else ())
    for name, page in PAGES.items()
    if any(block.language in ("python", "sh") for block in blocks(page))
]


@pytest.mark.parametrize("name", RUNNING)
def test_the_blocks_of_a_page_run_in_order_and_print_what_stands_below(name, tmp_path, request):
    if re.search(DOWNLOADED, PAGES[name]):
        request.getfixturevalue("real_data")  # which skips the page where there are none
    run(blocks(PAGES[name]), tmp_path)
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
    assert re.findall(r"^## (.+)$", PAGES[f"{name}.md"], flags=re.MULTILINE)[-1] == "When not to trust this"


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


def test_the_measured_learners_are_those_of_the_benchmark():
    measured = (DOCS.parent / "benchmarks" / "results" / "kernels.md").read_text()
    rows = [line for line in measured.partition("\n# ")[0].splitlines() if line.startswith("|")]
    assert rows
    assert "\n".join(rows) in PAGES["choosing.md"], "docs/choosing.md needs the first table of the benchmark"


# The guide as people meet it, in a real browser.


GUIDE = Path(__file__).parents[1] / "docs" / "_build" / "html"


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    browser.driver.set_window_size(1400, 1000)  # wide enough for the list of pages to stand beside them
    yield browser
    browser.close()


@in_a_browser
@pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason="needs the guide: make docs")
def test_pages_load_nothing_from_elsewhere_and_complain_of_nothing(browser):
    browser.requests(), browser.complaints()
    for page in ("index", "tour", "relevance", "api/learners"):
        browser.open(GUIDE / f"{page}.html")
        assert browser.find("h1").text
        assert browser.requests() == []
        assert browser.complaints() == []


@in_a_browser
@pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason="needs the guide: make docs")
def test_the_first_page_leads_to_every_other(browser):
    browser.open(GUIDE / "index.html")
    links = {link.get_attribute("href") for link in browser.all(".sidebar-tree a")}
    for name in ("install", "tour", "tables", "learning", "null_space", "relevance", "explaining", "finding", "study"):
        assert (GUIDE / f"{name}.html").as_uri() in links
    browser.find(".sidebar-tree a[href='tour.html']").click()
    assert browser.driver.current_url == (GUIDE / "tour.html").as_uri()


@in_a_browser
@pytest.mark.skipif(not (GUIDE / "index.html").exists(), reason="needs the guide: make docs")
@pytest.mark.parametrize("page", ["index", "relevance"])
def test_nobody_is_kept_out(browser, page):
    browser.open(GUIDE / f"{page}.html")
    assert browser.barriers() == {}


# Every page of the gallery has its picture, says how to read it, and runs in the tests of the guide.


PAGES_OF_GALLERY = {name: (FOLDER / f"{name}.md").read_text() for name in NAMES}


def test_every_page_has_a_picture():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*NAMES, "index"}
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_the_picture_that_it_draws(name):
    (shown,) = (block for block in blocks(PAGES_OF_GALLERY[name]) if block.language == "{figure}")
    assert re.search(rf"^```{{figure}} {name}\.svg\n:alt: \S", PAGES_OF_GALLERY[name], flags=re.MULTILINE)
    assert len(shown.text) > 100  # it is described for those who do not see it
    assert f'savefig("{name}.svg"' in PAGES_OF_GALLERY[name]
    picture = (FOLDER / f"{name}.svg").read_text()
    assert len(picture) < LARGEST
    assert rounded(picture) == picture


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_how_to_read_it_and_what_not_to_conclude(name):
    assert re.findall(r"^## (.+)$", PAGES_OF_GALLERY[name], flags=re.MULTILINE)[-2:] == [
        "How to read it",
        "What not to conclude",
    ]
    assert all(block.printed != "" for block in blocks(PAGES_OF_GALLERY[name]))


def test_coordinates_are_rounded():
    assert rounded('<path d="M 1.23456 -7.5"/><text x="1.23456">') == '<path d="M 1.23 -7.5"/><text x="1.23456">'


# What the README shows is what happens.


README = (DOCS.parent / "README.md").read_text()
INTERNAL = {"examples", "docs", "test", "dev"}  # extras for work on the library


def test_the_first_section_says_how_to_install_and_names_every_extra():
    first = README.split("\n## ")[1]
    assert first.startswith("Install\n")
    assert "pip install whynear" in first
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(re.findall(r"^\| `(\w+)` \|", first, flags=re.MULTILINE)) == set(extras) - INTERNAL


def test_the_two_commands_are_shown():
    shown = "".join(block.text for block in blocks(README) if block.language == "sh")
    assert "make study" in shown
    assert "make test" in shown


@pytest.mark.slow
def test_the_python_lines_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_iris(as_frame=True).frame[::5].rename(columns={"target": "diagnosis"}).to_csv("cases.csv", index=False)
    (block,) = [block for block in blocks(README) if block.language == "python"]
    names = run([block], tmp_path)
    assert names["metric"].feature_names[0] == "alcohol"
    assert names["cases"].shape == (3, 5)
    assert np.array_equal(names["cases"][:, 0], [0, 1, 2])
    assert (tmp_path / "wine.whynear").exists()
    listed = README[README.index("| file | content |") : README.index("| command | what it does |")]
    for name in re.findall(r"`([\w-]+\.(?:csv|html|json|whynear))`", listed):
        assert (tmp_path / "gmlvq" / name).exists(), name


# The page about the papers shows the values of the last reproduction, and no others.


def test_the_page_is_made_of_the_outcomes(tmp_path):
    page = DOCS / "reproduction.md"
    written = page.read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reproduction").symlink_to(DOCS / "reproduction")
    write_page(tmp_path / "docs" / "reproduction", tmp_path / "docs" / "reproduction.md")
    assert (tmp_path / "docs" / "reproduction.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_and_figure_is_there(name):
    folder = DOCS / "reproduction"
    outcome = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    plan = EXPERIMENTS[name]().plan
    measured = {(line["row"], line["column"]) for line in outcome["lines"] if line["ours"] is not None}
    missing = {(known.row, known.column) for known in plan.published} - measured
    assert all("adrenal" in row for row, _ in missing), missing  # data that are not available
    assert (folder / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert f"### {name}" in (DOCS / "reproduction.md").read_text(encoding="utf-8")

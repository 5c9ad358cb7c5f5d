"""The page as text; test_page_in_browser.py opens it."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.browser import Browser, in_a_browser
from tests.helpers.pages import data_of, markup_of, words_of
from tests.helpers.servers import wait_for
from tests.helpers.studies import hostile, houses_study, numeric_study, small_study
from whynear.report import page
from whynear.report.page import PageFrame, island, page_with, policy, render
from whynear.report.page_data import page_data
from whynear.study import cases


def test_the_page_loads_nothing(study, saved):
    text, table = saved["report.html"].read_text(), saved["relevance.csv"]
    assert len(text.encode()) < 3_000_000
    assert not re.search(r"\bsrc=|@import|url\(\s*['\"]?(?!#)|<link|href=\"(?!#)", text)
    assert text.count("<script") == 2  # its data and its script
    assert study.finding().split(". ")[0] in words_of(text)
    assert pd.read_csv(table)["feature"].tolist() == study.frame()["feature"].tolist()


def test_only_the_script_and_the_style_of_the_page_are_allowed(saved):
    text = saved["report.html"].read_text()
    (allowed,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    allowed = allowed.replace("&#39;", "'")
    assert allowed.startswith("default-src 'none'; ")
    for tag, directive in {"script": "script-src", "style": "style-src"}.items():
        (held,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(held.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in allowed
    assert "unsafe" not in allowed
    assert not re.search(r"<[^>]+\s(style|on\w+)=", markup_of(text))
    assert policy("a", "b") != policy("c", "b")


def test_caveats_stand_with_the_finding_and_only_there(study):
    warned = replace(study, findings=replace(study.findings, caveats=("It leaks.", "Rows are repeated.")))
    text = markup_of(render(warned))
    box = text[text.index('<div class="caveats">') : text.index("</section>")]
    assert [caveat in box for caveat in warned.caveats] == [True, True]
    assert text.count("It leaks.") == 1
    none = replace(study, findings=replace(study.findings, caveats=()))
    assert "Caveats" not in markup_of(render(none))


@pytest.mark.slow
def test_hostile_names_are_escaped_in_the_page_and_harmless_in_the_table(tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "=cmd()", "$x^{", "--><img src=x onerror=b>", 'a"onmouseover="b', "@sum"]
    X = pd.DataFrame(rng.standard_normal((24, 6)), columns=names)
    table = X.assign(**{"<b>kind</b>": np.where(X["=cmd()"] > 0, "</title><script>", "&")})
    written = wn.study(table, "<b>kind</b>", learner="grlvq", splitting=wn.Splitting(folds=2)).save(tmp_path)
    files = {path.name: path.read_text() for path in written if path.suffix != ".whynear"}
    text = files["report.html"]
    assert text.count("<script") == text.count("</script") == 2
    assert data_of(text)["features"]["names"] == names
    text = markup_of(text)
    assert "<b>" not in text
    assert "<img" not in text
    assert 'a"onmouseover' not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not any(line.startswith(("=", "+", "@")) for line in files["relevance.csv"].splitlines())


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_names_that_command_a_terminal_or_lack_a_glyph_are_shown_harmlessly(tmp_path):
    names = ["\x1b[31mred", "two\nlines", "\u202eesrever", "温度", "nul\x00"]
    X = pd.DataFrame(np.random.default_rng(0).random((24, 5)), columns=names)
    study = wn.study(
        X.assign(y=np.where(X["温度"] > 0.5, "\x07", "\x9b")), "y", learner="grlvq", splitting=wn.Splitting(folds=2)
    )
    files = {path.name: path for path in study.save(tmp_path)}
    for text in (study.finding(), *(files[name].read_text() for name in ("report.html", "relevance.csv"))):
        assert not set(text) & set("\x00\x1b\x07\x9b\u202e")
        assert all(shown in text for shown in ["\ufffd[31mred", "two lines", "\ufffdesrever", "温度"])
    assert study.metric.feature_names == tuple(names)


def test_no_text_ends_the_element_of_the_data():
    data = page_data(wn.study(hostile(), "<i>target</i>", learner="grlvq", splitting=wn.Splitting(folds=2)))
    text = island(data)
    assert not set(text) & set("<>&\u2028\u2029")
    assert data_of(page_with(data)) == data


def test_without_scripts_the_features_their_units_and_the_lines_that_repeat_it_can_be_read(study):
    text = markup_of(render(study))
    assert all(f'<td class="name">{name}</td>' in text for name in study.relevance.feature_names)
    assert study.relevance.units in text
    assert "whynear study" in text
    assert "<pre>import whynear as wn\n\nwn.study(" in text
    for line in data_of(render(study))["selected"]:
        assert f"<h3>{line['kind']}: row {line['row']}</h3>" in text


def test_of_many_features_and_classes_the_first_are_read_without_scripts(study, monkeypatch):
    monkeypatch.setattr(page, "MOST_ROWS", 2)
    monkeypatch.setattr(page, "MOST_CLASSES", 2)
    text = markup_of(render(study))
    assert text[: text.index('id="errors"')].count("<tr><td") == 2
    assert "These are the first 2 of 5 features; the file relevance.csv contains all." in text
    assert "These are the first 2 of 3 classes; the file classes.csv contains all." in text


def test_a_numeric_target_is_named_in_the_heading_and_its_cases_are_explained():
    study = numeric_study()
    text = markup_of(render(study))
    assert "Which features decide “y”?" in text
    assert "variance explained" in text
    for case in study.cases:
        (said,) = re.findall(rf": row {case.row}</h3>\n<p>(.*?)</p>", text)
        side = "low" if case.true > case.why.prediction else "high"
        assert said.startswith(f"Measured {case.true:.4g}, predicted {case.why.prediction:.4g}")
        assert said.endswith(f"The prediction is {abs(case.true - case.why.prediction):.3g} too {side}.")
    for kind in ("A case with the median error", "The largest overestimate", "The largest underestimate"):
        assert f"<h3>{kind}: row " in text
    for error in study.errors.largest:
        assert f'<td class="name">{error.row}</td>' in text


@pytest.mark.slow
def test_the_page_of_a_numeric_target_says_nothing_about_classes():
    for study in (numeric_study(), houses_study()):
        shown = words_of(render(study))
        assert not re.search(r"\bclass|\bvotes?\b|probabilit|accuracy|predicted (right|wrong)", shown, re.IGNORECASE)


def test_the_case_with_unusual_values_is_shown_with_its_caution():
    text = markup_of(render(houses_study()))
    (said,) = re.findall(r"<h3>The case with most unusual values: row .*?</h3>\n<p>(.*?)</p>", text)
    assert "Caution, it rests on" in said


def test_without_scripts_what_is_promised_can_be_read(study):
    assert "cannot be promised" in study.rejection.sentences[0]  # at 99% with 150 rows
    for sentence in study.rejection.sentences:
        assert sentence in words_of(render(study))


def test_without_scripts_the_errors_can_be_read(study):
    text, errors = words_of(render(study)), study.errors
    right = f"{errors.n_rows - errors.n_wrong} ({errors.accuracy:.1%}) are predicted right and {errors.n_wrong} wrong"
    assert right in text
    for one in errors.by_class:
        assert f"{one.recall:.1%}" in text
    for pair in errors.confused:
        assert f"{pair.predicted} ({pair.count})" in text


class Frames(HTMLParser):
    """The attributes of the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_frame_holds_the_report_and_nothing_else():
    shown = small_study().show(height=500)
    ((tag, attributes),) = Frames(shown._repr_html_()).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == render(small_study())
    assert "height:500px" in attributes["style"]
    assert "allow-same-origin" not in attributes["sandbox"]
    assert len(repr(shown)) < 200


def test_a_title_cannot_end_the_frame():
    ((_, attributes),) = Frames(PageFrame('<p title="x">', '"><script>alert(1)</script>')._repr_html_()).found
    assert attributes["title"] == '"><script>alert(1)</script>'
    assert attributes["srcdoc"] == '<p title="x">'


def test_a_height_that_is_none_is_refused():
    with pytest.raises(ValueError, match="height"):
        small_study().show(0)


@in_a_browser
def test_a_browser_shows_all_views_in_the_frame_and_they_answer(tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>x</title>{small_study().show()._repr_html_()}", encoding="utf-8")
    browser = Browser()
    try:
        browser.open(path)
        browser.driver.switch_to.frame(browser.find("iframe"))
        wait_for(lambda: len(browser.all("main > section")) == 7, "the views")
        choose = "const [pick] = arguments; pick.value = pick.options[1].value; pick.dispatchEvent(new Event('change'))"
        browser.run(choose, browser.find("#pick"))
        wait_for(lambda: browser.find("#case-panel").is_displayed(), "the case")
        browser.click(".links a[href='#map']")
        wait_for(lambda: browser.all("#map canvas"), "the map")
        browser.driver.execute_async_script("setTimeout(arguments[0], 300)")  # the selection is written after 100 ms
        assert browser.complaints() == []
        assert browser.requests() == []
    finally:
        browser.close()


# The report renders a finished study: it fits, searches, explains and predicts nothing.


@pytest.mark.usefixtures("blank_figures")
def test_saving_a_finished_study_computes_nothing_anew(monkeypatch, tmp_path):
    study = small_study()

    def refused(*_, **__):
        raise AssertionError("computed while the report was written")

    monkeypatch.setattr(cases, "explain_each", refused)
    for name in ("fit", "predict", "predict_proba", "evidence", "score"):
        monkeypatch.setattr(wn.GRLVQ, name, refused)
    monkeypatch.setattr(wn.DiagonalMetric, "sq_distances", refused)
    assert (tmp_path / "report.html") in study.save(tmp_path)


# The built page belongs to the sources in the folder ``web``.


WEB = Path(__file__).parents[2] / "web"
STATIC = files("whynear.report").joinpath("static")
SETTINGS = ("package-lock.json", "package.json", "tsconfig.json", "vite.config.ts")
MOST_LINES = 4_000


def sources():
    paths = [path for folder in ("public", "src") for path in (WEB / folder).rglob("*") if path.is_file()]
    return sorted([*SETTINGS, *(path.relative_to(WEB).as_posix() for path in paths)])


@pytest.mark.skipif(not WEB.is_dir(), reason="needs the sources of the page, in the folder web")
def test_the_page_was_built_from_these_sources():
    digest = hashlib.sha256()
    for name in sources():
        digest.update(name.encode() + b"\0" + (WEB / name).read_bytes() + b"\0")
    built = STATIC.joinpath("sources.sha256").read_text().strip()
    assert built == digest.hexdigest(), "the sources of the page have changed: run `make web`"


@pytest.mark.skipif(not WEB.is_dir(), reason="needs the sources of the page, in the folder web")
def test_the_sources_are_small_and_set_no_markup():
    texts = {name: (WEB / name).read_text() for name in sources() if name.endswith(".ts")}
    assert sum(text.count("\n") for text in texts.values()) < MOST_LINES
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert [name for name, text in texts.items() if re.search(markup, text)] == []


@pytest.mark.skipif(not WEB.is_dir(), reason="needs the sources of the page, in the folder web")
def test_the_lock_file_names_no_server():
    assert "resolved" not in (WEB / "package-lock.json").read_text()


@pytest.mark.skipif(not WEB.is_dir(), reason="needs the sources of the page, in the folder web")
@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_what_is_built_can_stand_inside_a_page_and_loads_nothing(name):
    text = STATIC.joinpath(name).read_text()
    assert len(text) < 150_000
    assert not re.search(r"</(script|style)|<!--|@import|url\(|\beval\(|new Function|innerHTML", text)

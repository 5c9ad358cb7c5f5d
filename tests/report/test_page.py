"""The page as text; test_page_in_browser.py opens it."""

import re

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import numeric_study
from whynear.report import page
from whynear.report.page import render


def test_the_page_loads_nothing(study, saved):
    text, table = saved["report.html"].read_text(), saved["relevance.csv"]
    assert len(text) < 3_000_000
    assert not re.search(r"\bsrc=|@import|url\(\s*['\"]?(?!#)|<link|<script [^t]|href=\"(?!#)", text)
    assert text.count("<script") == 2  # its data and its script
    assert study.finding().split(". ")[0] in text
    assert pd.read_csv(table)["feature"].tolist() == study.frame()["feature"].tolist()


def test_hostile_names_are_escaped_in_the_page_and_harmless_in_the_table(tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "=cmd()", "$x^{", "--><img src=x onerror=b>", 'a"onmouseover="b', "@sum"]
    X = pd.DataFrame(rng.standard_normal((24, 6)), columns=names)
    table = X.assign(**{"<b>kind</b>": np.where(X["=cmd()"] > 0, "</title><script>", "&")})
    written = wn.study(table, "<b>kind</b>", learner="grlvq", folds=2).save(tmp_path)
    files = {path.name: path.read_text() for path in written if path.suffix != ".whynear"}
    text = re.sub("<!--.*?-->", "", files["report.html"], flags=re.DOTALL)
    assert text.count("<script") == text.count("</script") == 2
    text = text[: text.index("<script")]
    assert "<b>" not in text
    assert "<img" not in text
    assert 'a"onmouseover' not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not any(line.startswith(("=", "+", "@")) for line in files["relevance.csv"].splitlines())


@pytest.mark.filterwarnings("error")
def test_names_that_command_a_terminal_or_lack_a_glyph_are_shown_harmlessly(tmp_path):
    names = ["\x1b[31mred", "two\nlines", "\u202eesrever", "温度"]
    X = pd.DataFrame(np.random.default_rng(0).random((24, 4)), columns=names)
    study = wn.study(X.assign(y=np.where(X["温度"] > 0.5, "\x07", "\x9b")), "y", learner="grlvq", folds=2)
    files = {path.name: path for path in study.save(tmp_path)}
    for text in (study.finding(), *(files[name].read_text() for name in ("report.html", "relevance.csv"))):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert all(shown in text for shown in ["\ufffd[31mred", "two lines", "\ufffdesrever", "温度"])
    assert study.metric.feature_names == tuple(names)


def blank(*names):
    return dict.fromkeys(names, "<svg></svg>")


def test_the_page_contains_the_figures_the_features_and_the_lines_that_repeat_it(study):
    figures = blank("intervals", "map-before", "map-after", *(f"case-{i}" for i in range(1, len(study.cases) + 1)))
    text = render(study, figures | blank(*(f"votes-{i}" for i in range(1, len(study.cases) + 1))))
    assert text.count("<svg></svg>") == len(figures) + len(study.cases)
    assert all(f'<td class="name">{name}</td>' in text for name in study.relevance.feature_names)
    assert study.relevance.units in text
    assert "whynear study" in text


def test_only_the_most_relevant_features_are_rows_of_the_page(study, monkeypatch):
    monkeypatch.setattr(page, "MOST_ROWS", 2)
    figures = blank("intervals", "map-before", "map-after", *(f"case-{i}" for i in range(1, 19)))
    text = render(study, figures | blank(*(f"votes-{i}" for i in range(1, 19))))
    assert text.count("<tr data-feature=") == 2
    assert "These are the 2 most relevant of 5 features" in text


def test_a_numeric_target_is_named_in_the_heading_and_has_no_cases():
    text = render(numeric_study(), blank("intervals", "map-before", "predictions"))
    assert "Which features decide “y”?" in text
    assert 'id="pick"' not in text
    assert "variance explained" in text

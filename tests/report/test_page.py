"""The page as text; test_page_in_browser.py opens it."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import houses_study, numeric_study
from whynear.report import page
from whynear.report.page import render
from whynear.study.error_patterns import ErrorPattern


def test_the_page_loads_nothing(study, saved):
    text, table = saved["report.html"].read_text(), saved["relevance.csv"]
    assert len(text) < 3_000_000
    assert not re.search(r"\bsrc=|@import|url\(\s*['\"]?(?!#)|<link|<script [^t]|href=\"(?!#)", text)
    assert text.count("<script") == 2  # its data and its script
    assert study.finding().split(". ")[0] in text
    assert pd.read_csv(table)["feature"].tolist() == study.frame()["feature"].tolist()


def test_caveats_stand_with_the_finding_and_only_there(study):
    warned = replace(study, findings=replace(study.findings, caveats=("It leaks.", "Rows are repeated.")))
    figures = blank_of_classes(18) | blank(*(f"votes-{i}" for i in range(1, 19)))
    text = render(warned, figures)
    box = text[text.index('<div class="finding">') : text.index("</div>", text.index('<div class="finding">'))]
    assert "<h2>Caveats</h2>" in box
    assert [caveat in box for caveat in warned.caveats] == [True, True]
    assert text.count("It leaks.") == 1
    none = replace(study, findings=replace(study.findings, caveats=()))
    assert "Caveats" not in render(none, figures)


@pytest.mark.slow
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


@pytest.mark.slow
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


def blank_of_classes(n_cases):
    """Blank figures of a target of classes, with so many explained cases."""
    cases = [f"case-{i}" for i in range(1, n_cases + 1)]
    return blank("verdicts", "intervals", "stand-ins", "map-before", "map-after", *cases)


def test_the_page_contains_the_figures_the_features_and_the_lines_that_repeat_it(study):
    figures = blank(
        "verdicts",
        "intervals",
        "stand-ins",
        "map-before",
        "map-after",
        *(f"case-{i}" for i in range(1, len(study.cases) + 1)),
    )
    text = render(study, figures | blank(*(f"votes-{i}" for i in range(1, len(study.cases) + 1))))
    assert text.count("<svg></svg>") == len(figures) + len(study.cases) - (not study.findings.stand_ins)
    assert all(f'<td class="name">{name}</td>' in text for name in study.relevance.feature_names)
    assert study.relevance.units in text
    assert "whynear study" in text


def test_only_the_most_relevant_features_are_rows_of_the_page(study, monkeypatch):
    monkeypatch.setattr(page, "MOST_ROWS", 2)
    figures = blank(
        "verdicts", "intervals", "stand-ins", "map-before", "map-after", *(f"case-{i}" for i in range(1, 19))
    )
    text = render(study, figures | blank(*(f"votes-{i}" for i in range(1, 19))))
    assert text.count("<tr data-feature=") == 2
    assert "These are the first 2 of 5 features" in text


def blank_of_numbers(study):
    cases = [f"{kind}-{number}" for number in range(1, len(study.cases) + 1) for kind in ("case", "near")]
    return blank(
        "verdicts", "intervals", "stand-ins", "map-before", "map-after", "predictions", "residuals", "sets", *cases
    )


def test_a_numeric_target_is_named_in_the_heading_and_its_cases_are_explained():
    study = numeric_study()
    text = render(study, blank_of_numbers(study))
    assert "Which features decide “y”?" in text
    assert 'id="pick"' in text
    assert "variance explained" in text
    for case in study.cases:
        assert f": row {case.row}</h3>" in text
        (said,) = re.findall(rf": row {case.row}</h3>\n<p>(.*?)</p>", text)
        side = "low" if case.true > case.why.prediction else "high"
        assert said.startswith(f"Measured {case.true:.4g}, predicted {case.why.prediction:.4g}")
        assert said.endswith(f"The prediction is {abs(case.true - case.why.prediction):.3g} too {side}.")
    assert "<h3>A typical case: row " in text
    assert "<h3>The largest overestimate: row " in text
    assert "<h3>The largest underestimate: row " in text


@pytest.mark.slow
def test_the_page_of_a_numeric_target_says_nothing_about_classes():
    for study in (numeric_study(), houses_study()):
        text = render(study, blank_of_numbers(study))
        shown = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
        assert not re.search(r"\bclass|\bvotes?\b|probabilit|accuracy|predicted (right|wrong)", shown, re.IGNORECASE)


def test_the_page_says_what_goes_with_large_errors():
    study = houses_study()
    errors = replace(study.errors, patterns=(ErrorPattern("age", None, None, 1e-4),))
    text = render(replace(study, errors=errors), blank_of_numbers(study))
    assert "<p>Errors are larger where “age” is missing.</p>" in text
    assert "90% of the errors lie between the dotted lines" in text


def test_the_case_with_unusual_values_is_shown_with_its_caution():
    study = houses_study()
    text = render(study, blank_of_numbers(study))
    (said,) = re.findall(r"<h3>The case with most unusual values: row .*?</h3>\n<p>(.*?)</p>", text)
    assert "Caution, it rests on" in said


def test_the_page_shows_the_errors_of_the_study(study, saved):
    text, errors = saved["report.html"].read_text(), study.errors
    section = text[text.index('<h2 id="errors">') : text.index("<h2>The cases on a plane</h2>")]
    cells = re.findall(r'<td class="number (\w+)" style="--share: ([\d.]+)"[^>]*>([\d,]+)<', section)
    assert [int(count) for _, _, count in cells] == errors.confusion.ravel().tolist()
    assert [float(share) for _, share, _ in cells] == pytest.approx(errors.shares.ravel().tolist(), abs=5e-4)
    assert [kind == "right" for kind, _, _ in cells] == [i == j for i in range(3) for j in range(3)]
    assert section.count("<svg") == 2
    for error in errors.worst:
        shown = "".join(f'<td class="name">{value}</td>' for value in (error.row, error.true, error.predicted))
        assert f'{shown}<td class="number">{error.probability:.1%}</td>' in section
    for one in errors.by_class:
        assert f'<td class="number">{one.recall:.1%}</td>' in section
    assert f"under the ROC curve {errors.roc.area:.3f}" in section
    assert f"expected error {errors.calibration.error:.3f}" in section


def test_of_many_classes_the_most_frequent_confusions_are_shown(study, monkeypatch):
    monkeypatch.setattr(page, "MOST_CLASSES", 2)
    figures = blank(
        "verdicts", "intervals", "stand-ins", "map-before", "map-after", *(f"case-{i}" for i in range(1, 19))
    )
    text = render(study, figures | blank(*(f"votes-{i}" for i in range(1, 19))))
    assert "The most frequent confusions among 3 classes" in text
    assert "These are the 2 classes of the lowest recall" in text
    assert "--share" not in text[text.index('<h2 id="errors">') :]


def test_the_page_of_a_numeric_target_shows_its_largest_residuals():
    study = numeric_study()
    text = render(study, blank_of_numbers(study))
    for error in study.errors.largest:
        assert f'<td class="name">{error.row}</td><td class="number">{error.true:.4g}</td>' in text
    assert f"is {study.errors.typical:.4g}; half of them" in text


@pytest.mark.slow
def test_explained_cases_say_on_which_unusual_values_they_rest(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + X["b"] > 0, "up", "down")
    X.loc[::3, "b"] = None
    study = wn.study(X.assign(y=y), "y", learner="lmnn", folds=2, impute="median")
    gaps = X["b"].isna().to_numpy()
    assert any(gaps[case.place] for case in study.cases)
    for reason in study.reasons:
        assert ("on 'b', which is missing and was taken as " in reason.text) == gaps[reason.place]
    study.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    for case in study.cases:
        paragraph = page.split(f": row {case.row}</h3>")[1].split("</p>")[0]
        assert ("Caution, it rests on" in paragraph) == bool(case.why.unusual)
        assert gaps[case.place] <= bool(case.why.unusual)
    sent = study.to_dict()["cases"][0]["why"]["unusual"]
    assert [one["column"] for one in sent] == [one.column for one in study.cases[0].why.unusual]

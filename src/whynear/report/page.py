"""A study as one self-contained HTML page: its data, the script that shows them, and what is read without scripts.

In a notebook, the page in a frame, or a summary of the study.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from whynear.report.page_data import CODES, page_data
from whynear.study.score import NAMES
from whynear.utils import html
from whynear.utils.checks import whole

if TYPE_CHECKING:
    from whynear.study.result import Study

MOST_ROWS = 40  # of the table of features that is read without scripts
MOST_CLASSES = 30  # in the table of errors, for the same
_WORDS = {code: word for word, code in CODES.items()}
_PAGES = Environment(
    loader=PackageLoader("whynear.report"), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
)


def render(study: Study) -> str:
    """Return the page, which contains its data and its script and loads nothing."""
    return page_with(page_data(study))


def page_with(data: dict[str, Any]) -> str:
    """Return the page that shows these data; a browser runs no script and applies no style but those of the page."""
    script, style = built("page.js"), built("page.css")
    return _PAGES.get_template("report.html").render(
        data=data,
        title=f"Which features decide “{data['target']}”?"
        if data["kind"] == "numbers"
        else "Which features decide that two cases are near?",
        features=_features(data),
        classes=_classes(data),
        with_right=any(line["right"] is not None for line in data["methods"]["lines"]),
        island=Markup(island(data)),
        script=Markup(script),
        style=Markup(style),
        policy=policy(script, style),
    )


@cache
def built(name: str) -> str:
    """Return a file of the built page, whose sources are in ``web``."""
    return files("whynear.report").joinpath("static", name).read_text(encoding="utf-8")


def policy(script: str, style: str) -> str:
    """Return the Content-Security-Policy under which only this script runs and nothing is loaded."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def island(data: Any) -> str:
    """Return data as JSON that cannot end the HTML element around it.

    >>> island(["</script>"])
    '["\\\\u003c/script\\\\u003e"]'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _features(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the first features by verdict, as text."""
    held = data["features"]
    names, stand_ins = held["names"], sorted(held["stand_ins"], key=lambda pair: pair[2])
    return [
        {
            "name": names[place],
            "verdict": _WORDS[held["verdict"][place]],
            **{name: _number(held[name][place]) for name in ("loss", "error", "lower", "upper")},
            "stand_ins": ", ".join(names[other] for one, other, _, _ in stand_ins if one == place),
        }
        for place in held["order"][:MOST_ROWS]
    ]


def _classes(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the errors of the first classes, as text; none for a measured target."""
    errors = data["errors"]
    lines = list(zip(errors.get("classes", ()), errors.get("by_class", ()), strict=True))
    made = []
    for name, (count, recall, _, precision) in lines[:MOST_CLASSES]:
        confused = [f"{other} ({wrong:,})" for true, other, wrong in errors["confused"] if true == name]
        shares = {"recall": _share(recall), "precision": _share(precision)}
        made.append({"name": name, "count": f"{count:,}", **shares, "confused": ", ".join(confused[:3])})
    return made


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


@dataclass(frozen=True)
class PageFrame:
    """The report of a study in a frame, which a notebook shows.

    The frame is a sandbox: what runs in it reaches neither the notebook nor a network.
    """

    page: str = field(repr=False)
    title: str  # what the frame is called, for readers who do not see it
    height: int = 900  # in pixels

    def __post_init__(self) -> None:
        whole("height", self.height, 1)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0" srcdoc="{escape(self.page)}"></iframe>'
        )


def show(study: Study, height: int = 900) -> PageFrame:
    """Return the report in a frame of this height in pixels, which a notebook shows with all its views."""
    return PageFrame(render(study), f"Study of {study.problem.source}", height)


def summary(study: Study) -> str:
    """Return what a notebook shows of a study: its findings, its methods and its features."""
    methods, measure = study.comparison.methods, study.comparison.measure
    values = [method.score.value for method in methods]
    within = (min(0.0, *values), max(values) if measure == "log_loss" else 1.0)
    looks = ["strong" if method.name == study.comparison.chosen else "irrelevant" for method in methods]
    bars = [html.bar(0.0, method.score.value, within, look) for method, look in zip(methods, looks, strict=True)]
    rows = [(method.name, bar, str(method.score)) for method, bar in zip(methods, bars, strict=True)]
    score = "held-out cases predicted right" if measure == "accuracy" else NAMES[measure]
    return html.block(
        html.heading(f"Study of {study.problem.source}"),
        study.finding(),
        *study.caveats,
        html.table(["each method by itself", score, ""], rows),
        _table_of_features(study),
    )


def _table_of_features(study: Study) -> Markup:
    frame = study.frame()
    shown, (low, high) = frame.head(html.MOST_ROWS), html.rounded(frame[["lower", "upper"]]).T
    losses = zip(shown["loss_without"], shown["loss_error"], strict=True)
    lost = [f"{loss:.1f} ± {error:.1f}" for loss, error in losses]
    rows = zip(shown["feature"], shown["verdict"], lost, low, high, strict=False)
    headers = ["feature", "verdict", "points lost without it", "least weight", "most weight"]
    return html.table(headers, list(rows), html.more_of(len(frame), len(shown), "feature"))

"""HTML of results as notebooks show it, and names that try to break it."""

import re
from xml.etree import ElementTree

HOSTILE = ["<script>alert(1)</script>", "</td></table><img src=x onerror=alert(2)>", "a & \"b' {0}", "\x1b[2J\n\u202e"]


FORBIDDEN = re.compile(r"<script|<style|<img|<a\b|\bid=|\bclass=|\bon\w+=|url\(|https?:|\bhref|\bsrc=", re.IGNORECASE)


TAGS = {"div", "table", "thead", "tbody", "tr", "th", "td", "span", "svg", "path", "text"}


def shown(result):
    """The text of a result as a notebook shows it, after what every result must keep to."""
    text = result._repr_html_() if hasattr(result, "_repr_html_") else result
    root = ElementTree.fromstring(text)  # strict: every element closed, no control characters
    assert {element.tag for element in root.iter()} <= TAGS
    for element in root.iter():
        assert set(element.attrib) <= {"style", "viewBox", "width", "height", "role", "aria-label", "d", "fill",
                                       "stroke", "stroke-width", "stroke-dasharray", "x", "y", "text-anchor",
                                       "font-size", "font-family"}  # fmt: skip
        assert not FORBIDDEN.search(element.get("style", ""))
        assert "background:#" not in element.get("style", "")  # which would hide the text of some page
        assert "nan" not in element.get("style", "") + element.get("d", "")
    assert len(text.encode()) < 20_000
    return " ".join(root.itertext())

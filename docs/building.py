"""What Sphinx does not do by itself: figures drawn by the pages, formulas without scripts, nothing fetched."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import is_dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.ext import autosummary
from sphinx.util.logging import getLogger
from tests.helpers.markdown import blocks, remote_loads, run, with_learners

import whynear

logger = getLogger(__name__)
texts: dict[str, list[str]] = {}
autosummary.WELL_KNOWN_ABBREVIATIONS = (*autosummary.WELL_KNOWN_ABBREVIATIONS, "eq.")  # which end no sentence

FIGURES = Path("_build", "figures")
REQUESTS = re.compile(r"set_\w+_request")  # what scikit-learn adds to every estimator


def draw_figures(app: Sphinx) -> None:
    """Run the pages that show figures; each figure is a file that a block of its page writes."""
    matplotlib.use("agg")
    target = Path(app.srcdir) / FIGURES
    target.mkdir(parents=True, exist_ok=True)
    for page in sorted(Path(app.srcdir).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if shown := re.findall(rf"{FIGURES.as_posix()}/([\w-]+\.svg)", text):
            with tempfile.TemporaryDirectory() as folder:
                run(blocks(text), Path(folder))
                for name in shown:
                    shutil.copy(Path(folder, name), target / name)


def name_learners(_app: Sphinx, _page: str, source: list[str]) -> None:
    """List all learners where a page lists every one."""
    source[0] = with_learners(source[0])


def visit_math(translator: Any, node: nodes.math) -> None:
    """A formula within a line, as MathML, which browsers draw by themselves."""
    translator.body.append(mathml(node))
    raise nodes.SkipNode


def visit_math_block(translator: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own."""
    translator.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Node, as_block: bool = False) -> str:
    """A formula as MathML; a warning and its source where docutils cannot read it."""
    formula = node.astext().replace("||", r"\|")
    try:
        return tex2mathml(formula, as_block)
    except MathError as error:
        logger.warning("%s in the formula %s", error, formula, location=node)
        return escape(formula)


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make every public name that stands as code in a page a link to its description."""
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removeprefix("wn.")
        if name in whynear.__all__ and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
            link = addnodes.pending_xref(
                refdomain="py", reftype="obj", reftarget=f"whynear.{name}", refdoc=app.env.docname, refexplicit=False
            )
            literal.replace_self(link)
            link += literal


def of_this_library(_app: Sphinx, _what: str, name: str, obj: Any, skip: bool, _options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator."""
    function = getattr(obj, "fget", getattr(obj, "func", obj))
    module = getattr(function, "__module__", None) or "whynear"
    return True if skip or REQUESTS.fullmatch(name) or not module.startswith("whynear") else None


def keep_text(_app: Sphinx, what: str, name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Remember what a property says, which Napoleon takes for a type up to the first colon."""
    if what in ("property", "attribute"):
        texts[name] = list(lines)


def restore_text(_app: Sphinx, _what: str, name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Say of a property what it says itself."""
    lines[:] = texts.pop(name, lines)


def made_by_the_library(
    _app: Sphinx, what: str, _name: str, obj: Any, _options: Any, _signature: str, _returned: str
) -> tuple[str, str] | None:
    """Results are handed out, not made by hand: their constructors are nobody's concern."""
    return ("", "") if what == "class" and is_dataclass(obj) else None


def level_headings(app: Sphinx, error: Exception | None) -> None:
    """Say of which level the headings of the list of pages are, which screen readers need and Sphinx leaves out."""
    if error is None:
        for path in sorted(Path(app.outdir).rglob("*.html")):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace('role="heading">', 'role="heading" aria-level="2">'), encoding="utf-8")


def refuse_remote_loads(app: Sphinx, error: Exception | None) -> None:
    """End the build where a page would fetch anything from elsewhere."""
    if error is None:
        for path in sorted(Path(app.outdir).rglob("*")):
            if path.suffix in (".html", ".css") and (found := remote_loads(path.read_text(encoding="utf-8"))):
                raise ExtensionError(f"{path.name} would fetch {found[0]}; the guide must work offline.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("builder-inited", draw_figures)
    app.connect("source-read", name_learners)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-skip-member", of_this_library)
    app.connect("autodoc-process-docstring", keep_text, priority=400)
    app.connect("autodoc-process-docstring", restore_text, priority=600)
    app.connect("autodoc-process-signature", made_by_the_library)
    app.connect("build-finished", level_headings)
    app.connect("build-finished", refuse_remote_loads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""How the guide is built: offline, without warnings, with the figures that its own blocks draw."""

import sys
from pathlib import Path

import whynear

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

project = "whynear"
author = copyright = "The whynear authors"
version = release = whynear.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "building"]
exclude_patterns = ["_build"]
default_role = "py:obj"  # a name in single backquotes is a link where there is something to link to
add_module_names = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False  # the tables only; pages are written by hand
autodoc_typehints = "none"  # docstrings tell the types
autodoc_member_order = "bysource"
_foreign = ("BaseEstimator", "ClassifierMixin", "RegressorMixin", "TransformerMixin", "OneToOneFeatureMixin", "float")
autodoc_default_options = {"members": True, "inherited-members": ", ".join(_foreign)}
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False  # types are words, not names to link
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "furo"
html_title = f"whynear {release}"
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
html_css_files = ["guide.css"]
html_static_path = ["_static"]
pygments_style = "default"

"""How Sphinx makes the site: `make docs`, then open docs/_build/html/index.html."""

import re
import sys
from pathlib import Path

from sphinx.ext.napoleon import NumpyDocstring
from sphinx.pycode import parser
from sphinx.util import logging

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # gallery.py

import pareto_nrpa  # noqa: E402

project = "pareto-nrpa"
author = "The pareto-nrpa developers"
copyright = author
release = version = pareto_nrpa.__version__

extensions = [
    "gallery",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"pareto-nrpa {release}"

myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 3
highlight_language = "none"  # of blocks that do not say: commands, and what they print
copybutton_exclude = ".linenos, .gp, .go"

# `word` in a docstring is code, and a link if it is a public name.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

# The comment behind a field is its documentation, with or without a colon; what stands before a colon there is no type.
parser.comment_re = re.compile(r"^\s*#:? ?(.*)\r?\n?$")
NumpyDocstring._parse_attribute_docstring = NumpyDocstring._consume_to_end

# What an example is given when it runs for the gallery, where its own default takes long.
gallery_arguments = {"digits": ["40"]}

_OUTSIDE = re.compile(r"\[([^]]*)\]\((?:\.\./)+((?:benchmarks|examples|src|tests)/[^)#]*|[A-Z]+\.[a-z]+)\)")


def bring_along(app, docname, source):
    """Make files outside docs/ that pages link to downloadable from the site."""

    def rewritten(match):
        words, path = match[1].replace("`", ""), match[2]
        if not (ROOT / path).is_file():
            logging.getLogger(__name__).warning(f"there is no file {path}", location=docname)
        return f"{{download}}`{words} </../{path}>`"

    source[0] = _OUTSIDE.sub(rewritten, source[0])


def setup(app):
    app.connect("source-read", bring_along)

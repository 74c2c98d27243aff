"""Sphinx's settings: ``sphinx-build -W --keep-going -b html docs build/site``.

Nothing is run and nothing is fetched while the site is built. Notebooks have their stored outputs. Formulas are set by
MathJax, a copy of which is part of the site.
"""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "thunder_py"
author = "The thunder_py developers"
copyright = "the thunder_py developers"
version = release = installed_version("thunder_py")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",  # formulas without a network
    "api",
    "docstrings",
    "links",
    "outside",
]
exclude_patterns = ["images/*.py", "extensions"]

# pages
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # tables in outputs

highlight_language = "none"  # blocks without a language hold formulas

# the API
default_role = "py:obj"
autosummary_generate = False
toc_object_entries = False  # tables at the top of each section lead to them
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings tell shapes and units, which types do not
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# names of other projects become links where the network is there; the site does not depend on it
if os.environ.get("INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
    }

# output
html_theme = "furo"
html_title = f"thunder_py {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
linkcheck_timeout = 20

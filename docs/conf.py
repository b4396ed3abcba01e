"""Settings of the site: ``make docs`` builds it and takes every warning as an error."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import example_order
import example_times

import cvst

mpl.use("Agg")

project = "cvst"
author = "the cvst developers"
copyright = "2026, the cvst developers"
release = cvst.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "public_api",
    "fragments",
    "hard_spaces",
]
exclude_patterns = ["_build", "_unreleased.md", "**/*.ipynb", "examples/**/*.py"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
# Parameters of a few docstrings share one text, as in scikit-learn's own.
numpydoc_validation_checks: set[str] = set()

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_substitutions = {"release": release}

html_theme = "pydata_sphinx_theme"
html_title = f"cvst {release}"
html_static_path = ["_static"]
html_css_files = ["cvst.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "logo": {"text": "cvst"},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    # Pages with wide tables or listings need the room at the side for them.
    "secondary_sidebar_items": {
        "**": ["page-toc", "sg_download_links"],
        **{
            f"{folder}/{path.stem}": []
            for folder in ("measurements", "paper", "migration")
            for path in (HERE / folder).glob("*.md")
        },
        "developer/architecture": [],
        "user_guide/command_line": [],
        "user_guide/planning": [],
        "user_guide/strategies": [],
    },
}
# A landing page, a changelog and a glossary have nothing to choose from at the side.
html_sidebars = {"index": [], "getting_started": [], "glossary": [], "changelog": []}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["examples"],
    "filename_pattern": "/plot_",
    # What tests and pages import is not a page of the gallery.
    "ignore_pattern": r"/(?!plot_)[^/]*\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # A picture is shown; the object that drew it says nothing to a reader.
    "ignore_repr_types": r"cvst\.displays|matplotlib",
    "min_reported_time": 0,
    # The first two are the default; the third warns of an example that takes long.
    "reset_modules": ("matplotlib", "seaborn", example_times.watch),
    "reset_modules_order": "both",
    "abort_on_example_error": True,
    "plot_gallery": True,
    "show_signature": False,
    "nested_sections": False,
    "within_subsection_order": example_order.place,
}
# Examples may name what they do not need to draw; their warnings are seen in the tests.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
suppress_warnings = [
    # Settings with functions or patterns cannot be kept between builds.
    "config.cache",
]

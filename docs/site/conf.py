"""Sphinx configuration: Markdown by MyST, the theme of the field, nothing from the network."""

# ruff: noqa: A001 - names that Sphinx reads

import accordant

project = "accordant"
author = "the authors of accordant"
copyright = "the authors of accordant, Apache-2.0"
version = release = accordant.__version__

extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
highlight_language = "text"
maximum_signature_line_length = 88
python_display_short_literal_types = True
python_use_unqualified_type_names = True
suppress_warnings = [
    "misc.highlighting_failure",  # outputs with lines left out (…) are no valid JSON
    "ref.python",  # classes of one name in two rooms, where an annotation is imported for type checking only
]

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "accordant"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

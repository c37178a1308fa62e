"""How Sphinx makes the site: see docs/generator/site/."""

from ragdatakit.version import __version__

project = "ragdata"
author = "the ragdata contributors"
version = release = __version__
project_copyright = "the ragdata contributors. Apache-2.0"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
smartquotes = False  # options begin with two hyphens
default_role = "code"
nitpick_ignore_regex = [("py:.*", ".*")]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"ragdata {version}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["scrolling.js"]
templates_path = ["templates"]
html_theme_options = {"navigation_with_keys": True}

"""The documentation as a site: what its pages are made of, where their links lead, what the pictures show."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from docs.generator.diagrams import arrows, diagram
from docs.generator.site.build import CONFIGURATION, python_reference, write_sources
from docs.generator.site.navigation import LISTS, NAVIGATION, is_rule, listed_below
from docs.generator.site.pages import Pages, site_pages
from docs.generator.terminal import picture
from docs.generator.workspaces import ROOT
from ragdatakit.schemas import all_formats, all_rules
from tests.browser_tools import faults_for_readers, launched


@pytest.fixture(scope="module")
def pages() -> Pages:
    return site_pages()


def test_every_rule_and_command_has_an_address_of_its_own(pages: Pages) -> None:
    assert [rule.code for rule, _ in all_rules() if f"rules/{rule.code}.md" not in pages.pages] == []
    assert "cli/validate.md" in pages.pages
    assert pages.pages["rules/SP201.md"].text.startswith("# SP201 dangling-qid\n")
    assert "## SP201" not in pages.pages["rules/light-splade.md"].text


def test_links_lead_to_pages_of_the_site(pages: Pages) -> None:
    broken = []
    for page in pages.pages.values():
        for target in re.findall(r"(?<!\\)\]\(([^()\s]+)\)", re.sub(r"```.*?```", "", page.text, flags=re.S)):
            path = target.partition("#")[0]
            there = posixpath.normpath(posixpath.join(posixpath.dirname(page.name), path))
            if path and "://" not in path and path.endswith(".md") and there not in pages.pages:
                broken.append(f"{page.name}: {target}")

    assert broken == []


def test_a_link_to_the_section_of_a_rule_leads_to_its_page(pages: Pages) -> None:
    assert "[SP201](SP201.md)" in pages.pages["rules/index.md"].text
    assert "(../rules/BE114.md)" in pages.pages["formats/beir.md"].text


def test_every_page_is_listed_once(pages: Pages) -> None:
    names = [name.removesuffix(".md") for name in pages.pages]
    listed = [name for some in NAVIGATION.values() for name in some]
    for page in pages.pages.values():
        listed += listed_below(page.name.removesuffix(".md"), [p.removesuffix(".md") for p in page.parts], names)

    expected = {name for name in names if not is_rule(name)} - {"index"} | {"python-reference"}
    assert sorted(listed) == sorted(expected)
    assert set(LISTS) <= {*names}


def test_the_python_reference_has_every_public_name() -> None:
    page = python_reference()

    assert "## validate\n" in page
    assert ".. autoclass:: ragdatakit.Finding" in page


@pytest.mark.parametrize("fmt", [f for f in all_formats() if arrows(f)], ids=lambda f: f.name)
def test_a_diagram_has_every_kind_that_refers_to_another(fmt: object) -> None:
    drawn = diagram(fmt)  # type: ignore[arg-type]
    texts = [element.text for element in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]

    for kind, field, target in arrows(fmt):  # type: ignore[arg-type]
        assert {kind, field, target} <= set(texts)


def test_a_screen_keeps_its_text_and_runs_nothing() -> None:
    drawn = picture('$ ragdata\n\x1b[31m<script>alert("x")</script>\x1b[0m & more')

    assert "<script" not in drawn
    assert "".join(ET.fromstring(drawn).itertext()).count('<script>alert("x")</script> & more') == 1


def test_sources_are_written_with_lists_and_files(tmp_path: Path) -> None:
    write_sources(tmp_path)

    assert "/tutorial" in (tmp_path / "index.md").read_text()
    assert (tmp_path / "schemas/beir.corpus.schema.json").is_file()
    assert (tmp_path / "rules/SP201.md").read_text().startswith("---\norphan: true")


_WIDE = " | ".join(["a long name of a column"] * 12)
_PAGE = f"""
# One page

|  | what |
|---|---|
| `--strict-baseline` | exit code 1 |

| {_WIDE} |
| {" | ".join(["---"] * 12)} |
| {_WIDE} |

```python
{"x = 'a long line' " * 20}
```

```{{toctree}}
:hidden:
:caption: Start

/other
```

## A part
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two pages, as the configuration makes it."""
    pytest.importorskip("furo", reason="what the site is built with is not installed (make site)")
    sources, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("site")
    (sources / "index.md").write_text(_PAGE)
    (sources / "other.md").write_text("# Another page\n")
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--fail-on-warning"]
    subprocess.run([*command, "--conf-dir", str(CONFIGURATION), str(sources), str(out)], cwd=ROOT, check=True)
    return out / "index.html"


def test_no_width_of_a_window_scrolls_the_page(built: Path) -> None:
    with launched() as browser:
        page = browser.new_context(viewport={"width": 320, "height": 800}).new_page()
        page.goto(built.as_uri())
        too_wide = []
        for width in (320, 360, 768, 820, 1009, 1100, 1280, 1313, 1440, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate("document.scrollingElement.scrollWidth") > width:
                too_wide.append(width)

        assert too_wide == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_are_for_the_keyboard_and_for_screen_readers(built: Path, width: int, scheme: str) -> None:
    with launched() as browser:
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(built.as_uri())
        scrolling = (
            "[...document.querySelectorAll('pre, .table-wrapper')].map(one => one.scrollWidth > one.clientWidth)"
        )

        assert page.evaluate(scrolling) == [False, True, True]
        assert page.locator("article [tabindex='0']").count() == 2
        assert faults_for_readers(page) == []


def test_a_screen_of_a_hundred_columns_is_seen_whole(built: Path) -> None:
    with launched() as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(built.as_uri())
        page.evaluate("document.querySelector('pre').textContent = 'm'.repeat(100)")

        assert page.evaluate("(one => one.scrollWidth - one.clientWidth)(document.querySelector('pre'))") == 0

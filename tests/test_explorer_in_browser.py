"""The explorer in a real headless browser: keys, widths, darkness, people who listen to pages, and hostile data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api.explorer.explore import Explorer
from tests.browser_tools import Opened, faults_for_readers, launched, open_page
from tests.test_explorer import data, get, number

__all__ = ["data"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as running:
        yield running


@pytest.fixture(scope="module")
def explorer(browser: Any, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGDATA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with ragdatakit.explore(data) as running:
            get(running)
            yield running


@pytest.fixture
def opened(browser: Any, explorer: Explorer) -> Iterator[Any]:
    """Opens the explorer; in the end it may not have said or asked for anything."""
    pages: list[Opened] = []

    def start(address: str = "", **settings: Any) -> Opened:
        get(explorer, address)
        pages.append(open_page(browser, explorer.url, **settings))
        pages[-1].page.goto(explorer.url + address)
        return pages[-1]

    yield start
    for page in pages:
        assert page.quiet, page.noise
        assert page.page.evaluate("window.obeyed") is None
        page.page.context.close()


def pages(explorer: Explorer) -> list[str]:
    search, graph, evil = (number(explorer, name) for name in ("demo-search", "graph", "evil"))
    return [
        "",
        f"{search}/documents",
        f"{search}/questions/21?mode=bm25",
        f"{search}/ranks",
        f"{graph}/nodes/10",
        f"{graph}/graph?node=osprey",
        f"{graph}/report",
        f"{evil}/report",
        "findings",
        "findings/0",
        "findings?rule=SP121",
        f"{evil}/documents",
        f"{evil}/documents/0",
        f"{evil}/questions/0?mode=bm25",
        f"{evil}/qrels/0",
    ]


def test_pages_are_for_everybody(opened: Any, explorer: Explorer) -> None:
    page = opened(bypass_csp=True).page

    for scheme, every in (("light", 1), ("dark", 3)):
        page.emulate_media(color_scheme=scheme)
        for address in pages(explorer)[::every]:
            get(explorer, address)  # what is shown until then loads itself again
            page.goto(explorer.url + address)
            assert faults_for_readers(page) == [], address
            assert page.locator("h1").count() == 1


def test_pages_fit_a_phone_and_run_nothing_of_the_data(opened: Any, explorer: Explorer) -> None:
    page = opened(width=360).page

    for address in pages(explorer)[::2]:
        get(explorer, address)
        page.goto(explorer.url + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        assert page.evaluate("window.obeyed") is None


def test_on_a_phone_the_cause_comes_first(opened: Any, explorer: Explorer) -> None:
    page = opened(width=360).page

    for address, cause in (
        (f"{number(explorer, 'demo-search')}/ranks", "asked for in words that no passage has"),
        (f"{number(explorer, 'demo-search')}/questions/7?mode=bm25", "asked for in words that no passage has"),
        ("findings?rule=SP121", "qid"),
    ):
        get(explorer, address)
        page.goto(explorer.url + address)
        row = page.locator(".why-first tbody tr").first
        why, head = row.locator("td").first.bounding_box(), row.locator("th").bounding_box()
        assert cause in row.locator("td").first.inner_text(), address
        assert why["y"] < head["y"] and why["x"] + why["width"] <= 360, address


def test_everything_is_reached_by_keys(opened: Any, explorer: Explorer) -> None:
    page = opened(f"{number(explorer, 'demo-search')}/documents").page

    page.keyboard.press("/")
    page.keyboard.type("harbour")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=harbour**")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/*")
    first = page.url
    page.keyboard.press("n")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("p")
    page.wait_for_url(first)


def test_it_works_without_scripts(opened: Any, explorer: Explorer, browser: Any) -> None:
    shown = open_page(browser, f"{explorer.url}", script=False)
    page = shown.page

    page.get_by_role("link", name="SP121").click()
    page.locator("a[data-row]").first.click()
    assert page.locator("mark").inner_text() == '"3"' and page.locator("ins").count()
    assert shown.quiet, shown.noise
    page.context.close()

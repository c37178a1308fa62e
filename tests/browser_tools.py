"""A headless browser for tests of pages: where it is, and pages that tell what they asked for and complained of."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OWN = Path(sys.prefix) / "browser"
"""Where `make env` puts one on a machine that has none."""
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


def find_browser() -> str | None:
    """The browser that RAGDATA_BROWSER names, else the machine's, else the environment's own; None without any."""
    named = os.environ.get("RAGDATA_BROWSER")
    if named:
        return named
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    return str(OWN / "chromium") if (OWN / "chromium").is_file() else None


@contextmanager
def launched() -> Iterator[Any]:
    """A running browser; skips the test where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make env)")
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        pytest.skip("no headless browser on this machine (make env gets one; RAGDATA_BROWSER=FILE names one)")
    beside = Path(path).parent / "lib"  # what a bare machine lacks
    libraries = {"LD_LIBRARY_PATH": str(beside)} if beside.is_dir() else {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_FLAGS], env={**os.environ, **libraries})
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Opened:
    """A page in the browser: what it asked for beside itself, what it said on the console, the dialogs it opened."""

    page: Any
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @property
    def quiet(self) -> bool:
        """Whether nothing was asked for, and nothing was said."""
        return not (self.requests or self.console or self.dialogs)

    @property
    def noise(self) -> str:
        """All of it."""
        return f"requests {self.requests}, console {self.console}, dialogs {self.dialogs}"

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that can be seen."""
        return [one.inner_text() for one in self.page.locator(selector).all() if one.is_visible()]

    def one(self, selector: str) -> str:
        """The text of the one element."""
        text: str = self.page.locator(selector).inner_text()
        return text


def open_page(
    browser: Any,
    place: Path | str,
    *,
    width: int = 1100,
    scheme: str = "light",
    script: bool = True,
    motion: str = "reduce",
    bypass_csp: bool = False,
) -> Opened:
    """Open a file or an address in a context of its own. A request for anything but the file, or what is below the
    address, is noted, and refused."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        java_script_enabled=script,
        reduced_motion=motion,
        bypass_csp=bypass_csp,
    )
    opened = Opened(context.new_page())
    address = place if isinstance(place, str) else place.as_uri()

    def judge(route: Any) -> None:
        url = route.request.url.split("#")[0]
        if url == address or (isinstance(place, str) and url.startswith(place)):
            route.continue_()
            return
        opened.requests.append(route.request.url)
        route.abort()

    def dismiss(dialog: Any) -> None:
        opened.dialogs.append(dialog.message)
        dialog.dismiss()

    context.route("**/*", judge)
    opened.page.on("console", lambda message: opened.console.append(message.text))
    opened.page.on("pageerror", lambda error: opened.console.append(str(error)))
    opened.page.on("dialog", dismiss)
    opened.page.set_default_timeout(5000)
    opened.page.goto(address)
    return opened


def faults_for_readers(page: Any) -> list[str]:
    """What axe finds wrong with a page for people who cannot see, or use a mouse; the page bypasses its own policy."""
    from importlib.resources import files

    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run()")
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]

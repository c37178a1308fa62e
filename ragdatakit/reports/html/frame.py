"""The frame of every page: one HTML file that loads nothing, in light and dark, for screens, phones and paper."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from ragdatakit.reports.html.parts import escape
from ragdatakit.version import __version__

_PROMISES = (
    "This page is one file and loads nothing from elsewhere.",
    "It comes from this machine, loads nothing from elsewhere, and changes nothing.",
)


def frame(
    title: str,
    body: str,
    *,
    kind: str = "report",
    lead: str = "",
    contents: Sequence[tuple[str, str]] = (),
    pages: Sequence[tuple[str, str, bool]] = (),
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    made: str = "",
) -> bytes:
    """A whole page.

    ``title`` and ``lead`` are texts, ``body`` is HTML (see `html_parts`) without ``style`` attributes. ``kind`` is the
    word after the product's name. ``contents`` are (id of a section, its title). ``pages``, of a page that is served,
    are (address, title, whether it is this one); such a page may send forms to its server. ``scripts`` and ``styles``
    are further files of ``reports/html/`` beside ``page.js`` and ``page.css``, which every page has. ``made`` says
    when, where that shall be there.
    """
    style = "\n".join(_asset(name) for name in ("page.css", *styles))
    codes = [_asset(name) for name in ("page.js", *scripts)]
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {' '.join(map(_digest, codes))}; "
        f"img-src data:; base-uri 'none'; form-action {_quoted('self' if pages else 'none')}"
    )
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(title)} · ragdata {escape(kind)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header class="page-head"><div class="line"><p class="product">ragdata <span>{escape(kind)}</span></p>'
        '<button type="button" id="theme" hidden>Dark</button></div>'
        f'<h1 dir="auto">{escape(title)}</h1>{_lead(lead)}</header>\n{_pages(pages) or _contents(contents)}'
        f'<main id="main" tabindex="-1">\n{body}\n</main>\n'
        f"<footer><p>Made by ragdata {escape(__version__)}{_when(made)}. {_PROMISES[bool(pages)]}</p></footer>\n"
        + "".join(f"<script>{code}</script>\n" for code in codes)
        + "</body>\n</html>\n"
    )
    return page.encode("utf-8")


def _lead(lead: str) -> str:
    return f'<p class="lead" dir="auto">{escape(lead)}</p>' if lead else ""


def _contents(contents: Sequence[tuple[str, str]]) -> str:
    if not contents:
        return ""
    links = "".join(f'<li><a href="#{escape(identity)}">{escape(title)}</a></li>' for identity, title in contents)
    return f'<nav class="contents" aria-label="On this page"><ul>{links}</ul></nav>\n'


def _quoted(word: str) -> str:
    return f"'{word}'"


def _pages(pages: Sequence[tuple[str, str, bool]]) -> str:
    if not pages:
        return ""
    current = ' aria-current="page"'
    links = "".join(
        f'<li><a href="{escape(address)}"{current * here}>{escape(title)}</a></li>' for address, title, here in pages
    )
    return f'<nav class="contents" aria-label="Pages"><ul>{links}</ul></nav>\n'


def _when(made: str) -> str:
    return f" on {escape(made)}" if made else ""


@cache
def _asset(name: str) -> str:
    text = files("ragdatakit.reports").joinpath("html", name).read_text(encoding="utf-8").strip()
    assert "</" not in text
    return text


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

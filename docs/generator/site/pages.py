"""Which pages the site has, made of the pages of the repository: one for each rule and each command.

In the repository the rules of a format, and all commands, are on one page, where they can be read in a row. On the site
each has an address of its own, which findings link to and which stays (``rules/SP201.html``).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from docs.generator.markdown import fences, slug
from docs.generator.workspaces import ROOT

ELSEWHERE = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md", "benchmarks/results.md")
"""Pages outside of docs/ that the site has, too."""

_LINK = re.compile(r"(?<!\\)\]\((?P<target>[^()\s]+)\)")


@dataclass(slots=True)
class Page:
    """A page of the site: where it is, its Markdown, and from which page of the repository it comes."""

    name: str
    text: str
    origin: str
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Pages:
    """All pages, and where on the site the places of the repository's pages are."""

    pages: dict[str, Page] = field(default_factory=dict)
    places: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, name: str, text: str, origin: str) -> Page:
        """A page; links to its origin lead to the first one that was made of it."""
        page = self.pages[name] = Page(name, text, origin)
        self.places.setdefault((origin, ""), name)
        return page


def site_pages() -> Pages:
    """The pages of the site with their links as they are there."""
    pages = Pages()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        origin = path.relative_to(ROOT).as_posix()
        name, text = origin.removeprefix("docs/"), path.read_text()
        if name == "cli.md":
            _split(pages, origin, text, r"^## ragdata (?P<word>[\w-]+)$", lambda word: f"cli/{word}.md")
        elif name.startswith("rules/") and name != "rules/index.md":
            heading = r"^## (?P<word>[A-Z]{2}\d{3}) [\w-]+$"
            _split(pages, origin, text, heading, lambda word: f"rules/{word}.md", _see_also(path))
        else:
            pages.add(name, text, origin)
    for origin in ELSEWHERE:
        pages.add(origin.lower(), (ROOT / origin).read_text(), origin)
    for page in pages.pages.values():
        page.text = _outside_fences(page.text, lambda text, page=page: _captioned(_linked(text, page, pages)))
    return pages


def _see_also(path: Path) -> str:
    """Where to go on from the page of a rule."""
    formats = path.parent.parent / "formats" / path.name
    title = re.findall(r"^# (.*)$", path.read_text(), re.M)[0]
    links = [f"[{title[0].lower()}{title[1:]}]({path.name})"]
    links += [f"[the format](../formats/{path.name})"] if formats.exists() else []
    links += ["[all rules](index.md)", "[fixes](../fixes.md)", "[leaving rules out](../configuration.md)"]
    return f"\n**See also:** {', '.join([*links, '[why is recall 0?](../recipes/why-is-recall-zero.md)'])}.\n"


def _split(pages: Pages, origin: str, text: str, heading: str, name: Callable[[str], str], below: str = "") -> None:
    """A page for each of the sections with such a heading, ``below`` at its end, and one that lists them."""
    sections = list(_sections(text, heading))
    whole = pages.add(origin.removeprefix("docs/"), "", origin)
    rest, listed = [], []
    for title, word, section in sections:
        if not word:
            rest.append(section)
            continue
        page = pages.add(name(word), re.sub(r"^#(#+ )", r"\1", section, flags=re.M) + below, origin)
        whole.parts.append(page.name)
        listed.append(f"- [{title}](#{slug(title)})")
        pages.places[origin, slug(title)] = page.name
        for inner in re.findall(r"^###+ (.*)$", section, re.M):
            pages.places[origin, slug(inner)] = f"{page.name}#{slug(inner)}"
    whole.text = "\n".join([rest[0], *listed, "", *rest[1:]])


def _sections(text: str, heading: str) -> Iterator[tuple[str, str, str]]:
    """The title, the word of the heading (none for other sections), and the text of each part below a ``##``."""
    lines = text.split("\n")
    fenced = {number for block in fences(lines) for number in range(block.first, block.last)}
    starts = [n for n, line in enumerate(lines) if line.startswith("## ") and n not in fenced]
    for start, end in zip([0, *starts], [*starts, len(lines)], strict=True):
        found = re.match(heading, lines[start])
        section = "\n".join(lines[start:end]) + "\n" * (end < len(lines))
        yield lines[start].lstrip("# "), found["word"] if found else "", section


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """A page changed outside of its blocks of code."""
    lines = text.split("\n")
    made, done = [], 0
    for block in fences(lines):
        made += [change("\n".join(lines[done : block.first])), *lines[block.first : block.last]]
        done = block.last
    return "\n".join([*made, change("\n".join(lines[done:]))])


def _captioned(text: str) -> str:
    """Blocks of code with the names of their files above them."""
    return _TITLED.sub(r"\g<ticks>{code-block} \g<language>\n:caption: \g<title>", text)


def _linked(text: str, page: Page, pages: Pages) -> str:
    """The links of a page as they lead on the site; what is not on it is linked no more."""

    def lead(match: re.Match[str]) -> str:
        target, _, anchor = match["target"].partition("#")
        if "://" in target:
            return match[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page.origin), target)) if target else page.origin
        where = pages.places.get((place, anchor)) or pages.places.get((place, ""))
        if where is None and not is_copied(place):
            return _SOURCE
        where = where or place.removeprefix("docs/")
        there, _, inner = where.partition("#")
        inner = inner or ("" if (place, anchor) in pages.places else anchor)
        if there == page.name and inner:
            return f"](#{inner})"
        way = posixpath.relpath(there, posixpath.dirname(page.name) or ".")
        return f"]({way}{f'#{inner}' if inner else ''})"

    text = _LINK.sub(lead, text)
    return re.sub(r"\[([^\[\]]*)" + re.escape(_SOURCE), r"\1", text)


_TITLED = re.compile(r'^(?P<ticks>`{3,})(?P<language>[\w-]+) .*?title="(?P<title>[^"]*)".*$', re.M)
_SOURCE = "](:source:)"


def is_copied(place: str) -> bool:
    """Whether a file of the repository is next to the pages of the site."""
    return place.startswith("docs/") and place.endswith((".ipynb", ".json", ".png", ".svg"))

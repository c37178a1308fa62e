"""Builds the site: ``python -m docs.generator.site.build``, into build/site; opened from the disk, it works, too."""

from __future__ import annotations

import argparse
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import ragdatakit
from docs.generator.site.navigation import NAVIGATION, is_rule, listed_below
from docs.generator.site.pages import Page, Pages, is_copied, site_pages
from docs.generator.workspaces import ROOT

CONFIGURATION = ROOT / "docs/site"
_ALONE = "---\norphan: true\n---\n\n"
"""Says that no list has the page: with 900 rules beside each of 1,000 pages the site would take minutes to build."""


def write_sources(folder: Path) -> None:
    """The pages as Sphinx reads them, with their lists of further pages, in an empty folder."""
    pages = site_pages()
    pages.add("python-reference.md", python_reference(), "")
    for page in pages.pages.values():
        path = folder / page.name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = _ALONE if is_rule(page.name) else ""
        path.write_text(f"{head}{page.text.rstrip()}\n{_lists(page, pages)}")
    for path in (ROOT / "docs").rglob("*"):
        if is_copied(path.relative_to(ROOT).as_posix()):
            there = folder / path.relative_to(ROOT / "docs")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)


def _lists(page: Page, pages: Pages) -> str:
    name = page.name.removesuffix(".md")
    if name == "index":
        return "".join(_list(names, heading) for heading, names in NAVIGATION.items())
    names = [other.removesuffix(".md") for other in pages.pages]
    return _list(listed_below(name, [p.removesuffix(".md") for p in page.parts], names), "")


def _list(names: list[str] | tuple[str, ...], heading: str) -> str:
    """One list of pages, seen beside the text only."""
    if not names:
        return ""
    head = f":caption: {heading}\n" if heading else ""
    return "\n".join(["", "```{toctree}", ":hidden:", f"{head}", *(f"/{name}" for name in names), "```", ""])


def python_reference() -> str:
    """The public names with their signatures and docstrings."""
    parts = [
        "# Python reference\n",
        "What `import ragdatakit` brings, from the docstrings. [The Python interface](python-api.md) has examples.\n",
    ]
    for name in ragdatakit.__all__:
        if name != "__version__":
            kind = "autoclass" if inspect.isclass(getattr(ragdatakit, name)) else "autofunction"
            members = "\n   :members:" if kind == "autoclass" else ""
            parts.append(f"## {name}\n\n```{{eval-rst}}\n.. {kind}:: ragdatakit.{name}{members}\n```\n")
    return "\n".join(parts)


def main() -> int:
    """Write the sources and run Sphinx over them; a warning is an error."""
    words = argparse.ArgumentParser(description="Build the documentation as a site.")
    words.add_argument("out", type=Path, nargs="?", default=ROOT / "build/site")
    words.add_argument("--keep-going", action="store_true", help="show all warnings, and build in spite of them")
    given = words.parse_args()
    sources = given.out.with_name(f"{given.out.name}-sources")
    for folder in (sources, given.out):
        shutil.rmtree(folder, ignore_errors=True)
    write_sources(sources)
    strict = ["--keep-going"] if given.keep_going else ["--fail-on-warning"]
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--nitpicky", "--quiet", "--jobs", "auto", *strict]
    command += ["--conf-dir", str(CONFIGURATION), str(sources), str(given.out)]
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode == 0:
        print(f"the site is in {given.out}; begin at index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

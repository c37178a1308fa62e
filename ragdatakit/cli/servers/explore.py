"""`ragdata explore`: a page on this machine to look into datasets."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from ragdatakit.cli.dataset_options import (
    SHARED_SECTIONS,
    SectionedCommand,
    dataset_names_option,
    dataset_options,
    retriever_words,
    search_options,
)
from ragdatakit.cli.declared_options import DataPath, given, options_of
from ragdatakit.schemas.options import ExploreOptions

_option = options_of(ExploreOptions)


class _Command(SectionedCommand):
    """The command, whose own options come last in its help."""

    sections = SHARED_SECTIONS


@click.command("explore", cls=_Command, short_help="Look into datasets in a browser.")
@click.argument("paths", nargs=-1, type=DataPath(readable=False, path_type=Path), metavar="[PATH]...")
@_option("--port", metavar="N", show_default=True, help="Where to serve the page (0: any port that is free).")
@_option("--memory-limit", metavar="SIZE", help="What tables may take before they go to the disk.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@dataset_names_option
@dataset_options
@search_options
def command(**words: Any) -> int:
    """Look into the datasets at PATH (folders or files; default: here) in a browser, until Ctrl-C.

    Records page by page, searched and sorted; from a question to its gold, the passages beside it and its neighbours in
    the graph, to what a retriever finds and at which rank the gold is; each finding in the lines of its file, with the
    fix as a difference. The page is served on this machine alone, to whoever has its address; nothing is changed.

    \b
    ragdata explore scifact/
    ragdata explore scifact/ --embedder sentence-transformers:all-MiniLM-L6-v2
    """
    from ragdatakit.api.explorer.explore import explore

    options = given(ExploreOptions, words, **retriever_words(words))
    with explore(list(words["paths"]) or [Path()], **options) as explorer:
        click.echo(explorer.url)
        click.echo("Ctrl-C stops it.", err=True)
        with TemporaryDirectory(prefix="ragdata-") as folder:
            if not words["no_browser"] and sys.stdout.isatty():
                webbrowser.open(_leading_to(explorer.url, Path(folder)).as_uri())
            explorer.wait()
    return 0


def _leading_to(url: str, folder: Path) -> Path:
    """A page that leads to the address: in the command line of a browser other users of the machine would read it."""
    page = folder / "explore.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={url}"><a href="{url}">{url}</a>\n', encoding="utf-8")
    return page

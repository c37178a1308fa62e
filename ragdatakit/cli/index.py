"""`ragdata index`: build the index of a dataset, or look after those that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import (
    MODE_WORDS,
    dataset_name_option,
    dataset_options,
    not_empty,
    read_words,
    retriever_words,
    search_options,
)
from ragdatakit.cli.declared_options import DataPath, Known
from ragdatakit.cli.output_format import check_place, chosen_form, output_options
from ragdatakit.cli.progress import terminal_progress
from ragdatakit.cli.standard_output import say_printable, write_output
from ragdatakit.schemas.options import RetrieverOptions
from ragdatakit.schemas.search.modes import ALL_MODES, MODES, TREE_MODES

if TYPE_CHECKING:
    from ragdatakit.api.questions import Retriever

_FORMS = ("text", "json")


@click.command("index", short_help="Build the search index of a dataset.")
@click.argument("path", required=False, type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@click.option(
    "--mode",
    "modes",
    type=Known("mode"),
    metavar="MODE,…",
    default="",
    callback=not_empty,
    help=f"Only for these modes: {MODE_WORDS}",
)
@dataset_name_option
@dataset_options
@search_options
@click.option("--list", "show_list", is_flag=True, help="List the indexes in the cache, and whether they are current.")
@click.option("--prune", is_flag=True, help="Remove the indexes whose datasets have changed or are gone.")
@output_options(_FORMS)
def command(**words: Any) -> int:
    """Build the index of the dataset at PATH (default: here), as far as it is not there yet.

    The index lies in the user's cache (RAGDATA_CACHE_DIR), never in the dataset. `ragdata retrieve` and `ragdata eval`
    build it, too, where it is missing; an unchanged dataset is not read again, a changed one is indexed anew.

    \b
    ragdata index scifact/
    ragdata index notes/ --from text --chunk-size 200
    ragdata index --list
    """
    words["as_json"] = chosen_form(words, _FORMS) == "json"
    check_place(words["output_file"], (words["path"] or Path(),), read=read_words(words))
    if words["show_list"] or words["prune"]:
        return _look_after(words)
    from ragdatakit.reports.retrieval import index_json, index_lines

    modes = [mode.strip() for mode in words["modes"].split(",") if mode.strip()]
    retriever = opened(words["path"] or Path(), words, modes, tell=say_printable if words["as_json"] else None)
    available = retriever.modes()
    named = [mode for mode in ALL_MODES if mode not in available and not retriever.lack(mode)]
    others = (mode for mode in MODES if mode not in (*available, *named, *TREE_MODES))
    lacks = {mode: lack for mode in others if (lack := retriever.lack(mode))}
    if retriever.advice:
        retriever.index.note(retriever.advice)
    summary = retriever.index.summary()
    if words["as_json"]:
        write_output([index_json(summary, [*available, *named], lacks)], words["output_file"], "json")
    else:
        _print(index_lines(summary, available, named, lacks, _colour(words)), words)
    return 0


def opened(
    path: Path, words: dict[str, Any], modes: list[str], tell: Callable[[str], None] | None = say_printable
) -> Retriever:
    """A retriever over the dataset, with all parts of its index that these modes need (none given: all that it can
    have). Progress is shown on a terminal, and ``tell`` gets what is built anew and why."""
    from ragdatakit.api import search

    with terminal_progress() as progress:
        options = {**retriever_words(words), "progress": progress, "tell": tell}
        return search.opened(path, RetrieverOptions(**options), modes)


def _colour(words: dict[str, Any]) -> bool:
    return words["output_file"] is None and wants_colour()


def _print(lines: Iterable[str], words: dict[str, Any]) -> None:
    """Lines, whatever the encoding of stdout."""
    write_output([f"{line}\n".encode("utf-8", "backslashreplace") for line in lines], words["output_file"])


def _look_after(words: dict[str, Any]) -> int:
    from ragdatakit.api.search import stored_indexes
    from ragdatakit.reports.retrieval import stored_json, stored_lines

    if words["path"] is not None or words["index_dir"] is not None:
        raise click.UsageError("--list and --prune are about the cache: they take no PATH and no --index-dir")
    if words["show_list"] and words["prune"]:
        raise click.UsageError("give --list or --prune, not both")
    if words["show_list"]:
        indexes = stored_indexes()
        if words["as_json"]:
            write_output([stored_json(indexes)], words["output_file"], "json")
        else:
            _print(stored_lines(indexes, _colour(words)), words)
        return 0
    removed = stored_indexes(prune=True)
    if words["as_json"]:
        write_output([stored_json(removed, removed=True)], words["output_file"], "json")
        return 0
    from ragdatakit.schemas.texts import size
    from ragdatakit.visible_text import visible_text

    total = size(sum(index.bytes for index in removed))
    count = len(removed)
    lines = [f"removed {visible_text(index.folder)} ({index.state})" for index in removed]
    lines.append(f"Removed {count:,} index{'es' * (count != 1)}, {total}." if count else "Nothing to remove.")
    _print(lines, words)
    return 0

"""`ragdata fetch`: a public dataset into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli.declared_options import DataPath, Known, Size, given, options_of
from ragdatakit.schemas.options import FetchOptions

if TYPE_CHECKING:
    from ragdatakit.api.hub import Fetched, Listing


_option = options_of(FetchOptions)


@click.command("fetch", short_help="Fetch a public dataset.")
@click.argument("source", type=Known("dataset"), required=False, metavar="NAME")
@click.argument("folder", required=False, metavar="DIR", type=DataPath(file_okay=False, path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List the datasets that have a name.")
@_option("--include", multiple=True, metavar="PATTERN", help="Only these files of the repository; may be repeated.")
@_option("--exclude", multiple=True, metavar="PATTERN", help="Not these files of the repository; may be repeated.")
@_option("--max-size", "max_bytes", type=Size(), metavar="SIZE", help="Refuse to load more than this.")
@_option("--overwrite", help="Replace DIR and all that is in it.")
@click.option("--dry-run", is_flag=True, help="Show the files and their sizes, load nothing.")
def command(**words: Any) -> None:
    """Fetch a public dataset into DIR, which must be empty or not exist yet.

    NAME is one of `ragdata fetch --list`, or hf:OWNER/NAME[@REVISION] for any dataset of the Hugging Face hub. Files
    come at one commit, are checked, and are put in place together; the commit and each file's SHA-256 go into
    DIR/ragdata.json. Run the command again to resume an interrupted download. HF_ENDPOINT, HF_TOKEN and
    HF_HUB_OFFLINE hold.

    \b
    ragdata fetch beir/scifact data
    ragdata fetch hf:OWNER/NAME@v1.0 data --include '*.jsonl' --include README.md
    """
    if words["listing"]:
        _show_list()
        return
    source, folder = words["source"], words["folder"]
    if not source:
        raise click.UsageError("Missing argument 'NAME'; `ragdata fetch --list` lists those that there are.")
    if folder is None and not words["dry_run"]:
        raise click.UsageError("Missing argument 'DIR'.")
    from ragdatakit.api.hub import fetch, listing
    from ragdatakit.cli.progress import terminal_progress

    if words["dry_run"]:
        _show_plan(*listing(source, FetchOptions(**given(FetchOptions, words))))
        return
    with terminal_progress() as progress:
        fetched = fetch(source, folder, **given(FetchOptions, words, progress=progress))
    _show(source, fetched)


def _show(source: str, fetched: Fetched) -> None:
    from ragdatakit.schemas.public_datasets import PUBLIC_DATASETS

    size = sum(f["bytes"] for f in fetched.files)
    files = f"{len(fetched.files):,} file{'s' if len(fetched.files) != 1 else ''}, {size:,} bytes"
    at = f"{fetched.repo} at {fetched.revision[:12]}"
    if fetched.already:
        click.echo(f"{fetched.folder} holds {at} already ({files})")
    else:
        click.echo(f"fetched {at} into {fetched.folder} ({files})")
    for dataset in PUBLIC_DATASETS:
        if dataset.name == source:
            click.echo(f"licence: {dataset.licence}")
    if fetched.left_out:
        click.echo(f"left out: {', '.join(fetched.left_out)} (DIR has its own)")
    click.echo(f"\nTry: ragdata validate {click.format_filename(fetched.folder)}")


def _show_plan(repo: str, listing: Listing) -> None:
    click.echo(f"{repo} at {listing.revision}")
    width = max(len(f"{file.bytes:,}") for file in listing.files)
    for file in listing.files:
        click.echo(f"  {file.bytes:>{width},}  {file.name}")
    click.echo(f"{len(listing.files):,} files, {listing.bytes:,} bytes; nothing was loaded")


def _show_list() -> None:
    from ragdatakit.schemas.public_datasets import PUBLIC_DATASETS

    width = max(len(dataset.name) for dataset in PUBLIC_DATASETS)
    sized = max(len(dataset.title) for dataset in PUBLIC_DATASETS)
    for dataset in PUBLIC_DATASETS:
        click.echo(f"{dataset.name:<{width}}  {dataset.title:<{sized}}  hf:{dataset.repo}")
    click.echo("\nAny other dataset of the Hugging Face hub: ragdata fetch hf:OWNER/NAME DIR")

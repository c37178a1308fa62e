"""`ragdata fetch`: a public dataset into a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli.validate import DataPath

if TYPE_CHECKING:
    from ragdatakit.hub.fetch import Fetched, FetchRequest, Listing

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class DownloadSize(click.ParamType[int]):
    """A number of bytes such as ``500MB`` or ``2GiB``; none is too small."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(value).lower())
        if match is None or match.group(2) not in _UNITS:
            self.fail(f"{value!r} is not a size such as 500MB or 2GiB", param, ctx)
        return int(float(match.group(1)) * _UNITS[match.group(2)])


@click.command("fetch", short_help="Fetch a public dataset.")
@click.argument("source", required=False, metavar="NAME")
@click.argument("folder", required=False, metavar="DIR", type=DataPath(file_okay=False, path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List the datasets that have a name.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only these files (hf: sources); may be repeated.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Not these files (hf: sources); may be repeated.")
@click.option("--max-size", type=DownloadSize(), metavar="SIZE", help="Refuse to load more than this.")
@click.option("--overwrite", is_flag=True, help="Replace DIR and all that is in it.")
@click.option("--dry-run", is_flag=True, help="Show the files and their sizes, load nothing.")
def command(**words: Any) -> None:
    """Fetch a public dataset into DIR, which must be empty or not exist yet.

    NAME is one of `ragdata fetch --list`, or hf:OWNER/NAME[@REVISION] for any dataset of the Hugging Face hub. Files
    come at one commit, are checked, and are put in place together; the commit and each file's SHA-256 go into
    DIR/ragdata.json. The same command again goes on where a run was interrupted. HF_ENDPOINT, HF_TOKEN and
    HF_HUB_OFFLINE hold.

    \b
    ragdata fetch arag/2wikimultihop data
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
    request = _request(source, words)
    if words["dry_run"]:
        from ragdatakit.hub.fetch import list_files

        _show_plan(request, list_files(request))
        return
    _show(source, _fetch(request, folder, words["overwrite"]))


def _request(source: str, words: dict[str, Any]) -> FetchRequest:
    from ragdatakit.hub.client import checked_repo
    from ragdatakit.hub.fetch import FetchRequest

    include, exclude = words["include"], words["exclude"]
    if source.startswith("hf:"):
        repo, _, revision = source.removeprefix("hf:").partition("@")
        return FetchRequest(
            repo=checked_repo(repo),
            revision=revision or "main",
            include=include,
            exclude=exclude,
            max_bytes=words["max_size"],
        )
    from ragdatakit.schemas.public_datasets import public_dataset

    dataset = public_dataset(source)
    if include or exclude:
        raise click.UsageError(f"--include and --exclude choose among the files of hf: sources; {source} is whole")
    return FetchRequest(
        repo=dataset.repo,
        revision=dataset.revision,
        include=tuple(dataset.files),
        folder=dataset.folder,
        sha256=dataset.files,
        name=dataset.name,
        max_bytes=words["max_size"],
    )


def _fetch(request: FetchRequest, folder: Path, overwrite: bool) -> Fetched:
    from ragdatakit.cli.progress import terminal_progress
    from ragdatakit.hub.fetch import fetch

    with terminal_progress() as progress:
        return fetch(request, folder, overwrite, progress)


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


def _show_plan(request: FetchRequest, listing: Listing) -> None:
    click.echo(f"{request.repo} at {listing.revision}")
    width = max(len(f"{file.bytes:,}") for file in listing.files)
    for file in listing.files:
        click.echo(f"  {file.bytes:>{width},}  {file.name}")
    click.echo(f"{len(listing.files):,} files, {listing.bytes:,} bytes; nothing was loaded")


def _show_list() -> None:
    from ragdatakit.schemas.public_datasets import PUBLIC_DATASETS

    width = max(len(dataset.name) for dataset in PUBLIC_DATASETS)
    for dataset in PUBLIC_DATASETS:
        click.echo(f"{dataset.name:<{width}}  {dataset.format}  {dataset.title}  (hf:{dataset.repo})")
    click.echo("\nAny other dataset of the Hugging Face hub: ragdata fetch hf:OWNER/NAME DIR")

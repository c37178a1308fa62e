"""`ragdata verify`: whether the files of a folder are those that its manifest names."""

from __future__ import annotations

from pathlib import Path

import click

from ragdatakit.cli.dataset_options import follow_links_option
from ragdatakit.cli.declared_options import DataPath
from ragdatakit.schemas.texts import many


@click.command("verify", short_help="Check files against their manifest.")
@click.argument("folder", default=".", type=DataPath(file_okay=False, path_type=Path), metavar="[DIR]")
@click.option("--source", type=DataPath(path_type=Path), metavar="SRC", help="Also check what it was converted from.")
@follow_links_option
def command(folder: Path, source: Path | None, follow_links: bool) -> int:
    """Compare the files below DIR (default: here) with the manifests (ragdata.json) that ragdata wrote there.

    Exit code: 0 all are as they were written, 1 some are missing or changed, 2 there is no manifest. Files that no
    manifest lists are reported, and are no fault.
    """
    from ragdatakit.api.read import verify
    from ragdatakit.cli.progress import terminal_progress
    from ragdatakit.visible_text import visible_text

    with terminal_progress() as progress:
        found = verify(folder, source=source, follow_links=follow_links, progress=progress)
    for difference in found:
        facts = f": expected {difference.expected}, found {difference.found}" if difference.expected else ""
        click.echo(f"{difference.state:9} {visible_text(difference.path)}{facts}")
    faults = sum(d.state != "unlisted" for d in found)
    if faults:
        click.echo(f"{many(faults, 'file')} not as written.")
        return 1
    click.echo("All files are as they were written.")
    return 0

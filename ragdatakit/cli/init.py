"""`ragdata init`: a minimal valid dataset."""

from __future__ import annotations

from pathlib import Path

import click

from ragdatakit.cli.declared_options import Known


@click.command("init", short_help="Write a minimal dataset.")
@click.argument("format_name", type=Known("format"), metavar="FORMAT")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def command(format_name: str, folder: Path) -> None:
    """Write a minimal valid dataset of FORMAT into DIR (which must be empty or not exist yet)."""
    from ragdatakit.api.reference import init
    from ragdatakit.visible_text import visible_text

    for path in init(format_name, folder):
        click.echo(f"wrote {visible_text(str(path))}")
    click.echo(f"\nTry: ragdata validate {visible_text(str(folder))}")

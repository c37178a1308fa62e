"""`ragdata init`: a minimal valid dataset."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("init", short_help="Write a minimal dataset.")
@click.argument("format_name", metavar="FORMAT")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def command(format_name: str, folder: Path) -> None:
    """Write a minimal valid dataset of FORMAT into DIR (which must be empty or not exist yet)."""
    from ragdatakit.files.visible_text import visible_text
    from ragdatakit.files.writing import write_whole
    from ragdatakit.outputs.staging import StagedFolder
    from ragdatakit.schemas import get_format
    from ragdatakit.schemas.errors import RagdataError

    fmt = get_format(format_name)
    if folder.exists() and any(folder.iterdir()):
        raise RagdataError(f"{folder} is not empty; give a new folder")
    with StagedFolder(folder) as staged:
        for name, content in fmt.example.items():
            path = staged.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content.encode())
        staged.commit()
    for name in fmt.example:
        click.echo(f"wrote {visible_text(str(folder / name))}")
    click.echo(f"\nTry: ragdata validate {visible_text(str(folder))}")

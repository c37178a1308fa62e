"""`ragdata schema`: JSON Schema documents."""

from __future__ import annotations

from pathlib import Path

import click

from ragdatakit.cli.standard_output import write_output


@click.command("schema", short_help="Print JSON Schemas.")
@click.argument("format_name", metavar="FORMAT", required=False)
@click.argument("kind", metavar="[KIND]", required=False)
@click.option(
    "--all",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the schemas of whole files, and a catalog.json for editors, there.",
)
@click.option("--base-url", metavar="URL", help="What the URLs in catalog.json begin with (default: DIR).")
def command(format_name: str | None, kind: str | None, folder: Path | None, base_url: str | None) -> None:
    """Print the JSON Schema (2020-12) of the records of one kind of file, such as `light-splade triplets`.

    Without KIND, all kinds of the format are printed as one object. A record is one line, one element of an array, one
    row. With --all, the schemas are those of whole files, which is what editors want: an array of records where the
    file is an array.
    """
    import orjson

    from ragdatakit.api.reference import schema, write_schemas

    if folder is not None:
        *written, catalog = write_schemas(folder, format_name or "", base_url)
        click.echo(f"wrote {len(written)} schemas and {catalog.name} to {folder}")
        return
    if base_url is not None:
        raise click.UsageError("--base-url is for --all DIR")
    if format_name is None:
        raise click.UsageError("name a format (see `ragdata formats`), or give --all DIR")
    write_output([orjson.dumps(schema(format_name, kind or ""), option=orjson.OPT_INDENT_2) + b"\n"], None, "json")

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

    from ragdatakit.schemas import get_format
    from ragdatakit.schemas.json_schema import file_schema

    if folder is not None:
        _write(folder, format_name, base_url)
        return
    if base_url is not None:
        raise click.UsageError("--base-url is for --all DIR")
    if format_name is None:
        raise click.UsageError("name a format (see `ragdata formats`), or give --all DIR")
    fmt = get_format(format_name)
    if kind is not None:
        file = fmt.file(kind)
        if not file.records:
            raise click.UsageError(f"{kind} files of {fmt.name} hold no JSON records")
        document: object = file_schema(fmt, file)
    else:
        document = {f.kind: file_schema(fmt, f) for f in fmt.files if f.records}
    write_output([orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"], None, "json")


def _write(folder: Path, format_name: str | None, base_url: str | None) -> None:
    import orjson

    from ragdatakit.files.writing import write_whole
    from ragdatakit.schemas import all_formats, get_format
    from ragdatakit.schemas.catalog import CATALOG, documents

    folder.mkdir(parents=True, exist_ok=True)
    formats = (get_format(format_name),) if format_name else all_formats()
    written = documents(formats, base_url if base_url is not None else folder.resolve().as_uri())
    for name, document in written.items():
        write_whole(folder / name, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    click.echo(f"wrote {len(written) - 1} schemas and {CATALOG} to {folder}")

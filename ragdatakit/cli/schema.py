"""`ragdata schema`: JSON Schema documents."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema", short_help="Print JSON Schemas.")
@click.argument("format_name", metavar="FORMAT", required=False)
@click.argument("kind", metavar="[KIND]", required=False)
@click.option("--all", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Write every schema there.")
def command(format_name: str | None, kind: str | None, folder: Path | None) -> None:
    """Print the JSON Schema (2020-12) of the records of one kind of file, such as `light-splade triplets`.

    Without KIND, all kinds of the format are printed as one object.
    """
    import orjson

    from ragdatakit.schemas import all_formats, get_format
    from ragdatakit.schemas.json_schema import file_schema
    from ragdatakit.tables.writing import write_whole

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for fmt in (get_format(format_name),) if format_name else all_formats():
            for file in fmt.files:
                if file.records:
                    data = orjson.dumps(file_schema(fmt, file), option=orjson.OPT_INDENT_2) + b"\n"
                    write_whole(folder / f"{fmt.name}.{file.kind}.schema.json", data)
        return
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
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))

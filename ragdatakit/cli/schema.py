"""`ragdata schema` and `ragdata export`: data described in the standards of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragdatakit.cli.dataset_options import dataset_name_option, dataset_options, read_words
from ragdatakit.cli.declared_options import DataPath, Known, given, options_of
from ragdatakit.cli.output_format import check_place
from ragdatakit.cli.standard_output import write_output
from ragdatakit.schemas.options import ExportOptions

_option = options_of(ExportOptions)


@click.command("schema", short_help="Print JSON Schemas.")
@click.argument("format_name", type=Known("format"), metavar="FORMAT", required=False)
@click.argument("kind", type=Known("kind"), metavar="[KIND]", required=False)
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


@click.command("export", short_help="Describe a dataset for catalogues and loaders.")
@click.argument("path", required=False, type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@_option("--to", show_default=True, help="Croissant 1.0, or Data Package 2.")
@_option("--name", metavar="TEXT", help="What it is called (default: as the dataset).")
@_option("--description", metavar="TEXT", help="What it is.")
@_option("--license", metavar="TEXT", help="The URL or the short name of its license.")
@_option("--url", metavar="URL", help="Where its page is.")
@_option("--cite", metavar="TEXT", help="How to cite it.")
@_option("--version", metavar="TEXT", help="Its version.")
@_option("--memory-limit", metavar="SIZE", help="What the database may take before it goes to the disk.")
@click.option(
    "--output-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write there instead."
)
@dataset_name_option
@dataset_options
def export_command(**words: Any) -> int:
    """Describe the dataset at PATH (default: here) for catalogues and loaders: its files with size and digest, the
    columns of their records with their types, what identifies a record, what names which other.

    Paths in it are relative to the dataset: the description belongs into its folder.

    \b
    ragdata export scifact/ --license CC-BY-NC-2.0 --output-file scifact/croissant.json
    ragdata export scifact/ --to datapackage --output-file scifact/datapackage.json
    """
    import orjson

    from ragdatakit.api.descriptions.export import export

    path = words["path"] or Path()
    check_place(words["output_file"], (path,), read=read_words(words))
    described = export(path, **given(ExportOptions, words, **read_words(words)))
    data = orjson.dumps(described, option=orjson.OPT_INDENT_2) + b"\n"
    write_output([data], words["output_file"], "json")
    return 0

"""`ragdata config` and `ragdata init-config`: which settings of a project hold, and a first file of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import config_options, configured
from ragdatakit.cli.declared_options import DataPath
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.standard_output import write_output

_FORMS = ("text", "json")
_MOST_NAMED = 3


@click.command("config", short_help="Show which settings hold.")
@click.argument("path", required=False, default=".", type=DataPath(readable=False, path_type=Path), metavar="[PATH]")
@config_options
@output_options(_FORMS)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of ragdata.toml, for editors.")
def command(path: Path, **words: Any) -> None:
    """Show which settings of the project hold for PATH and the datasets there, and where each comes from.

    \b
    ragdata config data/
    ragdata config --schema > ragdata.schema.json
    """
    import orjson

    from ragdatakit.api.configuration import config, config_schema
    from ragdatakit.reports.applied_settings import applied_lines

    form = chosen_form(words, _FORMS)
    file: Path | None = words["output_file"]
    if words["schema"]:
        write_output([orjson.dumps(config_schema(), option=orjson.OPT_INDENT_2) + b"\n"], file, "json")
        return
    found = config(path, **configured(words))
    if form == "json":
        pieces = [orjson.dumps(found.as_dict(), option=orjson.OPT_INDENT_2, default=str) + b"\n"]
    else:
        pieces = [f"{line}\n".encode("utf-8", "backslashreplace") for line in applied_lines(found, wants_colour())]
    write_output(pieces, file, form)


@click.command("init-config", short_help="Write a first ragdata.toml.")
@click.argument("folder", required=False, default=".", type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--overwrite", is_flag=True, help="Replace a ragdata.toml that is there.")
def init_command(folder: Path, overwrite: bool) -> None:
    """Write a ragdata.toml into DIR, with a section for each dataset that lies there.

    Tables of no known format whose columns have usual names, such as chunks with id and page_content, have one, too: as
    a comment, where their check would fail.
    """
    from ragdatakit.api.configuration import init_config
    from ragdatakit.visible_text import visible_text

    written = init_config(folder, overwrite)
    has_none = "" if written.sections or written.left_out else ", without a section: no dataset lies there yet"
    click.echo(f"wrote {visible_text(str(written.path))}{has_none}")
    if written.left_out:
        number = len(written.left_out)
        names = ", ".join(visible_text(str(path)) for path in written.left_out[:_MOST_NAMED])
        more = f" and {number - _MOST_NAMED:,} more" if number > _MOST_NAMED else ""
        there = (
            "1 table is there as a comment, which says"
            if number == 1
            else f"{number:,} tables are there as comments, which say"
        )
        click.echo(f"{there} why: {names}{more}")

"""`ragdata formats`: what is understood."""

from __future__ import annotations

from typing import Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import config_options, configured
from ragdatakit.cli.declared_options import Known
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.standard_output import write_output

_FORMS = ("text", "json")


@click.command("formats", short_help="List the formats.")
@click.argument("name", type=Known("format"), required=False, metavar="[FORMAT]")
@config_options
@output_options(_FORMS)
def command(name: str | None, **words: Any) -> None:
    """List the formats with their files, or show one of them."""
    from ragdatakit.api.reference import declared_formats, formats
    from ragdatakit.reports.reference import format_lines

    form, out = chosen_form(words, _FORMS), words["output_file"]
    if form == "json":
        import orjson

        write_output(
            [orjson.dumps(formats(name or "", **configured(words)), option=orjson.OPT_INDENT_2) + b"\n"], out, form
        )
        return
    lines = format_lines(declared_formats(name or "", **configured(words)), out is None and wants_colour())
    write_output((f"{line}\n".encode() for line in lines), out)

"""`ragdata formats`: what is understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.standard_output import write_output

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format

_FORMS = ("text", "json")


@click.command("formats", short_help="List the formats.")
@click.argument("name", required=False, metavar="[FORMAT]")
@output_options(_FORMS)
def command(name: str | None, **words: Any) -> None:
    """List the formats with their files, or show one of them."""
    from ragdatakit.schemas import all_formats, get_format

    formats = (get_format(name),) if name else all_formats()
    form, out = chosen_form(words, _FORMS), words["output_file"]
    if form == "json":
        import orjson

        listed = [
            {
                "name": f.name,
                "title": f.title,
                "description": f.description,
                "homepage": f.homepage,
                "profiles": list(f.profiles),
                "files": [{"kind": k.kind, "title": k.title, "container": k.container} for k in f.files],
                "rules": len(f.rules),
            }
            for f in formats
        ]
        write_output([orjson.dumps(listed, option=orjson.OPT_INDENT_2) + b"\n"], out, form)
        return
    colour = out is None and wants_colour()
    write_output((f"{line}\n".encode() for line in _lines(formats, colour)), out)


def _lines(formats: Sequence[Format], colour: bool) -> Iterator[str]:
    for number, fmt in enumerate(formats):
        if number:
            yield ""
        yield f"{click.style(fmt.name, bold=True) if colour else fmt.name}  {fmt.homepage}"
        yield f"  {fmt.description}"
        if fmt.profiles:
            yield f"  profiles: {', '.join(fmt.profiles)}"
        kinds = max(len(kind.kind) for kind in fmt.files)
        titles = max(len(kind.title) for kind in fmt.files)
        for kind in fmt.files:
            named = [pair for layout in fmt.layouts for pair in {**layout.patterns, **layout.loose}.items()]
            patterns = [p for p, k in named if k == kind.kind]
            shown = ", ".join(list(dict.fromkeys(patterns))[:2])
            yield f"  {kind.kind:<{max(kinds, 15)}} {kind.title:<{max(titles, 24)}} {shown}".rstrip()

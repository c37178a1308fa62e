"""`ragdata formats`: what is understood."""

from __future__ import annotations

import click

from ragdatakit.cli.standard_output import write_output


@click.command("formats", short_help="List the formats.")
@click.argument("name", required=False, metavar="[FORMAT]")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(name: str | None, output_format: str) -> None:
    """List the formats with their files, or show one of them."""
    from ragdatakit.schemas import all_formats, get_format

    formats = (get_format(name),) if name else all_formats()
    if output_format == "json":
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
        write_output([orjson.dumps(listed, option=orjson.OPT_INDENT_2) + b"\n"], None, "json")
        return
    for number, fmt in enumerate(formats):
        if number:
            click.echo()
        click.secho(fmt.name, bold=True, nl=False)
        click.echo(f"  {fmt.homepage}")
        click.echo(f"  {fmt.description}")
        if fmt.profiles:
            click.echo(f"  profiles: {', '.join(fmt.profiles)}")
        kinds = max(len(kind.kind) for kind in fmt.files)
        titles = max(len(kind.title) for kind in fmt.files)
        for kind in fmt.files:
            named = [pair for layout in fmt.layouts for pair in {**layout.patterns, **layout.loose}.items()]
            patterns = [p for p, k in named if k == kind.kind]
            shown = ", ".join(list(dict.fromkeys(patterns))[:2])
            click.echo(f"  {kind.kind:<{max(kinds, 15)}} {kind.title:<{max(titles, 24)}} {shown}".rstrip())

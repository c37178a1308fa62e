"""Help with the options of a command in sections, each below what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import click


class SectionedCommand(click.Command):
    """A command whose help has its options below the headings of `sections`: heading and names of parameters. What is
    in none of them stands last, as Options."""

    sections: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [
            (param.name, param.get_help_record(ctx))
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
        ]
        heading_of = {name: heading for heading, names in self.sections.items() for name in names}
        for heading in (*self.sections, "Options"):
            listed = [record for name, record in records if record and heading_of.get(name or "", "Options") == heading]
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)

"""`ragdata explain`: one rule in full."""

from __future__ import annotations

import click

from ragdatakit.cli import wants_colour


@click.command("explain", short_help="Explain one rule.")
@click.argument("rule")
def command(rule: str) -> None:
    """Explain a rule, given its code (SP201) or its name (dangling-qid).

    The beginning of a code (SP2, SP) or of a name (dangling) lists the rules that begin so.
    """
    from ragdatakit.api.reference import explanation

    click.echo("\n".join(explanation(rule, wants_colour())))

"""`ragdata explain`: one rule in full."""

from __future__ import annotations

import textwrap

import click


@click.command("explain", short_help="Explain one rule.")
@click.argument("rule")
def command(rule: str) -> None:
    """Explain a rule, given its code (SP201) or its name (dangling-qid).

    The beginning of a code (SP2, SP) or of a name (dangling) lists the rules that begin so.
    """
    from ragdatakit.cli.rules import rule_lines
    from ragdatakit.schemas import all_formats, find_rules

    rules = find_rules(rule)
    if len({found.name for found, _ in rules}) > 1:
        click.echo(f"{len(rules)} rules begin with {rule}:\n")
        click.echo("\n".join(rule_lines(rules, None)))
        return
    for number, (found, fmt) in enumerate(rules):
        if number:
            click.echo()
        click.secho(f"{found.code} {found.name}", bold=True, nl=False)
        comma = ";" if found.severities else ","
        click.echo(f"  ({found.severity_words()}{comma} {fmt.name if fmt else 'any format'}; since {found.since})")
        if found.status != "stable":
            replaced = f"; {found.replaced_by} has taken its place" if found.replaced_by else ""
            click.echo(f"\n{found.status.capitalize()}{replaced}.")
        click.echo()
        click.echo(_wrap(found.summary))
        click.echo()
        if fmt is None:
            _shared(found.name, found.consequence(), all_formats())
        elif isinstance(found.upstream, str):
            click.echo(_wrap(f"What {fmt.title} does: {found.upstream}."))
        else:
            click.echo(f"What {fmt.title} does:")
            for profile, text in found.upstream.items():
                click.echo(_wrap(f"{profile}: {text}", "  "))
        if fmt is None:
            _thresholds(found.summary)
        click.echo()
        click.echo(_wrap(f"What to do: {found.hint}."))
        for label, text in (("Bad", found.bad), ("Good", found.good)):
            if text:
                click.echo(f"\n{label}:")
                click.echo(textwrap.indent(text, "  "))
        if found.source:
            click.echo(f"\nSource: {found.source}")


def _shared(name: str, consequence: str, formats: tuple[object, ...]) -> None:
    click.echo(_wrap(f"What happens: {consequence}."))
    for fmt in formats:
        adopted = fmt.adopts.get(name)  # type: ignore[attr-defined]
        if adopted is None:
            continue
        told = adopted.upstream
        text = told if isinstance(told, str) else "; ".join(f"{p}: {t}" for p, t in told.items())
        level = adopted.severity or "no fault"
        click.echo(_wrap(f"{fmt.name} ({level}): {text}", "  "))  # type: ignore[attr-defined]


def _thresholds(summary: str) -> None:
    """The thresholds of a quality rule, with their defaults."""
    from ragdatakit.quality.options import thresholds_in

    told = thresholds_in(summary)
    if told:
        click.echo("\nThresholds (--quality-option NAME=VALUE, or [quality] in ragdata.toml):")
    for name, default, meaning in told:
        click.echo(_wrap(f"{name} = {default:g}: {meaning}", "  "))


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text.replace("..", "."), 100, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent)
    )

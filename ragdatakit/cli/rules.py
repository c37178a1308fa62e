"""`ragdata rules`: every rule on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragdatakit.cli.standard_output import write_output

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format, Rule


@click.command("rules", short_help="List the rules.")
@click.option("--format", "format_name", metavar="NAME", help="Only its rules, and those that all share.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(format_name: str | None, output_format: str) -> None:
    """List all rules: code, severity, name, what is wrong."""
    from ragdatakit.schemas import all_rules, get_format
    from ragdatakit.schemas.evaluation_rules import LETTERS

    chosen = get_format(format_name).name if format_name else None
    rules = [
        (r, f)
        for r, f in all_rules()
        if chosen is None or (f.name == chosen if f is not None else not r.code.startswith(LETTERS))
    ]
    if output_format == "json":
        import orjson

        listed = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": _severity(rule, fmt, chosen),
                "severities": dict(rule.severities),
                "format": fmt.name if fmt else None,
                "summary": rule.summary,
                "upstream": rule.upstream if isinstance(rule.upstream, str) else dict(rule.upstream),
                "hint": rule.hint,
            }
            for rule, fmt in rules
        ]
        write_output([orjson.dumps(listed, option=orjson.OPT_INDENT_2) + b"\n"], None, "json")
        return
    width = max(len(rule.name) for rule, _ in rules)
    for rule, fmt in rules:
        severity = _severity(rule, fmt, chosen)
        click.echo(f"{rule.code}  {severity:<7}  {rule.name:<{width}}  {rule.summary}")


def _severity(rule: Rule, fmt: Format | None, chosen: str | None) -> str:
    """What a rule is where no profile is chosen; a shared one as the chosen format takes it ("-": no fault there)."""
    if fmt is not None:
        return rule.severity_for(fmt.default_profiles)
    from ragdatakit.schemas import get_format

    adopted = get_format(chosen).adopts.get(rule.name) if chosen is not None else None
    return rule.severity if adopted is None else adopted.severity or "-"

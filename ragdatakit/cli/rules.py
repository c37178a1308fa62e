"""`ragdata rules`: every rule on a line."""

from __future__ import annotations

import click


@click.command("rules", short_help="List the rules.")
@click.option("--format", "format_name", metavar="NAME", help="Only the rules of this format, and the shared ones.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(format_name: str | None, output_format: str) -> None:
    """List all rules: code, severity, name, what is wrong."""
    from ragdatakit.schemas import all_rules, get_format

    chosen = get_format(format_name).name if format_name else None
    rules = [(r, f) for r, f in all_rules() if chosen is None or f is None or f.name == chosen]
    if output_format == "json":
        import orjson

        listed = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity,
                "format": fmt.name if fmt else None,
                "summary": rule.summary,
                "upstream": rule.upstream if isinstance(rule.upstream, str) else dict(rule.upstream),
                "hint": rule.hint,
            }
            for rule, fmt in rules
        ]
        click.echo(orjson.dumps(listed, option=orjson.OPT_INDENT_2))
        return
    width = max(len(rule.name) for rule, _ in rules)
    for rule, _ in rules:
        click.echo(f"{rule.code}  {rule.severity:<7}  {rule.name:<{width}}  {rule.summary}")

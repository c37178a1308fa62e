"""`ragdata rules`: every rule on a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ragdatakit.cli.old_spellings import old_spelling
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.standard_output import write_output

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format, Rule

_FORMS = ("text", "json")


@click.command("rules", short_help="List the rules.")
@click.argument("chosen", nargs=-1, metavar="[RULE|FORMAT]...")
@old_spelling("--format", "rules NAME", "format_name")
@output_options(_FORMS)
def command(chosen: tuple[str, ...], format_name: str | None = None, **words: Any) -> None:
    """List rules: code, severity, name, what is wrong.

    All of them, or those of a code or name or of its beginning (SP201, SP2, dangling), or of a format.

    \b
    ragdata rules SP2
    ragdata rules beir dangling
    """
    from ragdatakit.schemas import FORMATS, all_rules, find_rules, get_format

    form = chosen_form(words, _FORMS)
    fmt_name = get_format(format_name).name if format_name else None
    formats = [name for name in chosen if name in FORMATS]
    if fmt_name is None and len(formats) == 1:
        fmt_name = formats[0]
    of_formats = [pair for pair in all_rules() if _is_of(pair, [fmt_name] if fmt_name else formats)]
    names = [name for name in chosen if name not in FORMATS]
    wanted = {rule.code for name in names for rule, _ in find_rules(name)}
    rules = [pair for pair in of_formats if not names or pair[0].code in wanted]
    if not rules:
        raise click.UsageError(f"{fmt_name or ', '.join(formats)} has no rule {' or '.join(names)}")
    if form == "json":
        write_output([_json(rules, fmt_name)], words["output_file"], form)
        return
    lines = rule_lines(rules, fmt_name)
    write_output((f"{line}\n".encode() for line in lines), words["output_file"], form)


def _is_of(pair: tuple[Rule, Format | None], formats: Sequence[str]) -> bool:
    """Whether a rule is one of these formats, or one that all of them share."""
    from ragdatakit.schemas.evaluation_rules import LETTERS

    rule, fmt = pair
    return not formats or (fmt.name in formats if fmt is not None else not rule.code.startswith(LETTERS))


def rule_lines(rules: Sequence[tuple[Rule, Format | None]], fmt_name: str | None) -> Iterator[str]:
    """A line for each rule, as bad as the format takes it (None: as it is of itself)."""
    width = max(len(rule.name) for rule, _ in rules)
    for rule, fmt in rules:
        yield f"{rule.code}  {_severity(rule, fmt, fmt_name):<7}  {rule.name:<{width}}  {rule.summary}"


def _json(rules: Sequence[tuple[Rule, Format | None]], fmt_name: str | None) -> bytes:
    import orjson

    listed = [
        {
            "code": rule.code,
            "name": rule.name,
            "severity": _severity(rule, fmt, fmt_name),
            "severities": dict(rule.severities),
            "format": fmt.name if fmt else None,
            "summary": rule.summary,
            "upstream": rule.upstream if isinstance(rule.upstream, str) else dict(rule.upstream),
            "hint": rule.hint,
            "source": rule.source,
            "since": rule.since,
            "status": rule.status,
            "replaced_by": rule.replaced_by or None,
        }
        for rule, fmt in rules
    ]
    return orjson.dumps(listed, option=orjson.OPT_INDENT_2) + b"\n"


def _severity(rule: Rule, fmt: Format | None, chosen: str | None) -> str:
    """What a rule is where no profile is chosen; a shared one as the chosen format takes it ("-": no fault there)."""
    if fmt is not None:
        return rule.severity_for(fmt.default_profiles)
    from ragdatakit.schemas import get_format

    adopted = get_format(chosen).adopts.get(rule.name) if chosen is not None else None
    return rule.severity if adopted is None else adopted.severity or "-"

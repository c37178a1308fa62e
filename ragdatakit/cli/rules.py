"""`ragdata rules`: every rule on a line; `ragdata explain`: one in full."""

from __future__ import annotations

from typing import Any

import click

from ragdatakit.cli import wants_colour
from ragdatakit.cli.dataset_options import config_options, configured
from ragdatakit.cli.declared_options import Known, old_spelling
from ragdatakit.cli.output_format import chosen_form, output_options
from ragdatakit.cli.standard_output import write_output

_FORMS = ("text", "json")


@click.command("rules", short_help="List the rules.")
@click.argument("chosen", nargs=-1, type=Known("rule", "format"), metavar="[RULE|FORMAT]...")
@old_spelling("--format", "rules NAME", "format_name")
@config_options
@output_options(_FORMS)
def command(chosen: tuple[str, ...], format_name: str | None = None, **words: Any) -> None:
    """List rules: code, severity, name, what is wrong; [*] is what `validate --fix` repairs, [-] what it repairs with
    --unsafe-fixes.

    All of them, or those of a code or name or of its beginning (SP201, SP2, dangling), or of a format.

    \b
    ragdata rules SP2
    ragdata rules beir dangling
    """
    from ragdatakit.api.reference import chosen_rules
    from ragdatakit.reports.reference import rule_dict, rule_lines

    form = chosen_form(words, _FORMS)
    found, of_format = chosen_rules(*chosen, format_name=format_name or "", **configured(words))
    if form == "json":
        import orjson

        listed = [rule_dict(rule, fmt, of_format) for rule, fmt in found]
        write_output([orjson.dumps(listed, option=orjson.OPT_INDENT_2) + b"\n"], words["output_file"], form)
        return
    write_output((f"{line}\n".encode() for line in rule_lines(found, of_format)), words["output_file"], form)


@click.command("explain", short_help="Explain one rule.")
@click.argument("rule", type=Known("rule"))
@click.option(
    "--web",
    is_flag=True,
    help="Print only the address of its page on the web (of the site at RAGDATA_DOCS_URL, if set).",
)
@config_options
def explain_command(rule: str, web: bool, **words: Any) -> None:
    """Explain a rule, given its code (SP201) or its name (dangling-qid).

    The beginning of a code (SP2, SP) or of a name (dangling) lists the rules that begin so.
    """
    from ragdatakit.api.reference import explanation, web_addresses

    if web:
        click.echo("\n".join(web_addresses(rule, **configured(words))))
    else:
        click.echo("\n".join(explanation(rule, wants_colour(), **configured(words))))

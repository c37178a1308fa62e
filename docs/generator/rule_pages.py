"""The pages of the rules: one per format, one for the shared rules, and a table of all."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, fence, plain, rule_link, rule_page, rule_title, table
from docs.generator.sightings import sighting
from ragdatakit.reports.reference import FIXED_BY, fix_mark
from ragdatakit.schemas import all_formats, all_rules
from ragdatakit.schemas.declarations import Format, Rule
from ragdatakit.schemas.rules.evaluation import LETTERS as EVALUATION
from ragdatakit.schemas.rules.evaluation import RULES as OF_EVALUATION
from ragdatakit.schemas.rules.quality import LETTERS as QUALITY
from ragdatakit.schemas.rules.quality import RULES as OF_QUALITY
from ragdatakit.schemas.rules.shared import RULES as SHARED
from ragdatakit.schemas.rules.tables import LETTERS as TABLES
from ragdatakit.schemas.rules.tables import RULES as OF_TABLES

NOTE = "<!-- Written by docs/generate.py from the declarations: change those, and run `make docs`. -->\n"


def rule_pages() -> dict[str, str]:
    """Path below docs/ to text."""
    pages = {f"rules/{fmt.name}.md": _format_page(fmt) for fmt in all_formats()}
    pages["rules/shared.md"] = _shared_page()
    pages["rules/evaluation.md"] = _evaluation_page()
    pages["rules/quality.md"] = _quality_page()
    pages["rules/tables.md"] = _tables_page()
    pages["rules/index.md"] = _index_page()
    return pages


def _format_page(fmt: Format) -> str:
    parts = [
        NOTE,
        f"# Rules of {fmt.title}\n",
        (
            f"What a [{fmt.title}](../formats/{fmt.name}.md) dataset can have wrong, and what {fmt.title} makes of it. "
            f"Codes begin with {fmt.letters}; `ragdata explain CODE` shows the same.\n"
        ),
        *(_section(rule, fmt) for rule in fmt.rules),
    ]
    if fmt.adopts:
        rows = _adopted_rows(fmt)
        parts += [
            f"## Shared rules with a meaning of their own in {fmt.title}\n",
            "All [shared rules](shared.md) apply. These mean something else here than elsewhere:\n",
            table(("rule", "severity here", f"what {fmt.title} does"), rows) + "\n",
        ]
    return "\n".join(parts)


def _adopted_rows(fmt: Format) -> Iterator[list[str]]:
    for rule in SHARED:
        adopted = fmt.adopts.get(rule.name)
        if adopted is not None:
            found = adopted.upstream
            text = found if isinstance(found, str) else "; ".join(f"{p}: {t}" for p, t in found.items())
            yield [rule_link(rule, None, "", rule_title(rule)), adopted.severity or "no fault", plain(text)]


def _shared_page() -> str:
    return "\n".join(
        [
            NOTE,
            "# Rules that all formats share\n",
            (
                "About bytes, compression and JSON that readers read differently. A format may give such a rule "
                "another severity, or another consequence: both are said here.\n"
            ),
            *(_section(rule, None) for rule in SHARED),
        ]
    )


def _evaluation_page() -> str:
    return "\n".join(
        [
            NOTE,
            "# Rules of an evaluation\n",
            (
                "What `ragdata eval` finds wrong in a dataset when it is searched, whatever its format. Codes begin "
                f"with {EVALUATION}; `ragdata explain CODE` shows the same. `ragdata validate` does not know them.\n"
            ),
            *(_section(rule, None) for rule in OF_EVALUATION),
        ]
    )


def _quality_page() -> str:
    return "\n".join(
        [
            NOTE,
            "# Rules of quality\n",
            (
                "What loads but lowers the quality of a dataset, whatever its format. "
                "`ragdata validate --quality` looks for it; [quality](../quality.md) says how, and has the thresholds. "
                f"Codes begin with {QUALITY}; `ragdata explain CODE` shows the same.\n"
            ),
            *(_section(rule, None) for rule in OF_QUALITY),
        ]
    )


def _tables_page() -> str:
    return "\n".join(
        [
            NOTE,
            "# Rules of named tables\n",
            (
                "What is wrong in the tables that `[[table]]` of the settings "
                "[names](../configuration.md#tables-of-no-known-format). "
                f"Codes begin with {TABLES}; `ragdata explain CODE` shows the same.\n"
            ),
            *(_section(rule, None) for rule in OF_TABLES),
        ]
    )


def _index_page() -> str:
    rows = (
        [
            rule_link(rule, fmt, ""),
            rule.name,
            rule.severity_words(),
            f"[{fmt.title if fmt else 'any'}]({rule_page(rule, fmt)}.md)",
            code(mark) if (mark := fix_mark(rule)) else "",
            plain(rule.summary),
            rule.since
            + ("" if rule.status == "stable" else f", {rule.status}")
            + (f": {rule.replaced_by}" if rule.replaced_by else ""),
        ]
        for rule, fmt in all_rules()
    )
    pages = {rule_page(rule, fmt): fmt.title if fmt else rule_page(rule, fmt) for rule, fmt in all_rules()}
    return "\n".join(
        [
            NOTE,
            "# Rules\n",
            (
                "*error*: the framework's loader refuses, drops or misreads the data, or its documentation forbids it. "
                "*warning*: it loads, and is risky. *info*: worth knowing (shown with `-v`). A released code is never "
                "used for another thing. `--select` and `--ignore` take codes, beginnings of codes (`SP2`) and names. "
                "`[*]`: [`--fix`](../fixes.md) repairs it; `[-]`: it does so with `--unsafe-fixes` only.\n"
            ),
            f"A page for each: {', '.join(f'[{title}]({page}.md)' for page, title in pages.items())}.\n",
            table(("code", "name", "severity", "format", "fix", "what is wrong", "since"), rows) + "\n",
        ]
    )


def _section(rule: Rule, fmt: Format | None) -> str:
    parts = [f"## {rule_title(rule)}\n", f"*{rule.severity_words()}* · {plain(rule.summary)}\n"]
    who = fmt.title if fmt is not None else "a loader"
    if isinstance(rule.upstream, str):
        what = "What follows" if rule.code.startswith((EVALUATION, QUALITY, TABLES)) else f"What {who} does"
        parts.append(f"**{what}:** {plain(_sentence(rule.upstream))}\n")
    else:
        parts.append(f"**What {who} does:**\n")
        parts += [f"- {profile}: {plain(_sentence(text))}" for profile, text in rule.upstream.items()]
        parts.append("")
        missing = [p for p in fmt.profiles if p not in rule.upstream] if fmt is not None else []
        if missing:
            parts.append(f"Not a fault for {', '.join(missing)}.\n")
    if fmt is None:
        parts += _meanings(rule)
    parts.append(f"**What to do:** {plain(_sentence(rule.hint))}\n")
    parts += [f"**{FIXED_BY[how]}:** {plain(_sentence(what))}\n" for how, what in rule.fixes.items()]
    for label, text in (("Bad", rule.bad), ("Good", rule.good)):
        if text:
            parts += [f"{label}:\n", fence(text) + "\n"]
    if seen := sighting(rule, fmt):
        parts += ["As `ragdata validate` says it:\n", fence(seen) + "\n"]
    if rule.source:
        parts.append(f"Source: {code(rule.source)}\n")
    return "\n".join(parts)


def _meanings(rule: Rule) -> list[str]:
    """What a shared rule means for each format that gives it another meaning."""
    lines = []
    for fmt in all_formats():
        adopted = fmt.adopts.get(rule.name)
        if adopted is not None:
            found = adopted.upstream
            text = found if isinstance(found, str) else "; ".join(f"{p}: {t}" for p, t in found.items())
            lines.append(f"- {fmt.title} ({adopted.severity or 'no fault'}): {plain(_sentence(text))}")
    return [*lines, ""] if lines else []


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…", "?", "!")) else f"{text}."

"""The generated blocks within written pages, by name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from textwrap import dedent

from docs.generator import conversions
from docs.generator.format_tables import formats_table
from docs.generator.markdown import fence, plain, rule_link, table
from docs.generator.settings import settings_table
from docs.generator.workspaces import ROOT
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.rules.evaluation import RULES as OF_EVALUATION
from ragdatakit.schemas.rules.shared import RULES as SHARED


def block(name: str) -> str:
    """The text of a block: one of the tables below, ``source PATH NAME`` or ``file PATH``."""
    word, *words = name.split()
    makers: dict[str, Callable[..., str]] = {
        "formats": lambda: formats_table("docs/formats/", "docs/rules/"),
        "canonical-tables": conversions.canonical_table,
        "conversion-options": conversions.options_table,
        "table-columns": conversions.columns_table,
        "conversion-matrix": conversions.matrix_table,
        "conversion-proof": conversions.proof_table,
        "evaluation-rules": _evaluation_rules,
        "settings": settings_table,
        "fixes": _fixes,
        "source": _source,
        "file": _file,
    }
    return makers[word](*words)


def _evaluation_rules() -> str:
    rows = ([rule_link(rule, None, "rules/"), rule.severity, plain(rule.summary)] for rule in OF_EVALUATION)
    return table(("code", "severity", "what is wrong"), rows)


def _fixes() -> str:
    """A table for each format, of its rules that have a fix."""
    parts = []
    for title, rules in {"Any format": SHARED, **{fmt.title: fmt.rules for fmt in all_formats()}}.items():
        fmt = next((fmt for fmt in all_formats() if fmt.title == title), None)
        rows = [
            [rule_link(rule, fmt, "rules/"), rule.name, how, plain(what)]
            for rule in rules
            for how, what in rule.fixes.items()
        ]
        if rows:
            parts.append(f"### {title}\n\n{table(('code', 'name', 'fix', 'what it does'), rows)}")
    return "\n\n".join(parts)


def _file(path: str) -> str:
    language = {"json": "json", "ndjson": "json", "jsonl": "json", "py": "python"}.get(path.rsplit(".", 1)[-1], "text")
    return f"`{path}`\n\n{fence((ROOT / path).read_text(), language)}"


def _source(path: str, name: str) -> str:
    """A function, a method, or a call that has this name among its arguments (such as a rule), as it stands."""
    text = (ROOT / path).read_text()
    for node in ast.walk(ast.parse(text)):
        if _is(node, name):
            excerpt = dedent(ast.get_source_segment(text, node, padded=True) or "")
            return f"`{path}`\n\n{fence(excerpt, 'python')}"
    raise ValueError(f"{path} has no {name}")


def _is(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Call):
        named = [k.value for k in node.keywords if k.arg in ("name", "rule")]
        heads = [a.value.split() for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        return any(isinstance(v, ast.Constant) and v.value == name for v in named) or any(name in h for h in heads)
    return False

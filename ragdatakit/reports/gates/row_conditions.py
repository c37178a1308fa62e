"""Conditions on rows (``row_condition``): plain comparisons of columns with values, never code.

Great Expectations writes them as objects, and wrote them as expressions before, which pandas runs. Expressions that are
no more than comparisons are taken as such: parsed here, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.errors import RagdataError

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "IN",
    ast.NotIn: "NOT_IN",
}
_NULLITY = {"isnull": True, "isNull": True, "isna": True, "notnull": False, "notNull": False, "notna": False}
_LONGEST = 2000
_FORM = '{"type": "comparison", "column": {"name": "split"}, "operator": "==", "parameter": "train"}'


def plain_condition(given: Any) -> dict[str, Any]:
    """A condition in the form of an object. Raises `RagdataError` for one that is no comparison of columns."""
    if isinstance(given, str):
        given = _parsed(given)
        if given is None:
            raise RagdataError(f"a row_condition that is code is not run; write it as {_FORM}")
    list(condition_columns(given))
    assert isinstance(given, dict)
    return given


def condition_columns(condition: Any) -> Iterator[str]:
    """The columns that a condition names. Raises `RagdataError` for what is no condition."""
    kind = condition.get("type") if isinstance(condition, dict) else None
    if kind in ("and", "or") and isinstance(condition.get("conditions"), list):
        for part in condition["conditions"]:
            yield from condition_columns(part)
        return
    column = condition.get("column") if isinstance(condition, dict) else None
    name = column.get("name") if isinstance(column, dict) else None
    if kind not in ("comparison", "nullity") or not isinstance(name, str):
        raise RagdataError("its row_condition is not a comparison, a test for null, or these joined by and, or")
    parameter = condition.get("parameter")
    plain = parameter if isinstance(parameter, list) else [parameter]
    if not all(isinstance(value, str | int | float | bool | None) for value in plain):
        raise RagdataError("its row_condition compares with something that is neither a text nor a number")
    yield name


def _parsed(text: str) -> dict[str, Any] | None:
    """``split == "train" and grade > 1``, ``col("title").notNull()`` as an object; None for anything else."""
    if len(text) > _LONGEST:
        return None
    try:
        return _condition(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _condition(node: ast.expr) -> dict[str, Any] | None:
    if isinstance(node, ast.BoolOp):
        return _joined("and" if isinstance(node.op, ast.And) else "or", node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        return _joined("and" if isinstance(node.op, ast.BitAnd) else "or", [node.left, node.right])
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        name, operator = _column(node.left), _OPERATORS[type(node.ops[0])]
        value = ast.literal_eval(node.comparators[0])
        if isinstance(value, tuple | set):
            value = list(value)
        if name is None or isinstance(value, list) != (operator in ("IN", "NOT_IN")):
            return None
        return {"type": "comparison", "column": {"name": name}, "operator": operator, "parameter": value}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        name = _column(node.func.value)
        if name is not None and node.func.attr in _NULLITY:
            return {"type": "nullity", "column": {"name": name}, "is_null": _NULLITY[node.func.attr]}
    return None


def _joined(kind: str, parts: list[ast.expr]) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = []
    for part in parts:
        found = _condition(part)
        if found is None:
            return None
        conditions += found["conditions"] if found["type"] == kind else [found]
    return {"type": kind, "conditions": conditions}


def _column(node: ast.expr) -> str | None:
    """``split`` and ``col("split")``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "col" and len(node.args) == 1:
        name = node.args[0]
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return None

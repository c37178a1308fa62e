"""Cells that a declaration cannot judge: the attributes and names of GFM-RAG's tables."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

from ragdatakit.schemas.cells import MISSING, parts_of

CellRules = Callable[[str], frozenset[str]]
"""The names of the rules that the text of a cell breaks."""

_NONE: frozenset[str] = frozenset()
_SURROGATE = re.compile("[\ud800-\udfff]")


def coded_rules(format_name: str, kind: str, column: str) -> tuple[tuple[str, ...], CellRules] | None:
    """The rules that code says of the cells of a column, and the code; None where there is none."""
    if format_name != "gfm-rag" or kind not in ("nodes", "relations", "edges"):
        return None
    if column != "attributes":
        return None if kind == "edges" else (("untrimmed-name",), _name_rules)
    if kind == "edges":
        return _OF_EDGES, edge_attribute_rules
    return ("empty-attributes", *_ATTRIBUTES), lambda cell: attribute_rules(cell, "empty-attributes")


_ATTRIBUTES = (
    "attributes-not-literal",
    "attributes-not-dict",
    "attributes-repeated-key",
    "attributes-surrogate",
    "attributes-escaped-slash",
)


_OF_EDGES = ("empty-edge-attributes", "edge-attributes-like-missing", "attributes-not-literal")


def edge_attribute_rules(cell: str) -> frozenset[str]:
    """What is wrong with the attributes of an edge, which are parsed and not looked at."""
    found = attribute_rules(cell, "empty-edge-attributes") & {"empty-edge-attributes", "attributes-not-literal"}
    if cell in MISSING and "attributes-not-literal" in found:
        return frozenset(["edge-attributes-like-missing"])
    return frozenset(found)


def _name_rules(cell: str) -> frozenset[str]:
    padded = cell != "" and (cell[0].isspace() or cell[-1].isspace())
    return frozenset(["untrimmed-name"]) if padded else _NONE


def attribute_rules(cell: str, empty: str) -> frozenset[str]:
    """What is wrong with an attributes cell, which the loaders give to ``ast.literal_eval``."""
    if cell in ("{}", "None") or _is_plain_json(cell):
        return _NONE
    if not cell.strip():
        return frozenset([empty])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know
            tree = ast.parse(cell.lstrip(" \t"), mode="eval")
            value = ast.literal_eval(tree)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return frozenset(["attributes-not-literal"])
    if value is not None and not isinstance(value, dict):
        empty_one = isinstance(value, list | tuple | set | str | bytes) and not value
        return _NONE if empty_one else frozenset(["attributes-not-dict"])
    texts = [part for part in parts_of(value) if isinstance(part, str)]
    found = {
        "attributes-repeated-key": any(map(_repeats, ast.walk(tree))),
        "attributes-surrogate": any(map(_SURROGATE.search, texts)),
        "attributes-escaped-slash": any("\\/" in t for t in texts) and _has_escaped_slash(cell),
    }
    return frozenset(name for name, is_so in found.items() if is_so)


def _is_plain_json(cell: str) -> bool:
    """Whether JSON and Python read the cell the same; False where that is not plain to see."""
    if not cell.startswith("{") or any(word in cell for word in ("\\", "true", "false", "null")):
        return False
    try:
        _PLAIN.decode(cell)
    except (ValueError, TypeError, RecursionError):
        return False
    return cell.count("{") + cell.count("[") < 100  # Python takes no more than 200


def _distinct(pairs: Any) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


_PLAIN = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_distinct)


def _repeats(node: ast.AST) -> bool:
    if not isinstance(node, ast.Dict):
        return False
    keys = [ast.literal_eval(key) for key in node.keys if key is not None]
    return len(set(keys)) != len(keys)


def _has_escaped_slash(cell: str) -> bool:
    return any(pair[1] == "/" for pair in re.findall(r"\\.", cell, re.DOTALL))

"""Attribute cells as Python reads them: every row of the table, the quick ways against Python's own, nothing missed."""

from __future__ import annotations

import ast
import json
import random
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.files.containers.python_literals import judge

TABLE = [
    # cell, kind, type or reason, JSON readers take it, JSON readers see the same
    ("{}", "empty", "dict", True, True),
    (" \t{}", "empty", "dict", True, True),
    ("None", "none", "None", False, False),
    ("[]", "empty", "list", True, True),
    ("()", "empty", "tuple", False, False),
    ("set()", "empty", "set", False, False),
    ('""', "empty", "str", True, False),
    ('{"a": "x", "n": 1, "l": [1]}', "dict", "dict", True, True),
    ('{"a": {"b": [1.5, -2e3, {}]}}', "dict", "dict", True, True),
    ("{'a': 'x', 'b': None, 'c': True}", "dict", "dict", False, False),
    ("{'a': 'x'}", "dict", "dict", False, False),
    ('{"a": (1, 2)}', "dict", "dict", False, False),
    ('{"a": 1,}', "dict", "dict", False, False),
    ('{1: "a"}', "dict", "dict", False, False),
    ('{"a": 1e999}', "dict", "dict", True, False),
    ('{"a": "x" "y"}', "dict", "dict", False, False),
    ('{"a": 1} # said', "dict", "dict", False, False),
    ('{"a": b"\\d"}', "dict", "dict", False, False),
    ('{\n"a": 1}\n', "dict", "dict", True, True),
    ("", "invalid", "it is empty", False, False),
    ("  ", "invalid", "it is empty", False, False),
    ("# none", "invalid", "the syntax is wrong", False, False),
    ('{"a": true}', "invalid", "the word true", True, False),
    ('{"a": null}', "invalid", "the word null", True, False),
    ('{"a": [false]}', "invalid", "the word false", True, False),
    ('{"a": NaN}', "invalid", "the word NaN", False, False),
    ("{'a': nan}", "invalid", "the word nan", False, False),
    ("{'a': np.float64(1.0)}", "invalid", "a call", False, False),
    ("{'a': datetime.date(2020, 1, 1)}", "invalid", "a call", False, False),
    ("{'a': f'{b}'}", "invalid", "an f-string", False, False),
    ("{'a': 1 + 1}", "invalid", "an expression", False, False),
    ("{**{}}", "invalid", "an expression", False, False),
    ("1if 1else 2", "invalid", "an expression", False, False),
    ("__import__('os').system('true')", "invalid", "a call", False, False),
    ("unknown", "invalid", "the word unknown", False, False),
    ("w" * 60, "invalid", f"the word {'w' * 39}…", False, False),
    ("5", "other", "int", True, False),
    ("-1.5", "other", "float", True, False),
    ("1+2j", "other", "complex", False, False),
    ("True", "other", "bool", False, False),
    ("...", "other", "ellipsis", False, False),
    ('["x"]', "other", "list", True, True),
    ("('x',)", "other", "tuple", False, False),
    ("{'x'}", "other", "set", False, False),
    ('"x"', "other", "str", True, False),
    ("b'x'", "other", "bytes", False, False),
    ('{"a": "x', "invalid", "a quote is never closed", False, False),
    ('{"a": ["x"]', "invalid", "a bracket is never closed", False, False),
    ('{"a": ["x"}', "invalid", "brackets that do not match", False, False),
    ('{"a": 1}}', "invalid", "brackets that do not match", False, False),
    ("{'a': 'it's'}", "invalid", "a quote is never closed", False, False),
    ('"{"a": "b"}"', "invalid", "the syntax is wrong", False, False),
    ('{"a" 1}', "invalid", "the syntax is wrong", False, False),
    ('{"a": 01}', "invalid", "a number with leading zeros", False, False),
    ('{"a": "\\x4"}', "invalid", "an escape that is not a character", False, False),
    ('{"a": "x\0"}', "invalid", "a NUL character", False, False),
    ('{"a": "\ud800"}', "invalid", "a lone surrogate", True, False),
    ("{[]: 1}", "invalid", "a list, dict or set as a key or in a set", False, False),
    ('{"a": ' + "1" * 4301 + "}", "invalid", "a number of more than 4300 digits", False, False),
    ('{"a": ' + "1" * 4300 + "}", "dict", "dict", True, True),
    ('{"a":' * 200 + "1" + "}" * 200, "dict", "dict", True, True),
    ('{"a":' * 201 + "1" + "}" * 201, "invalid", "nested too deeply", True, False),
    ("[" * 5000, "invalid", "nested too deeply", False, False),
    ("-" * 100_000 + "1", "invalid", "nested too deeply", False, False),
    ("1+" * 100_000 + "1", "invalid", "nested too deeply", False, False),
    ("[" + "1," * 400_000 + "]", "unjudged", "too many elements", False, False),
]


@pytest.mark.parametrize(
    ("cell", "kind", "words", "is_json", "portable"), TABLE, ids=[repr(row[0])[:40] for row in TABLE]
)
def test_every_row_of_the_table(cell: str, kind: str, words: str, is_json: bool, portable: bool) -> None:
    found = judge(cell)

    assert (found.kind, found.type or found.reason, found.is_json, found.portable) == (kind, words, is_json, portable)
    assert not (found.surrogate or found.escaped_slash or found.repeated)


@pytest.mark.parametrize(
    ("cell", "surrogate", "escaped_slash", "repeated"),
    [
        ('{"a": "\\ud83d\\ude00"}', "\\ud83d", False, ()),
        ('{"\\ude00": 1}', "\\ude00", False, ()),
        ("[{'a': ('\\ud800',)}]", "\\ud800", False, ()),
        ('{"a": "\\\\ud800"}', "", False, ()),
        ("{'a': '\\U0001f600'}", "", False, ()),
        ('{"a": "x\\/y"}', "", True, ()),
        ('{"a": ["x\\/y"]}', "", True, ()),
        ('{"a": "x\\\\/y"}', "", False, ()),
        ('{"a": "x/y"} # \\/', "", False, ()),
        ('{"a": 1, "a": 2}', "", False, ("a",)),
        ("{'a': 1, \"\\x61\": 2, 'b': {1: 1, 1.0: 2, True: 3}}", "", False, ("a", 1.0, True)),
        ('[{"a": ":", "a": 2}]', "", False, ("a",)),
        ('{"a": {"a": 1}}', "", False, ()),
    ],
)
def test_what_is_odd_in_a_literal(cell: str, surrogate: str, escaped_slash: bool, repeated: Any) -> None:
    found = judge(cell)

    assert (found.surrogate, found.escaped_slash, found.repeated) == (surrogate, escaped_slash, repeated)
    assert not (found.clean and (surrogate or escaped_slash or repeated))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('{"content": "x"}', True),
        ("{'a': [1, 'content'], \"content\": \"it's\"}", True),
        ('{"\\u0063ontent": "x"}', True),
        ('{"content": ""}', False),
        ('{"content": 5}', False),
        ('{"a": {"content": "x"}}', False),
        ("{'a': '\"content\": \"x\"'}", False),
        ('{"a": "content"}', False),
        ('{"content\': ": 1}', False),
        ("[]", False),
        ("{}", False),
        ('{"content": true}', False),
        ("(", False),
    ],
)
def test_a_content_that_is_text(cell: str, expected: bool) -> None:
    assert judge(cell).has_content == expected


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.lists(inner, max_size=2).map(tuple),
    ),
    max_leaves=6,
)


@given(value=VALUES)
def test_what_python_writes_is_read_back(value: Any) -> None:
    found = judge(repr(value))

    assert found.value == value
    assert found.kind not in ("invalid", "unjudged")


def test_no_warning_and_no_change_of_the_filters() -> None:
    before = warnings.filters[:]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for cell in (
            '{"a": "\\d\\/"}',
            "1or 2",
            '{"a": "\\477"}',
            "0x1for x in y",
            'b"\\u0041\\N"',
            "'\\\n\\8'",
            "1if1",
            "0x1fif_",
        ):
            judge(cell)

    assert (seen, warnings.filters) == ([], before)


SEEDS = [
    {"k": "some text", "n": 12},
    {"k": "it's", "n": None, "b": True},
    {"content": 'He said "no"', "year": 1999.5},
    {"content": "naïve \u2028 日本 \\ / \n \t", "l": ["a", 1, [2, "x"]]},
    {"d": {"e": "f", "g": {"h": 1}}, "t": []},
    {"k": "", "": "x"},
    {},
    None,
    {"emoji": "\U0001f600"},
    {"k": -0.0, "m": 1e22, "big": 10**30},
]
PIECES = [
    *"{}[]()\"'\\,: \t\n\r/0123456789.-+eEnuxbrfNT#_",
    "\\u",
    "\\ud800",
    "\\/",
    "None",
    "true",
    "null",
    "'k': ",
    "é",
]
PIECES += [
    '"k": ',
    "\\U0001F600",
    "\\x41",
    "\\'",
    '\\"',
    '"k":1,',
    "nan",
    "}{",
    "\x00",
    "\x7f",
    "😀",
    "1e99",
    "01",
    "''",
    '""',
]


def mutated_cells(count: int, seed: int) -> list[str]:
    """Cells as two libraries write them, most of them with a few characters put in, taken out or doubled."""
    dice = random.Random(seed)
    written = [f(v) for v in SEEDS for f in (repr, json.dumps, lambda v: json.dumps(v, ensure_ascii=False))]
    written += [json.dumps(v, separators=(",", ":")) for v in SEEDS]
    cells = []
    for _ in range(count):
        cell = dice.choice(written)
        for _ in range(dice.choice([0, 0, 1, 1, 1, 2, 3])):
            at = dice.randrange(len(cell) + 1)
            kind = dice.randrange(4)
            if kind == 0:
                cell = cell[:at] + dice.choice(PIECES) + cell[at:]
            elif kind == 1:
                cell = cell[:at] + cell[at + dice.randrange(1, 4) :]
            elif kind == 2:
                cell = cell[:at] + dice.choice(PIECES) + cell[at + 1 :]
            else:
                end = min(len(cell), at + dice.randrange(1, 14))
                cell = cell[:end] + cell[at:end] + cell[end:]
        cells.append(cell)
    return cells


def as_python_reads(cell: str) -> Any:
    """The value, or the kind of error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.literal_eval(cell)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return ValueError


def test_judged_as_python_reads() -> None:
    for cell in mutated_cells(6000, seed=1):
        found, value = judge(cell), as_python_reads(cell)
        assert (found.kind == "invalid") == (value is ValueError), cell
        assert found.kind == "invalid" or repr(found.value) == repr(value) or value == found.value, cell

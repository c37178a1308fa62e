"""Attributes of GFM-RAG's tables: Python literals in the files, JSON objects in the canonical tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.containers.python_literals import Judgement, judge

Note = Callable[[str, object], None]
"""Called with what was changed, and an example."""

NOTHING = "{}"
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LITERALS = {json: python for python, json in _WORDS.items()}
_TEXT = r'"(?:[^"\\]|\\.)*"'
_PYTHON_WORD = re.compile(rf"{_TEXT}|\b(?:True|False|None)\b", re.DOTALL)
_TOKEN = re.compile(rf"{_TEXT}|-?[0-9][0-9.eE+-]*|true|false|null", re.DOTALL)
_CHARACTER = r'[^"\\\x00-\x1f\ud800-\udfff]'
_MEMBER = rf'("{_CHARACTER}*+"):(?:"(?:{_CHARACTER}++|\\["\\bfnrt])*+"|-?(?:0|[1-9][0-9]{{0,14}})(?:\.[0-9]{{1,15}})?)'
_MEMBERS = re.compile(_MEMBER)
_PLAIN_OBJECT = re.compile(rf"\{{{_MEMBER}(?:,{_MEMBER})*\}}")
"""Texts and short numbers, written so that JSON and Python read the same."""
_MISREAD = re.compile(r"\\(?:/|u[dD][89a-fA-F])")
_LONGEST_INTEGER = 4300
_NUMERIC = frozenset(b"%c" % digit for digit in b"-0123456789")
_EXACT = 1 << 53
_SHORT = 200


def json_of_cell(cell: str, note: Note) -> str | None:
    """The JSON object of a cell, as compact text; None where it says nothing, or cannot be read (noted).

    Numbers and texts stay as they are written wherever JSON and Python write them alike.
    """
    if cell in (NOTHING, "None", ""):
        return None
    return _plain_json(cell) or _json_of_odd_cell(cell, note)


def _plain_json(cell: str) -> str | None:
    """A cell of which there is nothing to say; columns often repeat short ones."""
    return _short_plain_json(cell) if len(cell) < _SHORT else _judged_json(cell)


def _judged_json(cell: str) -> str | None:
    judged = judge(cell)
    is_plain = judged.portable and judged.kind == "dict" and not judged.repeated and not judged.surrogate
    return json_text.compact(cell) if is_plain else None


_short_plain_json = lru_cache(maxsize=1 << 14)(_judged_json)


def _json_of_odd_cell(cell: str, note: Note) -> str | None:
    judged = judge(cell)
    if judged.kind in ("none", "empty"):
        return None
    if judged.kind != "dict":
        note("no dictionary that Python could read", cell)
        return None
    return _reworded(cell, judged) or json.dumps(
        _json_value(judged.value, note), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def _reworded(cell: str, judged: Judgement) -> str | None:
    """The cell with JSON's words for Python's, where that makes it JSON of the same value."""
    if judged.surrogate:  # which JSON and Python read in two ways, or UTF-8 has not
        return None
    text = _PYTHON_WORD.sub(lambda found: _WORDS.get(found[0], found[0]), cell)
    try:
        same = json.loads(text) == judged.value
    except (ValueError, RecursionError):
        return None
    return json_text.compact(text) if same and not judged.repeated and _all_finite(judged.value) else None


def _all_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(type(k) is str and _all_finite(v) for k, v in value.items())
    return all(map(_all_finite, value)) if isinstance(value, list) else True


def _json_value(value: Any, note: Note) -> Any:
    """What JSON has for a Python value."""
    if isinstance(value, str):
        return _joined(value, note)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, dict):
        return {_json_key(key, note): _json_value(item, note) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item, note) for item in value]
    if isinstance(value, tuple | set):
        note(f"a {type(value).__name__} became a list", value)
        return [_json_value(item, note) for item in (value if isinstance(value, tuple) else sorted(value, key=repr))]
    note(f"a value that JSON does not have ({type(value).__name__}) became a text", value)
    return repr(value)


def _json_key(key: Any, note: Note) -> str:
    if isinstance(key, str):
        return _joined(key, note)
    note("a key that is not a text became one", key)
    return str(key)


def _joined(text: str, note: Note) -> str:
    """Two escapes for one character, which JSON joins and Python does not, joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        note("surrogate escapes became the character that they encode", joined)
        return joined
    return text


def cell_of_json(text: str | None, note: Note) -> str:
    """The cell for a JSON object: what JSON and Python read alike stays as it is, the rest is written for Python.

    ``true``, ``false`` and ``null`` become Python's words, which lose nothing. Numbers that Python would not read the
    same, half characters, repeated keys, and what is nested too deeply are written in another form (noted).
    """
    if text is None or text == NOTHING:
        return NOTHING
    if (_short_is_safe if len(text) < _SHORT else _is_safe)(text):
        return text
    cell = _for_python(text, note)
    judged = judge(cell)
    if judged.clean:
        return cell
    fields = json_text.fields_of(text)
    cell = _for_python(json_text.object_text(fields) or NOTHING, note)
    if judge(cell).clean:  # a key appeared twice
        note("a repeated key: its last value is kept", text)
        return cell
    note("lists and objects that Python would not read became texts", text)
    plain = {name: raw if _is_plain(raw) else _as_text(raw) for name, raw in fields.items()}
    return _for_python(json_text.object_text(plain) or NOTHING, note)


def _is_plain(raw: Raw) -> bool:
    return bytes(raw).lstrip()[:1] not in (b"{", b"[")


def _is_safe(text: str) -> bool:
    if _PLAIN_OBJECT.fullmatch(text):
        names = _MEMBERS.findall(text, 1)
        if len(set(names)) == len(names):
            return True
    judged = judge(text)
    return judged.portable and judged.clean


_short_is_safe = lru_cache(maxsize=1 << 14)(_is_safe)


def _as_text(raw: Raw) -> Raw:
    return Raw(json_text.dumps(json_text.compact(raw)).encode())


def _for_python(text: str, note: Note) -> str:
    return _TOKEN.sub(lambda found: _token(found[0], note), text)


def _token(token: str, note: Note) -> str:
    if token[0] == '"':
        return _text_token(token, note) if _MISREAD.search(token) else token
    if token in _LITERALS:
        return _LITERALS[token]
    if token.lstrip("-").isdigit():
        fits = len(token) < _LONGEST_INTEGER
    else:
        fits = math.isfinite(float(token))
    if not fits:
        note("a number that Python does not read became a text", token)
    return token if fits else json_text.dumps(token)


def _text_token(token: str, note: Note) -> str:
    text = json.loads(token)
    try:
        text.encode()
    except UnicodeEncodeError:
        note("half a character (an unpaired surrogate) became a replacement character", token)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json_text.dumps(text)


def lift_edge(attributes: str | None) -> tuple[str | None, float | None, str | None]:
    """(other attributes, ``confidence`` where it is a number, ``source`` where it is a text) of an edge."""
    if attributes is None or ('"confidence"' not in attributes and '"source"' not in attributes):
        return attributes, None, None
    fields = json_text.fields_of(attributes)
    confidence = _number(fields.get("confidence"))
    source = json_text.string_of(fields.get("source"))
    if confidence is not None:
        del fields["confidence"]
    if source is not None:
        del fields["source"]
    return json_text.object_text(fields), confidence, source


def _number(raw: Raw | None) -> float | None:
    """A number that a float holds exactly."""
    if raw is None or bytes(raw)[:1] not in _NUMERIC:
        return None
    value = json_text.loads(raw)
    return float(value) if isinstance(value, float) or abs(value) < _EXACT else None


def cells_of_edges(
    attributes: Sequence[str | None],
    confidences: Sequence[float | None],
    provenances: Sequence[str | None],
    note: Note,
    lost: Note,
) -> list[str]:
    """The cells of edges, with what is in the columns besides the attributes."""
    numbers = json_text.dumps(confidences)[1:-1].split(",")
    nothing = attributes.count(None) == provenances.count(None) == len(attributes)
    if not nothing or numbers.count("null") != confidences.count(None):  # which numbers that JSON lacks become, too
        rows = zip(attributes, confidences, provenances, strict=True)
        return [cell_of_json(edge_fields(*row, lost), note) for row in rows]
    cells = {number: cell_of_json(f'{{"confidence":{number}}}', note) for number in set(numbers)}
    if "null" in cells:
        cells["null"] = NOTHING
    return list(map(cells.__getitem__, numbers))


def edge_fields(attributes: str | None, confidence: float | None, provenance: str | None, note: Note) -> str | None:
    """The attributes of an edge with its confidence and its provenance (as ``source``) before them."""
    if confidence is None and provenance is None:
        return attributes
    given: dict[str, Any] = {}
    if confidence is not None:
        finite = math.isfinite(confidence)
        if not finite:
            note("a number that Python does not read became a text", confidence)
        given["confidence"] = confidence if finite else str(confidence)
    if provenance is not None:
        given["source"] = provenance
    if not attributes or attributes == NOTHING:
        return json_text.dumps(given)
    fields = {name: Raw(json_text.dumps(value).encode()) for name, value in given.items()}
    for name, raw in json_text.fields_of(attributes).items():
        if name in fields:
            note(f"an attribute called {name}, which the edge has besides its own", json_text.compact(raw))
        fields.setdefault(name, raw)
    return json_text.object_text(fields)

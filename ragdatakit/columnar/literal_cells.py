"""A column of Python literals proved harmless at once, so that only what is out of the ordinary is judged cell by cell.

The proof is a regular expression for each form that the cells have (which keys, in which order), learnt from a sample
and matched by Arrow. As the keys are in it, none of them repeats; a value may be any text, finite number, None, True,
False, or list of these. What is not matched is no fault yet, but a cell for `python_literals.judge`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.files.containers.arrow_columns import mask_of
from ragdatakit.files.containers.python_literals import judge

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_SAMPLE = 300  # cells, spread over the column, from which forms are learnt
_ROUNDS = 6  # cells of no known form are a sample for new ones; what is still unmatched then is judged one by one
_MOST_SLOTS = 80  # values in all forms of one round together: what the expression's size grows with
_WORTH_A_ROUND = 1000  # cells that judging one by one takes longer for than a look at the column

_BODY = r"\x00-\x1f\\"
_HEX = "[0-9a-fA-F]"
_CHARACTER = rf"(?:[0-9a-ce-fA-CE-F]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}})"  # four digits that are not a surrogate
_JSON_ESCAPE = rf"\\(?:[\"\\bfnrt]|u{_CHARACTER})"
_PYTHON_ESCAPE = rf"\\(?:[\"'\\abfnrtv]|x{_HEX}{{2}}|u{_CHARACTER}|U0000{_CHARACTER}|U000[1-9a-fA-F]{_HEX}{{4}})"
_JSON_TEXT = rf'"(?:[^"{_BODY}]|{_JSON_ESCAPE})*"'
_PYTHON_TEXT = rf"""(?:"(?:[^"{_BODY}]|{_PYTHON_ESCAPE})*"|'(?:[^'{_BODY}]|{_PYTHON_ESCAPE})*')"""
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?"


def _listed(item: str) -> str:
    return rf"\[(?:{item}(?:, ?{item})*)?\]"


class _Language:
    """How values are written: as JSON and Python both read them, or as Python alone does."""

    def __init__(self, text: str, words: str, quotes: str, bare: str) -> None:
        self.quotes = quotes
        self.bare = bare
        self.scalar = f"(?:{text}|{_NUMBER}{words})"
        self.value = f"(?:{self.scalar}|{_listed(f'(?:{self.scalar}|{_listed(self.scalar)})')})"

    def form(self, form: Form) -> str:
        """An expression for all dicts of a form."""
        items = []
        for key, slot in form:
            names = [f"{quote}{_exactly(key)}{quote}" for quote in self.quotes]
            items.append(f"(?:{'|'.join(names)}): ?{self.slot(slot)}")
        return rf"\{{{', ?'.join(items)}\}}"

    def slot(self, slot: Slot) -> str:
        """An expression for all values of a kind."""
        if isinstance(slot, tuple):
            return self.form(slot)
        return self.value if slot == "list" else self.scalar


_JSON = _Language(_JSON_TEXT, "", '"', r"\{\}")
_PYTHON = _Language(_PYTHON_TEXT, "|None|True|False", "\"'", r"\{\}|None")

# The keys of a dict in order, each with what its value is: "scalar", "list", or a form of its own for a dict.
Form = tuple[tuple[str, "Slot"], ...]
Slot = str | Form


@dataclass(frozen=True, slots=True)
class PlainCells:
    """What can be said of a column of cells without reading them one by one.

    ``suspects`` are the rows (ascending) to be judged one by one, nulls among them. Of all other cells it is proved
    that they are ``{}``, ``None`` or a dict, without surrogates, escaped slashes or repeated keys. ``filled`` marks
    those of them that are dicts with keys; ``python_only`` are the rows (ascending) of those that are Python and not
    JSON.
    """

    suspects: Rows
    filled: Mask
    python_only: Rows = field(default_factory=lambda: np.empty(0, np.int64))


class LearntForms:
    """The forms that the cells of a column were found to have, block after block; any thread may use it."""

    def __init__(self) -> None:
        self.rounds: list[list[Form]] = []

    def learn(self, cells: Any) -> list[Form]:
        """The most frequent forms among cells that have none of those known."""
        forms = _common_forms(cells)
        if forms and len(self.rounds) < _ROUNDS:
            self.rounds = [*self.rounds, forms]
        return forms


def plain_cells(column: Any, learnt: LearntForms | None = None) -> PlainCells:
    """Sort the cells of an Arrow text column (string or large_string, not chunked) into harmless and suspect ones.

    ``learnt`` spares blocks of one column from learning their forms again.
    """
    learnt = learnt or LearntForms()
    if not len(column) or _all_empty(column):
        return PlainCells(np.empty(0, np.int64), np.zeros(len(column), np.bool_))
    if column.null_count:
        valid = np.flatnonzero(mask_of(pc.is_valid(column)))
        found = plain_cells(column.drop_null(), learnt)
        filled = np.zeros(len(column), np.bool_)
        filled[valid[found.filled]] = True
        suspects = np.setdiff1d(np.arange(len(column)), np.delete(valid, found.suspects))
        return PlainCells(suspects, filled, valid[found.python_only])
    unportable = np.zeros(len(column), np.bool_)
    rows, cells = np.arange(len(column)), column
    known = learnt.rounds
    for number in range(len(known) + _ROUNDS):
        before = len(rows)
        if number >= len(known) and before < _WORTH_A_ROUND and number:
            break
        forms = known[number] if number < len(known) else learnt.learn(cells)
        rows, cells, _ = _unmatched(rows, cells, _JSON, forms)
        rows, cells, matched = _unmatched(rows, cells, _PYTHON, forms)
        unportable[matched] = True
        if not len(rows) or (number >= len(known) and len(rows) > 0.9 * before):
            break
    filled = _longer_than_two(column)
    filled[rows] = False
    python_only = np.flatnonzero(unportable)
    filled[python_only[_are_none(column, python_only)]] = False
    return PlainCells(rows, filled, python_only)


def has_content(column: Any, rows: Rows, plain: PlainCells) -> Mask:
    """Which of these rows (ascending) are dicts whose key ``content`` has a text that is not empty.

    ``plain`` is what `plain_cells` said of the column; suspects are judged one by one.
    """
    cells = column.take(_indices(rows))
    known = ~np.isin(rows, plain.suspects, assume_unique=True)
    positive = _matches(cells, _WITH_CONTENT)
    result = positive & known
    named = mask_of(pc.fill_null(pc.match_substring(cells, "content"), False))
    for place in np.flatnonzero(~known | (named & ~positive)).tolist():
        cell = cells[place].as_py()
        result[place] = cell is not None and judge(cell).has_content
    return result


# Of a dict that is proved plain: there its beginning says enough.
_NAMED_CONTENT = """(?:"content"|'content'): ?(?:"[^"]|'[^'])"""
_WITH_CONTENT = rf"^\{{(?:{_PYTHON_TEXT}: ?{_PYTHON.value}, ?)*{_NAMED_CONTENT}"


def _unmatched(rows: Rows, cells: Any, language: _Language, forms: list[Form]) -> tuple[Rows, Any, Rows]:
    """Rows and cells that the language does not take in these forms, and the rows that it does."""
    if not len(rows):
        return rows, cells, rows
    pattern = f"^(?:{'|'.join([language.bare, *map(language.form, forms)])})$"
    found = _matches(cells, pattern)
    if not found.any():
        return rows, cells, rows[:0]
    others = np.flatnonzero(~found)
    return rows[others], cells.take(_indices(others)), rows[found]


def _matches(cells: Any, pattern: str) -> Mask:
    try:
        return mask_of(pc.fill_null(pc.match_substring_regex(cells, pattern), False))
    except pa.ArrowInvalid:  # keys that make too large an expression prove nothing
        return np.zeros(len(cells), np.bool_)


def _common_forms(cells: Any) -> list[Form]:
    """The most frequent forms among a sample of the cells."""
    places = np.unique(np.linspace(0, len(cells) - 1, _SAMPLE).astype(np.int64))
    forms: Counter[Form] = Counter()
    for cell in cells.take(_indices(places)).to_pylist():
        judgement = judge(cell)
        if judgement.clean and judgement.kind == "dict" and (form := _form_of(judgement.value)) is not None:
            forms[form] += 1
    chosen, slots = [], 0
    for form, _ in forms.most_common():
        slots += _slots(form)
        if slots > _MOST_SLOTS:
            break
        chosen.append(form)
    return chosen


def _form_of(value: dict[Any, Any]) -> Form | None:
    """The form of a dict, None where it has keys that are not written as they are."""
    form: list[tuple[str, Slot]] = []
    for key, item in value.items():
        if not isinstance(key, str) or _AWKWARD.search(key):
            return None
        if isinstance(item, dict):
            inner = _form_of(item)
            if inner is None:
                return None
            form.append((key, inner))
        else:
            form.append((key, "list" if isinstance(item, (list, tuple)) else "scalar"))
    return tuple(form)


_AWKWARD = re.compile("[\x00-\x1f\x7f-\xa0\"'\\\\\ud800-\udfff]|.{80}")


def _slots(form: Form) -> int:
    return sum(1 + _slots(slot) if isinstance(slot, tuple) else 5 if slot == "list" else 1 for _, slot in form)


def _exactly(text: str) -> str:
    return "".join(c if not c.isascii() or c.isalnum() else rf"\x{ord(c):02x}" for c in text)


def _all_empty(column: Any) -> bool:
    """Whether every cell is ``{}``: the quick way for edges."""
    if column.null_count:
        return False
    offsets = _offsets(column)
    if offsets[-1] - offsets[0] != 2 * len(column):
        return False
    data = np.frombuffer(column.buffers()[2], np.uint8)[offsets[0] : offsets[-1]].view(np.uint16)
    return bool((np.diff(offsets) == 2).all()) and bool((data == np.frombuffer(b"{}", np.uint16)[0]).all())


def _longer_than_two(column: Any) -> Mask:
    filled: Mask = np.diff(_offsets(column)) > 2
    return filled


def _are_none(column: Any, rows: Rows) -> Mask:
    """Which of these rows, that hold a dict or None, hold None."""
    first = _offsets(column)[rows]
    none: Mask = np.frombuffer(column.buffers()[2], np.uint8)[first] == ord("N")
    return none


def _offsets(column: Any) -> npt.NDArray[Any]:
    kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
    return np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column) + 1]


def _indices(rows: Rows) -> Any:
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows, np.int64))])

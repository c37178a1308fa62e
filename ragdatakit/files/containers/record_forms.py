"""What the text of one record is (a JSON value, a member of an object, a line of cells), how it decodes, what is where.

Every file has one form. Whoever reads a record once more (to word a finding, to find a column) asks the form of the
file, so that pointers mean the decoded record whatever its text looks like.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.readers_alike import read_alike
from ragdatakit.files.containers.strict_json import LONG, Decoded
from ragdatakit.late_modules import late_module
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import File

if TYPE_CHECKING:
    import orjson
else:
    orjson = late_module("orjson")

REFUSED: Any = object()
"""What a quick reader gives for a text that readers may read differently."""

_NAME = late_pattern(r'\s*("[^"\\]*+(?:\\.[^"\\]*+)*+")', re.S)


class RecordForm(Protocol):
    """How the text of one record of a file is read."""

    def value(self, text: str) -> Any:
        """The decoded record; None where it cannot be decoded."""

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where the value at ``pointer`` is: (first character, length); None if it is not found."""

    def glimpse(self, text: str, field_name: str) -> Any:
        """A field that is near the beginning of a record too long to be decoded; None if it is not seen."""

    def column_of(self, name: str) -> str:
        """The field that a derived key column (``@...``) is made of, where it is one; else ``""``."""


class JsonForm:
    """A record that is one JSON value: a line, or an element of an array."""

    def records(self, decoded: Any) -> list[Any]:
        """The records of a part of a file, as the elements of ``decoded``."""
        return list(decoded)

    def plain(self, raw: bytes, alike: bool | None = None) -> Any:
        """What orjson reads, if every reader reads the same (``alike``, where that is known); else `REFUSED`."""
        if alike is False:
            return REFUSED
        if len(raw) >= LONG:
            from ragdatakit.files.containers.long_json import decode_long

            decoded, is_alike = decode_long(bytes(raw))
            return decoded.value if is_alike else REFUSED
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return REFUSED
        return value if alike or read_alike(value, raw) else REFUSED

    def decode(self, text: str) -> Decoded:
        """The record as Python's own reader decodes it, with whatever other readers would see differently."""
        if len(text) >= LONG:
            from ragdatakit.files.containers.long_json import decode_long

            return decode_long(text.encode("utf-8", "surrogatepass"))[0]
        return strict_json.decode(text)

    def value(self, text: str) -> Any:
        """The decoded record; None where it is not JSON."""
        return self.decode(text).value

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where the value at ``pointer`` is: (first character, length); None if it is not found."""
        return strict_json.locate(text, pointer)

    def column_of(self, name: str) -> str:
        """Derived key columns are made of whole records here."""
        return ""

    def glimpse(self, text: str, field_name: str) -> Any:
        """A number or short text that is near the beginning of a record which is not whole."""
        found = re.search(rf'"{re.escape(field_name)}"\s*:\s*(-?\d+|"[^"\\]*")', text[:4096])
        return strict_json.decode(found.group(1)).value if found else None


class MemberForm(JsonForm):
    """A record that is one member of a JSON object: its text is ``"name": value``.

    It decodes to an object of two fields, called ``name_field`` and ``value_field``; pointers mean that object.
    """

    def __init__(self, name_field: str, value_field: str) -> None:
        self.name_field = name_field
        self.value_field = value_field

    def records(self, decoded: Any) -> list[Any]:
        """One record for each member of the object ``decoded``."""
        name_field, value_field = self.name_field, self.value_field
        return [{name_field: name, value_field: value} for name, value in decoded.items()]

    def plain(self, raw: bytes, alike: bool | None = None) -> Any:
        """What orjson reads, if every reader reads the same (``alike``, where that is known); else `REFUSED`."""
        decoded = super().plain(b"{%b}" % raw, alike)
        return self.records(decoded)[0] if decoded is not REFUSED and len(decoded) == 1 else REFUSED

    def decode(self, text: str) -> Decoded:
        """The member as Python's own reader decodes it, with positions and pointers as they are in the record."""
        found = super().decode(f"{{{text}}}")
        if found.error:
            found.position = max(0, min(found.position - 1, len(text)))
            return found
        if len(found.value) != 1:
            return Decoded(error="not one name with its value")
        (name,) = found.value
        for oddities in (found.repeated, found.non_finite, found.overflow, found.surrogates, found.large):
            oddities[:] = [(self._pointer(p, name), what) for p, what in oddities]  # type: ignore[misc]
        found.value = self.records(found.value)[0]
        return found

    def _pointer(self, pointer: str, name: str) -> str:
        """A pointer into the object, as one into the record; the object itself stands for the member's name."""
        below = pointer[len(strict_json.escape(name)) + 1 :]
        return f"/{self.value_field}{below}" if pointer else f"/{self.name_field}"

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where the name or (a value in) the value is: (first character, length); None if it is not found."""
        name = _NAME.match(text)
        if name is None:
            return None
        if not pointer:
            return name.start(1), len(text.rstrip()) - name.start(1)
        first, *below = pointer.split("/")[1:]
        if first == self.name_field and not below:
            return name.start(1), len(name.group(1))
        key = strict_json.decode(name.group(1)).value
        if first != self.value_field or not isinstance(key, str):
            return None
        found = strict_json.locate(f"{{{text}}}", "/".join(("", strict_json.escape(key), *below)))
        return (found[0] - 1, found[1]) if found is not None else None

    def glimpse(self, text: str, field_name: str) -> Any:
        """The member's name, which comes before the value that is too long."""
        name = _NAME.match(text[:4096]) if field_name == self.name_field else None
        return strict_json.decode(name.group(1)).value if name else None


class ColumnsForm(JsonForm):
    """A record that is one line of cells; it decodes to an object of the columns that are declared."""

    def __init__(self, kind: File) -> None:
        from ragdatakit.schemas.line_cells import LineReader

        self._reader = LineReader(kind)

    def plain(self, raw: bytes, alike: bool | None = None) -> Any:
        """The record, if the line is one; else `REFUSED`."""
        try:
            return self._reader.record(bytes(raw).decode("utf-8"))
        except ValueError:
            return REFUSED

    def decode(self, text: str) -> Decoded:
        """The record, or why the line is none."""
        from ragdatakit.schemas.line_cells import LineError

        try:
            return Decoded(self._reader.record(text))
        except LineError as error:
            return Decoded(error=str(error), position=error.position, case=error.case)

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where a cell is, with its quotes: (first character, length)."""
        from ragdatakit.schemas.line_cells import LineError, cut

        name = pointer.removeprefix("/")
        try:
            cells = cut(text, self._reader.columns)
        except LineError:
            return None
        names = self._reader.names
        if name not in names:  # a comment, or what is behind the last column
            start = cells[len(names)].start if name != "comment" and len(cells) > len(names) else 0
            return start, len(text) - start
        place = names.index(name)
        return (cells[place].start, cells[place].end - cells[place].start) if place < len(cells) else None

    def glimpse(self, text: str, field_name: str) -> Any:
        """Nothing: a line that is too long has no cells to be seen."""
        return None


class TaggedForm(JsonForm):
    """A record that is one element between tags; it decodes to an object of the elements in it."""

    def __init__(self, kind: File) -> None:
        from ragdatakit.files.containers.tagged_text import TaggedReader

        self._reader = TaggedReader(kind.tags, tuple(f.name for f in kind.record.fields))

    def plain(self, raw: bytes, alike: bool | None = None) -> Any:
        """The record, if it is UTF-8; else `REFUSED`."""
        try:
            return self._reader.record(bytes(raw).decode("utf-8"))
        except UnicodeDecodeError:
            return REFUSED

    def decode(self, text: str) -> Decoded:
        """The record; there is nothing that is none."""
        return Decoded(self._reader.record(text))

    def span(self, text: str, pointer: str) -> tuple[int, int] | None:
        """Where the content of an element is: (first character, length)."""
        return self._reader.span(text, pointer.removeprefix("/"))

    def glimpse(self, text: str, field_name: str) -> Any:
        """Nothing: an element that is too long is not looked into."""
        return None


JSON = JsonForm()


def form_of(kind: File) -> JsonForm:
    """The form of the records of a kind of file that is no table."""
    if kind.container == "columns":
        return ColumnsForm(kind)
    if kind.container == "tagged":
        return TaggedForm(kind)
    if kind.container != "json-object":
        return JSON
    name, value = kind.record.fields[:2]
    return MemberForm(name.name, value.name)

"""Key columns for the set checks, taken from decoded records or from blocks that were scanned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragdatakit.schemas.declarations import File
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.records import readable_key

LONG_TEXT = 1 << 24
"""Characters of a text beyond which it is not compared with others: it would be copied several times for that."""

Derive = Callable[[str, Any], dict[str, Any]]
DeriveScanned = Callable[[Any, Any], None]


class KeyColumns:
    """The columns of one kind: their names and types, and how to read them.

    A name that starts with ``@`` is derived by the format's checks from the whole record; of ``spelled`` ones the
    spelling is compared, too.
    """

    def __init__(self, kind: File, names: Iterable[str], derive: Derive, spelled: Iterable[str] = ()) -> None:
        self.kind = kind
        self.spelled = tuple(spelled)
        self.names = tuple(names)
        self._derive = derive
        self._plain = [n for n in self.names if not n.startswith("@")]
        self._derived = [n for n in self.names if n.startswith("@")]
        fields = {f.name: f for r in kind.records for f in r.fields}
        self.types = {n: _key_type(fields[n].type) for n in self._plain}
        self.item_types = {n: _key_type(fields[n].items) for n in self._plain if fields[n].type == "array"}

    def deriving(self, derive: Derive) -> KeyColumns:
        """The same columns, of which some are derived by the checks of one dataset."""
        found = object.__new__(KeyColumns)
        found.__dict__.update(self.__dict__, _derive=derive)
        return found

    def fields(self, as_text: Mapping[str, str], made_of: Iterable[str] = ()) -> dict[str, str] | None:
        """The field that each column is made of, as it is or (``as_text``) as text; None where some are made otherwise.

        Such fields are integers, texts or lists of them; as text they may be anything. Of the fields ``made_of`` the
        other derived columns are made (see `Scanning.derive`): each is a column of its own, with its name.
        """
        declared = {f.name: f for r in self.kind.records for f in r.fields}
        types = [declared[n].items if n in self.item_types else declared[n].type for n in self._plain]
        if not set(types) <= {"integer", "string"}:
            return None
        found = {n: as_text.get(n, n) for n in self.names if n in as_text or n in self._plain}
        found |= {n: n for n in made_of}
        return found if made_of or found.keys() >= set(self._derived) else None

    def of_values(self, values: list[Any], first_row: int) -> PythonBatch:
        """Columns of Python values (None where a value is missing or unreadable)."""
        columns: dict[str, list[Any]] = {n: [] for n in self.names}
        for name in self._plain:
            given = (value.get(name) if isinstance(value, dict) else None for value in values)
            if name in self.item_types:
                kind = self.item_types[name]
                columns[name] = [[readable_key(i, kind) for i in v] if isinstance(v, list) else None for v in given]
            else:
                kind = self.types[name]
                found = [readable_key(v, kind) for v in given]
                if kind != "integer":
                    found = [None if type(key) is str and len(key) > LONG_TEXT else key for key in found]
                columns[name] = found
        for value in values if self._derived else ():
            derived = self._derive(self.kind.kind, value) if value is not None else {}
            for name in self._derived:
                columns[name].append(derived.get(name))
        return PythonBatch(columns, first_row)


def _key_type(declared: Any) -> str:
    return "integer" if declared == "integer" else "string"

"""The values of a file with settings, checked by their declaration: what is wrong is named with file and line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from ragdatakit.files.configuration.sources import SettingsFile
from ragdatakit.files.configuration.toml_lines import Keys
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.rules.evaluation import LETTERS
from ragdatakit.schemas.settings.declared import PATTERNS, TABLES, TOP, Setting, in_bounds, kind_words

Name = tuple[str, ...]
"""What a value is called: ``("ignore",)``, of a table ``("severity", "SP210")``."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value, and where it is given."""

    value: Any
    file: SettingsFile
    keys: Keys

    @property
    def place(self) -> str:
        """``ragdata.toml:3``."""
        return self.file.place(self.keys)


@dataclass(slots=True)
class Section:
    """One of several tables of a kind, such as ``[[dataset]]``."""

    kind: str
    file: SettingsFile
    keys: Keys
    values: dict[Name, Given] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The file and line it begins on."""
        return self.file.place(self.keys)


def values_of(file: SettingsFile) -> tuple[dict[Name, Given], list[Section]]:
    """What a file sets, and its sections. Raises `RagdataError` for a wrong value and `UnknownNameError` for an
    unknown name."""
    reader = _Reader(file)
    reader.table(TOP, file.table, (), reader.values)
    return reader.values, reader.sections


def refuse_unknown_rule(selector: str, place: str = "", own: Iterable[tuple[str, str]] = ()) -> None:
    """Raise `UnknownNameError` where ``selector`` is no code or name of a rule, nor the beginning of a code; ``place``
    is the file and line that has it, ``own`` are codes and names of the project's own rules."""
    if any(selector == name or code.startswith(selector.upper()) for code, name in own):
        return
    rules = [rule for rule, _ in all_rules() if not rule.code.startswith(LETTERS)]
    if not any(selector == r.name or r.code.startswith(selector.upper()) for r in rules):
        words = selector.split()
        hint = f"several have commas between them: {','.join(words)}" if len(words) > 1 else ""
        if selector.upper() == "ALL":
            hint = "all are checked where none is selected"
        known = [word for rule in rules for word in (rule.code, rule.name)]
        raise UnknownNameError("rule", selector, known, place=place, hint=hint)


class _Reader:
    def __init__(self, file: SettingsFile) -> None:
        self.file = file
        self.values: dict[Name, Given] = {}
        self.sections: list[Section] = []

    def table(self, section: Setting, table: Mapping[str, Any], keys: Keys, values: dict[Name, Given]) -> None:
        """Read the settings of a section."""
        for word, value in table.items():
            name = word.replace("_", "-")
            setting, here = section.named(name), (*keys, word)
            if setting is None:
                where = f"of {self._header(section, keys)}" if section.name else ""
                known = [one.name for one in section.within]
                raise UnknownNameError("setting", word, known, where, place=self.file.place(here))
            if setting.kind == "sections":
                self._sections(setting, value, here)
            elif setting.kind == "section":
                within: dict[Name, Given] = {}
                self.table(setting, self._table(setting, value, here), here, within)
                values |= {(name, *rest): given for rest, given in within.items()}
            elif setting.kind in TABLES:
                for key, one in self._table(setting, value, here).items():
                    found = self._entry(setting, key, one, (*here, key))
                    values[name, key] = Given(found, self.file, (*here, key))
            else:
                values[(name,)] = Given(self._value(setting, value, here), self.file, here)
        for setting in section.within:
            if setting.required and setting.name not in table:
                place = self.file.place(keys)
                raise RagdataError(f"{place}: {self._header(section, keys)} has no {setting.name}")

    def _header(self, section: Setting, keys: Keys) -> str:
        name = ".".join((*self.file.above, *(key for key in keys if isinstance(key, str))))
        return f"[[{name}]]" if section.kind == "sections" else f"[{name}]"

    def _table(self, setting: Setting, value: Any, keys: Keys) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            hint = f"; write {setting.name} = {setting.example}" if setting.example else ""
            raise RagdataError(f"{self.file.place(keys)}: {self._header(setting, keys)} is not a table{hint}")
        return value

    def _sections(self, setting: Setting, value: Any, keys: Keys) -> None:
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise RagdataError(
                f"{self.file.place(keys)}: {setting.name} is not a list of tables; write {self._header(setting, keys)}"
            )
        for number, table in enumerate(value):
            section = Section(setting.name, self.file, (*keys, number))
            self.table(setting, table, section.keys, section.values)
            self.sections.append(section)

    def _refuse(self, setting: Setting, value: Any, keys: Keys, expected: str = "") -> RagdataError:
        name = ".".join(str(key) for key in keys if isinstance(key, str)) or setting.name
        shown = repr(value) if not isinstance(value, bool) else str(value).lower()
        shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
        return RagdataError(f"{self.file.place(keys)}: {name} is {shown}, expected {expected or kind_words(setting)}")

    def _value(self, setting: Setting, value: Any, keys: Keys) -> Any:
        match setting.kind:
            case "text" | "file" | "format":  # formats may be those of plug-ins, which are not loaded yet
                return self._text(setting, value, keys)
            case "texts" | "globs" | "within" | "rules" | "conditions":
                return self._texts(setting, value, keys)
            case "choice":
                if value not in setting.choices:
                    raise self._refuse(setting, value, keys)
                return value
            case "code" | "model" | "table":
                if not re.fullmatch(PATTERNS[setting.kind], text := self._text(setting, value, keys)):
                    raise self._refuse(setting, value, keys)
                return text
            case "message":
                return self._message(setting, value, keys)
            case "document":
                return value if isinstance(value, dict) else self._text(setting, value, keys)
            case "flag":
                if not isinstance(value, bool):
                    raise self._refuse(setting, value, keys)
                return value
            case _:
                return self._number(setting, value, keys)

    def _text(self, setting: Setting, value: Any, keys: Keys) -> str:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            raise self._refuse(setting, value, keys)
        return value

    def _message(self, setting: Setting, value: Any, keys: Keys) -> str:
        """A template without formats and attributes, which could take any memory, or show what it should not."""
        from string import Formatter

        text = self._text(setting, value, keys)
        try:
            parts = list(Formatter().parse(text))
        except ValueError:
            raise self._refuse(setting, value, keys) from None
        if any(
            name is not None and not (name.isidentifier() and not how and not turned) for _, name, how, turned in parts
        ):
            raise self._refuse(setting, value, keys)
        return text

    def _texts(self, setting: Setting, value: Any, keys: Keys) -> tuple[str, ...]:
        if not isinstance(value, str | list):
            raise self._refuse(setting, value, keys)
        given = [(value, keys)] if isinstance(value, str) else [(one, (*keys, n)) for n, one in enumerate(value)]
        found = tuple(self._text(setting, one, place) for one, place in given)
        if setting.kind == "within" and any(Path(one).is_absolute() or ".." in Path(one).parts for one in found):
            raise self._refuse(setting, value, keys)
        return found

    def _number(self, setting: Setting, value: Any, keys: Keys) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or (setting.kind != "share" and value != int(value)) or not in_bounds(setting, value):
            raise self._refuse(setting, value, keys)
        return float(value) if setting.kind == "share" else int(value)

    def _entry(self, setting: Setting, key: str, value: Any, keys: Keys) -> Any:
        """A value of a table of `TABLES`."""
        if setting.kind == "severities":
            if value not in setting.choices:
                raise self._refuse(setting, value, keys, f"one of {', '.join(setting.choices)}")
            return value
        if setting.kind == "budgets":
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise self._refuse(setting, value, keys, "an integer of at least 0")
            return value
        if setting.kind in ("ignores", "columns"):
            return self._texts(setting, value, keys)
        if not isinstance(value, str | int | float | bool):
            raise self._refuse(setting, value, keys, "a text, a number, true or false")
        return value

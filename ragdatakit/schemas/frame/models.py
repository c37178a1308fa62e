"""pandera models derived from the declarations: one for each kind of file whose records are objects.

A model asks of a table what the declaration asks of a record: columns, types, nulls, ranges, allowed values, no two
rows with one key. Each check is called by the rule it stands for. Rules of severity *error* make a model fail; those of
severity *warning* are reported as `pandera.errors.SchemaWarning`; infos are left out.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Optional

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.cells import CELL_DAMAGES, cell_damage
from ragdatakit.schemas.declarations import Field, File, Format, Record, Rule
from ragdatakit.schemas.frame.cells import CellRules, coded_rules
from ragdatakit.schemas.frame.keys import KeyColumn, first_of_each_key, key_column
from ragdatakit.schemas.frame.reading import row_record

if TYPE_CHECKING:
    import pandas as pd
    from pandera.pandas import DataFrameModel

SHOWN = ("error", "warning")
CellJudge = Callable[[Any], frozenset[str]]
_NO_RULES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of file as a table: its columns are the fields of ``record``."""

    fmt: Format
    file: File
    record: Record

    def rule(self, name: str) -> Rule | None:
        """The rule of that name, where it makes a model fail or warn."""
        found = next((r for r in self.fmt.rules if r.name == name), None)
        profiles = self.fmt.default_profiles
        if found is None or not found.applies(profiles):
            return None
        return found if found.severity_for(profiles) in SHOWN else None

    def warns(self, rule: Rule) -> bool:
        """Whether the rule is a warning only."""
        return rule.severity_for(self.fmt.default_profiles) != "error"

    def cell_rules(self, field: Field) -> list[Rule]:
        """The rules that the cells of a column can break."""
        names = dict.fromkeys([*self._declared(field).values(), *(self._coded(field) or ((), None))[0]])
        return [rule for name in names if (rule := self.rule(name))]

    def cell_judge(self, field: Field) -> CellJudge:
        """What gives the names of the rules that a cell breaks."""
        declared, coded = self._declared(field), self._coded(field)

        def judge(value: Any) -> frozenset[str]:
            found = coded[1](value) if coded is not None and isinstance(value, str) else _NO_RULES
            damage = cell_damage(field, value) if declared else None
            return found | {declared[damage]} if damage in declared else found

        return judge

    def _declared(self, field: Field) -> dict[str, str]:
        """Damage of a cell to the name of the rule it breaks."""
        damages = [d for d in CELL_DAMAGES if d != "missing" or (field.required and not self.is_csv)]
        return {d: name for d in damages if (name := self.record.rule_for(d, field.name))}

    def _coded(self, field: Field) -> tuple[tuple[str, ...], CellRules] | None:
        return coded_rules(self.fmt.name, self.file.kind, field.name)

    @property
    def is_csv(self) -> bool:
        """Whether all cells are text, and a field that is missing is a column that is missing."""
        return self.file.container == "csv"

    def missing_rule(self, field: Field) -> Rule | None:
        """What a table without this column breaks."""
        if not field.required:
            return None
        return self.rule(self.record.rule_for("missing-column" if self.is_csv else "missing", field.name))

    def stand_ins(self, field: Field) -> tuple[str, ...]:
        """The columns that may be there instead of this one."""
        return tuple(f.name for f in self.record.fields if f.replaces == field.name)

    def key_rules(self) -> Iterator[tuple[list[KeyColumn], Rule]]:
        """The keys whose values are in the table, or can be worked out from it."""
        lists = {f.name for f in self.record.fields if f.type in ("array", "object")}
        for key in self.fmt.keys:
            rule = self.rule(key.rule)
            if key.kind == self.file.kind and rule is not None and lists.isdisjoint(key.fields):
                columns = [key_column(self.fmt, self.file, name) for name in key.fields]
                known = [c for c in columns if c is not None]
                if len(known) == len(columns):
                    yield known, rule

    def shown(self) -> set[str]:
        """The names of all rules that the model can show."""
        found = [rule for f in self.record.fields for rule in self.cell_rules(f)]
        found += [rule for f in self.record.fields if (rule := self.missing_rule(f))]
        found += [rule for _, rule in self.key_rules()]
        found += [rule for rule in (self.extra_rule(), self.empty_rule()) if rule]
        return {rule.name for rule in found}

    def extra_rule(self) -> Rule | None:
        """What a column that is not declared breaks."""
        return self.rule(self.record.rules.get("extra", "")) if self.record.extra == "forbid" else None

    def empty_rule(self) -> Rule | None:
        """What a table without rows breaks."""
        return self.rule(self.record.rules.get("no-records", ""))


def reasons(fmt: Format) -> dict[str, str]:
    """Why no model of a format can show a rule, for each that none shows."""
    tables = [t for t in (table_of(fmt, file) for file in fmt.files) if t is not None]
    shown = set().union(*(t.shown() for t in tables))
    others: list[Any] = [*fmt.references, *fmt.coverages, *fmt.memberships, *fmt.disjoints, *fmt.agreements]
    elsewhere = {r.rule for r in others}
    rows: list[Any] = [*fmt.keys, *fmt.consistencies, *fmt.variants]
    alike = {r.rule for r in rows}
    textual = {name for file in fmt.files for r in file.records for name in r.rules.values()}
    found = {}
    for rule in fmt.rules:
        if rule.name in shown:
            continue
        if rule.severity_for(fmt.default_profiles) not in SHOWN:
            found[rule.name] = "an info, which models leave out"
        elif not rule.applies(fmt.default_profiles):
            found[rule.name] = f"not for the profile {' or '.join(fmt.default_profiles)}"
        elif rule.name in elsewhere:
            found[rule.name] = "compares with other files"
        elif rule.name in alike:
            found[rule.name] = "compares rows by more than the columns"
        elif rule.name in textual:
            found[rule.name] = "is about the text of a file"
        else:
            found[rule.name] = "is code of the validator's"
    return found


def table_of(fmt: Format, file: File) -> Table | None:
    """The kind as a table; None where its records are no objects."""
    record = row_record(file)
    return None if record is None else Table(fmt, file, record)


def build_model(table: Table, name: str) -> type[DataFrameModel]:
    """The model of a table; needs pandas and pandera."""
    import pandera.pandas as pa
    from pandera.typing.pandas import Series

    space: dict[str, Any] = {"__doc__": _doc(table), "__module__": "ragdatakit.schemas.frames", "__annotations__": {}}
    attributes = _attributes(table.record)
    for field in table.record.fields:
        attribute = attributes[field.name]
        missing, others = table.missing_rule(field), table.stand_ins(field)
        needed = missing is not None and not others and not table.warns(missing)
        column = Series[Any]
        space["__annotations__"][attribute] = column if needed else Optional[column]  # noqa: UP045 - a runtime value
        space[attribute] = pa.Field(alias=field.name, nullable=True, title=field.name, description=field.description)
        judged = _Judged(table.cell_judge(field))
        for number, rule in enumerate(table.cell_rules(field)):
            check = pa.check(field.name, **_words(table, rule))
            space[f"check_{attribute}_{number}"] = check(_column_check(judged, rule.name))
        if table.is_csv:
            check = pa.check(field.name, name="cells-not-text", error=_NOT_TEXT, ignore_na=False)
            space[f"check_{attribute}_text"] = check(_all_text)
        if missing is not None and not needed:
            check = pa.dataframe_check(**_words(table, missing))
            space[f"check_{attribute}_there"] = check(_column_there((field.name, *others)))
    for number, (columns, rule) in enumerate(table.key_rules()):
        space[f"check_key_{number}"] = pa.dataframe_check(**_words(table, rule))(_key_check(columns))
    extra, empty = table.extra_rule(), table.empty_rule()
    strict = extra is not None and not table.warns(extra)
    if extra is not None and not strict:
        space["check_extra"] = pa.dataframe_check(**_words(table, extra))(_no_extra(table.record))
    if empty is not None:
        space["check_rows"] = pa.dataframe_check(**_words(table, empty))(_some_rows)
    title = f"{table.fmt.title}: {table.file.title}"
    space["Config"] = type("Config", (), {"strict": strict, "title": title, "metadata": {"rules": table.shown()}})
    model: type[DataFrameModel] = type(name, (pa.DataFrameModel,), space)
    return model


def _words(table: Table, rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "error": f"{rule.code} {rule.name}",
        "raise_warning": table.warns(rule),
        "ignore_na": False,
    }


_TAKEN = frozenset({"Config", "validate", "example", "strategy", "empty", "to_schema", "to_yaml", "pydantic_validate"})


def _attributes(record: Record) -> dict[str, str]:
    """The attribute of the model for each field; ``id`` and ``_id`` are two, and the first has its own name."""
    found: dict[str, str] = {}
    for name in sorted((f.name for f in record.fields), key=lambda name: _attribute(name) != name):
        attribute = _attribute(name)
        while attribute in found.values():
            attribute += "_"
        found[name] = attribute
    return found


def _attribute(name: str) -> str:
    """A field's name as an attribute; pandera passes over one that begins with an underscore."""
    plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name).lstrip("_")
    if not plain.isidentifier() or keyword.iskeyword(plain) or plain in _TAKEN:
        plain = f"column_{plain}"
    return plain


_NOT_TEXT = "cells-not-text (read the file with ragdatakit.schemas.frames.read)"


def _all_text(cls: Any, cells: pd.Series) -> pd.Series:
    """Every cell is text."""
    return _mask([isinstance(value, str) for value in cells.tolist()], cells.index)


class _Judged:
    """The verdicts on a column, kept for the next rule that asks about the same cells."""

    def __init__(self, judge: CellJudge) -> None:
        self._judge = judge
        self._last: tuple[list[Any], list[frozenset[str]]] = [], []

    def verdicts(self, values: list[Any]) -> list[frozenset[str]]:
        """For each cell the names of the rules it breaks."""
        known, verdicts = self._last
        if len(known) != len(values) or not all(map(_is_same, known, values)):
            verdicts = [self._judge(value) for value in values]
            self._last = values, verdicts
        return verdicts


def _is_same(one: Any, other: Any) -> bool:
    """Whether a cell is what it was; a list may be the same and have changed."""
    return (one is other and type(one) in _UNCHANGING) or (type(one) is type(other) is str and one == other)


_UNCHANGING = frozenset((str, int, float, bool, type(None)))


def _column_check(judged: _Judged, name: str) -> Any:
    def check(cls: Any, cells: pd.Series) -> pd.Series:
        return _mask([name not in found for found in judged.verdicts(cells.tolist())], cells.index)

    return check


def _column_there(names: tuple[str, ...]) -> Any:
    def check(cls: Any, frame: pd.DataFrame) -> bool:
        return any(name in frame.columns for name in names)

    return check


def _no_extra(record: Record) -> Any:
    known = {f.name for f in record.fields}

    def check(cls: Any, frame: pd.DataFrame) -> bool:
        return known.issuperset(frame.columns)

    return check


def _some_rows(cls: Any, frame: pd.DataFrame) -> bool:
    """The table has a row."""
    return len(frame) > 0


def _key_check(columns: list[KeyColumn]) -> Any:
    def check(cls: Any, frame: pd.DataFrame) -> pd.Series:
        return _mask(first_of_each_key([values(frame) for values in columns]), frame.index)

    check.__doc__ = "No row repeats the key of an earlier one."
    return check


def _mask(good: list[bool], index: pd.Index) -> pd.Series:
    import pandas as pd

    return pd.Series(good, index=index, dtype=bool)


def _doc(table: Table) -> str:
    """What the model is and which rules it stands for."""
    lines = [f"{table.fmt.title}: {table.file.title}. {table.record.description}", ""]
    for field in table.record.fields:
        found = [table.missing_rule(field), *table.cell_rules(field)]
        rules = ", ".join(dict.fromkeys(rule.name for rule in found if rule))
        lines.append(f"- ``{field.name}`` ({field.type}): {field.description}" + (f" [{rules}]" if rules else ""))
    whole = [*(r.name for _, r in table.key_rules()), *(r.name for r in (table.extra_rule(), table.empty_rule()) if r)]
    if whole:
        lines += ["", f"Of the table as a whole: {', '.join(dict.fromkeys(whole))}."]
    lines += ["", f"Format ``{table.fmt.name}``, kind ``{table.file.kind}``. `ragdata explain RULE` has the details."]
    return "\n".join(lines)

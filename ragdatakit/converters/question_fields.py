"""Questions of formats whose records have room for any field: read into the canonical table and written back whole.

What a format's loader takes for the id or the answer may be in a form that the canonical table does not hold (a
number, a second name of the field). Then the fields as they are go to the metadata, beside the value in the column,
and writing the same format again finds that they say the same and writes nothing but them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec

from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text, string_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Question

_STRINGS = msgspec.json.Decoder(tuple[str, ...])
_COLUMNS = ("question_id", "text", "answer", "aliases", "split")
BESIDE = "metadata."
"""Stands in ``field_order`` before a field that has the name of a canonical column and is none."""

ASIDE = "meta."
"""Stands before a field of a written record whose own name is taken."""


@dataclass(frozen=True)
class QuestionFields:
    """The fields of one format's questions.

    ``names`` are those of the canonical columns; ``ids`` and ``answers`` the fields among which the loader chooses: the
    first id that is not empty, the first answer that is there.
    """

    names: Mapping[str, str]
    order: tuple[str, ...]
    ids: tuple[str, ...]
    answers: tuple[str, ...]

    @cached_property
    def _columns(self) -> dict[str, str]:
        return {own: column for column, own in self.names.items()}

    @cached_property
    def _set_aside(self) -> re.Pattern[str]:
        taken = "|".join(map(re.escape, {*self.names.values(), *self.ids, *self.answers}))
        return re.compile(rf"(?:{re.escape(ASIDE)})+(?:{taken})")

    def read(self, fields: Mapping[str, Raw]) -> Question:
        """The question in a record."""
        values: dict[str, str | tuple[str, ...] | None] = {}
        raw_ids = self._raw_id(fields)
        if raw_ids:
            values["question_id"] = raw_ids[1]
        raw_answers = self._raw_answer(fields)
        if raw_answers:
            values["answer"], values["aliases"] = raw_answers[1], raw_answers[2]
        kept_raw = (*(raw_ids[0] if raw_ids else ()), *(raw_answers[0] if raw_answers else ()))
        extras: list[tuple[str, Raw]] = []
        order: list[str] = []
        for name, raw in fields.items():
            column = None if name in kept_raw else self._columns.get(name)
            value = _typed(column, raw) if column and not values.get(column) else None
            if column and value is not None:
                values[column] = value
                order.append(column)
            else:
                own = name[len(ASIDE) :] if name.startswith(ASIDE) and self._set_aside.fullmatch(name) else name
                extras.append((own, raw))
                order.append(BESIDE + own if own in _COLUMNS else own)
        return Question(
            question_id=values.get("question_id"),  # type: ignore[arg-type]  # one dict for all columns
            text=values.get("text") or "",  # type: ignore[arg-type]
            answer=values.get("answer"),  # type: ignore[arg-type]
            aliases=values.get("aliases") or (),  # type: ignore[arg-type]
            split=values.get("split"),  # type: ignore[arg-type]
            metadata=object_text(extras),
            field_order=tuple(order),
        )

    def _raw_id(self, fields: Mapping[str, Raw]) -> tuple[tuple[str, ...], str | None] | None:
        """(fields to keep as they are, the id), unless the id is text in its usual place."""
        for name in self.ids:
            if name in fields and (value := loads(fields[name])):
                if name == self.names["question_id"] and isinstance(value, str):
                    return None
                return self.ids, None if isinstance(value, list | dict) else str(value)
        return self.ids, None

    def _raw_answer(self, fields: Mapping[str, Raw]) -> tuple[tuple[str, ...], str | None, tuple[str, ...]] | None:
        """(fields to keep as they are, the answer, other answers), unless it is text in its usual place."""
        present = [n for n in self.answers if n in fields]
        if not present:
            return None
        value = loads(fields[present[0]])
        if isinstance(value, str):
            return None if present == [self.names["answer"]] else (self.answers, value, ())
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return self.answers, value[0], tuple(value[1:])
        return self.answers, None if value is None or isinstance(value, list | dict) else str(value), ()

    def write(self, question: Question, extras: bool = True) -> dict[str, Raw]:
        """The record of a question, in the order of its source; without ``extras`` only what the loader reads."""
        beside = dict(fields_of(question.metadata)) if question.metadata and extras else {}
        raw = self._agreeing(question, beside)
        written: dict[str, Raw] = {}
        for own, value in self._ordered(question, beside, raw, extras):
            written.setdefault(own, value)
        return written

    def _agreeing(self, question: Question, beside: Mapping[str, Raw]) -> frozenset[str]:
        """The fields that are written as they are in the metadata, since they say what the columns say."""
        names: set[str] = set()
        for group, column in ((self.ids, "question_id"), (self.answers, "answer")):
            present = {n: beside[n] for n in group if n in beside}
            usual = list(present) == [self.names[column]] and string_of(present[self.names[column]]) is not None
            if not present or usual:  # what is in its usual place is not put aside: it is another format's field
                continue
            if column == "answer" and loads(next(iter(present.values()))) not in (question.answer, None):
                continue
            if getattr(self.read(present), column) == getattr(question, column):
                names.update(present)
        return frozenset(names)

    def _ordered(
        self, question: Question, beside: Mapping[str, Raw], raw: frozenset[str], extras: bool
    ) -> Iterator[tuple[str, Raw]]:
        columns = self._column_values(question, raw, extras)
        taken = {own for own, _ in columns.values()} | {n for n in self.ids if n in beside and loads(beside[n])}
        if "answer" not in columns:
            taken.update(self.answers)
        others = {}
        for name, value in beside.items():
            aside = name not in raw and (name in taken or self._set_aside.fullmatch(name))
            others[name] = (ASIDE + name if aside else name, value)
        for name in question.field_order if extras else ():
            if name in columns:
                yield columns.pop(name)
            elif (own := name.removeprefix(BESIDE)) in others:
                yield others.pop(own)
        rest = dict([*columns.values(), *others.values()])
        for own in self.order:
            if own in rest:
                yield own, rest.pop(own)
        yield from rest.items()

    def _column_values(self, question: Question, raw: frozenset[str], extras: bool) -> dict[str, tuple[str, Raw]]:
        """Column to the field's name and value, for those that have one."""
        columns = ["text"]
        if not raw & set(self.ids):
            columns.append("question_id")
        if not raw & set(self.answers):
            columns.append("answer")
        if extras:
            columns += ["aliases", "split"]
        values = {c: getattr(question, c) for c in columns}
        return {c: (self.names[c], Raw(dumps(v))) for c, v in values.items() if v is not None and v != ()}


def _typed(column: str | None, raw: Raw) -> str | tuple[str, ...] | None:
    """What a field gives to its column; None where it is of another type."""
    if column != "aliases":
        return string_of(raw)
    try:
        return _STRINGS.decode(raw) or None
    except msgspec.DecodeError:
        return None

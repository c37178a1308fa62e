"""Mutations of values: texts, ids, positive lists, triplets and scores, and what they refer to."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.light_splade_mutations import ID_FIELD, UNKNOWN, Mutation, NothingToChange, Target, dumped, every, mutation

RECORD_MUTATIONS: list[Mutation] = []
record = partial(mutation, RECORD_MUTATIONS)

MASTERS = ("queries", "documents")


def _text(name: str, codes: str, value: Any) -> None:
    """A mutation of the text of a query or document."""

    def change(t: Target) -> None:
        index, row = t.pick()
        t.rows[index] = dumped(row | {"text": value})

    record(name, **dict.fromkeys(MASTERS, codes))(change)


def _set(name: str, kind: str, field: str, codes: str, value: Any) -> None:
    """A mutation of one field; a callable makes the new value of the old one."""

    def change(t: Target) -> None:
        index, row = t.pick()
        t.rows[index] = row | {field: value(row[field]) if callable(value) else value}

    record(name, **{kind: codes})(change)


_text("text-null", "E07", None)
_text("text-number", "E07", 12)
_text("text-true", "E07", True)
_text("text-list", "E07", ["a"])
_text("text-object", "E07", {"en": "a"})
_text("text-lone-surrogate", "E07", "cut \ud83d")
_text("text-pair-the-wrong-way", "E07", "\udea2\ud83d")
_text("text-empty", "W01", "")
_text("text-of-spaces", "W01", " \u3000\n")
_text("text-with-nul", "", "a\0b")
_text("text-very-long", "W14", "tide " * 20_000)
_text("text-numeric", "", "007")


@record("text-with-line-separators", **dict.fromkeys(MASTERS, ""))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dumped(row | {"text": "@"}).replace("@", "a\u2028b\u0085c\u2029d\ufeff\x7f")


@record("text-with-raw-control-character", **dict.fromkeys(MASTERS, "E04"))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dumped(row | {"text": "@"}).replace("@", t.rng.choice(["\t", "\0", "\x1b", "\x0b", "\x1c"]))


@record("text-with-noncharacters", **dict.fromkeys(MASTERS, ""))
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = dumped(row | {"text": "@"}).replace("@", "\\ud83d\\ude80 \\uFFFF \\u0000 \\/ \U0010ffff")


for _name, _new in {
    "id-as-text": str,
    "id-decimal": float,
    "id-true": lambda _: True,
    "id-null": lambda _: None,
    "id-list": lambda old: [old],
    "id-object": lambda old: {"id": old},
    "id-nan": lambda _: float("nan"),
    "id-infinite": lambda _: float("-inf"),
}.items():
    for _kind, _field in [*ID_FIELD.items(), ("triplets", "pos_doc_id"), ("triplets", "neg_doc_id")]:
        _set(f"{_name}-{_field}", _kind, _field, "E06", _new)


@record("id-with-exponent", **every("E06"))
def _(t: Target) -> None:
    index, row = t.pick()
    old = str(row[ID_FIELD[t.kind]])
    t.rows[index] = dumped(row).replace(old, f"{old}e0", 1)


@record("id-with-leading-zero", **every("E04"))
def _(t: Target) -> None:
    index, row = t.pick()
    old = str(row[ID_FIELD[t.kind]])
    t.rows[index] = dumped(row).replace(old, old.replace("-", "") + "_1" if old.startswith("-") else f"0{old}", 1)


@record("ids-as-text-everywhere", **dict.fromkeys(MASTERS, "E06"))
def _(t: Target) -> None:
    t.draft.rename(t.kind, str)


@record("ids-beyond-64-bits", **dict.fromkeys(MASTERS, "W15"))
def _(t: Target) -> None:
    t.draft.rename(t.kind, lambda i: i + 10**20 if isinstance(i, int) else i)


@record("ids-around-64-bits", **dict.fromkeys(MASTERS, "W15"))
def _(t: Target) -> None:
    first = t.rng.choice([2**53 + 1, 2**63 - 1, 2**64 - 1, -(2**63) - 1])
    known = sorted(row[ID_FIELD[t.kind]] for row in t.rows if isinstance(row, dict) and _has_integer_id(t.kind, row))
    if not known:
        raise NothingToChange
    t.draft.rename(t.kind, lambda i: first + known.index(i) if i in known else i)


def _has_integer_id(kind: str, row: dict[str, Any]) -> bool:
    return type(row.get(ID_FIELD[kind])) is int


@record("id-minus-zero", documents="")
def _(t: Target) -> None:
    index, row = t.pick()
    old = row["doc_id"]
    t.draft.rename("documents", lambda i: 0 if i == old else i)
    t.rows[index] = dumped(row | {"doc_id": 0}).replace("0", "-0", 1)


@record("id-repeated-with-another-text", **dict.fromkeys(MASTERS, "E12"))
def _(t: Target) -> None:
    t.rows.append(t.pick()[1] | {"text": "another"})


@record("line-repeated", queries="E12", documents="E12", positives="E13", triplets="W05", scores="E13")
def _(t: Target) -> None:
    t.rows.append(dict(t.pick()[1]))


@record("line-removed", queries="E08", positives="E09", scores="E30")
def _(t: Target) -> None:
    del t.rows[t.pick()[0]]


@record("query-added", queries="E09")
def _(t: Target) -> None:
    t.rows.append({"qid": UNKNOWN, "text": "new"})


@record("document-added", documents="")
def _(t: Target) -> None:
    t.rows.append({"doc_id": UNKNOWN, "text": "new"})


@record("qid-unknown", positives="E08", triplets="E21", scores="W12")
def _(t: Target) -> None:
    t.rows.append(t.pick()[1] | {"qid": UNKNOWN})


@record("positives-in-two-lines", positives="E13")
def _(t: Target) -> None:
    t.rows.append(t.pick()[1] | {"positive_doc_ids": [t.pick()[1]["positive_doc_ids"][0]]})


for _name, _codes, _value in (
    ("positives-empty", "E10", []),
    ("positives-null", "E06", None),
    ("positives-number", "E06", lambda old: old[0]),
    ("positives-text", "E06", lambda old: str(old[0])),
    ("positives-empty-text", "E", ""),
    ("positives-object", "E", {}),
    ("positives-as-texts", "E06", lambda old: [*old[1:], str(old[0])]),
    ("positives-decimal", "E06", lambda old: [*old[1:], float(old[0])]),
    ("positives-with-null", "E06", lambda old: [*old, None]),
    ("positives-with-list", "E06", lambda old: [*old, [old[0]]]),
    ("positives-unknown", "E11", lambda old: [*old, UNKNOWN]),
    ("positives-twice", "W18", lambda old: [*old, old[0]]),
):
    _set(_name, "positives", "positive_doc_ids", _codes, _value)
_set("positive-unknown", "triplets", "pos_doc_id", "E20", UNKNOWN)
_set("negative-unknown", "triplets", "neg_doc_id", "E20", UNKNOWN)


@record("positive-is-negative", triplets="E22")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"pos_doc_id": row["neg_doc_id"], "neg_doc_id": row["pos_doc_id"]}


@record("negative-is-positive", triplets="E23")
def _(t: Target) -> None:
    index, row = t.pick()
    listed = t.find("positives", row["qid"])["positive_doc_ids"]
    t.rows[index] = row | {"neg_doc_id": listed[-1]}


@record("negative-is-the-positive", triplets="E23")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"neg_doc_id": row["pos_doc_id"]}

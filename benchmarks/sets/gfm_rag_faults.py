"""The faults that GFM-RAG's loaders die of, drop or misread, one breaker each, for `sets.faults`.

Rows that others refer to stay as they are, a broken one is put in after them.
"""

from __future__ import annotations

from typing import Any

from sets.faults import Breaker, Fault, as_line, as_row, changed, without
from sets.gfm_rag import EDGES_FILE, NODES_FILE, QUESTIONS_FILE, RELATIONS_FILE

UNKNOWN = "nobody at all"
SURROGATES = '{"icon": "\\ud83d\\udea2"}'
BAD_CELLS = {
    "empty-attributes": "",
    "attributes-json-null": '{"built": null}',
    "attributes-json-true": '{"open": true}',
    "attributes-bare-word": "nan",
    "attributes-call": "{'height': np.float64(1.0)}",
    "attributes-cut": "{'kind': 'harbour'",
    "attributes-apostrophe": "{'note': 'the pilot's book'}",
}
MISREAD_CELLS = {
    "attributes-not-dict": "['tug']",
    "attributes-surrogate": SURROGATES,
    "attributes-escaped-slash": '{"berth": "4\\/5"}',
    "attributes-repeated-key": "{'kind': 'tug', 'kind': 'barge'}",
}


def gfm_rag_faults() -> dict[str, list[Fault]]:
    """Kinds of fault per file of the set."""
    return {
        NODES_FILE: [*_rows("name", MISREAD_CELLS), Fault("duplicate-node", _again, inserted=True)],
        RELATIONS_FILE: [*_rows("name", MISREAD_CELLS), Fault("duplicate-relation", _again, inserted=True)],
        # The attributes of edges are parsed and then never used: what cannot be misread is no fault there.
        EDGES_FILE: [*_edges(), *_rows()],
        QUESTIONS_FILE: _questions(),
    }


def _again(record: dict[str, Any], number: int) -> str:
    return as_row(record)


def _rows(key: str = "", cells: dict[str, str] | None = None) -> list[Fault]:
    """Rows with bad attributes (and with ``cells``), too many cells or too few.

    Each under a new name, where ``key`` says which column that is.
    """

    def fresh(record: dict[str, Any], number: int) -> dict[str, Any]:
        return {**record, key: f"a name beside the others {number}"} if key else record

    def cell(text: str) -> Breaker:
        return lambda record, number: as_row({**fresh(record, number), "attributes": text})

    def cut(record: dict[str, Any], number: int) -> str:
        return as_row({**fresh(record, number), "attributes": "{'note': 'before\0after'}"})

    return [
        *(Fault(kind, cell(text), inserted=True) for kind, text in (BAD_CELLS | (cells or {})).items()),
        Fault("long-row", lambda r, n: as_row({**fresh(r, n), "attributes": "{}", "more": "cell"}), inserted=True),
        Fault("short-row", lambda r, n: as_row({k: v for k, v in fresh(r, n).items() if k != "attributes"}),
              inserted=True),
        Fault("nul-in-cell", cut, inserted=True),
    ]  # fmt: skip


def _edges() -> list[Fault]:
    def other(column: str) -> Breaker:
        return lambda record, number: as_row({**record, column: f"{UNKNOWN} {number}"})

    def case(record: dict[str, Any], number: int) -> str:
        return as_row({**record, "source": record["source"].upper()})

    def blank(record: dict[str, Any], number: int) -> str:
        return as_row({**record, "target": record["target"] + " "})

    return [
        *(Fault(f"dangling-{column}", other(column), inserted=True) for column in ("source", "target", "relation")),
        Fault("dangling-by-case", case, inserted=True),
        Fault("dangling-by-blank", blank, inserted=True),
    ]


def _questions() -> list[Fault]:
    def fresh(**fields: Any) -> Breaker:
        return lambda record, number: as_line({**record, **_own(number), **fields})

    def missing(name: str) -> Breaker:
        return lambda record, number: without(name)({**record, **_own(number)}, number)

    return [
        *(Fault(f"missing-{name}", missing(name), inserted=True) for name in ("question", "start_nodes")),
        *(Fault(f"missing-{name}", without(name), inserted=True) for name in ("id", "target_nodes")),
        Fault("not-object", lambda record, number: as_line("a question alone"), inserted=True),
        Fault("nodes-not-object", fresh(start_nodes=["a", "b"]), inserted=True),
        Fault("node-list-null", fresh(target_nodes={"document": None}), inserted=True),
        Fault("node-name-not-text", fresh(start_nodes={"entity": [["a"]]}), inserted=True),
        Fault("node-list-is-text", fresh(target_nodes={"entity": UNKNOWN}), inserted=True),
        Fault("duplicate-question-id", lambda record, number: as_line({**record, "question": f"And {number}?"}),
              inserted=True),
        Fault("question-id-null", changed(id=None), inserted=True),
        Fault("question-id-decimal", changed(id=1.5), inserted=True),
        Fault("question-id-beyond-64-bits", changed(id=2**64), inserted=True),
        Fault("question-not-text", fresh(question=None), inserted=True),
        Fault("no-known-start-node", fresh(start_nodes={"entity": [UNKNOWN]}), inserted=True),
        Fault("no-known-target-node", fresh(target_nodes={"entity": [UNKNOWN]}), inserted=True),
    ]  # fmt: skip


def _own(number: int) -> dict[str, Any]:
    return {"id": f"extra-{number}", "question": f"What is number {number} of the questions put in?"}

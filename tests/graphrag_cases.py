"""Damaged indexes of GraphRAG 3.x and 2.x: what its own loaders did with them is recorded beside this file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

Rows = list[dict[str, Any]]
TEXTS, INTEGERS = pa.list_(pa.string()), pa.list_(pa.int64())
FINDINGS = pa.list_(pa.struct([("explanation", pa.string()), ("summary", pa.string())]))
NAN, INFINITE = float("nan"), float("inf")
TEXT_OF = {
    "t1": "Mara Venn built the Ostrel lighthouse.",
    "t2": "Joss Alder helped Mara Venn.",
    "t3": "Joss Alder mapped Kettle Reef.",
}


def _schema(**columns: Any) -> dict[str, pa.DataType]:
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    return {name: kinds.get(kind, kind) for name, kind in columns.items()}


SCHEMAS: dict[str, dict[str, pa.DataType]] = {
    "documents": _schema(id=str, human_readable_id=int, title=str, text=str, text_unit_ids=TEXTS, creation_date=str,
                         raw_data=str),
    "text_units": _schema(id=str, human_readable_id=int, text=str, n_tokens=int, document_id=str, entity_ids=TEXTS,
                          relationship_ids=TEXTS, covariate_ids=TEXTS),
    "entities": _schema(id=str, human_readable_id=int, title=str, type=str, description=str, text_unit_ids=TEXTS,
                        frequency=int, degree=int),
    "relationships": _schema(id=str, human_readable_id=int, source=str, target=str, description=str, weight=float,
                             combined_degree=int, text_unit_ids=TEXTS),
    "communities": _schema(id=str, human_readable_id=int, community=int, level=int, parent=int, children=INTEGERS,
                           title=str, entity_ids=TEXTS, relationship_ids=TEXTS, text_unit_ids=TEXTS, period=str,
                           size=int),
    "community_reports": _schema(id=str, human_readable_id=int, community=int, level=int, parent=int,
                                 children=INTEGERS, title=str, summary=str, full_content=str, rank=float,
                                 rating_explanation=str, findings=FINDINGS, full_content_json=str, period=str,
                                 size=int),
    "covariates": _schema(id=str, human_readable_id=int, covariate_type=str, type=str, description=str,
                          subject_id=str, object_id=str, status=str, start_date=str, end_date=str, source_text=str,
                          text_unit_id=str),
}  # fmt: skip
_IN_2 = {"documents": ("raw_data", "metadata", pa.string()), "text_units": ("document_id", "document_ids", TEXTS)}
"""By table: a column, what 2.x has in its place, and the type of that."""


def _of_release_2(columns: dict[str, pa.DataType], new: str, old: str, kind: pa.DataType) -> dict[str, pa.DataType]:
    return {old if name == new else name: kind if name == new else each for name, each in columns.items()}


SCHEMAS_OF = {"3": SCHEMAS, "2": {t: _of_release_2(c, *_IN_2[t]) if t in _IN_2 else c for t, c in SCHEMAS.items()}}
"""The tables of a release of GraphRAG."""


@dataclass
class Index:
    """The rows of each table, the types of the columns, and how the files are written."""

    tables: dict[str, Rows]
    schemas: dict[str, dict[str, pa.DataType]] = field(default_factory=lambda: copy.deepcopy(SCHEMAS))
    ending: str = ".parquet"
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write it into a folder; a column whose values are not of its type is one of texts."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.tables.items():
            if self.ending == ".csv":
                _write_csv(folder / f"{name}.csv", rows, list(self.schemas[name]))
            else:
                columns = {c: _column([row.get(c) for row in rows], kind) for c, kind in self.schemas[name].items()}
                pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        for file, data in self.files.items():
            (folder / file).write_bytes(data)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        odd = (str,) if pa.types.is_list(kind) else (float,) if kind == pa.int64() else ()
        if not any(isinstance(value, odd) for value in values):  # which Arrow would change
            return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
        pass
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def _write_csv(path: Path, rows: Rows, columns: list[str]) -> None:
    texts = [["" if row.get(c) is None else str(row[c]) for row in rows] for c in columns]
    table = pa.table({c: pa.array(cells, pa.string()) for c, cells in zip(columns, texts, strict=True)})
    pc.write_csv(table, path, pc.WriteOptions(quoting_style="needed"))


def _report(number: int, level: int, parent: int, children: list[int], size: int) -> dict[str, Any]:
    title, summary = f"Part {number} of the coast", f"What happened in part {number}."
    return {
        "id": f"p{number}", "human_readable_id": number, "community": number, "level": level, "parent": parent,
        "children": children, "title": title, "summary": summary, "full_content": f"# {title}\n\n{summary}",
        "rank": 5.0 + number, "rating_explanation": "Local.",
        "findings": [{"explanation": "It was told.", "summary": "Told"}],
        "full_content_json": json.dumps({"title": title, "summary": summary}), "period": "2026-01-05", "size": size,
    }  # fmt: skip


def sample(release: str = "3") -> Index:
    """Two documents, three text units, four entities, three relationships, three communities."""
    made = _sample()
    made.schemas = copy.deepcopy(SCHEMAS_OF[release])
    if release == "2":
        for table, (new, old, kind) in _IN_2.items():
            for row in made.tables[table]:
                value = row.pop(new)
                row[old] = [value] if kind == TEXTS else value
    return made


def _sample() -> Index:

    def unit(number: int, document: str, entities: list[str], relationships: list[str], claims: list[str]) -> Any:
        key = f"t{number + 1}"
        return {
            "id": key, "human_readable_id": number, "text": TEXT_OF[key], "n_tokens": 8, "document_id": document,
            "entity_ids": entities, "relationship_ids": relationships, "covariate_ids": claims,
        }  # fmt: skip

    def document(number: int, units: list[str]) -> Any:
        return {
            "id": f"d{number + 1}", "human_readable_id": number, "title": f"coast-{number}.txt",
            "text": " ".join(TEXT_OF[u] for u in units), "text_unit_ids": units,
            "creation_date": "2026-01-05 00:00:00 +0000", "raw_data": None,
        }  # fmt: skip

    def entity(number: int, title: str, kind: str, units: list[str], degree: int) -> Any:
        return {
            "id": f"e{number + 1}", "human_readable_id": number, "title": title, "type": kind,
            "description": f"{title.title()} of the coast", "text_unit_ids": units, "frequency": len(units),
            "degree": degree,
        }  # fmt: skip

    def relationship(number: int, source: str, target: str, unit: str, combined: int) -> Any:
        return {
            "id": f"r{number + 1}", "human_readable_id": number, "source": source, "target": target,
            "description": f"{source} and {target}", "weight": 2.0 + number, "combined_degree": combined,
            "text_unit_ids": [unit],
        }  # fmt: skip

    def community(number: int, level: int, parent: int, children: list[int], *lists: list[str]) -> Any:
        return {
            "id": f"c{number}", "human_readable_id": number, "community": number, "level": level, "parent": parent,
            "children": children, "title": f"Community {number}", "entity_ids": lists[0],
            "relationship_ids": lists[1], "text_unit_ids": lists[2], "period": "2026-01-05", "size": len(lists[0]),
        }  # fmt: skip

    def claim(number: int, subject: str, target: str, unit: str) -> Any:
        return {
            "id": f"k{number + 1}", "human_readable_id": number, "covariate_type": "claim", "type": "SURVEY",
            "description": "A claim", "subject_id": subject, "object_id": target, "status": "TRUE",
            "start_date": "2026-01-05T00:00:00", "end_date": "NONE", "source_text": "It was told.",
            "text_unit_id": unit,
        }  # fmt: skip

    mara, light, joss, reef = "MARA VENN", "OSTREL LIGHTHOUSE", "JOSS ALDER", "KETTLE REEF"
    return Index(
        {
            "documents": [document(0, ["t1", "t2"]), document(1, ["t3"])],
            "text_units": [
                unit(0, "d1", ["e1", "e2"], ["r1"], ["k1"]),
                unit(1, "d1", ["e1", "e3"], ["r2"], []),
                unit(2, "d2", ["e3", "e4"], ["r3"], ["k2"]),
            ],
            "entities": [
                entity(0, mara, "PERSON", ["t1", "t2"], 2),
                entity(1, light, "GEO", ["t1"], 1),
                entity(2, joss, "PERSON", ["t2", "t3"], 2),
                entity(3, reef, "GEO", ["t3"], 1),
            ],
            "relationships": [
                relationship(0, mara, light, "t1", 3),
                relationship(1, mara, joss, "t2", 4),
                relationship(2, joss, reef, "t3", 3),
            ],
            "communities": [
                community(0, 0, -1, [1, 2], ["e1", "e2", "e3", "e4"], ["r1", "r2", "r3"], ["t1", "t2", "t3"]),
                community(1, 1, 0, [], ["e1", "e2"], ["r1"], ["t1", "t2"]),
                community(2, 1, 0, [], ["e3", "e4"], ["r3"], ["t2", "t3"]),
            ],
            "community_reports": [_report(0, 0, -1, [1, 2], 4), _report(1, 1, 0, [], 2), _report(2, 1, 0, [], 2)],
            "covariates": [claim(0, mara, "NONE", "t1"), claim(1, joss, reef, "t3")],
        }
    )


Change = Callable[[Index], Any]
TEXT_VALUES: tuple[Any, ...] = (None, "", " ", 7, "7", "zz", ["a"], "a, b", "Ünï\ncode|x")
NUMBER_VALUES: tuple[Any, ...] = (None, "x", "3", 2.5, -1, 99, True, NAN, INFINITE, "", " 4 ", "2.5", [1])
LIST_VALUES: tuple[Any, ...] = (None, [], ["zz"], "['t1', 'e1', 'r1']", [None], [7], "", "t1", ["t1", "t1"], 5, ["a,b"])
NUMBER_LISTS: tuple[Any, ...] = (None, [], [9], [0], "[1, 2]", ["1"], [None], 5, "", [1, 1])
FINDING_VALUES: tuple[Any, ...] = (None, [], "none", 5)


def _values(kind: pa.DataType) -> tuple[Any, ...]:
    if kind == TEXTS:
        return LIST_VALUES
    if kind == INTEGERS:
        return NUMBER_LISTS
    if kind == FINDINGS:
        return FINDING_VALUES
    return TEXT_VALUES if kind == pa.string() else NUMBER_VALUES


def _set(table: str, row: int, column: str, value: Any) -> Change:
    return lambda index: index.tables[table][row].__setitem__(column, copy.deepcopy(value))


def _cells(release: str) -> Iterator[tuple[str, Change]]:
    for table, columns in SCHEMAS_OF[release].items():
        for column, kind in columns.items():
            for place, value in enumerate(_values(kind)):
                yield f"{table}.{column} value {place}", _set(table, 0, column, value)
            yield f"no {table}.{column}", lambda i, t=table, c=column: i.schemas[t].pop(c)  # type: ignore[misc]
            if kind in (pa.string(), pa.int64()):
                same = lambda i, t=table, c=column: i.tables[t][1].__setitem__(c, i.tables[t][0][c])  # noqa: E731
                yield f"{table}.{column} repeated", same


def _whole_tables() -> Iterator[tuple[str, Change]]:
    for table in SCHEMAS:
        yield f"no {table}", lambda i, t=table: i.tables.pop(t)  # type: ignore[misc]
        yield f"empty {table}", lambda i, t=table: i.tables[t].clear()  # type: ignore[misc]
        yield f"{table} reversed", lambda i, t=table: i.tables[t].reverse()  # type: ignore[misc]
        yield f"{table} first gone", lambda i, t=table: i.tables[t].pop(0)  # type: ignore[misc]
        yield f"{table} last gone", lambda i, t=table: i.tables[t].pop()  # type: ignore[misc]
        yield f"{table} doubled", lambda i, t=table: i.tables[t].append(dict(i.tables[t][0]))  # type: ignore[misc]
        yield (
            f"{table} not Parquet",
            lambda i, t=table: (  # type: ignore[misc]
                i.tables.pop(t),
                i.files.update({f"{t}.parquet": b"PAR1 nothing"}),
            ),
        )
        yield (
            f"{table} of no bytes",
            lambda i, t=table: (  # type: ignore[misc]
                i.tables.pop(t),
                i.files.update({f"{t}.parquet": b""}),
            ),
        )

        def extra(index: Index, table: str = table) -> None:
            index.schemas[table]["further"] = pa.string()

        yield f"{table} further column", extra


def _all(table: str, column: str, value: Any) -> Change:
    def change(index: Index) -> None:
        for row in index.tables[table]:
            row[column] = value(row) if callable(value) else value

    return change


# What only several values make.


def _deeper(index: Index) -> None:
    for table in ("communities", "community_reports"):
        for row in index.tables[table]:
            row["level"] += 3


def _members_by_title(index: Index) -> None:
    titles = {row["id"]: row["title"] for row in index.tables["entities"]}
    for row in index.tables["communities"]:
        row["entity_ids"] = [titles[e] for e in row["entity_ids"]]


def _one_level(index: Index) -> None:
    for table in ("communities", "community_reports"):
        for row in index.tables[table]:
            row["level"] = 1


def _both_unknown(index: Index) -> None:
    index.tables["relationships"][0].update(source="NOBODY", target="NOWHERE")


def _ends_are_ids(index: Index) -> None:
    index.tables["relationships"][0].update(source="e1", target="e2")


def _old_units(index: Index) -> None:
    index.schemas["text_units"].pop("document_id")
    index.schemas["text_units"]["document_ids"] = TEXTS
    for row in index.tables["text_units"]:
        row["document_ids"] = [row["document_id"]]


def _numeric(index: Index) -> None:
    for row in index.tables["entities"]:
        row["id"] = row["id"][1:]
    for row in index.tables["communities"]:
        row["entity_ids"] = [e[1:] for e in row["entity_ids"]]


def _commas(index: Index) -> None:
    for row in index.tables["entities"]:
        row["id"] = row["id"] + ",x"
    for row in index.tables["communities"]:
        row["entity_ids"] = [e + ",x" for e in row["entity_ids"]]


_TOGETHER: dict[str, Change] = {
    "levels from 3": _deeper,
    "levels all 1": _one_level,
    "members by title": _members_by_title,
    "both ends unknown": _both_unknown,
    "ends are ids": _ends_are_ids,
    "document_ids of 2.x": _old_units,
    "numeric entity ids": _numeric,
    "entity ids with commas": _commas,
}


_NOT_IN = {"2": ("document_ids of 2.x",)}


def _in_all_rows() -> Iterator[tuple[str, Change]]:
    yield "no members", _all("communities", "entity_ids", lambda row: [])
    yield "no ranks", _all("community_reports", "rank", None)
    yield "ranks below zero", _all("community_reports", "rank", -1.0)
    yield "no children", _all("communities", "children", lambda row: [])
    yield "children null", _all("communities", "children", None)
    yield "no parents", _all("communities", "parent", None)
    yield "all parents -1", _all("communities", "parent", -1)
    yield "one community title", _all("communities", "title", "Community")
    yield "one report title", _all("community_reports", "title", "Report")
    yield "no text units of entities", _all("entities", "text_unit_ids", lambda row: [])
    yield "unknown text units of entities", _all("entities", "text_unit_ids", lambda row: ["zz"])
    yield "lower case ends", _all("relationships", "source", lambda row: row["source"].lower())
    yield "lower case titles", _all("entities", "title", lambda row: row["title"].lower())
    yield "reports of level 3", _all("community_reports", "level", 3)
    yield "unknown communities", _all("community_reports", "community", lambda row: row["community"] + 50)
    yield "texts null", _all("text_units", "text", None)
    yield "texts empty", _all("text_units", "text", "")
    for column, kind in SCHEMAS["communities"].items():
        if kind in (TEXTS, INTEGERS):
            yield f"communities.{column} as text", _all("communities", column, lambda row, c=column: str(row[c]))  # type: ignore[misc]
    for row in (1, 2):
        yield f"parent of row {row} unknown", _set("communities", row, "parent", 77)
        yield f"parent of row {row} is itself", _set("communities", row, "parent", row)
        yield f"level of row {row}", _set("communities", row, "level", 5)


def changes(release: str) -> Iterator[tuple[str, Change]]:
    """All changes by name."""
    yield "unchanged", lambda index: None
    yield from _cells(release)
    yield from _whole_tables()
    yield from ((name, change) for name, change in _TOGETHER.items() if name not in _NOT_IN.get(release, ()))
    yield from _in_all_rows()


_IN_CSV = ("value 0", "value 1", "value 3", "value 5", "value 10", "no ", "repeated", "numeric", "commas", "unchanged")


def cases(release: str = "3") -> Iterator[tuple[str, Index]]:
    """Every damaged index by name, in Parquet; many in CSV, too, which only 3.x reads."""
    for name, change in changes(release):
        index = sample(release)
        change(index)
        yield name, index
    if release != "3":
        return
    for name, change in changes(release):
        if any(word in name for word in _IN_CSV):
            index = sample()
            index.ending = ".csv"
            change(index)
            if not index.files:  # which are Parquet
                yield f"{name} in CSV", index

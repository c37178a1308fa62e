"""The checks of nodes.csv, relations.csv and edges.csv: cells one by one, then the graph that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.arrays.small_graphs import Graph, PlainGraph
from ragdatakit.files.containers.python_literals import Judgement, judge
from ragdatakit.schemas.cells import MISSING
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.gfm_rag.graph import DOCUMENT, GraphFindings
from ragdatakit.validators.gfm_rag.tables import GraphTables

if TYPE_CHECKING:
    from ragdatakit.files.containers.csv_cells import Kind
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.row_problems import RowProblems

_NAMES = {"nodes": ("uid", "name", "type"), "relations": ("uid", "name"), "edges": ()}
_EMPTY_RULE = {"nodes": "empty-attributes", "relations": "empty-attributes", "edges": "empty-edge-attributes"}
_TYPES = {"int": "a number", "float": "a number", "complex": "a number", "str": "a text", "bool": "True or False"}


class TableChecks(FormatChecks):
    """The tables of one dataset; after them it answers what the other files ask about the graph."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._tables = GraphTables(bool(dataset.of_kind("questions")), len(dataset.of_kind("edges")))
        self._findings = GraphFindings(dataset, self._tables)

    # what others ask

    @property
    def usable(self) -> bool:
        """Whether the nodes could be read, so that names can be looked up."""
        return self._tables.usable

    @property
    def types(self) -> dict[str, int]:
        """How many nodes there are of each type."""
        return self._tables.types

    def node(self, name: str) -> tuple[int, str] | None:
        """(number, type) of the node that the loader finds under a name; None if there is none."""
        return self._tables.node(name)

    def expect(self, names: list[str]) -> None:
        """These names will be asked for (a list without repeats): a big graph looks them up at once."""
        self._tables.expect(names)

    def graph(self) -> Graph:
        """The graph that the graph loader makes of the tables; without edges where it cannot."""
        whole = {"nodes", "relations", "edges"} <= self._tables.read
        return self._tables.graph() if whole else PlainGraph(0, [], [], [])

    # rows

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Every row has attributes; the graph must know something of a node or relation besides its key."""
        of_table = {"nodes": ("@spelled", "type", "@key"), "relations": ("@spelled", "@key")}
        texts = {"nodes": ("type",), "relations": ("@spelled",)}.get(kind, ())
        columns = of_table.get(kind, ("@source", "@relation", "@target"))
        accepts = partial(self._tables.accepts, kind)
        judged = Needs(records=True, in_ranges=True, carried=("key_kinds",))
        return replace(judged, columns=columns, texts=texts, looks_up=True, accepts=accepts)

    @property
    def key_kinds(self) -> dict[str, list[Kind]]:
        """What pandas turns the keys of nodes and relations into, which edges have to match."""
        return self._tables.key_kinds

    @key_kinds.setter
    def key_kinds(self, kinds: dict[str, list[Kind]]) -> None:
        self._tables.key_kinds = kinds

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of the cells of one row."""
        for column in _NAMES[file.kind]:
            cell = value.get(column, "")
            if cell and (cell[0].isspace() or cell[-1].isspace()):
                yield Problem("untrimmed-name", f"/{column}", cell, {"column": column})
        if "attributes" in value:
            judgement = judge(value["attributes"])
            yield from _attribute_problems(file.kind, value["attributes"], judgement)
            readable = judgement.kind in ("none", "empty", "dict")
            if file.kind == "nodes" and value.get("type") == DOCUMENT and readable and not judgement.has_content:
                yield Problem("document-without-content", "/attributes", value.get("uid", value.get("name")))

    def scanning(self, file: DataFile) -> Scanning:
        """Rows whose names have blanks at an end, or whose attributes are not plainly in order."""
        from ragdatakit.scanner.predicates import Edged, PythonDict

        unused = "edge-attributes-unused" if file.kind == "edges" else ""
        of_document = ("type", DOCUMENT) if file.kind == "nodes" else None
        dicts = PythonDict("attributes", "attributes-not-portable", unused, of_document)
        asked = (*(Edged(name) for name in _NAMES[file.kind]), dicts)
        return Scanning(asked, derive=_derive_nodes) if file.kind == "nodes" else Scanning(asked)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """Of a document ``@document``, its key as the loader spells it, and ``@title``, its name."""
        if kind != "nodes" or not isinstance(value, dict) or value.get("type") != DOCUMENT:
            return {}
        key = value.get("@spelled", value.get("uid", value.get("name")))
        has_uid = "uid" in value or key is None  # a row may be too short for it
        return {"@document": key, "@title": value.get("name", key) if has_uid else key}

    # tables

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        """Hand the rows to the graph."""
        self._tables.batch(kind, batch, sets)
        return ()

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[RowProblems]:
        """What type inference did to the columns."""
        if table is not None:
            yield from self._tables.finish_table(table)

    def finish(self) -> Iterator[Placed | RowProblems]:
        """Edges that repeat, names that mislead; the graph as a whole."""
        yield from self._findings.of_rows()
        yield from self._findings.of_files()


def _derive_nodes(given: Mapping[str, ScannedCodes], batch: Any) -> None:
    """The keys of documents, as `TableChecks.derive` makes them."""
    if "type" not in given:
        return
    from ragdatakit.arrays.codes import are_one
    from ragdatakit.arrays.text_codes import codes_of_texts

    documents = are_one(given["type"][0], codes_of_texts([DOCUMENT])[0])
    for name, of in (("@document", "@spelled"), ("@title", "name" if {"uid", "name"} <= given.keys() else "@spelled")):
        batch.columns[name], valid = given[of]
        batch.valid[name] = documents if valid is None else documents & valid


def _attribute_problems(table: str, cell: str, judgement: Judgement) -> Iterator[Problem]:
    """The faults of one attributes cell."""
    pointer = "/attributes"
    if not cell.strip():
        yield Problem(_EMPTY_RULE[table], pointer, cell)
        return
    if judgement.kind == "unjudged":
        yield Problem("line-too-long", pointer, None, {"bytes": len(cell)})
        return
    if judgement.kind == "invalid" and table == "edges" and cell in MISSING:
        yield Problem("edge-attributes-like-missing", pointer, cell)
        return
    if judgement.kind == "invalid":
        yield Problem("attributes-not-literal", pointer, cell, {"reason": judgement.reason})
        return
    if table != "edges":  # of an edge, they are parsed and not looked at
        yield from _misread(cell, judgement)
    if judgement.kind == "dict":
        if not judgement.portable:
            yield Problem("attributes-not-portable", pointer, cell, {"reason": _why_not_portable(judgement, cell)})
        if table == "edges":
            yield Problem("edge-attributes-unused", pointer, cell)


def _misread(cell: str, judgement: Judgement) -> Iterator[Problem]:
    """Attributes that are not what they seem, or no attributes at all."""
    pointer = "/attributes"
    if judgement.kind == "other":
        yield Problem("attributes-not-dict", pointer, cell, {"kind": _TYPES.get(judgement.type, f"a {judgement.type}")})
        return
    for key in judgement.repeated:
        yield Problem("attributes-repeated-key", pointer, cell, {"key": key})
    if judgement.surrogate:
        yield Problem("attributes-surrogate", pointer, cell, {"surrogate": judgement.surrogate})
    if judgement.escaped_slash:
        yield Problem("attributes-escaped-slash", pointer, cell)


def _why_not_portable(judgement: Judgement, cell: str) -> str:
    if judgement.is_json:
        return "a JSON reader reads another value"
    if "'" in cell:
        return "single quotes"
    return next((word for word in ("None", "True", "False") if word in cell), "not JSON")

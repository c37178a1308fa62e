"""A dataset as DuckDB views: one view per kind of file, its columns typed by the declaration.

The views are for looking, never for judging: DuckDB coerces (``"12"`` becomes 12, ``12.5`` becomes 12, a missing field
NULL) and reads a broken line of NDJSON as a row of NULLs. What is wrong with the data, `ragdatakit.validate` tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.declarations import Field, File, Record
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.detection import detect
from ragdatakit.tables.folders import Tree, is_regular
from ragdatakit.tables.sniffing import json_container, read_head

if TYPE_CHECKING:
    import duckdb

_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "array": "JSON",
    "object": "JSON",
    "any": "VARCHAR",
}


def open_views(path: Path, format_name: str | None = None) -> duckdb.DuckDBPyConnection:
    """A database in memory with a view for each kind of file of the datasets at ``path``.

    The views of a single dataset stand in the main schema; those of several in one schema each, named by the dataset's
    folder below ``path``. The view ``datasets`` lists them. Raises `RagdataError` as `detect` does.
    """
    import duckdb

    found = detect(path, format_name)
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    boundary = Tree(path) if path.is_dir() else None
    listed = []
    for dataset, schema in zip(found.datasets, _schemas(path, found.datasets), strict=True):
        if schema != "main":
            connection.execute(f"create schema {_name(schema)}")
        for view, query in _views(dataset, boundary):
            connection.execute(f"create view {_name(schema)}.{_name(view)} as {query}")
        listed.append((schema, dataset.display, dataset.format.name))
    rows = ", ".join("({})".format(", ".join(map(_text, row))) for row in listed)
    connection.execute(f'create view main.datasets as select * from (values {rows}) t("schema", path, format)')
    return connection


def _schemas(path: Path, datasets: list[Dataset]) -> list[str]:
    if len(datasets) == 1:
        return ["main"]
    names: list[str] = []
    for dataset in datasets:
        below = dataset.root.relative_to(path).as_posix()
        name = dataset.format.name if below == "." else below
        while name.lower() in {n.lower() for n in (*names, "main", "temp", "system")}:
            name += f" {dataset.format.name}"
        names.append(name)
    return names


def _views(dataset: Dataset, boundary: Tree | None) -> Iterable[tuple[str, str]]:
    for kind in dataset.format.files:
        if not kind.records:
            continue
        groups: dict[tuple[str | None, str, str], tuple[Record, list[DataFile]]] = {}
        for file in dataset.of_kind(kind.kind):
            if is_regular(file.path) and not (boundary is not None and boundary.leaves(file.path)):
                record = _record_of(kind, file)
                container = json_container(file.path) if kind.container == "json" else kind.container
                groups.setdefault((file.split, record.name, container), (record, []))[1].append(file)
        queries = [
            _query(kind, container, record, dataset.root, split, files)
            for (split, _, container), (record, files) in groups.items()
        ]
        if queries:
            yield kind.kind.replace("-", "_"), " union all by name ".join(queries)


def _record_of(kind: File, file: DataFile) -> Record:
    """The shape that the file's first record has."""
    if len(kind.records) > 1 and (head := read_head(file.path)) is not None and head.records:
        shape = "object" if isinstance(head.records[0], dict) else "string"
        return next((r for r in kind.records if r.shape == shape), kind.record)
    return kind.record


_OPTIONS = {
    "ndjson": "format = 'newline_delimited', ignore_errors = true",
    "json-array": "format = 'array'",
    "json-single": "format = 'unstructured'",
}


def _query(kind: File, container: str, record: Record, root: Path, split: str | None, files: list[DataFile]) -> str:
    paths = ", ".join(_text(_unglobbed(f.path)) for f in files)
    options = _OPTIONS.get(container, _OPTIONS["json-array"])
    if record.shape == "object":
        columns = ", ".join(f"{_text(f.name)}: {_text(_column_type(f))}" for f in record.fields)
        source = f"read_json([{paths}], {options}, filename = true, columns = {{{columns}}})"
        wanted = [_name(f.name) for f in record.fields]
    else:
        source = f"read_json_objects([{paths}], {options}, filename = true)"
        wanted = _cut_at_colon(kind) if record.shape == "string" else ["json as value"]
    below = f"{root}/"
    name = f"case when starts_with(filename, {_text(below)}) then substr(filename, {len(below) + 1}) else filename end"
    given = f"{_text(split)}::varchar" if split is not None else "null::varchar"
    return f'select {", ".join(wanted)}, {given} as split, {name} as "file" from {source}'


def _cut_at_colon(kind: File) -> list[str]:
    """Where records may be objects with two fields or strings, the string holds the two, parted by its first colon."""
    whole = "json ->> '$'"
    fields = next((r.fields for r in kind.records if r.shape == "object"), ())
    if len(fields) != 2:
        return [f"({whole}) as value"]
    colon = f"instr({whole}, ':')"
    first = f"case when {colon} > 0 then substr({whole}, 1, {colon} - 1) end as {_name(fields[0].name)}"
    return [first, f"substr({whole}, {colon} + 1) as {_name(fields[1].name)}"]


def _column_type(field: Field) -> str:
    if field.type == "array" and field.items is not None:
        return f"{_TYPES[field.items]}[]"
    if field.type == "object" and field.values is not None:
        return f"MAP(VARCHAR, {_TYPES[field.values]})"
    return _TYPES[field.type]


def _unglobbed(path: Path) -> str:
    """A path in which DuckDB sees no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'

"""The rows of GraphRAG's tables as records: columns of the newest release, required where every release has them."""

from __future__ import annotations

from ragdatakit.schemas.declarations import Field, Record, Type
from ragdatakit.schemas.graphrag.tables import BY_KIND, GENERATIONS, Column, Table

_TYPES: dict[str, tuple[Type, Type | None]] = {
    "text": ("string", None),
    "integer": ("integer", None),
    "number": ("number", None),
    "texts": ("array", "string"),
    "integers": ("array", "integer"),
    "findings": ("array", "object"),
    "any": ("any", None),
}


def _field(column: Column, until: str) -> Field:
    kind, items = _TYPES[column.type]
    return Field(
        name=column.name,
        type=kind,
        items=items,
        required=all(column.is_needed(each) for each in GENERATIONS if each <= until),
        nullable=column.nullable,
        description=column.description,
        examples=(column.example,) if column.example is not None else (),
        rules={"missing": "missing-column"},
    )


def row_of(table: Table) -> Record:
    """A row of a table, as the newest release that has the table writes it."""
    columns = [column for column in table.columns if column.is_of(table.until)]
    return Record(
        name=table.name,
        title=table.title,
        description=table.description,
        fields=tuple(_field(column, table.until) for column in columns),
        examples=({c.name: c.example for c in columns if c.example is not None or c.nullable},),
    )


ROWS = {kind: row_of(table) for kind, table in BY_KIND.items()}
VECTOR = Record(
    name="embedding",
    title="Vector",
    description="The vector of a text unit, an entity or a report.",
    fields=(
        Field("id: string", "Id of what the vector is of.", examples=("e1",)),
        Field("embedding: number[]", "The numbers.", examples=([0.6, 0.8],)),
    ),
    examples=({"id": "e1", "embedding": [0.6, 0.8]},),
)

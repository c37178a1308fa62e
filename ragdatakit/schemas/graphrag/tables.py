"""The tables of a GraphRAG index, with their columns in all releases.

Source: ``data_model/schemas.py``, ``data_model/dfs.py`` and ``query/input/loaders/dfs.py`` of 3.x, and real indexes of
0.4, 0.5, 1.2, 2.0, 2.7 and 3.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import ELSEWHERE

GENERATIONS = ("0.1", "0.5", "1.0", "2.0", "2.3", "3.0")
"""The releases that changed the tables; each stands for those up to the next."""
GENERATION_WORDS = {
    "0.1": "0.1 to 0.4",
    "0.5": "0.5 to 0.9",
    "1.0": "1.x",
    "2.0": "2.0 to 2.2",
    "2.3": "2.3 to 2.7",
    "3.0": "3.x",
}
RELEASES = {"3": "3.0", "2": "2.3"}
"""Those that are written, by what ``--option release`` says."""
SECOND = ("2.0", "2.3")
"""2.x, whose readers take values as they are where 3.x makes numbers of them first (recorded of 2.7.2 and 3.3.0)."""
PREFIX = "create_final_"
"""How the names of the files began before 2.0."""
ENDINGS = (".parquet", ".csv")

ColumnType = Literal["text", "integer", "number", "texts", "integers", "findings", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    ``since`` and ``until`` are the generations in which it is written, ``needed`` the one from which on a reader stops
    without it (``""``: none does), except for those of 2.x where ``free_in_2``. ``nullable``: readers take a null.
    ``example`` is a value of it. ``elsewhere`` are names that earlier releases, and others, have for it.
    """

    name: str
    type: ColumnType
    description: str
    example: Any = None
    since: str = "0.1"
    until: str = "3.0"
    needed: str = ""
    free_in_2: bool = False
    nullable: bool = True
    elsewhere: tuple[str, ...] = ()

    def is_of(self, generation: str) -> bool:
        """Whether a generation writes it."""
        place = GENERATIONS.index(generation)
        return GENERATIONS.index(self.since) <= place <= GENERATIONS.index(self.until)

    def is_needed(self, generation: str) -> bool:
        """Whether a reader of a generation stops without it."""
        later = bool(self.needed) and GENERATIONS.index(generation) >= GENERATIONS.index(self.needed)
        return later and self.is_of(generation) and not (self.free_in_2 and generation in SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: ``kind`` is what ragdata calls its files, ``name`` what GraphRAG does."""

    kind: str
    name: str
    title: str
    description: str
    columns: tuple[Column, ...]
    until: str = "3.0"

    def column(self, name: str) -> Column | None:
        """The column of that name; None where GraphRAG has none."""
        return next((c for c in self.columns if c.name == name), None)


_UNITS = "9f1c0a7e"
_ID = Column(name="id", type="text", description="Unique key.", example="e1", needed="0.1", nullable=False)
_NUMBER = Column(
    name="human_readable_id",
    type="integer",
    description="Number of the row, counted from 0; answers cite it.",
    example=0,
    needed="0.5",
    nullable=False,
)


def _ids(name: str, of: str, example: list[str] | None = None, **more: Any) -> Column:
    return Column(name=name, type="texts", description=f"Ids of {of}.", example=example or [_UNITS], **more)


def _text(name: str, description: str, example: str | None = "", **more: Any) -> Column:
    return Column(name=name, type="text", description=description, example=example, **more)


def _integer(name: str, description: str, example: int = 0, **more: Any) -> Column:
    return Column(name=name, type="integer", description=description, example=example, **more)


DOCUMENTS = Table(
    kind="documents",
    name="documents",
    title="Documents",
    description="The texts that were indexed.",
    columns=(
        _ID,
        _NUMBER,
        _text("title", "Name of the file, or the column that is configured.", "harbour.txt", needed="0.1"),
        _text(
            "text",
            "The whole text.",
            "Mara Venn built the lighthouse.",
            since="0.5",
            needed="0.5",
            elsewhere=("raw_content", *ELSEWHERE["text"]),
        ),
        _text("raw_content", "The whole text, as it was called before 0.5.", until="0.1", needed="0.1"),
        _ids("text_unit_ids", "the text units that the document was cut into"),
        _text("creation_date", "When the document was made.", "2026-01-05 00:00:00 +0000", since="2.0"),
        Column(name="metadata", type="any", description="Further columns of the input.", since="2.3", until="2.3"),
        Column(name="raw_data", type="any", description="The row or object of the input.", since="3.0"),
    ),
)
TEXT_UNITS = Table(
    kind="text-units",
    name="text_units",
    title="Text units",
    description="The chunks of the documents.",
    columns=(
        _ID,
        replace(_NUMBER, needed=""),
        _text(
            "text",
            "The text of the chunk.",
            "Mara Venn built the lighthouse.",
            needed="0.1",
            nullable=False,
            elsewhere=ELSEWHERE["text"],
        ),
        _integer("n_tokens", "How many tokens the text has.", 6, needed="0.1", free_in_2=True, nullable=False),
        _text("document_id", "Id of its document.", "d1", since="3.0", needed="3.0"),
        _ids(
            "document_ids",
            "its documents, as it was written before 3.0",
            ["d1"],
            until="2.3",
            needed="0.1",
            free_in_2=True,
        ),
        _ids("entity_ids", "the entities in it", ["e1"]),
        _ids("relationship_ids", "the relationships in it", ["r1"]),
        _ids("covariate_ids", "the claims in it", []),
    ),
)
ENTITIES = Table(
    kind="entities",
    name="entities",
    title="Entities",
    description="The nodes of the graph.",
    columns=(
        _ID,
        _NUMBER,
        _text(
            "title",
            "Name, which relationships mean by it.",
            "MARA VENN",
            since="0.5",
            needed="0.5",
            nullable=False,
            elsewhere=("name", "entity", "entity_name", "label"),
        ),
        _text("name", "Name, as it was called before 0.5.", until="0.1", needed="0.1", nullable=False),
        _text("type", "What kind of thing it is.", "PERSON", needed="0.1"),
        _text("description", "What is said of it.", "The engineer of the lighthouse.", needed="0.1"),
        _ids("text_unit_ids", "the text units that name it", needed="0.1", nullable=False),
        _integer("frequency", "In how many text units it is named.", 1, since="2.0"),
        _integer("degree", "How many entities it is related to; its rank.", 1, since="2.0"),
        Column(name="x", type="number", description="Place in a picture.", since="2.0", until="2.3"),
        Column(name="y", type="number", description="Place in a picture.", since="2.0", until="2.3"),
        Column(name="graph_embedding", type="any", description="Vector of the node.", until="0.1"),
        Column(name="name_embedding", type="any", description="Vector of the name.", until="0.1"),
        Column(name="description_embedding", type="any", description="Vector of the description."),
    ),
)
RELATIONSHIPS = Table(
    kind="relationships",
    name="relationships",
    title="Relationships",
    description="The edges of the graph.",
    columns=(
        _ID,
        _NUMBER,
        _text(
            "source",
            "Title of an entity.",
            "MARA VENN",
            needed="0.1",
            nullable=False,
            elsewhere=("src", "head", "subject", "from", "src_id"),
        ),
        _text(
            "target",
            "Title of an entity.",
            "OSTREL LIGHTHOUSE",
            needed="0.1",
            nullable=False,
            elsewhere=("tgt", "tail", "object", "to", "tgt_id"),
        ),
        _text("description", "What is said of the two.", "Mara Venn built the lighthouse.", needed="0.1"),
        Column(name="weight", type="number", description="Sum of the strengths that were given.", example=9.0),
        _integer("combined_degree", "Degree of the source and of the target; its rank.", 2, since="0.5"),
        _integer("source_degree", "Degree of the source.", 1, until="0.1"),
        _integer("target_degree", "Degree of the target.", 1, until="0.1"),
        _integer("rank", "Sum of the degrees.", 2, until="0.1"),
        _ids("text_unit_ids", "the text units that mention it"),
    ),
)
COMMUNITIES = Table(
    kind="communities",
    name="communities",
    title="Communities",
    description="Clusters of entities, and how they lie within each other.",
    columns=(
        _ID,
        Column(name="human_readable_id", type="integer", description="The number of the community.", since="0.5"),
        _integer("community", "Number of the cluster, unique over all levels.", since="0.5", needed="0.5"),
        _integer("level", "Depth in the hierarchy; 0 is the top.", needed="0.1", nullable=False),
        _integer("parent", "Number of the community it lies in; -1 at the top.", -1, since="1.0", needed="1.0"),
        Column(
            name="children",
            type="integers",
            description="Numbers of the communities that lie in it.",
            example=[],
            since="2.0",
            needed="2.0",
            nullable=False,
        ),
        _text("title", "Name; reports are found by it.", "Community 0", needed="0.1", nullable=False),
        _ids("entity_ids", "its members", ["e1"], since="0.5", needed="0.5"),
        _ids("relationship_ids", "the relationships within it", ["r1"]),
        _ids("text_unit_ids", "the text units that mention its members"),
        _text("period", "Day on which it was made.", "2026-01-05", needed="0.1", free_in_2=True),
        _integer("size", "How many members it has.", 1, needed="0.1", free_in_2=True, nullable=False),
    ),
)
REPORTS = Table(
    kind="reports",
    name="community_reports",
    title="Community reports",
    description="What a model wrote of each community.",
    columns=(
        _ID,
        Column(name="human_readable_id", type="integer", description="The number of the community.", since="0.5"),
        _integer("community", "Number of the community.", needed="0.1", nullable=False),
        _integer("level", "Level of the community.", needed="0.1", nullable=False),
        _integer("parent", "Number of the community that it lies in.", -1, since="1.0"),
        Column(
            name="children",
            type="integers",
            description="Numbers of the communities that lie in it.",
            example=[],
            since="2.0",
            needed="3.0",
        ),
        _text("title", "Title of the report.", "The lighthouse", needed="0.1"),
        _text("summary", "The report in short.", "Mara Venn built it.", needed="0.1"),
        _text("full_content", "The report whole.", "# The lighthouse\n\nMara Venn built it.", needed="0.1"),
        Column(name="rank", type="number", description="Importance, 0 to 10.", example=6.0, needed="0.1"),
        _text("rank_explanation", "Why it has that rank.", until="2.0"),
        _text("rating_explanation", "Why it has that rank.", "Local.", since="2.3"),
        Column(
            name="findings",
            type="findings",
            description="What was found, each with a summary and an explanation.",
            example=[{"summary": "Built", "explanation": "By Mara Venn."}],
            needed="0.1",
            free_in_2=True,
        ),
        _text("full_content_json", "What the model answered, as JSON.", '{"title": "The lighthouse"}'),
        _text("period", "Day on which the community was made.", "2026-01-05"),
        _integer("size", "How many members the community has.", 1, needed="0.1", free_in_2=True, nullable=False),
    ),
)
COVARIATES = Table(
    kind="covariates",
    name="covariates",
    title="Covariates",
    description="Claims about entities; there is no such table where their extraction is off.",
    columns=(
        _ID,
        _NUMBER,
        _text("covariate_type", "What it is: claim.", "claim"),
        _text("type", "What kind of claim.", "CONSTRUCTION", needed="0.1"),
        _text("description", "The claim.", "Mara Venn built the lighthouse."),
        _text("subject_id", "Title of the entity that it is about.", "MARA VENN", needed="0.1"),
        _text("subject_type", "Type of that entity.", until="0.1"),
        _text("object_id", "Title of an entity, or NONE.", "NONE"),
        _text("object_type", "Type of that entity.", until="0.1"),
        _text("status", "TRUE, FALSE or SUSPECTED.", "TRUE"),
        _text("start_date", "From when on it is true.", "2026-01-05T00:00:00"),
        _text("end_date", "Until when it is true.", "2026-01-05T00:00:00"),
        _text("source_text", "What it was taken from.", "Mara Venn built the lighthouse."),
        _text("text_unit_id", "Id of the text unit.", _UNITS),
        _ids("document_ids", "its documents", ["d1"], until="0.1"),
        _integer("n_tokens", "How many tokens the text unit has.", until="0.1"),
    ),
)
NODES = Table(
    kind="nodes",
    name="nodes",
    title="Nodes",
    description="A row for each entity and level of the hierarchy; there is no such table from 2.0 on.",
    until="1.0",
    columns=(
        _ID,
        _NUMBER,
        _text("title", "Name of the entity.", "MARA VENN", needed="0.1", nullable=False),
        _integer("community", "Number of its community; -1 where it is in none.", 0, needed="0.1"),
        _integer("level", "Level of the hierarchy.", 0, needed="0.1", nullable=False),
        _integer("degree", "How many entities it is related to; its rank.", 1, needed="0.1"),
        Column(name="x", type="number", description="Place in a picture.", example=0.0),
        Column(name="y", type="number", description="Place in a picture.", example=0.0),
        _text("type", "What kind of thing it is.", until="0.1"),
        _text("description", "What is said of it.", until="0.1"),
        _text("source_id", "Ids of text units, with commas between.", until="0.1"),
        _integer("size", "Its degree.", until="0.1"),
        Column(name="graph_embedding", type="any", description="Vector of the node.", until="0.1"),
        _text("entity_type", "What kind of thing it is.", until="0.1"),
        _text("top_level_node_id", "Id of the entity.", until="0.1"),
    ),
)
TABLES = (DOCUMENTS, TEXT_UNITS, ENTITIES, RELATIONSHIPS, COMMUNITIES, REPORTS, COVARIATES, NODES)
BY_KIND = {table.kind: table for table in TABLES}
VECTORS = "embeddings"
"""The kind of the tables of vectors."""

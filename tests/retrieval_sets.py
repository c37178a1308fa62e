"""Random sets of documents, questions, judgements and runs, with ids and texts of every kind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.converters.judgements import judged_splits
from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas.canonical import Document, Qrel, Question, Run
from tests.conversion_tools import read_tables, tables_of, write_tables

ODD = (
    *(
        "",
        " ",
        "\t",
        "a\tb",
        "a b",
        " a",
        "a ",
        "a\nb",
        "a\r\nb",
        '"a"',
        '"a',
        'a"b',
        "#a",
        "\ufeffa",
        "a\u2028b",
        "a\x85b",
    ),
    *(
        "a\x00b",
        "007",
        "1e5",
        "null",
        "<doc>",
        "</text>",
        "a&amp;b",
        "a&b;",
        "&#65;",
        "Number: 3",
        "été",
        "漢字",
        "\U0001f311",
    ),
    *("a_b", "id", "id-2", "q1", "-", "query-id", "\x1c", "a\x0bb"),
)
TEXTS = st.one_of(st.sampled_from(ODD), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
SPLITS = st.sampled_from(["train", "test", "dev", "Test", "a b", "x/y", "txt", "été", "v1.0"])
METADATA = st.none() | st.dictionaries(
    st.sampled_from(
        ["author", "url", "text", "docno", "desc", "metadata", "Über", "a b", "field_order", "lang", "title"]
    ),
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none(), st.lists(TEXTS, max_size=2), st.just({"a": {"b": 1}})),
    min_size=1,
    max_size=3,
).map(dumps)


@dataclass
class RetrievalSet:
    """Rows of the canonical tables."""

    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    qrels: list[Qrel] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def tables(self, format_name: str = "table") -> CanonicalTables:
        """As tables; those without rows are not there."""
        given: dict[str, Any] = {name: rows for name, rows in vars(self).items() if rows}
        return tables_of("set", format_name, **given)


@st.composite
def retrieval_sets(draw: st.DrawFn, runs: bool = False) -> RetrievalSet:
    """Sets in which every judgement names what is there, and a question has the split in which it is judged."""
    documents = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    questions = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    pairs = st.tuples(st.sampled_from(questions), st.sampled_from(documents), SPLITS)
    judged = draw(st.lists(pairs, max_size=8, unique=True))
    qrels = [Qrel(q, d, draw(st.integers(-2, 5)), "document", split) for q, d, split in judged]
    splits = judged_splits((qrel.question_id, qrel.split) for qrel in qrels)
    found = RetrievalSet(
        [Document(d, draw(TEXTS), draw(st.none() | TEXTS), draw(METADATA)) for d in documents],
        [Question(q, draw(TEXTS), split=splits.get(q), metadata=draw(METADATA)) for q in questions],
        qrels,
    )
    if runs:
        results = st.tuples(
            st.sampled_from(["bm25", "dense run", ""]), st.sampled_from(questions), st.sampled_from(documents)
        )
        scores = st.floats(allow_nan=False, allow_infinity=False)
        shown = draw(st.lists(results, max_size=8, unique=True))
        found.runs = [Run(q, stage, i + 1, d, score=draw(scores)) for i, (stage, q, d) in enumerate(shown)]
    return found


@contextmanager
def written(tables: CanonicalTables, to: str, **options: str) -> Iterator[Path]:
    """The tables as a dataset of a format, which has no errors."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        folder.mkdir()
        write_tables(tables, to, folder, **options)
        report = validate(folder)
        assert [f for f in report.findings if f.severity == "error"] == []
        assert [d.format for d in report.datasets] == [to]
        yield folder


def read_back(folder: Path, **options: str) -> dict[str, list[Any]]:
    """The rows of a dataset, with the ids that they had before."""
    tables = read_tables(folder, **options)
    sources = map_back(tables.sources, read_renamed(folder))
    return {name: list(source()) for name, source in sources.items()}

"""Round trips: what goes from one format to another and back is the same, whatever the ids and texts."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.converters import CONVERTERS
from ragdatakit.converters.format_pairs import EXACT
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sources import PLAIN, ConversionSettings, Source, find_sources
from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas.canonical import Document, Node, PairScore, Qrel, Question, Triplet
from ragdatakit.schemas.conversions import ConversionResult, Losses
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.canonical_strategies import (
    WORDS,
    answered,
    anything,
    bare_chunks_with_questions,
    chunks_with_questions,
    typed_triples,
)
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables

pytestmark = pytest.mark.usefixtures("outputs_of_a_sound_machine")

Strategy = Callable[[st.DrawFn], CanonicalTables]

IDS = st.one_of(
    st.lists(st.integers(0, 2**53 - 1).map(str), min_size=3, max_size=8, unique=True),
    st.lists(
        st.text("abc09-_:./é雨", min_size=1, max_size=8).filter(lambda i: i[0] not in ".-"),
        min_size=3,
        max_size=8,
        unique=True,
    ),
)


def _judged(draw: st.DrawFn, most: int) -> dict[str, list[Any]]:
    """Documents, questions and positives in both splits; nobody's positive is the first document."""
    doc_ids, question_ids = draw(IDS), draw(IDS)
    documents = [Document(doc_id, draw(WORDS)) for doc_id in doc_ids]
    questions = [Question(question_id, draw(WORDS)) for question_id in question_ids]
    positives = st.lists(st.sampled_from(doc_ids[1:]), min_size=1, max_size=most, unique=True)
    qrels = []
    for number, question_id in enumerate(question_ids):
        splits = ["train", "validation"][number : number + 1] or draw(
            st.sampled_from([["train"], ["validation"], ["train", "validation"]])
        )
        qrels += [Qrel(question_id, doc_id, split=split) for split in splits for doc_id in draw(positives)]
    return {"documents": documents, "questions": questions, "qrels": qrels}


@st.composite
def judged_corpus(draw: st.DrawFn) -> CanonicalTables:
    """Documents, questions, judgements of grade 1 in the splits train and validation."""
    return tables_of(format_name="beir", **_judged(draw, 3))


@st.composite
def training_set(draw: st.DrawFn) -> CanonicalTables:
    """The same with triplets, and sometimes a teacher's scores."""
    tables = _judged(draw, 2)
    documents = [d.doc_id for d in tables["documents"]]
    positives: dict[tuple[str, str | None], list[str]] = {}
    for qrel in tables["qrels"]:
        positives.setdefault((qrel.question_id, qrel.split), []).append(qrel.target_id)
    tables["triplets"] = [
        Triplet(question_id, positive, negative, split)
        for (question_id, split), listed in positives.items()
        for positive in listed
        for negative in documents
        if negative not in listed and (split == "train" or draw(st.booleans()))
    ]
    if draw(st.booleans()):
        number = st.floats(-20, 20) | st.integers(-20, 20)
        tables["pair_scores"] = [
            PairScore(q.question_id, d, draw(number)) for q in tables["questions"] for d in documents
        ]
    return tables_of(format_name="light-splade", **tables)


@st.composite
def graded_corpus(draw: st.DrawFn) -> CanonicalTables:
    """What light-splade cannot hold: titles, metadata, grades, splits of other names, empty texts, nothing judged."""
    tables = _judged(draw, 3)
    titles, notes = st.sampled_from([None, "Title", "雨"]), st.sampled_from([None, '{"year":1.0}'])
    tables["documents"] = [d._replace(title=draw(titles), metadata=draw(notes)) for d in tables["documents"]]
    tables["documents"].insert(draw(st.integers(0, 3)), Document("x-blank", "", "Only a title"))
    tables["questions"].append(Question("not-judged", "a question"))
    grades, names = (
        st.sampled_from([1, 1, 2, 3]),
        {"train": "train", "validation": draw(st.sampled_from(["dev", "test"]))},
    )
    # a pair that is judged in both splits could not be told apart by its key, as splits are written under other names
    only = {q.question_id: q.split for q in tables["qrels"]}
    tables["qrels"] = [q for q in tables["qrels"] if q.split == only[q.question_id]]
    tables["qrels"] = [q._replace(grade=draw(grades), split=names[str(q.split)]) for q in tables["qrels"]]
    return tables_of(format_name="beir", **tables)


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """From ``source`` to ``target`` and back, for such tables; ``there`` are the options of writing the target,
    ``again`` those of writing the source. The tables are such that nothing is lost, or those of them count of which
    nothing is (``lossy``). ``ordered``: rows stand in the same order, too."""

    source: str
    target: str
    tables: st.SearchStrategy[CanonicalTables]
    there: Mapping[str, str] = field(default_factory=dict)
    again: Mapping[str, str] = field(default_factory=dict)
    lossy: bool = False
    ordered: bool = True


FORMATS = [name for name in CONVERTERS if name not in (*PLAIN, "light-splade", "ragchecker", "lightrag", "graphrag")]


def placed(tables: CanonicalTables) -> CanonicalTables:
    """With a node that names a passage: GraphRAG stops where no entity is in any text."""
    first = next(tables.peek_passages(), None)
    attributes = json.dumps({"passages": [first.doc_id] if first is not None else []})
    found = {name: list(tables.peek(name)) for name in tables.sources}
    return tables_of(
        format_name=tables.format, **{**found, "nodes": [*found.get("nodes", ()), Node("Placed", None, attributes)]}
    )


INDEX = RoundTrip("graphrag", "graphrag", anything().map(placed))
ROUND_TRIPS = (
    *(RoundTrip(name, name, anything(), lossy=name == "datamind") for name in FORMATS),
    RoundTrip("arag", "datamind", chunks_with_questions()),
    RoundTrip("arag", "datamind", anything(), lossy=True),
    RoundTrip("arag", "sage", chunks_with_questions()),
    RoundTrip("arag", "sage", anything(), lossy=True),
    RoundTrip("arag", "hipporag", bare_chunks_with_questions(), lossy=True),
    RoundTrip("datamind", "arag", bare_chunks_with_questions(), {}, {"metadata": "none"}),
    RoundTrip("datamind", "gfm-rag", typed_triples(), lossy=True),
    RoundTrip("gfm-rag", "datamind", typed_triples(), ordered=False),
    RoundTrip("light-splade", "light-splade", training_set(), ordered=False),
    RoundTrip(
        "light-splade", "light-splade", training_set(), {"documents": "all"}, {"documents": "split"}, False, False
    ),
    RoundTrip("beir", "light-splade", judged_corpus(), {"random-negatives": "1"}, ordered=False),
    RoundTrip("beir", "light-splade", judged_corpus(), {"random-negatives": "2", "documents": "all"}, ordered=False),
    RoundTrip("beir", "trec", anything()),
    RoundTrip("ragchecker", "ragchecker", answered(), lossy=True),
)


def read_as(folder: Path, name: str) -> CanonicalTables:
    """The dataset of a format in a folder, with the ids and values that stand beside it."""
    options = ConversionSettings(target_format="", source_format=name)
    parts = tuple(part for source in find_sources(folder, options) for part in source.parts)
    return read_source(Source(parts), options, Losses())


def written(tables: CanonicalTables, to: str, folder: Path, options: Mapping[str, str]) -> CanonicalTables:
    """The tables, written, checked and read again; those of which nothing can be written do not count."""
    folder.mkdir()
    try:
        write_tables(tables, to, folder, **options)
    except RagdataError:
        assume(False)
    assume(any(folder.iterdir()))
    errors = [f.message for f in ragdatakit.validate(folder, format=to).findings if f.severity == "error"]
    assert not errors, errors
    (folder / RENAMED_IDS).unlink(missing_ok=True)  # what it is called now is what it is called
    return read_as(folder, to)


def converted(
    source: Path, target: Path, name: str, to: str, options: Mapping[str, str], sidecar: bool = False
) -> ConversionResult:
    """What is converted, and is to be valid; a source of which nothing can be written does not count."""
    try:
        done = ragdatakit.convert(source, target, to=to, source_format=name, options=options, sidecar=sidecar)
    except RagdataError as error:
        if "fault of ragdata" in str(error):
            raise
        assume(False)
    assert done.ok, done.invalid
    return done


def counted(tables: CanonicalTables) -> dict[str, Counter[Any]]:
    """The rows of each table, in no order (a format with splits puts them in the order of these)."""
    return {table: Counter(listed) for table, listed in rows(tables).items()}


def compared(tables: CanonicalTables, ordered: bool) -> dict[str, Any]:
    """What is to be the same: all values, but not the order of the fields of a record."""
    found = {
        table: [row._replace(field_order=()) if "field_order" in row._fields else row for row in listed]
        for table, listed in rows(tables).items()
    }
    return found if ordered else {table: Counter(listed) for table, listed in found.items()}


@pytest.mark.parametrize("trip", ROUND_TRIPS, ids=lambda t: "-".join((t.source, "by", t.target, *t.there.values())))
@settings(max_examples=examples(30, every=10, least=3))
@given(data=st.data())
def test_there_and_back_is_the_same(trip: RoundTrip, data: st.DataObject) -> None:
    there_and_back(trip, data)


@settings(max_examples=examples(30, every=15, least=2))  # a second each: DuckDB checks an index four times
@given(data=st.data())
def test_an_index_there_and_back_is_the_same(data: st.DataObject) -> None:
    there_and_back(INDEX, data)


def there_and_back(trip: RoundTrip, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = written(data.draw(trip.tables), trip.source, folder / "start", trip.again)
        there = converted(folder / "start", folder / "there", trip.source, trip.target, trip.there)
        assert there.lossless or trip.lossy
        assume(there.lossless)

        converted(folder / "there", folder / "back", trip.target, trip.source, trip.again)

        assert compared(read_as(folder / "back", trip.source), trip.ordered) == compared(start, trip.ordered)


@settings(max_examples=examples(40))
@given(st.sampled_from(FORMATS), st.sampled_from(FORMATS), anything())
def test_there_and_back_with_a_sidecar_is_the_same(source: str, target: str, made: CanonicalTables) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = rows(written(made, source, folder / "start", {}))
        converted(folder / "start", folder / "there", source, target, {}, sidecar=True)

        converted(folder / "there", folder / "back", target, source, {})

        assert rows(read_as(folder / "back", source)) == start


@pytest.mark.parametrize(
    ("source", "target", "tables"),
    [("beir", "light-splade", graded_corpus()), ("light-splade", "beir", training_set())],
)
@settings(max_examples=examples(30))
@given(data=st.data())
def test_there_and_back_by_light_splade_with_a_sidecar_is_the_same(
    source: str, target: str, tables: st.SearchStrategy[CanonicalTables], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = counted(written(data.draw(tables), source, folder / "start", {}))
        converted(folder / "start", folder / "there", source, target, {}, sidecar=True)

        converted(folder / "there", folder / "back", target, source, {})

        assert counted(read_as(folder / "back", source)) == start


def test_every_exact_pair_is_tried() -> None:
    assert {(trip.source, trip.target) for trip in (INDEX, *ROUND_TRIPS)} == EXACT.keys()


@settings(max_examples=examples(30))
@given(training_set())
def test_light_splade_holds_all_of_a_training_set(tables: CanonicalTables) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(tables, "light-splade", folder)
        read = read_tables(folder)
        back = counted(CanonicalTables("", "", map_back(read.sources, read_renamed(folder)), read.losses))

    made = counted(tables)
    assert Counter(q._replace(split=None) for q in back.pop("questions")) == made.pop("questions")
    assert back == made


@pytest.mark.parametrize("way", ["gfm-rag", "hipporag", "beir", "trec"])
def test_texts_do_not_take_up_ids(way: str, tmp_path: Path) -> None:
    """Where a framework calls its texts by titles, an id becomes one: it is not joined to the text on the way back."""
    source = FIXTURES / "light-splade/valid/triplet"

    there = run("convert", "--to", way, source, tmp_path / "there")
    back = run("convert", "--to", "light-splade", tmp_path / "there", tmp_path / "back")

    assert (there.code, back.code) == (0, 0), there.err + back.err
    assert _document_texts(tmp_path / "back") == _document_texts(source)


def _document_texts(folder: Path) -> set[str]:
    masters = folder.rglob("doc_master.ndjson")
    return {json.loads(line)["text"] for master in masters for line in master.read_text("utf-8").splitlines()}

"""Public data sets converted: the numbers of records in and out, what is lost, and what loaders read of the outputs.

The loaders here are written after the formats' own, and use nothing of ragdata; light-splade's is the real one.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ragdatakit
from ragdatakit.schemas.conversions import ConversionResult
from tests import light_splade_oracle as light_splade
from tests.stage1_sets import MENTION, knowledge_graph, load_with_pandas, names_of
from tests.upstream_data import UPSTREAM_DATA, needs

PUBLISHED = {
    "chunks.json": "e92b8bcfcd2748100d60ad86819abe2e4cb318dc8d5f33b1aebdb0b4735c8aa8",
    "questions.json": "246e43fb624413e38e11e3a582d5945185a3290efe4c2adbe32af2f112b70ab8",
}
COUNTS_OF_2WIKI = {"chunks": 658, "questions": 1000}
COUNTS_OF_SCIFACT = {"documents": 5183, "qrels": 1258, "questions": 1109}
COUNTS_OF_CRANFIELD = {"documents": 1400, "qrels": 1837, "questions": 225}
COUNTS_OF_FAQ = {"documents": 1786, "qrels": 1817, "questions": 749}
COUNTS_OF_MUSIQUE = {
    "documents": 1890,
    "edges": 17204,
    "nodes": 19277,
    "qrels": 237,
    "questions": 100,
    "relations": 5043,
    "triplets": 4145,
}
MAP_OF_FAQ = (
    "corpus.jsonl:id=id,text=text,queries.jsonl:question_id=id,question=question,"
    "qrels.csv:question_id=q,doc_id=d,grade=g"
)

Lost = dict[tuple[str, str, str | None], int]


def converted(source: Path, target: Path, to: str, **words: Any) -> ConversionResult:
    """A conversion whose output was found valid, and written."""
    result = ragdatakit.convert(source, target, to=to, **words)
    assert (result.written, result.refused, result.invalid) == (True, False, None)
    return result


def counts(result: ConversionResult) -> dict[str, int]:
    (conversion,) = result.conversions
    return conversion.counts


def records(result: ConversionResult) -> dict[str, int | None]:
    """The files that were written, and how many records each has."""
    (conversion,) = result.conversions
    return {file.name: file.records for file in conversion.files}


def losses(result: ConversionResult, *kinds: str) -> Lost:
    """How many records or values differ, by kind, table and column; of these kinds only, or of all."""
    (conversion,) = result.conversions
    found: Counter[tuple[str, str, str | None]] = Counter()
    for loss in conversion.losses:
        if not kinds or loss.kind in kinds:
            found[loss.kind, loss.table, loss.column] += loss.count
    return dict(found)


def unpacked(path: Path, to: Path) -> Path:
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(gzip.decompress(path.read_bytes()))
    return to


def objects(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def some(listed: list[Any]) -> list[Any]:
    """The first, the tenth and the last."""
    return [listed[0], listed[9], listed[-1]]


# Loaders, by their rules.


def arag_chunks(path: Path) -> list[tuple[str, str]]:
    """Ids and texts: each string is cut at its first colon, nothing is stripped."""
    return [(text.split(":", 1)[0], text.split(":", 1)[1]) for text in load(path) if ":" in text]


def datamind_chunks_v1(path: Path) -> list[str]:
    """The texts as they stand, but no empty ones."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [text for line in lines if line.strip() and (text := json.loads(line).get("text", "")) != ""]


def datamind_chunks_v2(path: Path) -> dict[str, str]:
    """Ids and stripped texts; without an id, a chunk is called by a digest of its source and text."""
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        record = json.loads(line) if line.strip() else {}
        text = (record.get("text") or "").strip()
        if text:
            source = record.get("source") or path.name
            named = hashlib.sha1(f"{source}\0{text}".encode(), usedforsecurity=False).hexdigest()[:16]
            found[str(record["id"]) if record.get("id") else named] = text
    return found


class Beir(NamedTuple):
    """A BEIR data set, in file order."""

    corpus: dict[str, tuple[str, str]]
    queries: dict[str, str]
    qrels: dict[str, list[tuple[str, str, int]]]
    metadata: dict[str, Any]

    @property
    def judged(self) -> dict[str, list[str]]:
        """The documents of a query that have a grade above 0, of all splits."""
        found: dict[str, list[str]] = {}
        for query, document, grade in (row for rows in self.qrels.values() for row in rows):
            if grade > 0:
                found.setdefault(query, []).append(document)
        return found

    def joined(self, document: str) -> str:
        """Title and text."""
        return " ".join(filter(None, self.corpus[document]))


def beir(root: Path) -> Beir:
    corpus, queries = objects(root / "corpus.jsonl"), objects(root / "queries.jsonl")
    qrels = {}
    for path in sorted((root / "qrels").glob("*.tsv")):
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        qrels[path.stem] = [(query, document, int(grade)) for query, document, grade in rows]
    return Beir(
        {r["_id"]: (r.get("title") or "", r["text"]) for r in corpus},
        {r["_id"]: r["text"] for r in queries},
        qrels,
        {r["_id"]: r["metadata"] for r in [*corpus, *queries] if r.get("metadata")},
    )


def accepted_by_light_splade(root: Path) -> list[tuple[Any, ...]]:
    """What upstream's loader draws of the train split; it reads both splits, and nothing is lost on the way."""
    if not light_splade.installed():
        pytest.skip("light-splade is not installed")
    verdicts = {split: light_splade.verdict(root, "triplet", split) for split in ("train", "validation")}
    assert {split: (v.kind, v.error) for split, v in verdicts.items()} == dict.fromkeys(verdicts, ("accepts", ""))
    assert [loss for split in verdicts for loss in light_splade.silent_losses(root, "triplet", split)] == []
    return list(verdicts["train"].samples)


def drawn_pairs(samples: Iterable[tuple[Any, ...]]) -> set[tuple[str, str]]:
    """The query and its positive of each sample."""
    return {(query, positive) for query, positive, _ in samples}


def judged_pairs(source: Beir, split: str) -> set[tuple[str, str]]:
    return {(source.queries[q], source.joined(d)) for q, d, grade in source.qrels[split] if grade > 0}


# The data sets as folders that can be converted.


@pytest.fixture(scope="module")
def arag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arag") / "2wikimultihop"
    for name in PUBLISHED:
        unpacked(UPSTREAM_DATA / "2wiki-hipporag" / f"{name}.gz", folder / name)
    return folder


@pytest.fixture(scope="module")
def scifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, folder = UPSTREAM_DATA / "scifact-beir", tmp_path_factory.mktemp("beir") / "scifact"
    unpacked(source / "corpus.jsonl.gz", folder / "corpus.jsonl")
    shutil.copy(source / "queries.jsonl", folder)
    shutil.copytree(source / "qrels", folder / "qrels")
    return folder


@pytest.fixture(scope="module")
def nfcorpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the first 10,000 of the 110,575 judgements of train: all of them take their time."""
    folder = tmp_path_factory.mktemp("beir")
    with zipfile.ZipFile(UPSTREAM_DATA / "nfcorpus-beir" / "nfcorpus.zip") as packed:
        packed.extractall(folder)
    train = folder / "nfcorpus" / "qrels" / "train.tsv"
    train.write_bytes(b"".join(train.read_bytes().splitlines(keepends=True)[: 1 + 10_000]))
    return folder / "nfcorpus"


@pytest.fixture(scope="module")
def faq(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, folder = UPSTREAM_DATA / "localgovfaq-ja", tmp_path_factory.mktemp("table") / "faq"
    folder.mkdir()
    corpus, queries, qrels = (
        json.loads(gzip.decompress((source / f"{name}.json.gz").read_bytes()))
        for name in ("corpus", "queries", "qrels")
    )
    for name, texts, field in (("corpus", corpus, "text"), ("queries", queries, "question")):
        lines = [json.dumps({"id": key, field: text}, ensure_ascii=False) for key, text in texts.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{query},{document},{grade}" for query, found in qrels.items() for document, grade in found.items()]
    (folder / "qrels.csv").write_text("\n".join(["q,d,g", *rows]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def cranfield(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, folder = UPSTREAM_DATA / "cranfield", tmp_path_factory.mktemp("trec") / "cranfield"
    unpacked(source / "cran.all.1400.xml.gz", folder / "cran.all.1400.xml")
    for name in ("cran.qry.xml", "cranqrel.trec.txt"):
        shutil.copy(source / name, folder)
    return folder


@pytest.fixture(scope="module")
def musique(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hipporag") / "musique"
    shutil.copytree(UPSTREAM_DATA / "hipporag" / "musique-cc-by-4.0", folder)
    return folder


# A-RAG and DataMind.


@needs("2wiki-hipporag")
def test_published_arag_files_come_back_from_datamind_byte_for_byte(arag: Path, tmp_path: Path) -> None:
    there = converted(arag, tmp_path / "datamind", "datamind")
    back = converted(tmp_path / "datamind", tmp_path / "arag", "arag")

    assert (counts(there), counts(back)) == (COUNTS_OF_2WIKI, COUNTS_OF_2WIKI)
    assert (losses(there), losses(back)) == ({}, {})
    digests = {name: hashlib.sha256((tmp_path / "arag" / name).read_bytes()).hexdigest() for name in PUBLISHED}
    assert digests == PUBLISHED


@needs("2wiki-hipporag")
def test_both_versions_of_datamind_load_the_chunks_that_arag_loads(arag: Path, tmp_path: Path) -> None:
    converted(arag, tmp_path / "datamind", "datamind")

    written = tmp_path / "datamind" / "data" / "profiles" / "2wikimultihop" / "chunks" / "2wikimultihop.jsonl"
    chunks = arag_chunks(arag / "chunks.json")
    assert [key for key, _ in some(chunks)] == ["0", "9", "657"]
    assert len(chunks) == 658
    assert datamind_chunks_v1(written) == [text for _, text in chunks]
    assert datamind_chunks_v2(written) == {f"2wikimultihop-{key}": text.strip() for key, text in chunks}
    bench = objects(tmp_path / "datamind" / "data" / "bench" / "2wikimultihop.jsonl")
    asked = load(arag / "questions.json")
    assert [(b["question_id"], b["question"], b["reference_answer"]) for b in bench] == [
        (q["id"], q["question"], q["answer"]) for q in asked
    ]


@needs("2wiki-hipporag")
def test_bare_chunks_get_ids_of_their_own_in_the_second_version_of_datamind(arag: Path, tmp_path: Path) -> None:
    converted(arag, tmp_path / "datamind", "datamind", options={"metadata": "none"})

    (written,) = (tmp_path / "datamind").rglob("chunks/*.jsonl")
    texts = [text for _, text in arag_chunks(arag / "chunks.json")]
    assert datamind_chunks_v1(written) == texts
    assert list(datamind_chunks_v2(written).values()) == [text.strip() for text in texts]


# HippoRAG.


@needs("2wiki-hipporag")
def test_hipporag_corpus_comes_back_from_gfm_rag(tmp_path: Path) -> None:
    packed = UPSTREAM_DATA / "2wiki-hipporag" / "2wikimultihopqa_corpus.json.gz"
    corpus = load(unpacked(packed, tmp_path / "source" / "2wikimultihopqa_corpus.json"))
    there = converted(tmp_path / "source", tmp_path / "gfm", "gfm-rag", name="2wiki")
    back = converted(tmp_path / "gfm", tmp_path / "hipporag", "hipporag", name="2wiki")

    assert (counts(there), counts(back)) == ({"documents": 6119}, {"documents": 6119})
    assert losses(there) == {("renumbered", "passages", None): 6119}
    assert losses(back) == {}
    assert load(tmp_path / "gfm" / "raw" / "documents.json") == {p["title"]: p["text"] for p in corpus}
    passages = load(tmp_path / "hipporag" / "2wiki_corpus.json")
    assert [p["title"] for p in some(passages)] == [p["title"] for p in some(corpus)]
    assert [(p["title"], p["text"]) for p in passages] == [(p["title"], p["text"]) for p in corpus]


@needs("hipporag")
def test_musique_to_arag(musique: Path, tmp_path: Path) -> None:
    result = converted(musique, tmp_path / "arag", "arag")

    assert counts(result) == COUNTS_OF_MUSIQUE
    assert losses(result) == {
        ("dropped", "qrels", None): 237,
        ("dropped", "triplets", None): 4145,
        ("dropped", "edges", None): 185 + 30 + 17204,
        ("dropped", "nodes", None): 19277,
        ("dropped", "relations", None): 5043,
        ("lost", "documents", "title"): 1890,
        ("coerced", "openie", None): 1,
    }
    passages = load(musique / "musique_train_corpus.json")
    assert arag_chunks(tmp_path / "arag" / "chunks.json") == [(str(n), p["text"]) for n, p in enumerate(passages)]
    asked, source = load(tmp_path / "arag" / "questions.json"), load(musique / "musique_train.json")
    assert [(q["id"], q["question"], q["answer"]) for q in asked] == [
        (q["id"], q["question"], q["answer"]) for q in source
    ]


@needs("hipporag")
def test_musique_and_its_graph_to_gfm_rag(musique: Path, tmp_path: Path) -> None:
    result = converted(musique, tmp_path / "gfm", "gfm-rag")

    assert counts(result) == COUNTS_OF_MUSIQUE
    assert losses(result, "dropped", "lost", "coerced", "renumbered") == {
        ("dropped", "triplets", None): 4145,
        ("dropped", "edges", None): 185 + 30,
        ("coerced", "openie", None): 1,
        ("renumbered", "passages", None): 219,
    }
    texts = [p["text"] for p in load(musique / "musique_train_corpus.json")]
    assert list(load(tmp_path / "gfm" / "raw" / "documents.json").values()) == texts
    graph = load_with_pandas(tmp_path / "gfm")
    assert (len(graph.names), graph.kept, graph.dropped) == (19277 + 1890, 17204 + 19767, 0)


@needs("hipporag")
def test_sample_of_hipporag_to_arag_and_gfm_rag(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("sample.json", "sample_corpus.json"):
        shutil.copy(UPSTREAM_DATA / "hipporag" / name, source)
    passages = load(source / "sample_corpus.json")
    arag, gfm = (converted(source, tmp_path / to, to) for to in ("arag", "gfm-rag"))

    assert counts(arag) == {"documents": 3, "qrels": 1, "questions": 1, "triplets": 0}
    assert losses(arag) == {("dropped", "qrels", None): 1, ("lost", "documents", "title"): 3}
    assert losses(gfm) == {("renumbered", "passages", None): 3}
    assert arag_chunks(tmp_path / "arag" / "chunks.json") == [(str(n), p["text"]) for n, p in enumerate(passages)]
    raw = tmp_path / "gfm-rag" / "raw"
    assert load(raw / "documents.json") == {p["title"]: p["text"] for p in passages}
    (asked,) = load(raw / "test.json")
    assert (asked["answer"], asked["supporting_documents"]) == ("Thomas C. Sudhof", ["Thomas C. Sudhof"])


# BEIR.


@needs("scifact-beir")
def test_scifact_to_light_splade_and_back_with_a_sidecar(scifact: Path, tmp_path: Path) -> None:
    there = converted(scifact, tmp_path / "light", "light-splade", sidecar=True)
    back = converted(tmp_path / "light", tmp_path / "beir", "beir")

    assert counts(there) == COUNTS_OF_SCIFACT
    assert losses(there) == {
        ("lost", "questions", "metadata"): 693,
        ("coerced", "documents", "text"): 5183,
        ("coerced", "questions", "split"): 300,
        ("coerced", "qrels", "split"): 339,
        ("derived", "triplets", "negative_id"): 3237,
    }
    assert losses(back) == {}
    source = beir(scifact)
    samples = accepted_by_light_splade(tmp_path / "light")
    assert (len(samples), drawn_pairs(samples)) == (3237, judged_pairs(source, "train"))
    assert beir(tmp_path / "beir") == source


@needs("scifact-beir")
def test_scifact_comes_back_from_light_splade_without_a_sidecar_but_for_what_was_reported(
    scifact: Path, tmp_path: Path
) -> None:
    converted(scifact, tmp_path / "light", "light-splade")
    back = converted(tmp_path / "light", tmp_path / "beir", "beir")

    source, found = beir(scifact), beir(tmp_path / "beir")
    assert losses(back) == {("dropped", "triplets", None): 3237}
    assert {key: text for key, (_, text) in found.corpus.items()} == {key: source.joined(key) for key in source.corpus}
    assert (found.queries, found.metadata) == (source.queries, {})
    assert {name: sorted(rows) for name, rows in found.qrels.items()} == {
        "train": sorted(source.qrels["train"]),
        "validation": sorted(source.qrels["test"]),
    }


@needs("scifact-beir")
def test_scifact_to_datamind(scifact: Path, tmp_path: Path) -> None:
    result = converted(scifact, tmp_path / "datamind", "datamind")

    source = beir(scifact)
    assert (counts(result), losses(result)) == (COUNTS_OF_SCIFACT, {("dropped", "qrels", None): 1258})
    (written,) = (tmp_path / "datamind").rglob("chunks/*.jsonl")
    texts = [text for _, text in source.corpus.values()]
    assert datamind_chunks_v1(written) == texts
    assert list(datamind_chunks_v2(written).values()) == [text.strip() for text in texts]
    bench = objects(tmp_path / "datamind" / "data" / "bench" / "scifact.jsonl")
    assert {b["question_id"]: b["question"] for b in bench} == source.queries


@needs("scifact-beir")
def test_scifact_to_gfm_rag(scifact: Path, tmp_path: Path) -> None:
    result = converted(scifact, tmp_path / "gfm", "gfm-rag")

    source, raw = beir(scifact), tmp_path / "gfm" / "raw"
    assert losses(result) == {("lost", "documents", "title"): 5183, ("derived", "questions", "answer"): 1109}
    assert load(raw / "documents.json") == {key: text for key, (_, text) in source.corpus.items()}
    asked = {split: load(raw / f"{split}.json") for split in ("train", "test")}
    assert {split: len(questions) for split, questions in asked.items()} == {"train": 809, "test": 300}
    supporting = {q["id"]: q["supporting_documents"] for questions in asked.values() for q in questions}
    assert supporting == source.judged


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(f"{n}-beir")) for n in ("scifact", "nfcorpus")])
def test_beir_comes_back_from_trec(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    source: Path = request.getfixturevalue(name)
    there = converted(source, tmp_path / "trec", "trec")
    back = converted(tmp_path / "trec", tmp_path / "beir", "beir")

    assert counts(there) == counts(back)
    assert {kind for kind, *_ in losses(there)} == {"derived"}  # what is escaped in titles and texts
    assert losses(back) == {}
    read, found = beir(source), beir(tmp_path / "beir")
    assert found == read
    assert (list(found.corpus), list(found.queries)) == (list(read.corpus), list(read.queries))


@needs("nfcorpus-beir")
def test_nfcorpus_to_light_splade(nfcorpus: Path, tmp_path: Path) -> None:
    result = converted(nfcorpus, tmp_path / "light", "light-splade")

    assert counts(result) == {"documents": 3633, "qrels": 10000 + 11385 + 12334, "questions": 3237}
    assert losses(result) == {
        ("lost", "documents", "metadata"): 3633,
        ("lost", "questions", "metadata"): 3237,
        ("coerced", "documents", "text"): 3633,
        ("coerced", "questions", "split"): 324 + 323,
        ("coerced", "qrels", "split"): 11385 + 12334,
        ("coerced", "qrels", "grade"): 1097,
        ("renumbered", "passages", None): 3633,
        ("renumbered", "questions", None): 997,
        ("dropped", "questions", None): 3237 - 997,
        ("derived", "triplets", "negative_id"): 10134,
    }
    samples = accepted_by_light_splade(tmp_path / "light")
    assert len(samples) == 10134
    assert drawn_pairs(samples) == judged_pairs(beir(nfcorpus), "train")


@needs("nfcorpus-beir")
def test_nfcorpus_to_datamind_and_gfm_rag(nfcorpus: Path, tmp_path: Path) -> None:
    datamind = converted(nfcorpus, tmp_path / "datamind", "datamind")
    gfm = converted(nfcorpus, tmp_path / "gfm", "gfm-rag")

    source = beir(nfcorpus)
    assert losses(datamind) == {("dropped", "qrels", None): 10000 + 11385 + 12334}
    (written,) = (tmp_path / "datamind").rglob("chunks/*.jsonl")
    assert datamind_chunks_v1(written) == [text for _, text in source.corpus.values()]
    assert losses(gfm)["lost", "documents", "title"] == 3633
    assert losses(gfm)["coerced", "qrels", "grade"] == 1097
    assert load(tmp_path / "gfm" / "raw" / "documents.json") == {k: text for k, (_, text) in source.corpus.items()}
    asked = [q for path in sorted((tmp_path / "gfm" / "raw").glob("t*.json")) for q in load(path)]
    assert {q["id"]: sorted(q["supporting_documents"]) for q in asked if q.get("supporting_documents")} == {
        query: sorted(documents) for query, documents in source.judged.items()
    }


# A table, TREC.


@needs("localgovfaq-ja")
def test_japanese_questions_to_beir_and_light_splade(faq: Path, tmp_path: Path) -> None:
    words = {"source_format": "table", "options": {"map": MAP_OF_FAQ}}
    to_beir = converted(faq, tmp_path / "beir", "beir", **words)
    to_light = converted(faq, tmp_path / "light", "light-splade", **words)

    assert (counts(to_beir), counts(to_light)) == (COUNTS_OF_FAQ, COUNTS_OF_FAQ)
    assert losses(to_beir) == {("derived", "qrels", "split"): 1817}
    assert losses(to_light, "dropped", "lost", "coerced", "renumbered") == {("coerced", "qrels", "grade"): 925}
    source = beir(tmp_path / "beir")
    assert {k: text for k, (_, text) in source.corpus.items()} == {
        r["id"]: r["text"] for r in objects(faq / "corpus.jsonl")
    }
    assert source.queries == {r["id"]: r["question"] for r in objects(faq / "queries.jsonl")}
    rows = [line.split(",") for line in (faq / "qrels.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert source.qrels == {"test": [(query, document, int(grade)) for query, document, grade in rows]}
    samples = accepted_by_light_splade(tmp_path / "light")
    assert (len(samples), records(to_light)["train/query_master.ndjson"]) == (2881, 674)
    assert drawn_pairs(samples) <= judged_pairs(source, "test")


@needs("cranfield")
def test_judgements_of_cranfield_are_not_read_before_it_is_said_what_they_count(
    cranfield: Path, tmp_path: Path
) -> None:
    with pytest.raises(ragdatakit.RagdataError, match="--option topics=position"):
        ragdatakit.convert(cranfield, tmp_path / "beir", to="beir")


@needs("cranfield")
def test_cranfield_by_position_to_beir_and_light_splade(cranfield: Path, tmp_path: Path) -> None:
    there = converted(cranfield, tmp_path / "beir", "beir", options={"topics": "position"})
    further = converted(tmp_path / "beir", tmp_path / "light", "light-splade")

    assert (counts(there), counts(further)) == (COUNTS_OF_CRANFIELD, COUNTS_OF_CRANFIELD)
    assert losses(there, "dropped", "lost", "coerced", "renumbered") == {}
    source = beir(tmp_path / "beir")
    topics = re.findall(r"<title>\s*(.*?)\s*</title>", (cranfield / "cran.qry.xml").read_text("utf-8"), re.DOTALL)
    assert len(topics) == 225
    assert {key: text.split() for key, text in source.queries.items()} == {
        str(number): text.split() for number, text in enumerate(topics, 1)
    }
    judged = [line.split() for line in (cranfield / "cranqrel.trec.txt").read_text("utf-8").splitlines()]
    assert source.qrels == {"test": [(query, document, int(grade)) for query, _, document, grade in judged]}
    assert losses(further, "dropped", "lost", "renumbered") == {
        ("dropped", "documents", None): 2,
        ("dropped", "qrels", None): 225 + 1,
        ("lost", "documents", "metadata"): 1400,
        ("lost", "questions", "metadata"): 223,
    }
    samples = accepted_by_light_splade(tmp_path / "light")
    assert len(samples) == 1423
    assert drawn_pairs(samples) <= judged_pairs(source, "test")


# Graphs.


@needs("kg-triples-small")
@pytest.mark.parametrize(
    ("name", "edges", "nodes", "relations"), [("umls", 6529, 135, 46), ("kinships", 10686, 104, 25)]
)
def test_triples_come_back_from_stage1(name: str, edges: int, nodes: int, relations: int, tmp_path: Path) -> None:
    triples = knowledge_graph(name).triples
    file = tmp_path / name / "triplets" / "graph.jsonl"
    file.parent.mkdir(parents=True)
    keys = ("subject", "relation", "object")
    file.write_text("".join(json.dumps(dict(zip(keys, t, strict=True))) + "\n" for t in triples), encoding="utf-8")
    there = converted(tmp_path / name, tmp_path / "gfm", "gfm-rag")
    back = converted(tmp_path / "gfm", tmp_path / "datamind", "datamind")

    assert counts(there) == {"edges": edges, "nodes": nodes}
    assert losses(there) == {
        ("derived", "nodes", "type"): nodes,
        ("derived", "nodes", None): 1,
        ("derived", "relations", None): relations + 1,
        ("derived", "edges", None): nodes,
    }
    assert (counts(back)["edges"], losses(back)) == (edges, {})
    graph = load_with_pandas(tmp_path / "gfm")
    assert (set(graph.names), graph.kept, graph.dropped) == ({*names_of(triples), name}, edges + nodes, 0)
    (written,) = (tmp_path / "datamind").rglob("triplets/*.jsonl")
    assert [tuple(record[key] for key in keys) for record in objects(written)] == triples


@needs("gfm-rag-sample")
def test_legacy_graph_of_a_fork_becomes_stage1(tmp_path: Path) -> None:
    source = UPSTREAM_DATA / "gfm-rag-sample" / "fork-v1-double-comma" / "hotpotqa_test"
    refused = ragdatakit.convert(source, tmp_path / "refused", to="gfm-rag")
    assert refused.refused
    assert not (tmp_path / "refused").exists()
    result = converted(source, tmp_path / "gfm", "gfm-rag", options={"delimiter": ",,"})

    lines = (source / "processed" / "stage1" / "kg.txt").read_text("utf-8").splitlines()
    mentions = load(source / "processed" / "stage1" / "document2entities.json")
    assert len(lines) == 1826
    assert losses(result) == {("coerced", "nodes", "type"): 1058}
    graph = load_with_pandas(tmp_path / "gfm")
    assert (len(graph.names), graph.kept, graph.dropped) == (1060, 1826 + sum(map(len, mentions.values())), 0)
    assert set(graph.names) == {part for line in lines for part in line.split(",,")[::2]}
    report = ragdatakit.validate(tmp_path / "gfm", format="gfm-rag", profile="reasoner")
    assert [f.rule for f in report.findings if f.severity == "error"] == []
    with pytest.raises(ragdatakit.RagdataError, match="no edge between two nodes other than documents"):
        ragdatakit.convert(source, tmp_path / "entities", to="gfm-rag", options={"delimiter": ",,"}, profile="gfm-rag")


@needs("gfm-rag-sample")
def test_names_of_a_legacy_graph_keep_their_blanks(tmp_path: Path) -> None:
    source = UPSTREAM_DATA / "gfm-rag-sample" / "fork-v1-tiny" / "hotpotqa_test"
    result = converted(source, tmp_path / "gfm", "gfm-rag")

    assert losses(result) == {("dropped", "edges", None): 1}, "a mention of an entity that is in no triple"
    edges = (tmp_path / "gfm" / "processed" / "stage1" / "edges.csv").read_text("utf-8").splitlines()
    assert edges[1:] == ["Bob, relation.is_brother_of, Joe,{}", "Bob,is_mentioned_in,doc1,{}"]
    assert set(load_with_pandas(tmp_path / "gfm").names) == {"Bob", " Joe", "doc1"}
    assert MENTION in (tmp_path / "gfm" / "processed" / "stage1" / "relations.csv").read_text("utf-8")


@needs("gfm-rag-sample")
def test_pointers_are_refused(tmp_path: Path) -> None:
    source = UPSTREAM_DATA / "gfm-rag-sample" / "upstream-v0.1.0-lfs-pointers" / "hotpotqa_train_example"
    result = ragdatakit.convert(source, tmp_path / "gfm", to="gfm-rag")

    assert (result.refused, result.written, (tmp_path / "gfm").exists()) == (True, False, False)


# light-splade.


@needs("light-splade-toy")
def test_toy_set_of_light_splade_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = UPSTREAM_DATA / "light-splade-toy"
    there = converted(source, tmp_path / "beir", "beir", sidecar=True)
    back = converted(tmp_path / "beir", tmp_path / "light", "light-splade", options={"documents": "split"})

    assert counts(there) == {"documents": 55, "qrels": 11, "questions": 11, "triplets": 44}
    assert counts(back) == counts(there)
    assert (losses(there), losses(back)) == ({("dropped", "triplets", None): 44}, {})
    files = sorted(path.relative_to(source) for path in source.rglob("*.ndjson"))
    assert len(files) == 8
    assert [f for f in files if (tmp_path / "light" / f).read_bytes() != (source / f).read_bytes()] == []
    assert len(accepted_by_light_splade(tmp_path / "light")) == 32

"""Reports of texts that stay out of the database: the same as of those that are in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from ragdatakit.arrays.codes import WIDE, number_of_distinct
from ragdatakit.converters import kept_columns
from ragdatakit.converters.contextual_retrieval import reading as contextual_reading
from ragdatakit.converters.sage import reading as sage_reading
from ragdatakit.converters.sage import scanned_records
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sources import ConversionSettings, find_sources
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.database import dataset_database, text_facts
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.summaries import summarize
from ragdatakit.reports.summary import texts
from ragdatakit.reports.summary.ids import distinct_per_id
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary

pytestmark = pytest.mark.skipif(library() is None, reason="without a scanner all texts are in the database")

TEXTS = [
    "The lamp was lit in 1871.",
    "Die Lampe ist von der Insel.",
    "plan\u00e9 \u6f22\u5b57",
    'a "b"\n\\',
    " ",
    "x" * 3000,
]
ODD = ['{"_id": 7, "text": "no text id"}', '{"_id": "d", "text": null}', "null", "", '{"_id": "e", "text": "\\ud800"}']


@contextmanager
def opened(path: Path) -> Iterator[DatasetDatabase]:
    words = ConversionSettings(target_format="")
    (source,) = find_sources(path, words)
    tables = read_source(source, words, Losses(), partly=True)
    assert tables.records is not None
    with DatasetDatabase(tables, source.parts, sql_tables(source, words, tables.records, 0), own_sql=True) as database:
        yield database


def summary_of(path: Path, table: str, *, apart: bool) -> Summary:
    """With the texts of a table in the database, or not."""
    with opened(path) as database:
        found = summarize(database, alone=apart, examples=5)
        query = f"select count(*) from main.{table} where text is not null"
        ((there,),) = database.load(table).execute(query).fetchall()
        assert (there < database.count(table) / 2) is apart
    return found


def of_beir(folder: Path, records: list[str], end: str = "\n") -> Path:
    lines = [json.dumps({"_id": f"d{n}", "title": f"T{n % 3}", "text": text}) for n, text in enumerate(records)]
    (folder / "corpus.jsonl").write_text(end.join(lines), newline="")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "Who lit the lamp?"}\n')
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\n")
    return folder


def of_light_splade(folder: Path, records: list[str]) -> Path:
    folder = folder / "train"
    folder.mkdir(parents=True)
    lines = "".join(json.dumps({"doc_id": n, "text": text or "-"}) + "\n" for n, text in enumerate(records))
    (folder / "doc_master.ndjson").write_text(lines)
    (folder / "query_master.ndjson").write_text('{"qid": 1, "text": "q"}\n')
    (folder / "positive_lists.ndjson").write_text('{"qid": 1, "positive_doc_ids": [1]}\n')
    (folder / "triplets.ndjson").write_text('{"qid": 1, "pos_doc_id": 1, "neg_doc_id": 2}\n')
    return folder


def of_arag(folder: Path, records: list[str]) -> Path:
    chunks = [f"{n}:{text}" for n, text in enumerate(records)]
    (folder / "chunks.json").write_text("\ufeff" + json.dumps(chunks, indent=1, ensure_ascii=False))
    (folder / "questions.json").write_text(json.dumps([{"id": "1", "source": "s", "question": "Why?", "answer": "a"}]))
    return folder


def of_datamind(folder: Path, records: list[str]) -> Path:
    (folder / "chunks").mkdir()
    for part in range(2):
        lines = [{"id": f"{part}-{n}", "text": text or "-", "source": "a.md"} for n, text in enumerate(records)]
        (folder / "chunks" / f"part-{part}.jsonl").write_text("".join(json.dumps(line) + "\r\n" for line in lines))
    return folder


def of_trec(folder: Path, records: list[str]) -> Path:
    documents = "".join(f"<doc>\n<docno>d{n}</docno>\n<text>{text}</text>\n</doc>\n" for n, text in enumerate(records))
    (folder / "documents.trec").write_text(documents)
    return folder


def of_sage(folder: Path, records: list[str]) -> Path:
    lines = []
    for number, text in enumerate(records):
        result = {"text": text, "metadata": {"id": f"d{number}"}, "more": [{"}": 10**14}]}
        stages = {"retrieval_results": [result, {"text": "}]", "score": 0.5}], "refining_results": [{"text": text[:9]}]}
        lines.append(json.dumps({"query": "q", "question": {"id": f"q{number}"}, "references": ["a"], **stages}))
    lines[20:20] = [
        "\udcff",
        "",
        "{",
        lines[20].replace('"score"', '"title": "t", "score"'),
        lines[21].replace("0.5", "1e-9"),
    ]
    (folder / "records.jsonl").write_text("\n".join(lines), errors="surrogateescape")
    return folder


def of_contextual_retrieval(folder: Path, records: list[str]) -> Path:
    documents = []
    for number, text in enumerate(records):
        chunks = [{"chunk_id": f"c{number}_{n}", "original_index": n, "content": text[n:]} for n in range(2)]
        documents.append({"doc_id": f"d{number}", "original_uuid": f"u{number}", "content": text, "chunks": chunks})
    whole = json.dumps([*documents[:9], {**documents[9], "doc_id": 9, "note": "\udcff"}, *documents[10:]], indent=1)
    (folder / "codebase_chunks.json").write_text(whole.replace("\\udcff", "\udcff"), errors="surrogateescape")
    return folder


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of any size are worth to be read by columns."""
    monkeypatch.setattr(sage_reading, "_WORTH", 0)
    monkeypatch.setattr(contextual_reading, "_WORTH", 0)


@pytest.mark.parametrize(("most_bytes", "most_texts"), [(100, 1 << 15), (100, 5), (1 << 24, 5)])
@pytest.mark.parametrize(
    "made", [of_beir, of_light_splade, of_arag, of_datamind, of_trec, of_sage, of_contextual_retrieval]
)
def test_texts_apart_give_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: object, most_bytes: int, most_texts: int
) -> None:
    monkeypatch.setattr(texts, "_MOST_BYTES", most_bytes)
    monkeypatch.setattr(text_facts, "_MOST_TEXTS", most_texts)
    folder = made(tmp_path, [*TEXTS, *TEXTS[:3], *map(str, range(20))])  # type: ignore[operator]
    table = "documents" if made in (of_beir, of_light_splade, of_trec) else "runs" if made is of_sage else "chunks"
    assert summary_of(folder, table, apart=True) == summary_of(folder, table, apart=False)


def test_records_that_are_odd_are_in_the_database(tmp_path: Path) -> None:
    folder = of_beir(tmp_path, TEXTS * 3)
    with (folder / "corpus.jsonl").open("a") as file:
        file.write("\n" + "\n".join(line for odd in ODD for line in (odd, json.dumps({"_id": odd, "text": odd}))))
    found = summary_of(folder, "documents", apart=True)
    assert found == summary_of(folder, "documents", apart=False)
    assert found.losses


def test_texts_of_which_the_sample_was_guessed_wrong_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "_MOST_BYTES", 1 << 17)
    folder = of_beir(tmp_path, [])
    lines = [{"_id": f"a{n}", "title": "long " * 200, "text": "short"} for n in range(1500)]
    lines += [{"_id": f"b{n}", "title": "", "text": f"{n} words " * 200} for n in range(1500)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert summary_of(folder, "documents", apart=True) == summary_of(folder, "documents", apart=False)


@pytest.mark.parametrize(("made", "name"), [(of_beir, "corpus.jsonl"), (of_light_splade, "doc_master.ndjson")])
def test_no_text_behind_records_that_are_left_out_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: object, name: str
) -> None:
    monkeypatch.setattr(texts, "_MOST_BYTES", 20_000)
    monkeypatch.setattr(text_facts, "_MOST_TEXTS", 100)
    monkeypatch.setattr(kept_columns, "TEXT_BLOCK_BYTES", 4000)
    folder = made(tmp_path, [f"{n:04} words of a text" for n in range(2000)])  # type: ignore[operator]
    lines = (folder / name).read_text().splitlines(keepends=True)
    for place in range(3, len(lines), 70):
        lines[place] = lines[place].replace("}", "")
    (folder / name).write_text("".join(lines))
    with opened(folder) as database:
        database.wants_facts = texts.facts_wanted(apart=True)
        database.read("documents")
        facts = database.text_facts("documents", "text")
        assert facts is not None
        assert facts.rows == 2000 - len(range(3, 2000, 70))
        wanted = np.arange(0, facts.rows, texts.step_of(facts.size, facts.rows, 20_000))
        assert len(wanted) < facts.rows / 20
        assert not len(facts.numbers_of(wanted)[2])


@pytest.mark.parametrize("new", ["LAMP", "l\\amp", "la"])
@pytest.mark.parametrize("made", [of_beir, of_sage, of_contextual_retrieval])
def test_a_file_that_changed_before_its_texts_were_read_again(tmp_path: Path, made: object, new: str) -> None:
    folder = made(tmp_path, TEXTS * 9)  # type: ignore[operator]
    names = {of_beir: "corpus.jsonl", of_sage: "records.jsonl"}
    file = folder / names.get(made, "codebase_chunks.json")  # type: ignore[call-overload]
    with opened(folder) as database:
        database.wants_facts = texts.facts_wanted(apart=True)
        database.read(*database.tables)
        file.write_bytes(file.read_bytes().replace(b"lamp", new.encode()))
        with pytest.raises(RagdataError, match="it changed while it was read"):
            summarize(database, alone=True)


def test_some_texts_that_are_held_and_some_that_are_not_in_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanned_records, "TEXT_BLOCK_BYTES", 2000)
    folder = of_sage(tmp_path, [*TEXTS, *map(str, range(40))])
    by_rows = summary_of(folder, "runs", apart=False)
    monkeypatch.setattr(dataset_database, "_MOST_HELD", 3000)
    with opened(folder) as database:
        assert summarize(database, alone=True, examples=5) == by_rows
        query = "select count(text), count(*) from main.runs"
        ((there, all_rows),) = database.load("runs").execute(query).fetchall()
        assert 0 < there < all_rows


def test_triplets_of_two_splits(tmp_path: Path) -> None:
    of_light_splade(tmp_path, TEXTS)
    of_light_splade(tmp_path / "more", TEXTS).rename(tmp_path / "validation")
    with (tmp_path / "validation" / "triplets.ndjson").open("a") as file:
        file.write('{"qid": 1, "pos_doc_id": 1, "neg_doc_id": 3}\n' * 2)
    with opened(tmp_path) as database:
        quick = summarize(database, alone=True)
    with opened(tmp_path) as database:
        database.load()
        database._by_sql.clear()
        assert summarize(database) == quick
    (triplets,) = [table for table in quick.tables if table.name == "triplets"]
    assert triplets.by_split == {"train": 1, "validation": 3}


def test_different_numbers_of_each_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    owners, numbers = random.integers(-1, 9, 500), random.integers(-1, 20, 500)
    quick = distinct_per_id(owners, numbers, 12, 20)
    monkeypatch.setattr("ragdatakit.scanner.keys.library", lambda: None)
    assert quick.tolist() == distinct_per_id(owners, numbers, 12, 20).tolist()


@pytest.mark.parametrize("repeated", [0, 0.01, 0.6, 1])
def test_different_codes_are_counted_whatever_share_is_repeated(repeated: float) -> None:
    random = np.random.default_rng(1)
    codes = random.integers(0, 1 << 63, (40_000, 2), np.uint64)
    codes[:, 0] *= np.uint64(2)
    again = random.random(len(codes)) < repeated
    codes[again] = codes[random.integers(0, 200, int(again.sum()))]
    codes[:100, 0] = codes[0, 0]

    assert number_of_distinct(codes.view(WIDE)[:, 0]) == len({*map(tuple, codes.tolist())})
    in_runs = np.repeat(codes[: len(codes) // 4], 5, axis=0)
    assert number_of_distinct(in_runs.view(WIDE)[:, 0]) == len({*map(tuple, in_runs.tolist())})


def test_codes_with_equal_halves_are_different() -> None:
    codes = np.array([(1, 1), (1, 2), (2, 1), (1, 1), (3, 0)], WIDE)
    assert number_of_distinct(codes) == 4

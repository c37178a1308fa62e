"""Records whose values are compared with each other: what the scanner takes for clean is clean in plain Python.

``RAGDATA_FUZZ=100000`` tries that many blocks a kind instead of the usual number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

import ragdatakit
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.scanner.notes import CANDIDATE, REFUSED
from ragdatakit.schemas import get_format
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.sage.records import RECORD as SAGE
from ragdatakit.validators import checks_of, dataset_run
from ragdatakit.validators.arag import checks as arag_checks
from ragdatakit.validators.hipporag.known_passages import KnownPassages
from ragdatakit.validators.sage.predicates import RECORDS
from tests.block_mutations import tries
from tests.scanner_tools import BothWays, cut_anywhere, needs_scanner
from tests.value_mutations import damaged_line, damaged_value, line_of

pytestmark = needs_scanner
WORDS = ("tide", "pier", "Skarn", "lamp", "of", "the", "é", "漢字", 'a "b"', "reef\n", "1871", "\\n", "\x1f", "\u2003")


def words(rng: Random, many: int) -> str:
    """Some words, the first of them made for this text alone."""
    return f"w{rng.randrange(10**6)} " + " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, many)))


def sage_record(rng: Random) -> dict[str, Any]:
    """A record as SAGE documents it, with all or some of its stages."""
    texts = [words(rng, 12) for _ in range(rng.randrange(1, 5))]
    scores = sorted((round(rng.random(), 4) for _ in texts), reverse=True)
    kept = texts[: rng.randrange(1, len(texts) + 1)]
    references = [rng.choice(("spring tide", "42", "Yes", "the moon", "Skarn é", "b"))]
    record: dict[str, Any] = {
        "query": words(rng, 5),
        "question": {"id": rng.choice(("q1", 7, "q-2")), "references": list(references), "more": [1]},
        "references": references,
        "retrieval_results": [
            {"text": text, "score": score, "metadata": {"id": "c1"}} for text, score in zip(texts, scores, strict=True)
        ],
        "retrieval_docs": texts,
        "retrieval_time": 0.02,
    }
    if rng.random() < 0.6:
        record["reranking_results"] = [{"text": text, "score": 0.5} for text in reversed(kept)]
        record |= {"reranking_docs": kept[::-1], "reranking_time": 1}
    refined = [" ".join(text.split()[: rng.randrange(1, 7)]) or "x" for text in kept]
    if rng.random() < 0.6 and len(kept) == len(texts):
        numbers = [(rng.randrange(20, 40), rng.randrange(1, 20)) for _ in refined]
        record["refining_results"] = [
            {"text": text, "original_length": o, "refined_length": n, "compression_ratio": round(n / o, 3)}
            for text, (o, n) in zip(refined, numbers, strict=True)
        ]
        record |= {"refining_docs": refined, "refining_time": 3}
    first = next(record[f"{stage}_docs"][0] for stage in STAGES if f"{stage}_docs" in record)
    record["prompt"] = f"Context:\n{first}\nQuestion: {record['query']}"
    record |= {"generated": "Spring tide", "generation_time": 0.4}
    if rng.random() < 0.2:
        del record["reranking_time" if "reranking_time" in record else "retrieval_time"]
    return record


def arag_chunk(rng: Random) -> str:
    """A chunk as a string."""
    start = rng.choice(("", "", "", "", " ", "##", "#", "\u3000", "\n"))
    odd = ("", " ", "\u3000", "lamp " * 101, "the bell of Skarn\u3002", "a. b.", "漢字" * 6 + ".")
    if rng.random() < 0.1:
        return f"7:{rng.choice(odd)}"
    return f"{rng.choice((0, 1, 12, 300))}:{start}{words(rng, 9)}{rng.choice(('.', '. ', '!', '', ' 1:2.'))}"


PASSAGES = [(f"Reef {i}", f"It lies {'north' * (i % 2)} of the é pier {i}.") for i in range(12)]


def hipporag_passage(rng: Random) -> dict[str, Any]:
    """A passage."""
    title, text = rng.choice(PASSAGES)
    passage: dict[str, Any] = {"title": title, "text": text + rng.choice(("", "\n", '"'))}
    return passage | ({"idx": rng.randrange(3)} if rng.random() < 0.5 else {})


def hipporag_question(rng: Random) -> dict[str, Any]:
    """A question of MuSiQue, of HotpotQA, or of the generic shape."""
    if rng.random() < 0.4:
        return hotpot_question(rng)
    is_musique = rng.random() < 0.6
    name = rng.choice(("text", "paragraph_text")) if is_musique else "text"
    chosen = rng.sample(PASSAGES, rng.randrange(1, 5))
    items = [
        {"idx": i, "title": title, name: text, "is_supporting": i % 2 == 0} for i, (title, text) in enumerate(chosen)
    ]
    question: dict[str, Any] = {"id": rng.choice(("q1", 7, "hop")), "question": "Who mapped it?"}
    question["answer"] = rng.choice(("Joss Alder", ["Joss Alder"], ["J", "A"]))
    question["paragraphs" if is_musique else "contexts"] = items
    if rng.random() < 0.5:
        question["answer_aliases"] = rng.choice(([], ["Alder"], ["x", "é"]))
    if is_musique and rng.random() < 0.7:
        steps = [{"id": 1, "question": "a", "paragraph_support_idx": i} for i in range(0, len(items), 2)]
        question |= {"question_decomposition": steps, "answerable": True, "id": f"{len(steps)}hop__{rng.randrange(9)}"}
    return question


def hotpot_question(rng: Random) -> dict[str, Any]:
    """A question of HotpotQA or 2WikiMultihopQA."""
    chosen = rng.sample(PASSAGES, rng.randrange(1, 5))
    context = [[title, [*re.findall(r".+?(?: (?=pier)|$)", text)]] for title, text in chosen]
    facts = [[title, rng.randrange(len(sentences))] for title, sentences in context[: rng.randrange(1, 3)]]
    question: dict[str, Any] = {rng.choice(("_id", "_id", "id")): rng.choice(("5a8b", "q1", 7)), "question": "Who?"}
    question |= {"answer": "Joss Alder", "supporting_facts": facts, "context": context, "type": "bridge"}
    return question | ({"evidences": [["a", "b", "c"]], "entity_ids": "a_b"} if rng.random() < 0.4 else {})


STAGES = ("refining", "reranking", "retrieval")
SOUND: dict[tuple[str, str], Callable[[Random], Any]] = {
    ("sage", "records"): sage_record,
    ("arag", "chunks"): arag_chunk,
    ("hipporag", "corpus"): hipporag_passage,
    ("hipporag", "questions"): hipporag_question,
}


def ways_of(name: str, kind: str) -> BothWays:
    """Both engines, with the rules of the default profiles that are reported of each record."""
    fmt = get_format(name)
    file = DataFile(Path("x"), "x", "x", kind)
    checks: Any = checks_of(name)(Dataset(Path(), "", fmt, "file", [file]), fmt.default_profiles)
    rules = {rule.name: rule for rule in fmt.rules}
    if kind == "chunks":
        assert not [*checks.record(file, "0:The first element says what the others are.")]

    if name == "hipporag":
        checks._name = "hotpotqa"
        checks._passages["hotpotqa"] = known = KnownPassages()
        known.add_codes(codes_of_texts([f"{title}\n{text}" for title, text in PASSAGES]))

    in_part = checks.scanning(file).in_part

    def extra(value: Any, members: frozenset[str] | None = None) -> list[Problem]:
        found = []
        judged = checks.record(file, value) if members is None or in_part is None else in_part(value, members)
        for problem in judged:
            rule = rules.get(problem.rule)
            of_profile = rule is None or not fmt.profiles or any(p in rule.upstream for p in fmt.default_profiles)
            if of_profile and (rule is None or rule.counted):
                found.append(problem)
        return found

    asked = (one for one in checks.scanning(file).predicates or () if not getattr(one, "once", ""))
    return BothWays(fmt.file(kind), tuple(asked), extra, checks)


@pytest.mark.parametrize(("name", "kind"), SOUND)
def test_rules_see_what_they_find_something_in(name: str, kind: str) -> None:
    rng = Random(f"{name} {kind}")
    ways = ways_of(name, kind)

    for _ in range(tries(300)):
        records = [SOUND[name, kind](rng) for _ in range(rng.randrange(1, 5))]
        lines = [line_of(damaged_value(r, rng, rng.choice((0, 1, 1, 2))), rng) for r in records]
        lines = [damaged_line(line, rng) if rng.random() < 0.1 else line for line in lines]
        data = b"\n".join(lines)
        for part in cut_anywhere(data, rng) if rng.random() < 0.3 else [data]:
            wrong = [*ways.differences(part)]
            assert not wrong, f"{wrong[0]}\n{part!r}"


@pytest.mark.parametrize(
    ("changed", "members", "is_refused"),
    [
        ({"query": None}, {"query"}, False),
        ({"query": " "}, {"query"}, False),
        ({"question": "q"}, {"question"}, True),
        ({"question": {"id": "q", "references": [5]}}, {"question"}, True),
        ({"references": ["a", "a"]}, {"references"}, False),
        ({"retrieval_results": [{"text": 5}]}, {"retrieval_results", "retrieval_docs"}, False),
        ({"retrieval_docs": None, "generated": 5}, {"retrieval_docs", "generated"}, False),
        ({"retrieval_results": [{"text": "a", "metadata": {"a": 1, "b": None}}, None]}, {"retrieval_results"}, False),
        ({"other": 5}, None, True),
        ({"query": None, "other": 5}, None, True),
        ({"query": None, "question": {"id": "q", "of": float("nan")}}, None, True),
    ],
)
def test_members_at_fault_are_named(changed: dict[str, Any], members: set[str] | None, is_refused: bool) -> None:
    record = {"query": "why", "question": {"id": "q"}, "retrieval_results": [{"text": "a"}], "retrieval_docs": ["a"]}
    for portable in (False, True):
        scanner = BlockScanner(SAGE, {"@key": "question/id"}, RECORDS, portable, by_member=True)

        scanned = scanner.scan(json.dumps({**record, **changed}).encode())

        assert scanned is not None
        assert [note[0] for note in scanned.notes] == [REFUSED if is_refused else CANDIDATE]
        found = scanned.alike.get(0)
        if members is None:
            assert found is None
        else:
            assert found is not None and found >= members and "reranking_docs" not in found


def test_what_is_counted_of_a_member_that_is_not_seen_is_counted() -> None:
    refined = {"text": "a b c d", "original_length": 7, "refined_length": 4, "compression_ratio": 0.571}
    record: dict[str, Any] = {"query": "why", "question": {"id": "q"}, "retrieval_results": [{"text": "a b c d"}]}
    docs = ["a b c d"]
    record |= {"retrieval_docs": docs, "refining_results": [refined], "refining_docs": docs}
    lines = [record, {**record, "query": 5}, {**record, "refining_docs": 5}, record]
    scanner = BlockScanner(SAGE, {"@key": "question/id"}, RECORDS, by_member=True)

    scanned = scanner.scan("\n".join(map(json.dumps, lines)).encode())

    assert scanned is not None
    assert [*scanned.alike] == [0, 1, 2]
    assert scanned.alike[1] == {"query"}
    assert list(scanned.counts.values()) == [2]


@pytest.mark.parametrize(("name", "kind"), SOUND)
def test_sound_records_are_proved(name: str, kind: str) -> None:
    """Else the speed would be gone without a word."""
    rng = Random(5)
    scanner = ways_of(name, kind).scanners[0]

    found = [scanner.scan(line_of(SOUND[name, kind](rng), rng)) for _ in range(100)]

    assert sum(len(block.notes) for block in found if block is not None) < 80


FILES = {
    ("sage", "records"): "records.jsonl",
    ("arag", "chunks"): "chunks.json",
    ("hipporag", "corpus"): "d_corpus.json",
    ("hipporag", "questions"): "hotpotqa.json",
}


@pytest.mark.parametrize(("name", "kind"), FILES)
def test_whole_files_are_checked_as_in_plain_python(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what only the file as a whole shows, wherever it is cut, in any number of threads."""
    rng = Random(f"{name} {kind} whole")
    monkeypatch.setattr(arag_checks, "DOTS_LOOKED_FOR", 2)
    path = tmp_path / FILES[name, kind]
    if kind == "questions":
        corpus = [{"title": title, "text": text} for title, text in PASSAGES]
        (tmp_path / "hotpotqa_corpus.json").write_text(json.dumps(corpus))

    for _ in range(tries(25)):
        values = [SOUND[name, kind](rng) for _ in range(rng.choice((1, 3, 10)))]
        if kind == "chunks":
            values = [re.sub(r"^\d+", str(i), value) for i, value in enumerate(values)]
            values *= rng.choice((1, 1, 2))
        if kind == "corpus" and rng.random() < 0.6:
            values = [{**value, "idx": place} for place, value in enumerate(values)]
        lines = [line_of(damaged_value(v, rng, 1) if rng.random() < 0.3 else v, rng) for v in values]
        lines = [damaged_line(line, rng) if rng.random() < 0.05 else line for line in lines]
        is_array = path.suffix == ".json" or rng.random() < 0.3
        path.write_bytes(b"[" + rng.choice((b", ", b",\n")).join(lines) + b"]" if is_array else b"\n".join(lines))
        source = path if name == "arag" else tmp_path
        plain = found_in(source, name, 1 << 40, 1 << 20, 1)
        size, jobs = rng.choice((1, 90, 700, 1 << 20)), rng.choice((1, 2, 7))
        assert found_in(source, name, -1, size, jobs) == plain, path.read_bytes()


def found_in(path: Path, name: str, small: int, size: int, jobs: int) -> list[Any]:
    """All findings, with places; of a set of more bytes than ``small`` by the scanner, in blocks of this size."""
    ways = {"SMALL_DATASET": small, "BLOCK_BYTES": size, "TEXT_BLOCK_BYTES": size}
    with mock.patch.multiple(dataset_run, **ways):
        try:
            report = ragdatakit.validate(path, format=name, severity="info", jobs=jobs, max_per_rule=0)
        except RagdataError as error:  # nothing is recognised
            return [str(error)]
    keys = ("code", "message", "line", "column", "byte_offset", "record", "pointer", "value", "count", "records")
    return sorted(repr([getattr(finding, key) for key in keys]) for finding in report.findings)


def test_a_block_whose_refused_scores_name_no_document(tmp_path: Path) -> None:
    """Their list of documents is empty, which is a list of integers nevertheless."""
    (tmp_path / "train").mkdir()
    lines = {
        "query_master": '{"qid": 1, "text": "tide"}\n{"qid": 2, "text": "moon"}\n',
        "doc_master": '{"doc_id": 3, "text": "a reef"}\n{"doc_id": 4, "text": "a pier"}\n',
        "positive_list": '{"qid": 1, "positive_doc_ids": [3]}\n{"qid": 2, "positive_doc_ids": [3]}\n',
        "hard_negative_scores": '{"qid": 1, "scores": {"3": 2.5, "4": 1}}\n{"qid": 2, "scores": {"x": NaN}}\n',
    }
    for name, text in lines.items():
        (tmp_path / f"train/{name}.ndjson").write_text(text)

    assert found_in(tmp_path, "light-splade", -1, 1 << 20, 1) == found_in(tmp_path, "light-splade", 1 << 40, 1 << 20, 1)

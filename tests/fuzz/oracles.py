"""What the frameworks' own readers make of damaged datasets: what they refuse or misread has an error, and only that.

light-splade's loader and pytrec_eval run here; BEIR's reader is restated from what it was seen to do. GFM-RAG's and
HippoRAG's verdicts on fixed cases are recorded, and replayed by their tests.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import ragdatakit
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment
from tests.fuzz.mutations import mutate
from tests.light_splade_oracle import installed
from tests.light_splade_sets import generate
from tests.test_light_splade_oracle import disagreement

WORDS = ("harbour", "tide", "pier", "lamp", "reef", "keel", "mast", "moon")


def check(case: Case) -> Iterator[str]:
    """One dataset of one format."""
    oracles = [light_splade] * installed() + [beir] + [trec] * (importlib.util.find_spec("pytrec_eval") is not None)
    oracle = oracles[case.number % len(oracles)]
    case.note(oracle.__name__)
    with environment(case.scratch):
        yield from (f"{oracle.__name__}: {problem}" for problem in oracle(case))


def light_splade(case: Case) -> Iterator[str]:
    """A dataset generated with mutations, loaded in both variants."""
    draft = generate(case.rng.randrange(10_000, 10**9))
    case.history = [str(draft.mutations)]
    if text := disagreement(draft, case.folder):
        yield text


def errors(folder: Path, ignored: set[str]) -> list[str]:
    """The errors that ragdata reports."""
    findings = ragdatakit.validate(folder, max_per_rule=0).findings
    return [
        f"{f.code} {f.path}:{f.line}: {f.message}" for f in findings if f.severity == "error" and f.code not in ignored
    ]


def compare(refused: str, found: list[str]) -> Iterator[str]:
    """Where the reader and ragdata differ."""
    if refused and not found:
        yield f"no error, and the reader: {refused[:300]}"
    elif found and not refused:
        yield f"the reader takes all, and: {found[0][:300]}"


class Refused(Exception):
    """Why a dataset cannot be used as it is written."""


def beir(case: Case) -> Iterator[str]:
    """A small folder with damage, loaded split by split."""
    rng = case.rng
    case.folder.mkdir(parents=True)
    count = rng.randrange(3, 8)
    _lines(case.folder / "corpus.jsonl", [{"_id": f"d{i}", "title": f"T{i}", "text": _text(rng)} for i in range(count)])
    _lines(case.folder / "queries.jsonl", [{"_id": f"q{i}", "text": f"{_text(rng)} {i}"} for i in range(count)])
    (case.folder / "qrels").mkdir()
    rows = "".join(f"q{i}\td{rng.randrange(count)}\t{rng.randrange(1, 3)}\n" for i in range(count))
    (case.folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows, encoding="utf-8")
    case.history = _damage_content(case.folder, rng, rng.randrange(1, 3))
    yield from compare(_beir_refuses(case.folder), errors(case.folder, set()))


def _beir_refuses(folder: Path) -> str:
    """Why BEIR's reader, or the encoders and measures behind it, cannot use the folder as it is written."""
    try:
        corpus = _beir_records(folder / "corpus.jsonl")
        queries = _beir_records(folder / "queries.jsonl")
        _beir_qrels(folder / "qrels" / "test.tsv", corpus, queries)
    except (Refused, OSError, ValueError, LookupError, TypeError, csv.Error, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _beir_records(path: Path) -> set[str]:
    found: set[str] = set()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = _load(line)
            for name in ("_id", "text"):
                if not isinstance(record.get(name), str):
                    raise Refused(f"{path.name}: {name} is {record.get(name)!r}")
                record[name].encode()  # a tokenizer refuses half characters
            if record["_id"] in found:
                raise Refused(f"{path.name}: {record['_id']!r} again, and the last wins")
            found.add(record["_id"])
    return found


def _beir_qrels(path: Path, corpus: set[str], queries: set[str]) -> None:
    judged: dict[tuple[str, str], int] = {}
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        if set(first := next(rows)) & (queries | corpus):
            raise Refused(f"the first row is skipped, whatever it is: {first}")
        for row in rows:
            query, document, score = row[0], row[1], int(row[2])
            if len(row) != 3 or query not in queries or document not in corpus:
                raise Refused(f"row {row}")
            if judged.setdefault((query, document), score) != score:
                raise Refused(f"{query} {document} is judged again")
    if not judged:
        raise Refused("nothing is judged")


def _load(line: str) -> dict[str, Any]:
    """A record in which no key stands twice: the last would win."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise Refused(f"a key twice: {line[:80]}")
        return dict(pairs)

    record = json.loads(line, object_pairs_hook=once)
    if not isinstance(record, dict):
        raise Refused(f"no object: {line[:80]}")
    return record


def trec(case: Case) -> Iterator[str]:
    """Judgements or a run with damage, read by pytrec_eval."""
    import pytrec_eval

    rng = case.rng
    case.folder.mkdir(parents=True)
    runs = rng.random() < 0.5
    path = case.folder / ("model.run" if runs else "test.qrels")
    ids = [(q, d) for q in range(rng.randrange(1, 4)) for d in range(rng.randrange(2, 5))]
    rows = [f"q{q} Q0 d{d} {d + 1} {9.5 - d} tag" if runs else f"q{q} 0 d{d} {d % 3}" for q, d in ids]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    case.history = _damage_content(case.folder, rng, 1)
    try:
        with path.open(encoding="utf-8") as file:
            read = (pytrec_eval.parse_run if runs else pytrec_eval.parse_qrel)(file)
        refused = _trec_misread(path.read_text(encoding="utf-8"), runs) or _trec_measured(read, runs)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        refused = f"{type(error).__name__}: {error}"
    if not refused and not read:
        refused = "nothing is read"
    found = ragdatakit.validate([path], format="trec").findings
    yield from compare(refused, [f"{f.code} {f.path}:{f.line}: {f.message}" for f in found if f.severity == "error"])


def _trec_misread(text: str, runs: bool) -> str:
    """What is no longer what was written: pytrec_eval aborts the process at NUL in an id, and trec_eval passes over
    comments in a run."""
    if any("\0" in cell for line in text.splitlines() for cell in line.split()[:3:2]):
        return "NUL"
    if text.startswith("\ufeff"):
        return "the mark becomes part of an id"
    return "a comment" if runs and any(line.startswith("#") for line in text.splitlines()) else ""


def _trec_measured(read: dict[str, dict[str, Any]], runs: bool) -> str:
    """Why it cannot be measured, or is measured as something else: numbers that are none, or beyond 64 bits."""
    import pytrec_eval

    if runs and not all(abs(score) < float("inf") for scores in read.values() for score in scores.values()):
        return "scores that are not a numbers"
    other = {q: dict.fromkeys(documents, 1) for q, documents in read.items()}
    judged, run = (other, read) if runs else (read, {q: dict.fromkeys(d, 1.0) for q, d in other.items()})
    pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(run)
    return ""


def _damage_content(folder: Path, rng: Random, times: int) -> list[str]:
    """Damage to what is in the files; the files themselves stay where they are."""
    names = {p.relative_to(folder) for p in folder.rglob("*") if p.is_file()}
    while True:
        with tempfile.TemporaryDirectory() as other:
            copy = Path(other, "set")
            shutil.copytree(folder, copy)
            said = mutate(copy, rng, times)
            if {p.relative_to(copy) for p in copy.rglob("*") if p.is_file()} == names and said:
                shutil.copytree(copy, folder, dirs_exist_ok=True)
                return said


def _text(rng: Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(3, 9)))


def _lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")

"""Lines of cells that the compiled scanner takes for clean are clean line by line, with the same keys."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ragdatakit import validate
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas import get_format
from ragdatakit.validators import checks_of, dataset_run
from ragdatakit.validators.trec import checks
from tests.block_mutations import tries
from tests.scanner_tools import BothWays, cut_anywhere, needs_scanner

pytestmark = needs_scanner

KINDS = [("beir", "qrels"), ("trec", "qrels"), ("trec", "run"), ("trec", "topic-lines")]
CELLS = ["q1", "d-12", "é", "漢字", '"q"', 'q"1', "#1", "", "a b", "\u3000x", "x\x1cy", "\x85", "NA", "Q0", "\0"]
NUMBERS = ["0", "1", "3", "-0", "007", "+1", "1_0", "１", "4", "999999", "1000000", "9" * 15, "9" * 16, "1.0", " 1", ""]
SCORES = ["7.5", "-1e3", ".5", "5.", "1e400", "inf", "nan", "+2E-3", "1e", "e5", ".", "0x1", "1_0.5", "1e-400", "--1"]
PIECES = ["\t", " ", "\n", "\r\n", "\r", '"', "#", "\t\t", "\x0b", "\x1c", "\u00a0", "x", "\n \n", "\ufeff"]


def lines(kind: str, separator: str, rng: Random) -> bytes:
    """Some lines of cells, some of them damaged."""
    text = ""
    for _ in range(rng.randrange(6)):
        usual = rng.random() < 0.6
        words = ["q1", "q2", "d1", "d2"] if usual else CELLS
        number, score = rng.choice(["0", "1"] if usual else NUMBERS), rng.choice(["7.5", "3"] if usual else SCORES)
        one, other = rng.choice(words), rng.choice(words)
        cells = {
            "qrels": [one, "0", other, number] if not separator else [one, other, number],
            "run": [one, "Q0", other, number, score, "tag"],
            "topic-lines": [one, other],
        }[kind]
        text += (separator or rng.choice(["\t", " ", "  "])).join(cells) + rng.choice(["\n", "\n", "\n", "\r\n"])
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(2) :]
    data = text.encode()
    if data and rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b""]) + data[at + 1 :]
    return data


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_damaged_lines_are_checked_as_line_by_line(name: str, kind: str) -> None:
    rng = Random(f"{name} {kind}")
    fmt = get_format(name)
    declared = fmt.file(kind)
    of_format = None
    if name == "beir":
        of_format = checks_of(name)(Dataset(Path(), "", fmt, "file", [DataFile(Path("x"), "x", "x", kind)]), ())
    extra = None if of_format is None else lambda value: of_format.record(DataFile(Path("x"), "x", "x", kind), value)
    ways = BothWays(declared, (), extra, of_format)

    for _ in range(tries(1500)):
        data = lines(kind, declared.columns.separator, rng)
        for part in cut_anywhere(data, rng) if rng.random() < 0.3 else [data]:
            wrong = [*ways.differences(part)]
            assert not wrong, f"{wrong[0]}\n{part!r}"


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_sound_lines_are_proved(name: str, kind: str) -> None:
    rng = Random(1)
    declared = get_format(name).file(kind)
    scanner = BothWays(declared).scanners[0]
    separator = declared.columns.separator
    one = {
        "qrels": ["q1", "0", "d1", "1"],
        "run": ["q1", "Q0", "d1", "1", "7.5", "b"],
        "topic-lines": ["q1", "reefs x"],
    }
    cells = ["q1", "d1", "1"] if separator and kind == "qrels" else one[kind]

    data = "".join((separator or rng.choice("\t ")).join(cells) + "\n" for _ in range(100)).encode()
    found = scanner.scan(data)

    assert found is not None
    assert (found.rows, found.notes) == (100, [])


def collection(rng: Random) -> dict[str, str]:
    """Judgements and results of a few queries, most of them in order."""
    queries = ["q1", "q2", "3", "q\0"]
    qrels, run = "", ""
    for query in rng.choices(queries, k=5):
        first, tag = rng.choice([1, 1, 1, 0]), rng.choice(["a", "a", "a", "b"])
        for n in range(rng.randrange(12)):
            qrels += f"{query} 0 d{n} {rng.choice(['1', '1', '0', 'x'])}\n"
            rank, score = (n + first, 100 - n) if rng.random() < 0.9 else (rng.randrange(9), rng.choice([3, "nan", 99]))
            run += rng.choice(["# note\n", "\n", "q1 Q0\n"]) if rng.random() < 0.05 else ""
            run += f"{query} Q0 d{n} {rank} {score} {tag}\n"
    topics = "".join(f"{query}\ta topic\n" for query in rng.sample(queries[:3], 2))
    return {"qrels.txt": qrels, "run.a.txt": run, **({"topics.tsv": topics} if rng.random() < 0.7 else {})}


@pytest.mark.parametrize("seed", range(12))
def test_results_of_queries_are_compared_as_in_small_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    monkeypatch.setattr(checks, "_MOST_RESULTS", 8)
    for number in range(tries(60) // 12):
        root = tmp_path / str(number)
        root.mkdir()
        for name, text in collection(rng).items():
            (root / name).write_text(text)
        found = []
        for constants in ({}, {"SMALL_DATASET": -1, "BLOCK_BYTES": rng.choice([60, 200, 4000])}):
            constants |= {"TEXT_BLOCK_BYTES": constants["BLOCK_BYTES"]} if constants else {}
            with pytest.MonkeyPatch.context() as patch:
                for constant, value in constants.items():
                    patch.setattr(dataset_run, constant, value)
                report = validate(root, max_per_rule=0, jobs=rng.choice([1, 2, 7]))
                found.append(sorted(repr((f.as_dict(), f.excerpt)) for f in report.findings))
        assert found[0] == found[1]


def test_a_score_that_cannot_be_read_is_another_one_than_0(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "tide"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "tide"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td1\t\n")
    found = []
    for small in (dataset_run.SMALL_DATASET, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dataset_run, "SMALL_DATASET", small)
            found.append(sorted(f.code for f in validate(tmp_path).findings))

    assert found[0] == found[1]
    assert "BE204" in found[0]


def test_the_first_id_with_a_nul_is_reported_whichever_column_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d\0 1\nq\0 0 d1 1\nq1 0 d\0\0 1\n")
    found = []
    for small, size in ((dataset_run.SMALL_DATASET, 1 << 20), (-1, 4), (-1, 1 << 20)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dataset_run, "SMALL_DATASET", small)
            patch.setattr(dataset_run, "TEXT_BLOCK_BYTES", size)
            report = validate(tmp_path, max_per_rule=0)
        found += [(f.record, f.records) for f in report.findings if f.code == "TR117"]

    assert found == [(1, (1, 2, 3))] * 3

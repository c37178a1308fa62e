"""Random datasets with random damage: ragdata's verdict beside that of upstream's loaders.

Only what a loader can show is compared. Errors of ragdata that other programs of upstream would meet, and not the
loaders, are listed in `ELSEWHERE`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragdatakit.schemas.findings import Finding
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from tests.faults.engines import SCANNED, SMALL, engine
from tests.gfm_rag_behaviour import DOCUMENTS, EDGES, NODES, RELATIONS, TEST, TRAIN
from tests.gfm_rag_oracle import PROFILES, Oracle

Dataset = dict[str, bytes]
TABLES = (NODES, RELATIONS, EDGES)
REPORT = Path(os.environ.get("GFM_RAG_REPORT", "gfm_rag_disagreements.txt"))

ELSEWHERE = {
    "nodes-all-numeric",  # retrieval, constructors
    "no-document-node",  # retrieval, training
    "no-mention-edge",  # the model
    "attributes-escaped-slash",  # the embedded text
    "attributes-repeated-key",
    "nul-in-cell",
    "name-read-as-missing",  # where the edge is dropped, it is counted
    "duplicate-question-id",  # prediction, constructors
    "question-id-null",
    "question-id-decimal",
    "question-id-other",
    "mixed-question-ids",
    "answer-not-text",  # evaluation
    "aliases-not-list",
    "supporting-documents-not-list",
    "empty-supporting-documents",
    "node-list-is-text",  # told by what is left of the sample
    "node-name-not-text",
    "duplicate-key",  # JSON: the last value wins
    "lone-surrogate",
    "non-finite-number",
    "number-out-of-range",
    "kind-mismatch",
    "numbers-but-for-missing",
    "mislabelled-compression",
}
DROPPED = {"dangling-endpoint", "dangling-relation"}
COLUMN_RULES = {"kind-mismatch", "numbers-but-for-missing", "shifted-columns"}
SKIPPED = {"no-known-start-node", "no-known-target-node"}

_WORDS = (
    "osprey",
    "lena",
    "port hale",
    "gull",
    "skarn",
    "the tug",
    "café",
    "São Tomé",
    "raft",
    "Raft",
    "pier 4",
    "O'Brien",
)
_NUMBERS = ("7", "007", "1901", "1902", "12", "3.5", "1e5", "-0", "+4", "True", "false", "99999999999999999999", "0x10")
_ODD = ("NA", "null", "nan", "None", "", " lena", "lena ", "a,b", 'the "Gull"', "two\nlines", "#1", "1_0", "inf", "N/A")
_CELLS = (
    "{}", "{}", "{}", "None", "[]", "()", " {}", "", "5", "{'a': 'x'}", '{"a": "x", "n": 1}', '{"a": null}',
    "{'a': None}", "{'a': nan}", "['tug']", "'tug'", "{'a': 'x'", '{"a": "\\ud83d"}', '{"a": "b\\/c"}',
    '{"a": 1, "a": 2}', "tug", "{1, 2}", "{'a': {'b': [1, 2, ('c',)]}}", "b'x'", "1+2j", "-1", "True", "{'a': -1}",
    "{'a': --1}", "{**{}}", "{'a': 'x' 'y'}", "{'content': 'x\\ny'}", "{'a': f'x'}", "set()", "{'a': set()}", "...",
    "{'a': ...}", "\t{}", "{} ", "{}#", "(((({}))))", "{'a': 0777}", "{'a': 1_000}", "{'a': 'café'}", "{a: 1}",
    "{'a': 1 + 1}", "{'a': 'x'*3}", "{1: 2}", "{[]: 1}", "{'a'}", "{'\\N{BULLET}': 1}", "{'a': '\\x4'}",
    "{'a': '\\d'}", "lambda: 1", "{'a': 1e999}", "[None]", "\n{}", "{\n'a': 1}", "\\",
)  # fmt: skip


@dataclass(slots=True)
class Draw:
    """A generator of random parts."""

    rng: random.Random

    def some(self, values: Any) -> Any:
        return self.rng.choice(list(values))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share


def generate(rng: random.Random) -> Dataset:
    """A small dataset: mostly sound, sometimes with odd names or cells, then damaged a few times."""
    draw = Draw(rng)
    pool = draw.some([_WORDS, _WORDS, _WORDS + _ODD, _WORDS + _NUMBERS[:4], _NUMBERS, _NUMBERS[:4], _NUMBERS + _ODD])
    names = list(dict.fromkeys(rng.choices(pool, k=rng.randint(3, 7))))
    types = [draw.some(["entity", "entity", "entity", "document", "document", "person"]) for _ in names]
    kinds = [*rng.sample(("towed", "left", "moored at", "7", "1901", "null", "True"), 2), "is_mentioned_in"]
    if draw.chance(0.8):
        kinds = ["towed", "left", "is_mentioned_in"]
    by_name = {
        NODES: [["name", "type", "attributes"], *([n, t, _cell(draw)] for n, t in zip(names, types, strict=True))],
        RELATIONS: [["name", "attributes"], *([k, _cell(draw)] for k in kinds)],
        EDGES: [
            ["source", "relation", "target", "attributes"],
            *([draw.some(names), draw.some(kinds), draw.some(names), _cell(draw)] for _ in range(rng.randint(2, 7))),
        ],
    }
    dataset = {path: _written(rows, draw) for path, rows in by_name.items()}
    documents = [n for n, t in zip(names, types, strict=True) if t == "document"]
    dataset[DOCUMENTS] = json.dumps({d: f"About {d}" for d in documents}).encode()
    for number, path in enumerate((TRAIN, TEST)):
        if draw.chance(0.6):
            asked = [_question(draw, f"{number}{i}", names, documents) for i in range(rng.randint(1, 3))]
            dataset[path] = json.dumps(asked, ensure_ascii=draw.chance(0.5), indent=draw.some([None, 1])).encode()
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        draw.some(DAMAGES)(dataset, draw)
    return dataset


WIDE = ",c,d,e,f,g"
"""Columns enough for a table to be inferred in chunks of 65,536 rows."""

CHUNK = 65_536


def generate_big(rng: random.Random) -> Dataset:
    """A graph of which columns of names change from numbers to words and back, near the ends of pandas' chunks."""

    def runs(most: int) -> list[bool]:
        """For each row, whether its name is a number."""
        seen: list[bool] = []
        for _ in range(rng.randint(1, 3)):
            seen += [rng.random() < 0.6] * rng.choice((1, 3, 1000, CHUNK - 1, CHUNK, CHUNK + 1))
        return seen[:most]

    def name(number: bool) -> str:
        return str(rng.choice(numbers)) if number and numbers else rng.choice(words)

    nodes = [f"{i}" if number else f"tug {i}" for i, number in enumerate(runs(2 * CHUNK))]
    numbers, words = [n for n in nodes if n.isdigit()], [n for n in nodes if not n.isdigit()] or ["gull"]
    head = "name,type,attributes" + WIDE
    rows = [head, *(f"{n},{'document' if i % 9 == 0 else 'entity'},{{}},,,,," for i, n in enumerate(nodes))]
    ends = list(zip(runs(2 * CHUNK), runs(2 * CHUNK), strict=False))
    seen = [f"{name(s)},towed,{name(t)},{{}},,,,," for s, t in ends]
    return {
        DOCUMENTS: b"{}",
        NODES: "\n".join(rows).encode() + b"\n",
        RELATIONS: b"name,attributes\ntowed,{}\n",
        EDGES: "\n".join(["source,relation,target,attributes" + WIDE, *seen]).encode() + b"\n",
    }


def _cell(draw: Draw) -> str:
    return str(draw.some(_CELLS)) if draw.chance(0.04) else str(draw.some(("{}", "{}", '{"a": "x"}', "{'a': 'x'}")))


def _written(rows: list[list[str]], draw: Draw) -> bytes:
    text = io.StringIO()
    quoting = draw.some([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(text, quoting=quoting, lineterminator=draw.some(["\n", "\n", "\r\n"])).writerows(rows)
    return text.getvalue().encode()


def _question(draw: Draw, name: str, names: list[str], documents: list[str]) -> dict[str, Any]:
    return {
        "id": f"q{name}",
        "question": f"Where is {draw.some(names)}, {name}?",
        "answer": "here",
        "answer_aliases": [],
        "supporting_documents": documents[:1] or ["x"],
        "start_nodes": {"entity": draw.rng.sample(names, 1)},
        "target_nodes": {"entity": draw.rng.sample(names, min(2, len(names))), "document": documents[:1]},
    }


def _table(dataset: Dataset, draw: Draw) -> tuple[str, list[str]]:
    path = draw.some([p for p in TABLES if dataset.get(p)] or [NODES])
    return path, dataset.get(path, b"name\n").decode("utf-8", "replace").splitlines(keepends=True)


def _change_line(change: Callable[[str, Draw], str], header: bool = False) -> Callable[[Dataset, Draw], None]:
    def damage(dataset: Dataset, draw: Draw) -> None:
        path, rows = _table(dataset, draw)
        if rows:
            index = 0 if header or len(rows) == 1 else draw.rng.randrange(1, len(rows))
            rows[index] = change(rows[index], draw)
            dataset[path] = "".join(rows).encode()

    return damage


def _bytes(dataset: Dataset, draw: Draw) -> None:
    path = draw.some(sorted(dataset))
    data = bytearray(dataset[path])
    at = draw.rng.randrange(len(data) + 1)
    stray = draw.some(
        [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"'", b" ", b"\t", b"\\", b"{", b"}", b"1", b"\xef\xbb\xbf", b'""']
    )
    data[at : at + draw.rng.randrange(3)] = stray
    dataset[path] = bytes(data)


def _cut(dataset: Dataset, draw: Draw) -> None:
    path = draw.some(sorted(dataset))
    dataset[path] = dataset[path][: draw.rng.randrange(len(dataset[path]) + 1)]


def _whole(dataset: Dataset, draw: Draw) -> None:
    path = draw.some(sorted(dataset))
    data = dataset.pop(path)
    new = draw.some(
        [
            None,
            b"",
            b"\n",
            b"\xef\xbb\xbf" + data,
            data.replace(b"\n", b"\r"),
            data.decode("utf-8", "replace").encode("latin-1", "replace"),
            b"{}",
            b"[]",
            b"null",
        ]
    )
    if new == b"{}" and path in (TRAIN, TEST):
        new = b'{"data": []}'  # upstream takes an empty object for an empty list; we say that it is none
    if new is not None:
        dataset[path] = new


def _column(dataset: Dataset, draw: Draw) -> None:
    """A column away, in another place, or twice."""
    path, rows = _table(dataset, draw)
    try:
        cells = list(csv.reader(rows))
        index = draw.rng.randrange(len(cells[0]))
        how = draw.some(["away", "extra", "front", "twice", "index", "renamed", "uid"])
        for number, row in enumerate(cells):
            if not row:
                continue
            if how == "away":
                del row[index]
            elif how == "extra":
                row.append("x" if number else "more")
            elif how == "front":
                row.insert(0, row.pop(index))
            elif how == "twice":
                row.append(row[index])
            elif how == "index":
                row.insert(0, str(number - 1) if number else "")
            elif how == "uid":
                row.insert(index, f"u{number}" if number else "uid")
            elif not number:
                row[index] = draw.some(
                    [row[index].upper(), f" {row[index]}", f"{row[index]} ", "other", "", "uid", "name"]
                )
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(cells)
        dataset[path] = text.getvalue().encode()
    except (IndexError, csv.Error):
        return


def _renumbered(dataset: Dataset, draw: Draw) -> None:
    """A word becomes a number everywhere, or in one file only."""
    word = draw.some([w for w in _WORDS if any(w.encode() in d for d in dataset.values())] or ["osprey"])
    number = draw.some(_NUMBERS + _ODD[:4]).encode()
    for path in draw.some([sorted(dataset), [draw.some(sorted(dataset))]]):
        dataset[path] = dataset[path].replace(word.encode(), number)


def _questions(dataset: Dataset, draw: Draw) -> None:
    path = draw.some([p for p in (TRAIN, TEST) if dataset.get(p)] or [None])
    try:
        asked = json.loads(dataset[path])
        one = draw.some(asked)
        field = draw.some(
            ["id", "question", "answer", "answer_aliases", "supporting_documents", "start_nodes", "target_nodes"]
            + ["start_nodes", "target_nodes"] * 2
        )
        if field in ("start_nodes", "target_nodes") and draw.chance(0.7):
            names = ["gull", "no such", "", "7", 7, None, ["gull"], True, {"a": 1}, 1.5]
            value = draw.some(
                [
                    "gull",
                    None,
                    7,
                    {},
                    [],
                    {"gull": 1},
                    True,
                    [draw.some(names)],
                    [draw.some(names), draw.some(_WORDS)],
                    [draw.some(_WORDS)],
                ]
            )
            one[field] = draw.some([{"entity": value}, {**one[field], "document": value}, {"x": value}])
        elif draw.chance(0.2):
            del one[field]
        else:
            one[field] = draw.some(
                [
                    None,
                    7,
                    "x",
                    "",
                    [],
                    ["gull"],
                    {},
                    True,
                    1.5,
                    2**70,
                    -(2**63) - 1,
                    2**63,
                    "\ud800",
                    asked[0].get(field),
                ]
            )
        dataset[path] = json.dumps(asked).encode()
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        return


DAMAGES: tuple[Callable[[Dataset, Draw], None], ...] = (
    _bytes,
    _bytes,
    _bytes,
    _cut,
    _whole,
    _column,
    _column,
    _renumbered,
    _renumbered,
    _questions,
    _questions,
    _questions,
    _change_line(lambda row, draw: row.rstrip("\r\n") + draw.some([",x", ",", ",,", '"', " "]) + "\n"),
    _change_line(lambda row, draw: ",".join(row.rstrip("\r\n").split(",")[:-1]) + "\n"),
    _change_line(lambda row, draw: row + row),
    _change_line(lambda row, draw: draw.some(["\n", "  \n", "\t\n", ",,,\n", "#\n", '""\n', "\r"]) + row),
    _change_line(lambda row, draw: ""),
    _change_line(lambda row, draw: row.replace("{}", str(draw.some(_CELLS)), 1)),
    _change_line(lambda row, draw: row.replace("{}", '"' + str(draw.some(_CELLS)).replace('"', '""') + '"', 1)),
    _change_line(lambda row, draw: row.replace("{}", '"' + str(draw.some(_CELLS)).replace('"', '""') + '"', 1)),
    _change_line(lambda row, draw: row.replace(",", draw.some([", ", ";", "\t", " ,"]), 1), header=True),
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One way in which the verdicts differ; ``signature`` is the same for what has the same reason, as far as known."""

    signature: str
    detail: str


def write(dataset: Dataset, root: Path) -> None:
    """Write it below a folder that does not exist."""
    for path, data in dataset.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def findings(root: Path, profile: str, engine_name: str = SMALL) -> list[Finding]:
    """Everything that ragdata says of a dataset."""
    with engine(engine_name):
        return validate_paths([root], profiles=(profile,), selection=Selection(max_per_rule=0)).findings


class Comparison:
    """The verdicts on one dataset after another."""

    def __init__(self, oracle: Oracle, folder: Path) -> None:
        self.oracle = oracle
        self.folder = folder
        self.number = 0

    def disagreements(self, dataset: Dataset) -> list[Disagreement]:
        """Every way in which ragdata and upstream differ on it."""
        if not any(p in dataset for p in TABLES):
            return []
        found: list[Disagreement] = []
        for profile in PROFILES:
            self.number += 1
            root = self.folder / str(self.number) / "data"
            write(dataset, root)
            said = findings(root, profile)
            found += _engines(said, findings(root, profile, SCANNED), profile)
            answer = self.oracle.ask(profile, root)
            found += _compared(said, answer, profile, dataset)
        return found


def _engines(small: list[Finding], scanned: list[Finding], profile: str) -> Iterator[Disagreement]:
    one, two = ([f.as_dict() for f in each] for each in (small, scanned))
    if one != two:
        only = [f"{f['rule']}:{f['line']}" for f in one if f not in two]
        other = [f"{f['rule']}:{f['line']}" for f in two if f not in one]
        rules = sorted({o.split(":")[0] for o in (*only, *other)})
        yield Disagreement(f"the engines differ: {' '.join(rules)}", f"{profile}: small {only}, scanned {other}")


def _compared(said: list[Finding], answer: dict[str, Any], profile: str, dataset: Dataset) -> Iterator[Disagreement]:
    errors = {f.rule for f in said if f.severity == "error"}
    words = (
        f"{profile}: {answer['error'] or 'loads'}, {answer.get('edges', '?')} edges, {answer['skipped_edges']} edges "
        f"and {answer['skipped_samples']} samples skipped; errors {sorted(errors)}"
    )
    if "rule-crashed" in {f.rule for f in said}:
        crash = next(f for f in said if f.rule == "rule-crashed")
        yield Disagreement(f"crash: {_plain(crash.message)}", words + f"; {crash.message}")
        return
    lost = bool(answer["skipped_edges"] or answer["skipped_samples"]) or (not answer["error"] and not answer["edges"])
    if (answer["error"] or lost) and not errors:
        what = _plain(answer["error"]) if answer["error"] else "edges or samples lost"
        yield Disagreement(f"missed by ragdata: {what}", words)
    alarms = errors - ELSEWHERE
    if alarms and not answer["error"] and not lost:
        yield Disagreement(f"false alarm: {' '.join(sorted(alarms))}", words)
    if not answer["error"] or answer["error"].startswith("RuntimeError: stack"):
        yield from _counts(said, answer, words)
    if not answer["error"] and not errors and _names(dataset.get(NODES, b"")) not in (None, answer["names"]):
        yield Disagreement("names misread without an error", words + f"; names {answer['names']}")


def _plain(message: str) -> str:
    return re.sub(r"\d+|'[^']*'|<.*?>", "_", message)[:70]


def _counts(said: list[Finding], answer: dict[str, Any], message: str) -> Iterator[Disagreement]:
    rules = {f.rule for f in said}
    edges = {
        f.record for f in said if f.rule in DROPPED or (f.rule == "name-read-as-missing" and f.severity == "error")
    }
    if not rules & COLUMN_RULES and len(edges) != answer["skipped_edges"]:
        yield Disagreement("number of dropped edges", f"{message}; ragdata names {len(edges)}")
    samples = {(f.path, f.record) for f in said if f.rule in SKIPPED}
    if len(samples) != answer["skipped_samples"]:
        yield Disagreement("number of skipped samples", f"{message}; ragdata names {len(samples)}")


def _names(data: bytes) -> list[str] | None:
    """The keys of the nodes as they are written, None where that is not plain."""
    try:
        text = re.sub(r"(?m)^[ \t]+$", "", data.decode("utf-8-sig").replace("\r\n", "\n"))  # pandas skips such lines
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        return [row["uid" if "uid" in row else "name"] for row in rows]
    except (KeyError, ValueError, csv.Error):
        return None


def shrunk(dataset: Dataset, signature: str, comparison: Comparison) -> Dataset:
    """A small dataset with the same disagreement: lines, then files, are taken away while it stays."""

    def holds(smaller: Dataset) -> bool:
        return any(d.signature == signature for d in comparison.disagreements(smaller))

    changed = True
    while changed:
        changed = False
        for smaller in _smaller(dataset):
            if holds(smaller):
                dataset, changed = smaller, True
                break
    return dataset


def _smaller(dataset: Dataset) -> Iterator[Dataset]:
    for path in (TRAIN, TEST):
        if path in dataset:
            yield {p: d for p, d in dataset.items() if p != path}
    if dataset.get(DOCUMENTS, b"{}") != b"{}":
        yield {**dataset, DOCUMENTS: b"{}"}
    for path, data in dataset.items():
        rows = data.splitlines(keepends=True)
        if path in TABLES:
            for index in range(1, len(rows)):
                yield {**dataset, path: b"".join(rows[:index] + rows[index + 1 :])}
        elif path in (TRAIN, TEST):
            try:
                asked = json.loads(data)
            except ValueError:
                continue
            if isinstance(asked, list) and len(asked) > 1:
                for index in range(len(asked)):
                    yield {**dataset, path: json.dumps(asked[:index] + asked[index + 1 :]).encode()}


def compare(oracle: Oracle, count: int, seed: int, big: bool) -> int:
    """Compare so many datasets, and write the disagreements with the smallest example each; 1 if there are any."""
    known: dict[str, tuple[int, Dataset, str]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        comparison = Comparison(oracle, Path(scratch))
        for number in range(count):
            rng = random.Random(f"{seed} {number}")
            dataset = generate_big(rng) if big else generate(rng)
            for found in comparison.disagreements(dataset):
                times, smallest, detail = known.get(found.signature, (0, dataset, found.detail))
                known[found.signature] = (times + 1, min(smallest, dataset, key=_size), detail)
        report = []
        for signature, (times, dataset, _) in sorted(known.items(), key=lambda item: -item[1][0]):
            small = dataset if big else shrunk(dataset, signature, comparison)
            details = [d.detail for d in comparison.disagreements(small) if d.signature == signature]
            report.append(_reported(signature, times, small, details))
    REPORT.write_text("\n".join(report), encoding="utf-8")
    print(f"{count} datasets, {len(known)} kinds of disagreement: {REPORT}", file=sys.stderr)
    return 1 if known else 0


def _size(dataset: Dataset) -> int:
    return sum(map(len, dataset.values()))


def _reported(signature: str, times: int, dataset: Dataset, details: list[str]) -> str:
    shown = [f"=== {signature} ({times} times)", *details]
    shown += [f"--- {path}\n{data[:4000]!r}" for path, data in dataset.items()]
    return "\n".join(shown) + "\n"

"""Files judged range by range: the report is that of a run without ranges, to the byte, however the ranges are cut."""

from __future__ import annotations

import errno
import gc
import gzip
import json
import os
import pickle
import platform
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdatakit.api.validating import check as api
from ragdatakit.engines import local_engine
from ragdatakit.engines.local_engine import LocalEngine
from ragdatakit.engines.side_process import SideWorker
from ragdatakit.files.containers import parquet_tables
from ragdatakit.schemas import FORMATS, get_format
from ragdatakit.schemas.errors import EngineError
from ragdatakit.validators.partitions import capped, key_store
from ragdatakit.validators.partitions.known_keys import KnownIndex, KnownKeys, written
from ragdatakit.validators.ranges import plan, range_judges, replaying
from ragdatakit.validators.set_plan import NO_CHECKS
from tests.broad import some
from tests.command_line import FIXTURES, run

IN_RANGES = (
    *("beir", "light-splade", "trec", "datamind", "sage", "ragchecker", "arag", "hipporag", "contextual-retrieval"),
    *("lightrag", "gfm-rag", "shared"),
)
"""Those of which files are judged in ranges."""


class PicklingEngine:
    """Runs everything here, as if it were elsewhere."""

    elsewhere = True

    def __init__(self, shared: bool = True) -> None:
        self.shared = Path(tempfile.gettempdir()) if shared else None
        self.here = self

    def close(self) -> None:
        """There is nothing to end."""

    def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
        for key in keys:
            judge, part = sent((function, key))
            yield sent(judge(part))


def sent(value: Any) -> Any:
    """A value as it comes from elsewhere: its arrays cannot be written to."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return pickle.loads(head, buffers=[bytes(buffer.raw()) for buffer in buffers])


def cut(how: str, random: Random) -> Callable[[int, int, int], list[int]]:
    """Bounds of ranges: a number of them, "random" ones, or one for each "byte"."""

    def bounds(first: int, end: int, target: int) -> list[int]:
        if end <= first + 1:
            return [first, max(first, end)]
        if how == "random":
            return [first, *sorted({random.randrange(first + 1, end) for _ in range(5)}), end]
        step = 1 if how == "byte" else -(-(end - first) // int(how))
        return [*range(first, end, step), end]

    return bounds


def outcome(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the JSON."""
    found = run("validate", folder, "--output-format", "json", "-v", *words)
    return found.code, found.out or found.err


def folders(name: str) -> list[Path]:
    valid = [place for place in sorted((FIXTURES / name / "valid").glob("*")) if place.is_dir()]
    return valid + sorted((FIXTURES / name / "broken").glob("*/data"))


def named(place: Path) -> str:
    return "-".join(place.relative_to(FIXTURES).parts)


CASES = [(place, n) for name in IN_RANGES for n, place in enumerate(folders(name))]
NAMES = [named(place) for place, _ in CASES]
OTHERS = [place for name in sorted(FORMATS.keys() - set(IN_RANGES)) for place in folders(name)]


@pytest.fixture
def in_ranges(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def switch(
        how: str, seed: int = 0, engine: Any = None, partition: int = 500, shared: bool = True, known: float = 1
    ) -> None:
        """``known`` is the share of the sets of keys that all workers know."""
        used, random = engine or (PicklingEngine(shared) if how else None), Random(seed)
        monkeypatch.setattr(key_store.KeyStore, "has_room", lambda store, keys: random.random() < known)
        monkeypatch.setattr(api, "chosen_engine", lambda options: used)
        monkeypatch.setattr(key_store, "PARTITION_BYTES", partition)
        monkeypatch.setattr(plan, "bounds", cut(how, Random(seed)))
        monkeypatch.setattr(range_judges, "_RUN_ROWS", 1 + seed % 7)

    return switch


@pytest.fixture
def in_codes(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Small datasets are checked as large ones are."""
    return lambda big: monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1 if big else 3 << 20)


@pytest.mark.parametrize(("place", "seed"), CASES, ids=NAMES)
@pytest.mark.broad(100)
def test_fixtures(place: Path, seed: int, in_ranges: Any, in_codes: Any) -> None:
    for big, cap, how, known in (
        (False, "20", "random", 1),
        (True, "20", "32", 1),
        (True, "0", "4", 0.6),
        (True, "3", "1", seed % 2),
        (seed % 2 == 0, "2", "random", seed % 3 / 2),
    ):
        in_codes(big)
        in_ranges("")
        expected = outcome(place, "--max-per-rule", cap)

        in_ranges(how, seed, partition=300 << seed % 8, shared=seed % 3 > 0, known=known)

        assert outcome(place, "--max-per-rule", cap) == expected, (big, cap, how, known)


@pytest.mark.parametrize("place", OTHERS, ids=map(named, OTHERS))
@pytest.mark.broad(20)
def test_formats_that_are_read_as_one_part(place: Path, in_ranges: Any, in_codes: Any) -> None:
    """Their keys are compared in partitions as well, but for what their checks look up while they read."""
    in_codes(True)
    in_ranges("")
    expected = outcome(place)

    for known in (1, 0.5):
        in_ranges("4", partition=300, known=known)

        assert outcome(place) == expected, known


def faulty_set(folder: Path, triplets: int = 12) -> Path:
    """A light-splade split with faults of lines, records and sets, of which several fields have the same one."""
    folder.mkdir()
    lines = {
        "query_master": ['{"qid": 1, "text": "a"}', "", '{"qid": 1, "text": "12"}', '{"qid": "2", "text": " "}'],
        "doc_master": [
            '{"doc_id": 7, "text": "12"}',
            '{"doc_id": 8, "text": "1.5"}',
            "{",
            '{"doc_id": 7, "text": "3"}',
        ],
        "positive_lists": ['{"qid": 1, "positive_doc_ids": [7, 7, 9]}'],
        "triplets": [
            f'{{"qid": {n % 3}, "pos_doc_id": {7 + n % 4}, "neg_doc_id": {9 - n % 5}}}' for n in range(triplets)
        ],
    }
    for stem, of in lines.items():
        (folder / f"{stem}.ndjson").write_bytes("\r\n".join(of).encode() + b"\n" * (stem != "doc_master"))
    return folder


@pytest.mark.parametrize(("cap", "big"), [("2", False), ("0", True), ("2", True), ("0", False)])
@pytest.mark.broad(2)
def test_each_byte_a_range(cap: str, big: bool, tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    in_codes(big)
    folder = faulty_set(tmp_path / "set", 5)
    in_ranges("")
    expected = outcome(folder, "--max-per-rule", cap)

    in_ranges("byte")

    assert outcome(folder, "--max-per-rule", cap) == expected
    assert len(json.loads(expected[1])["findings"]) > 8


def test_of_several_fields_the_first_lines_are_shown(tmp_path: Path, in_ranges: Any) -> None:
    """Whichever field breaks the rule there: so it does not matter how many records are looked at together."""
    folder = faulty_set(tmp_path / "set", 50)
    everything = json.loads(outcome(folder, "--max-per-rule", "0", "--select", "dangling-doc-id")[1])["findings"]

    shown = json.loads(outcome(folder, "--max-per-rule", "3", "--select", "dangling-doc-id")[1])["findings"]

    assert [(f["line"], f["pointer"]) for f in shown] == [(f["line"], f["pointer"]) for f in everything[:3]]
    assert len({f["pointer"] for f in shown}) == 2


@pytest.mark.parametrize("big", [False, True])
def test_packed_shards_and_parquet(big: bool, tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    """Each is read from its beginning, elsewhere; together with the plain shard between them."""
    in_codes(big)
    folder = faulty_set(tmp_path / "set", 30)
    lines = (folder / "triplets.ndjson").read_bytes().splitlines(keepends=True)
    (folder / "triplets.ndjson").unlink()
    shards = folder / "triplets"
    shards.mkdir()
    (shards / "a.ndjson.gz").write_bytes(gzip.compress(b"".join(lines[:12])))
    (shards / "b.ndjson").write_bytes(b"\xef\xbb\xbf" + b"".join(lines[12:]))
    (shards / "c.ndjson.gz").write_bytes(gzip.compress(b"".join(lines[:9]))[:-12])
    columns = {"qid": [1, 5], "pos_doc_id": [7, 7], "neg_doc_id": [8, 99]}
    pq.write_table(pa.table(columns), shards / "d.parquet", row_group_size=1)
    in_ranges("")
    expected = outcome(folder)

    in_ranges("4")

    assert outcome(folder) == expected
    rules = {finding["rule"] for finding in json.loads(expected[1])["findings"]}
    assert {"broken-compression", "byte-order-mark", "parquet-not-loaded", "dangling-qid"} <= rules


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row group is read by itself."""
    monkeypatch.setattr(parquet_tables, "PART_ROWS", 1)


def parquet_set(folder: Path, random: Random, group: int) -> Path:
    """A BEIR dataset in Parquet with faults of records and sets: the header of its judgements is no row."""
    (folder / "qrels").mkdir(parents=True)
    ids = [f"d{random.randrange(90)}" for _ in range(120)]
    texts = [random.choice(["", " ", "Tides follow the moon.", "line\nline", None]) for _ in ids]
    pq.write_table(pa.table({"_id": ids, "text": texts, "title": texts}), folder / "corpus.parquet", group)
    columns = {"query-id": [f"q{n % 9}" for n in range(60)], "corpus-id": [f"d{n}" for n in range(60, 120)]}
    blank = [None if n % 13 == 5 else value for n, value in enumerate(columns["query-id"])]
    table = pa.table({"query-id": blank, "corpus-id": columns["corpus-id"], "score": [n % 3 for n in range(60)]})
    pq.write_table(table, folder / "qrels" / "test.parquet", group)
    queries = {"_id": [f"q{n}" for n in range(8)], "text": [f"What {n}?" for n in range(8)]}
    pq.write_table(pa.table(queries), folder / "queries.parquet", group)
    return folder


@pytest.mark.parametrize(
    ("how", "big", "cap"), [("1", False, "3"), ("4", True, "0"), ("random", True, "3"), ("byte", False, "0")]
)
@pytest.mark.usefixtures("small_groups")
def test_row_groups(how: str, big: bool, cap: str, tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    in_codes(big)
    folder = parquet_set(tmp_path / "set", Random(how), 7)
    in_ranges("")
    expected = outcome(folder, "--max-per-rule", cap)

    in_ranges(how, seed=len(how))

    assert outcome(folder, "--max-per-rule", cap) == expected
    found = json.loads(expected[1])
    assert len(found["by_rule"]) > 3
    assert {finding.get("row_group", 0) for finding in found["findings"]} > {0, 1}


@pytest.mark.usefixtures("small_groups")
def test_of_a_damaged_row_group_those_behind_it_are_not_read(tmp_path: Path, in_ranges: Any) -> None:
    """As without ranges, where reading ends there."""
    folder = parquet_set(tmp_path / "set", Random(1), 10)
    corpus = folder / "corpus.parquet"
    place = pq.read_metadata(corpus).row_group(5).column(1).data_page_offset
    data = bytearray(corpus.read_bytes())
    data[place : place + 20] = b"\xff" * 20
    corpus.write_bytes(data)
    in_ranges("")
    expected = outcome(folder)

    in_ranges("byte")

    assert outcome(folder) == expected
    assert json.loads(expected[1])["by_rule"]["RD101"] == 1


@pytest.mark.parametrize("begun", [0, 1, 4])
@pytest.mark.parametrize("kind", ["lines", "array", "row groups", "tags"])
@pytest.mark.usefixtures("small_groups")
def test_a_file_that_is_gone_meanwhile_cannot_be_read(
    kind: str, begun: int, tmp_path: Path, in_ranges: Any, in_codes: Any
) -> None:
    """Before its first range was read, before another one, or before records of it are looked for again."""
    folder = tmp_path / "set"
    if kind == "row groups":
        path = parquet_set(folder, Random(1), 7) / "corpus.parquet"
    elif kind == "lines":
        path = faulty_set(folder, 90) / "triplets.ndjson"
    else:
        folder.mkdir()
        values = [{"id": f"{n % 9}", "text": f"{n % 9}"} for n in range(40)]
        path = folder / ("chunks.json" if kind == "array" else "topics.trec")
        topics = "".join(f"<top>\n<num> Number: {n % 9}\n<title> t\n</top>\n" for n in range(40))
        path.write_text(json.dumps(values) if kind == "array" else topics)

    class Vanishing(PicklingEngine):
        elsewhere = False

        def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
            for key in keys:
                of_ranges = isinstance(key, tuple) and isinstance(key[0], plan.Range)
                of_file = of_ranges and function.args[0].dataset.files[key[0].file].path == path  # type: ignore[attr-defined]
                if of_file and key[0].number == begun:
                    path.unlink()
                (found,) = super().map(function, [key])
                if of_file and begun == 4 and key is keys[-1]:
                    path.unlink()
                yield found

    in_codes(True)
    in_ranges("4", engine=Vanishing())

    code, words = outcome(folder)

    assert code == 1
    assert not path.exists()
    found = json.loads(words)["by_rule"]
    assert "RD112" not in found, words
    assert begun == 4 or found["RD101"] == 1


def quoted_judgements(random: Random) -> bytes:
    """Lines of cells, of which quoted ones go on in the next line, or are never closed."""
    pieces = ["q1\td1\t1\n", "q2\td7\tx\n", "\n", '"q3"\td1\t2\r\n', "q1\td1\t1\tnote\n", "q9\td1\t1\n"]
    odd = ['q1\td2\t1\t"a\nb"\n', 'q1\td2\t1\t"a\r\n\r\n""q1\td2\t1\n"\n', '"q\n4"\td1\t1\n', 'q1\t"d\t1\n', '"q1\n']
    count = random.randrange(5, 40)
    lines = random.choices(pieces + odd, [9] * len(pieces) + [random.choice([0, 1])] * 3 + [0.1, 0.1], k=count)
    header = random.choice(["query-id\tcorpus-id\tscore\n", 'query-id\tcorpus-id\tscore\t"more\nof it"\n'])
    return (header + "".join(lines)).encode()


@pytest.mark.parametrize("seed", some(60))
def test_judgements_with_quoted_line_breaks(
    seed: int, tmp_path: Path, in_ranges: Any, in_codes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    in_codes(seed % 2 > 0)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_bytes(quoted_judgements(random))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n{"_id": "q\\n4", "text": "a"}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n{"_id": "d2", "text": "a"}\n')
    for size in ("BLOCK_BYTES", "TEXT_BLOCK_BYTES"):
        monkeypatch.setattr(f"ragdatakit.validators.dataset_run.{size}", 64)
    words = "--max-per-rule", random.choice(["0", "2"])
    in_ranges("")
    expected = outcome(tmp_path, *words)

    for how in ("4", "byte"):
        in_ranges(how, seed)

        assert outcome(tmp_path, *words) == expected, how


@pytest.mark.parametrize("cap", ["1", "3", "0"])
@pytest.mark.parametrize(("engine", "known"), [("4", 0), ("4", 1), ("", 0)])
def test_problems_that_are_only_counted(
    cap: str, engine: str, known: float, tmp_path: Path, in_ranges: Any, in_codes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one key that is everywhere, of references to one that is nowhere, in a file and its copy."""
    in_codes(True)
    folder = faulty_set(tmp_path / "set", 90)
    (folder / "doc_master.ndjson").unlink()
    (folder / "doc_master").mkdir()
    some = [f'{{"doc_id": {n}, "text": "{n}"}}' for n in (7, 8, 10)]
    own = '{"doc_id": 11, "text": "11"}'
    for name, lines in {"a": some, "b": some, "c": [own, *[some[0]] * 40, *[some[1]] * 9], "d": some * 3}.items():
        (folder / "doc_master" / f"{name}.ndjson").write_text("\n".join(lines))
    in_ranges("")
    expected = outcome(folder, "--max-per-rule", cap)
    monkeypatch.setattr(capped, "_SAMPLE", 4)
    if not engine:  # read here, so that one run has the keys of several files
        monkeypatch.setattr(replaying, "plan_ranges", lambda source, number, elements=None: plan.Plan())

    in_ranges("4", known=known)

    assert outcome(folder, "--max-per-rule", cap) == expected
    assert json.loads(expected[1])["by_rule"].items() >= {"RD115": 2, "SP302": 49, "SP202": 76}.items()


def test_parts_that_cannot_be_had_leave_no_report(tmp_path: Path, in_ranges: Any) -> None:
    class Failing(PicklingEngine):
        def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
            yield next(super().map(function, keys))
            raise EngineError("processes that check a part of the data were ended 4 times")

    in_ranges("4", engine=Failing())
    code, words = outcome(faulty_set(tmp_path / "set"))

    assert (code, words) == (2, "ragdata: processes that check a part of the data were ended 4 times\n")


def test_in_processes(tmp_path: Path, in_ranges: Any, in_codes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    in_codes(True)
    folder = faulty_set(tmp_path / "set", 400)
    in_ranges("")
    expected = outcome(folder)

    in_ranges("1", engine=LocalEngine(2))
    monkeypatch.setattr(plan, "bounds", lambda first, end, target: [*range(first, end, 9000), end])

    assert outcome(folder) == expected


@pytest.mark.parametrize(("what", "said"), [("gone", "cannot be read (No such file"), ("other", "is not the file")])
def test_a_worker_that_has_not_the_same_file_fails_the_run(
    what: str, said: str, tmp_path: Path, in_ranges: Any
) -> None:
    class Elsewhere(PicklingEngine):
        def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
            triplets = folder / "triplets.ndjson"
            if keys[0][0].file == 3 and what == "gone":
                triplets.unlink()
            elif keys[0][0].file == 3:
                os.utime(triplets, (1, 1))
            return super().map(function, keys)

    folder = faulty_set(tmp_path / "train")
    in_ranges("4", engine=Elsewhere())

    code, words = outcome(folder)

    assert code == 2
    assert said in words and "triplets.ndjson" in words and platform.node() in words


def test_what_changes_meanwhile_is_reported(tmp_path: Path, in_ranges: Any) -> None:
    folder = faulty_set(tmp_path / "set")
    path = folder / "triplets.ndjson"

    class Changing(PicklingEngine):
        elsewhere = False

        def map(self, function: Callable[[Any], Any], keys: Sequence[Any], /) -> Iterator[Any]:
            for number, found in enumerate(super().map(function, keys)):
                if not number and keys[0][0].file == 3:
                    path.write_bytes(path.read_bytes() + b"\n")
                yield found

    in_ranges("4", engine=Changing())
    findings = json.loads(outcome(folder)[1])["findings"]

    (found,) = [f["message"] for f in findings if f["rule"] == "unreadable-file"]
    assert "it changed while it was read" in found


def _dying(marker: Path, asking: int, key: int) -> int:
    """Ends its process, which is not the asking one, the first time that it is asked for 3."""
    if key == 3 and not marker.exists() and os.getpid() != asking:
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return key * key


def _squared(key: int) -> int:
    return key * key


def _always_dying(asking: int, key: int) -> int:
    if os.getpid() != asking:
        os.kill(os.getpid(), signal.SIGKILL)
    return key


def _failing(key: int) -> int:
    if key == 3:
        raise OSError("the file is not there")
    return key


def test_a_process_that_is_ended_is_begun_anew(tmp_path: Path) -> None:
    with closing(LocalEngine(2)) as engine:
        found = list(engine.map(partial(_dying, tmp_path / "marker", os.getpid()), range(6)))
        again = list(engine.map(_squared, range(3)))
        many = list(engine.map(_squared, range(50)))

    assert again == [0, 1, 4]
    assert many == [n * n for n in range(50)]
    assert found == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (partial(_always_dying, os.getpid()), "processes that check a part of the data were ended 2 times"),
        (_failing, "a part of the data could not be checked: OSError: the file is not there"),
    ],
)
def test_what_cannot_be_had_is_an_error(function: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_engine, "RETRIES", 1)

    with closing(LocalEngine(2)) as engine, pytest.raises(EngineError) as caught:
        list(engine.map(function, range(6)))

    assert str(caught.value) == message


def test_on_the_command_line(tmp_path: Path) -> None:
    folder = faulty_set(tmp_path / "set")

    there = outcome(folder, "--engine", "local", "--jobs", "2")

    assert there == outcome(folder)
    assert outcome(folder, "--engine", "local", "--fix")[0] == 2
    other = run("validate", folder, "--engine", "dask")
    assert other.code == 2
    assert "local" in other.err


def test_where_no_process_can_be_started_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = iter([local_engine.SideWorker.begun()])

    def begin() -> SideWorker:
        for worker in begun:
            return worker
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(local_engine.SideWorker, "begun", begin)

    with closing(LocalEngine(4)) as engine:
        for count in (7, 99):
            assert list(engine.map(_squared, range(count))) == [n * n for n in range(count)]
    with closing(LocalEngine(4)) as engine:
        assert list(engine.map(_squared, range(99))) == [n * n for n in range(99)]
    assert next(begun, None) is None


def test_what_known_keys_take_counts_not_what_they_might() -> None:
    count = 1 << 16
    dense, sparse = np.arange(count, dtype=np.uint64), np.random.default_rng(1).integers(0, 1 << 63, count, np.uint64)
    store = key_store.KeyStore(LocalEngine(1), 0, 4 * 70 * count)
    rows = np.arange(count)

    try:
        assert store.has_room(2 * count) and not store.has_room(3 * count)
        assert store.takes(KnownIndex(dense, rows))  # 20 bytes each
        assert store.takes(KnownIndex(sparse, rows))  # 28 or more
        assert not store.takes(KnownIndex(sparse, rows))
    finally:
        store.remove()


def test_a_format_of_named_tables_goes_to_processes_as_it_is() -> None:
    table = replace(get_format("beir"), name="table")

    assert pickle.loads(pickle.dumps(get_format("beir"))) is get_format("beir")
    assert pickle.loads(pickle.dumps(table)) == table


def test_of_two_splits_the_first_findings_are_shown_whatever_is_known(
    tmp_path: Path, in_ranges: Any, in_codes: Any
) -> None:
    """Not those of the split whose keys could be looked up at once."""
    in_codes(True)
    for split in ("train", "validation"):
        faulty_set(tmp_path / split, 40)
    in_ranges("")
    expected = outcome(tmp_path, "--max-per-rule", "1")
    shares = iter([0] * 4 + [1] * 100)
    in_ranges("4")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_store.KeyStore, "has_room", lambda store, keys: next(shares))

        assert outcome(tmp_path, "--max-per-rule", "1") == expected


@pytest.mark.parametrize("cap", ["1", "20"])
def test_items_of_one_list_stay_in_their_order(cap: str, tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    """Whichever partitions their keys are in: the first that another list has, too, is the one that is shown."""
    in_codes(True)
    folder = faulty_set(tmp_path / "set")
    lists = [[n, n + 1, n + 2] for n in range(0, 60, 3)] + [[n + 40, n + 20, n] for n in range(19)]
    lines = [f'{{"qid": {n}, "positive_doc_ids": {of}}}' for n, of in enumerate(lists)]
    (folder / "positive_lists.ndjson").write_text("\n".join(lines))
    words = "--max-per-rule", cap, "--each-record", "--select", "shared-positive"
    in_ranges("")
    expected = outcome(folder, *words)

    for partition in (100, 1000):
        in_ranges("4", partition=partition)

        assert outcome(folder, *words) == expected
    assert len(json.loads(expected[1])["findings"]) == int(cap)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="what is open cannot be seen here")
def test_files_of_known_keys_are_not_held_when_they_are_removed(tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    def held() -> list[str]:
        gc.collect()
        places = [os.path.realpath(place) for place in Path("/proc/self/fd").iterdir()]
        return [place for place in places if "known-" in place]

    in_codes(True)
    in_ranges("4")

    outcome(faulty_set(tmp_path / "set", 5))

    assert held() == []

    for name in ("here", "there"):  # as a worker sees one dataset after the other
        (tmp_path / name).mkdir()
        index = written(KnownIndex(np.arange(3, dtype=np.uint64), np.arange(3)), tmp_path / name / "known-1")
        KnownKeys(NO_CHECKS, {("corpus", ("_id",)): index}, {}, frozenset(), 0).checks(None, frozenset())
        assert held() == [index]


@pytest.mark.parametrize("cap", ["20", "0"])
def test_names_of_one_record_stay_in_their_order(cap: str, tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    """Whichever partitions they are in: what is said of the subject comes before what is said of the object."""
    in_codes(True)
    folder = tmp_path / "profile"
    (folder / "triplets").mkdir(parents=True)
    (folder / "chunks").mkdir()
    (folder / "chunks" / "a.jsonl").write_text('{"text": "Spring tides follow the moon."}\n')
    names = [
        (f"tide {n}", f"moon {(n + of) % 30}", kind) for of, kind in enumerate(("Event", "Body")) for n in range(30)
    ]
    lines = [
        {"subject": one, "relation": "of", "object": two, "subject_type": kind, "object_type": kind}
        for one, two, kind in names
    ]
    (folder / "triplets" / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = "--max-per-rule", cap, "--select", "conflicting-entity-type"
    in_ranges("")
    expected = outcome(folder, *words)

    in_ranges("4", partition=300)

    assert outcome(folder, *words) == expected
    assert json.loads(expected[1])["by_rule"] == {"DM310": 60}


@pytest.mark.parametrize("how", ["", "4"])
def test_a_file_that_is_a_byte_order_mark(how: str, tmp_path: Path, in_ranges: Any) -> None:
    folder = faulty_set(tmp_path / "set")
    (folder / "triplets.ndjson").write_bytes(b"\xef\xbb\xbf")
    in_ranges(how)

    files = json.loads(outcome(folder)[1])["datasets"][0]["files"]

    assert {file["bytes"] for file in files if file["path"].endswith("triplets.ndjson")} == {3}

"""An index is found again while its dataset is the same, built anew where it is not, and never half there."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.api.search import dataset_source
from ragdatakit.outputs import file_states
from ragdatakit.outputs.sealed_json import read_sealed, sealed
from ragdatakit.retrieval.index import cached_indexes as index_places
from ragdatakit.retrieval.index import files as index_files
from ragdatakit.retrieval.index import store as index_store
from ragdatakit.retrieval.index.files import CHECKED
from ragdatakit.retrieval.index.store import Index, open_index
from ragdatakit.retrieval.index_parts import Part
from ragdatakit.retrieval.lexical import LexicalPart
from ragdatakit.retrieval.passages import Passages
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import DatasetOptions
from ragdatakit.schemas.retrieved import Query
from tests import broad
from tests.command_line import ROOT, files_below, run
from tests.search_tools import BLANK, DOCUMENTS, CountedPart, CountedRanker, write_beir

posix = pytest.mark.skipif(os.name != "posix", reason="processes and locks of POSIX")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "indexes"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "notes")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once."""
    monkeypatch.setattr(file_states, "REST_NS", -(10**9))


def opened(path: Path, **words: Any) -> Index:
    return open_index(dataset_source(path, DatasetOptions()), **words)


def folders(place: Path) -> list[str]:
    return sorted(p.name for p in place.iterdir() if p.name != "sources")


def test_built_once_and_found_again(dataset: Path, cache: Path) -> None:
    before = files_below(dataset)
    part = CountedPart()

    first = opened(dataset)
    first.ranker(part)
    second = opened(dataset)
    second.ranker(part)

    assert part.builds == 1
    assert first.folder == second.folder and first.folder.parent == cache
    assert first.folder.name.startswith("notes-")
    assert [p.passage_id for p in second.passages] == list(DOCUMENTS)
    assert second.passages[0].title == "The ferry"
    (built,), (found,) = first.summary().parts, second.summary().parts
    assert built.built and not found.built
    assert built.facts == found.facts == {"words": 31}
    assert found.bytes == sum(len(data) for name, data in files_below(second.folder).items() if "words.json" in name)
    assert files_below(dataset) == before
    assert folders(cache) == [first.folder.name]


@pytest.mark.usefixtures("settled")
def test_an_unchanged_dataset_is_not_read(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(dataset)
    opened(dataset)  # which looks once at what was built

    def refuse(*_: Any) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(file_states, "file_digest", refuse)
    source = dataset_source(dataset, DatasetOptions())
    monkeypatch.setattr("ragdatakit.converters.source_tables.read_source", refuse)

    assert len(open_index(source).passages) == 3


def test_a_touched_file_is_the_same(dataset: Path, cache: Path) -> None:
    first = opened(dataset)
    os.utime(dataset / "corpus.jsonl", ns=(1, 1))
    second = opened(dataset)

    assert second.folder == first.folder
    assert second.notes == []


def test_a_changed_dataset_is_indexed_anew(dataset: Path, cache: Path) -> None:
    seen: list[str] = []
    first = opened(dataset, tell=seen.append)
    seen.clear()
    write_beir(dataset, {**DOCUMENTS, "pier": ("", "The pier is closed.")})
    second = opened(dataset, tell=seen.append)

    assert seen == [f"{dataset} has changed since it was indexed; it is indexed anew", *seen[1:]]
    assert second.folder != first.folder
    assert [p.passage_id for p in second.passages] == [*DOCUMENTS, "pier"]
    assert [p.passage_id for p in first.passages] == list(DOCUMENTS)  # who has it open goes on with it


@pytest.mark.parametrize("kept_time", [False, True], ids=["plain", "its time set back"])
def test_an_edit_of_the_same_size(dataset: Path, kept_time: bool) -> None:
    path = dataset / "corpus.jsonl"
    opened(dataset)
    state = path.stat()
    path.write_bytes(path.read_bytes().replace(b"1932", b"1933"))
    if kept_time:
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    assert "1933" in opened(dataset).passages[1].text


def test_an_edit_in_the_same_tick_of_a_coarse_clock(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system whose times are whole seconds, two at a time: only the digest tells."""

    def coarse(found: os.stat_result) -> tuple[int, int, int, int]:
        times = [int(ns // 2e9 * 2e9) for ns in (found.st_mtime_ns, found.st_ctime_ns)]
        return found.st_size, times[0], times[1], found.st_ino

    monkeypatch.setattr(file_states, "_state", coarse)
    path = dataset / "corpus.jsonl"
    for year in range(1933, 1937):
        path.write_bytes(path.read_bytes().replace(str(year - 1).encode(), str(year).encode()))

        assert str(year) in opened(dataset).passages[1].text


def test_options_of_reading_make_another_index(dataset: Path) -> None:
    plain = open_index(dataset_source(dataset, DatasetOptions()))
    chunked = open_index(dataset_source(dataset, DatasetOptions(chunking={"by": "characters", "size": 20})))

    assert plain.folder != chunked.folder
    assert (plain.passages.unit, chunked.passages.unit) == ("document", "chunk")
    assert chunked.passages.document_id(0) == "ferry"


def test_two_places_with_the_same_content_share_an_index(dataset: Path, tmp_path: Path, cache: Path) -> None:
    other = write_beir(tmp_path / "copy")

    assert opened(other).folder == opened(dataset).folder
    assert len(folders(cache)) == 1


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def edit(path: Path, **values: Any) -> None:
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, **values}))


def reseal(path: Path, **values: Any) -> None:
    document = read_sealed(path)
    assert document is not None
    path.write_bytes(sealed({**document, **values}))


DAMAGES = {
    "no index.json": lambda f: (f / "index.json").unlink(),
    "index.json is cut": lambda f: cut(f / "index.json"),
    "index.json is edited": lambda f: edit(f / "index.json", passages=2),
    "index.json is a list": lambda f: (f / "index.json").write_text("[]"),
    "another version of ragdata": lambda f: reseal(f / "index.json", ragdata="0.0.1"),
    "another layout": lambda f: reseal(f / "index.json", layout=0),
    "a text is cut": lambda f: cut(f / "passages" / "text.bin"),
    "ids are missing": lambda f: (f / "passages" / "id.order.npy").unlink(),
    "offsets are not an array": lambda f: (f / "passages" / "text.offsets.npy").write_bytes(
        b"\0" * (f / "passages" / "text.offsets.npy").stat().st_size
    ),
    "no passages": lambda f: [p.unlink() for p in (f / "passages").iterdir()],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_built_anew(dataset: Path, damage: str) -> None:
    first = opened(dataset)
    whole = {name: data for name, data in files_below(first.folder).items() if name != "index.json"}
    DAMAGES[damage](first.folder)

    second = opened(dataset)

    assert len(second.notes) == 1 and second.notes[0].endswith("; it is built anew")
    assert {name: data for name, data in files_below(second.folder).items() if name != "index.json"} == whole
    assert opened(dataset).notes == []


PART_DAMAGES = {
    "no part.json": lambda f: (f / "part.json").unlink(),
    "part.json is edited": lambda f: edit(f / "part.json", facts={"words": 1}),
    "other settings": lambda f: reseal(f / "part.json", settings={"version": 0}),
    "of other passages": lambda f: reseal(f / "part.json", passages=2),
    "a file is cut": lambda f: cut(f / "words.json"),
    "a file is missing": lambda f: (f / "words.json").unlink(),
    "a file cannot be read": lambda f: (f / "words.json").write_bytes(b"x" * (f / "words.json").stat().st_size),
    "nothing in it": lambda f: [p.unlink() for p in f.iterdir()],
}


@pytest.mark.parametrize("damage", PART_DAMAGES)
def test_a_damaged_part_is_built_anew(dataset: Path, damage: str) -> None:
    part = CountedPart()
    opened(dataset).ranker(part)
    (folder,) = opened(dataset).folder.glob("lexical-*")
    PART_DAMAGES[damage](folder)

    second = opened(dataset)
    found = second.ranker(part).rank([Query("the tunnel is")], 5)[0]

    assert found.ordinals.tolist() == [2, 0, 1]
    assert part.builds == 2
    assert second.notes == ["the lexical part of the index is damaged or incomplete; it is built anew"]
    assert opened(dataset).ranker(part) is not None
    assert part.builds == 2


def _results(index: Index, part: Part) -> list[tuple[Any, ...]]:
    """Everything that a search gives: passages by rank with their scores, and by id."""
    found = [
        r for q in ("the tunnel below the harbour", "ferry strait") for r in index.ranker(part).rank([Query(q)], 5)
    ]
    ranked = [(index.passages[int(o)], float(s)) for r in found for o, s in zip(r.ordinals, r.scores, strict=True)]
    return [*ranked, *index.passages.ordinals(tuple(DOCUMENTS)), *index.passages.documents()]


def _flip(path: Path, at: int) -> None:
    """Another byte at a place, with the file's times as they were (but that of the change itself)."""
    before = path.stat()
    with path.open("r+b") as file:  # in place: earlier indexes have the file mapped
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 0x15]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("checked", [False, True], ids=["just built", "checked before"])
def test_a_flipped_byte_never_gives_another_result(
    dataset: Path, checked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each payload file its first and last byte, and some between."""
    if checked:  # files are at rest, and their states are trusted
        monkeypatch.setattr(file_states, "REST_NS", -(10**9))
    part = LexicalPart(Tokenizer())
    first = opened(dataset)
    expected = _results(first, part)
    payload = _payload(first.folder)
    assert len([n for n in payload if n.startswith("passages/")]) == 12 and len(payload) > 16
    chosen = random.Random(11)
    for number in range(len(payload)):
        for where in (0.0, chosen.random(), chosen.random(), 1.0):
            if not broad.chosen(f"{checked} {number} {where}", every=4):
                continue
            if checked:
                again = opened(dataset)
                assert _results(again, part) == expected and not again.notes
            name = _payload(first.folder)[number]  # those of tantivy have other names each time
            size = (first.folder / name).stat().st_size
            if not size:
                continue
            _flip(first.folder / name, int((size - 1) * where))

            second = opened(dataset)

            assert _results(second, part) == expected, (name, where)
            (note,) = second.notes
            assert "damaged or incomplete; it is built anew" in note, (name, where)


def _payload(folder: Path) -> list[str]:
    """The files that hold what is searched, by folder and kind."""
    own = ("index.json", "part.json", CHECKED, ".lock")
    return sorted(
        (n for n in files_below(folder) if not n.endswith(own)), key=lambda n: (n.split("/")[0], n.split(".")[-1], n)
    )


def test_a_sound_index_is_not_read_again(dataset: Path, settled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    part = CountedPart()
    opened(dataset).ranker(part)
    opened(dataset).ranker(part)  # by this one its files were looked at

    monkeypatch.setattr(file_states, "file_digest", lambda path: pytest.fail(f"{path} was read"))

    assert opened(dataset).ranker(part).rank([Query("the tunnel")], 5)
    assert part.builds == 1


@posix
def test_a_damaged_index_that_cannot_be_replaced_is_refused(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    first = opened(dataset, index_dir=place)
    _flip(first.folder / "passages" / "title.bin", 0)
    monkeypatch.setattr(index_files.os, "access", lambda path, mode: False)

    with pytest.raises(RagdataError, match=r"the index cannot be built, as .* cannot be written to"):
        opened(dataset, index_dir=place)


def test_parts_of_other_settings_lie_side_by_side(dataset: Path) -> None:
    one, two = CountedPart(version=1), CountedPart(version=2)
    index = opened(dataset)
    index.ranker(one)
    index.ranker(two)

    assert (one.builds, two.builds) == (1, 1)
    assert len(list(index.folder.glob("lexical-*"))) == 2
    opened(dataset).ranker(CountedPart(version=1))
    assert len(list(index.folder.glob("lexical-*"))) == 2


def test_rebuild_builds_all(dataset: Path) -> None:
    part = CountedPart()
    opened(dataset).ranker(part)
    opened(dataset, rebuild=True).ranker(part)

    assert part.builds == 2


def test_a_full_disk_leaves_what_was_there(dataset: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(dataset)
    before = files_below(first.folder)

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(index_store, "write_passages", full)
    with pytest.raises(OSError, match="No space left"):
        opened(dataset, rebuild=True)
    monkeypatch.undo()

    assert files_below(first.folder) == before
    assert sorted(p.name for p in first.folder.parent.iterdir()) == sorted([first.folder.name, "sources"])


def test_a_part_that_fails_leaves_nothing(dataset: Path) -> None:
    class Failing(CountedPart):
        def build(self, folder: Path, *_: Any) -> dict[str, Any]:
            (folder / "half").write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    index = opened(dataset)
    with pytest.raises(OSError, match="No space left"):
        index.ranker(Failing())

    assert sorted(p.name for p in index.folder.iterdir()) == ["index.json", "passages"]


def test_a_dataset_that_changes_while_it_is_indexed(
    dataset: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = index_store.write_passages

    def slow(folder: Path, passages: Iterator[Any]) -> int:
        count = write(folder, passages)
        with (dataset / "corpus.jsonl").open("a") as file:
            file.write('{"_id": "new", "title": "", "text": "new"}\n')
        return count

    monkeypatch.setattr(index_store, "write_passages", slow)
    with pytest.raises(RagdataError, match="changed while it was indexed; run the command again"):
        opened(dataset)
    monkeypatch.setattr(index_store, "write_passages", write)

    assert folders(cache) == []
    assert len(opened(dataset).passages) == 4


def test_a_file_that_goes_away(dataset: Path) -> None:
    source = dataset_source(dataset, DatasetOptions())
    (dataset / "queries.jsonl").unlink()

    with pytest.raises(RagdataError, match=r"queries\.jsonl went away"):
        open_index(source)


BUILDER = """
import sys, time
from pathlib import Path
from ragdatakit.retrieval.index import store as index_store
from ragdatakit.api.search import dataset_source
from ragdatakit.schemas.options import DatasetOptions
from tests.search_tools import CountedPart

write = index_store.write_passages
def slow(folder, passages):
    count = write(folder, passages)
    if "passages" in sys.argv:
        print("ready", flush=True)
        time.sleep(60)
    return count
index_store.write_passages = slow

class Slow(CountedPart):
    def build(self, *words):
        facts = super().build(*words)
        if "part" in sys.argv:
            print("ready", flush=True)
            time.sleep(60)
        return facts

index = index_store.open_index(dataset_source(Path(sys.argv[1]), DatasetOptions()))
index.ranker(Slow())
print("done", flush=True)
"""


def builder(dataset: Path, stop: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", BUILDER, str(dataset), stop]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


@posix
@pytest.mark.parametrize("stop", ["passages", "part"])
def test_a_kill_between_the_steps(dataset: Path, cache: Path, stop: str) -> None:
    with builder(dataset, stop) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(".ragdata-" in p.name for p in cache.rglob(".*")) and time.monotonic() < deadline:
        time.sleep(0.02)  # the companion of the killed process removes what it had staged

    part = CountedPart()
    index = opened(dataset)
    assert len(index.passages) == 3
    index.ranker(part)

    assert part.builds == 1
    assert index.notes == []
    assert not any(".ragdata-" in p.name for p in cache.rglob(".*"))


@posix
def test_two_processes_at_once(dataset: Path, cache: Path) -> None:
    with builder(dataset) as one, builder(dataset) as two:
        outputs = [process.communicate(timeout=60)[0] for process in (one, two)]

    assert outputs == [b"done\n", b"done\n"]
    assert (one.returncode, two.returncode) == (0, 0)
    assert len(folders(cache)) == 1
    part = CountedPart()
    opened(dataset).ranker(part)
    assert part.builds == 0


def test_another_process_that_was_faster(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it put in place stays: it may be open already."""
    write, inodes = index_store.write_passages, []

    def overtaken(folder: Path, passages: Iterator[Any]) -> int:
        monkeypatch.setattr(index_store, "write_passages", write)
        inodes.append(opened(dataset).folder.stat().st_ino)
        return write(folder, passages)

    monkeypatch.setattr(index_store, "write_passages", overtaken)

    assert [opened(dataset).folder.stat().st_ino] == inodes


def test_a_place_of_the_users(dataset: Path, tmp_path: Path, cache: Path) -> None:
    place, part = tmp_path / "deep" / "index", CountedPart()
    opened(dataset, index_dir=place).ranker(part)
    index = opened(dataset, index_dir=place)
    index.ranker(part)

    assert part.builds == 1
    assert "index.json" in {p.name for p in place.iterdir()}
    assert not cache.exists()
    write_beir(dataset, {"a": ("", "other")})
    changed = opened(dataset, index_dir=place)
    assert [p.passage_id for p in changed.passages] == ["a"]
    assert "has changed" in changed.notes[0]


def test_another_dataset_in_the_place_of_the_users(dataset: Path, tmp_path: Path) -> None:
    place = tmp_path / "index"
    opened(dataset, index_dir=place)
    other = opened(write_beir(tmp_path / "other", {"a": ("", "text")}), index_dir=place)

    assert "is of another dataset" in other.notes[0]
    assert len(other.passages) == 1


def test_an_empty_folder_is_a_place(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()

    assert opened(dataset, index_dir=tmp_path / "index").notes == []


def test_no_index_in_the_dataset(dataset: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(dataset)
    for place in (dataset, dataset / "index", tmp_path / "link" / "index"):
        with pytest.raises(RagdataError, match=r"lies in the dataset .*\(--index-dir\)"):
            opened(dataset, index_dir=place)
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(dataset / "cache"))
    with pytest.raises(RagdataError, match=r"lies in the dataset .*\(RAGDATA_CACHE_DIR\)"):
        opened(dataset)

    assert sorted(p.name for p in dataset.iterdir()) == ["corpus.jsonl", "qrels", "queries.jsonl"]


def test_a_folder_with_other_files_is_refused(dataset: Path, tmp_path: Path) -> None:
    place = tmp_path / "index"
    opened(dataset, index_dir=place)
    (place / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")

    with pytest.raises(RagdataError, match=r"is not an index: it has notes\.txt in it"):
        opened(dataset, index_dir=place)
    with pytest.raises(RagdataError, match="is a file; give a folder"):
        opened(dataset, index_dir=tmp_path / "file")
    with pytest.raises(RagdataError, match=r"is not an index: it has file and 2 more in it"):
        opened(dataset, index_dir=tmp_path)

    assert (place / "notes.txt").read_text() == "mine"


def test_a_cache_that_cannot_be_made(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "file" / "cache"))

    with pytest.raises(RagdataError, match=r"cannot be made .*; give a place for the index with --index-dir"):
        opened(dataset)


def test_what_the_user_should_know_of_the_passages(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "odd", DOCUMENTS | BLANK)
    text = (folder / "corpus.jsonl").read_text()
    (folder / "corpus.jsonl").write_text(text + '{"_id": "ferry", "title": "", "text": "Another ferry."}\n')

    index = opened(folder)

    assert index.notes == [
        "1 document has an id that came before (ferry); the last one is read, as the framework does it",
        "1 document has no text and cannot be found (blank)",
    ]
    assert opened(folder).notes == []
    assert opened(folder).summary().notes == tuple(index.notes)


def test_nothing_to_search(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "qrels.test.txt").write_text("1 0 d1 1\n")

    with pytest.raises(RagdataError, match=r"no documents and no chunks \(it has qrels only\); give the folder"):
        opened(tmp_path / "topics")
    assert folders(cache) == []


@pytest.mark.parametrize(
    ("id_", "reason"),
    [('"id": "a"', "it has no _id"), ('"_id": 3.0', r"its _id is neither a text nor an integer \(3.0\)")],
)
def test_a_corpus_without_ids_says_so(id_: str, reason: str, tmp_path: Path, cache: Path) -> None:
    folder = write_beir(tmp_path / "set", {"a": ("", "a text"), "b": ("", "another")})
    corpus = folder / "corpus.jsonl"
    corpus.write_text(re.sub('"_id": "."', id_, corpus.read_text()))
    words = rf"nothing of its corpus could be read \(2 of corpus: {reason}\); `ragdata validate` shows"

    with pytest.raises(RagdataError, match=words):
        opened(folder)
    assert folders(cache) == []


def test_names_that_are_no_file_names(tmp_path: Path, cache: Path) -> None:
    index = opened(write_beir(tmp_path / ("..a\x1b[1m b" + "é" * 60)))

    assert index.folder.parent == cache
    assert index.folder.name.isprintable() and len(index.folder.name.encode()) < 150


def test_a_lone_file_may_have_its_index_beside_it(dataset: Path, tmp_path: Path) -> None:
    index = opened(dataset / "corpus.jsonl", index_dir=dataset / "index")

    assert len(index.passages) == 3


def test_list_and_prune(dataset: Path, tmp_path: Path, cache: Path) -> None:
    kept = write_beir(tmp_path / "kept", {"a": ("", "text")})
    gone = write_beir(tmp_path / "gone", {"b": ("", "text")})
    broken = write_beir(tmp_path / "broken", {"c": ("", "text")})
    for path in (dataset, kept, gone):
        opened(path).ranker(CountedPart())
    (opened(broken).folder / "index.json").unlink()
    with (dataset / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "new", "title": "", "text": "new"}\n')
    gone.rename(tmp_path / "moved")
    abandoned = cache / ".notes-0123456789abcdef.ragdata-0123456789ab"
    abandoned.mkdir()

    states = {index.name: index.state for index in index_places.stored_indexes()}
    assert states == {"broken": "damaged", "gone": "gone", "kept": "current", "notes": "changed"}
    listed = run("index", "--list").out
    assert "current  kept" in listed and "4 indexes" in listed and "removes 3 of them" in listed
    assert {i["state"] for i in run("index", "--list", "--json").json["indexes"]} == set(states.values())

    removed = run("index", "--prune")
    assert removed.code == 0 and "Removed 3 indexes" in removed.out
    assert [index.name for index in index_places.stored_indexes()] == ["kept"]
    assert not abandoned.exists()
    assert len(list((cache / "sources").iterdir())) == 1
    assert run("index", "--prune").out == "Nothing to remove.\n"


def test_an_empty_cache(cache: Path) -> None:
    assert run("index", "--list").out == "There are no indexes in the cache.\n"
    assert run("index", "--prune").out == "Nothing to remove.\n"
    assert run("index", "--list", "--prune").code == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"files": 3}', b"\xff"])
def test_a_damaged_record_of_files_is_passed_over(dataset: Path, cache: Path, content: bytes) -> None:
    opened(dataset)
    (record,) = (cache / "sources").iterdir()
    record.write_bytes(content)

    assert opened(dataset).notes == []
    assert read_sealed(record) is not None


def test_a_record_of_another_form_is_passed_over() -> None:
    assert file_states.read_states([["a", 1, 2, 3, 4, "5", True]]) == {}
    assert file_states.read_states({"a": 1}) == {}


class Refusing(CountedPart):
    """A part that refuses what it cannot open in words of its own."""

    def __init__(self, refusal: Exception) -> None:
        super().__init__()
        self.refusal = refusal

    def open(self, folder: Path, passages: Passages) -> CountedRanker:
        if self.builds == 1 and (folder / "words.json").read_text()[0] == "[":
            raise self.refusal
        try:
            return super().open(folder, passages)
        except ValueError:
            raise RagdataError("the words cannot be read") from None


def test_a_refusal_that_is_not_of_damage(dataset: Path) -> None:
    part = Refusing(RagdataError("the questions have no vectors"))
    for _ in range(2):
        with pytest.raises(RagdataError, match="the questions have no vectors"):
            opened(dataset).ranker(part)

    assert part.builds == 1


def test_a_refusal_that_is_of_damage(dataset: Path) -> None:
    opened(dataset).ranker(CountedPart())
    (path,) = opened(dataset).folder.glob("lexical-*/words.json")
    path.write_bytes(b"x" * path.stat().st_size)
    part = Refusing(RagdataError("not asked"))
    part.builds = 5

    index = opened(dataset)
    index.ranker(part)

    assert part.builds == 6
    assert index.notes == ["the lexical part of the index is damaged or incomplete; it is built anew"]


class PanicException(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("no"), PanicException("no")], ids=lambda error: type(error).__name__)
def test_a_search_that_fails(dataset: Path, error: BaseException) -> None:
    index = opened(dataset)
    index.ranker(CountedPart())

    def fail() -> None:
        with index.guarded():
            raise error

    with pytest.raises(type(error)):
        fail()
    (path,) = index.folder.glob("lexical-*/words.json")
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(RagdataError, match="is damaged; --rebuild builds it anew"):
        fail()

"""`ragdata convert` and `ragdata verify` as a user meets them."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.reports.conversion import conversion_lines
from ragdatakit.schemas.conversions import ConversionResult
from tests.command_line import FIXTURES, files_below, run, spawn

CHUNKS = ["0:The lighthouse of Skarn was lit in 1871. It burned whale oil.", "1:Note: the keeper left in 1902."]
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "s1",
        "source": "skarn",
        "question": "When was it lit?",
        "answer": "1871",
        "question_type": "",
        "evidence": "",
    },
    {"id": "s2", "question": "When did the keeper leave?", "answer": "1902", "level": 1.50},
]


def write_arag(folder: Path, chunks: list[str] | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "chunks.json").write_text(json.dumps(chunks or CHUNKS, indent=4, ensure_ascii=False))
    (folder / "questions.json").write_text(json.dumps(QUESTIONS, indent=2, ensure_ascii=False))
    return folder


def write_beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id":"d1","title":"Light","text":"Mara Venn built it.","metadata":{"year":1871}}\n'
        '{"_id":"d2","title":"Reef","text":"Joss Alder mapped Kettle Reef.","metadata":{}}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id":"q1","text":"Who mapped Kettle Reef?","metadata":{}}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_defaults_of_source_and_target(tmp_path: Path) -> None:
    write_arag(tmp_path / "skarn")

    done = run("convert", "--from", "arag", "--to", "datamind", cwd=tmp_path / "skarn")

    assert done.code == 0, done.out + done.err
    assert "Nothing is lost." in done.out
    assert ragdatakit.validate(tmp_path / "skarn" / "datamind").ok
    assert not [p for p in (tmp_path / "skarn").iterdir() if p.name.startswith(".")]


def test_there_and_back_is_byte_equal(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")
    assert run("convert", "--to", "datamind", source, tmp_path / "dm").code == 0

    done = run("convert", "--to", "arag", tmp_path / "dm", tmp_path / "back")

    assert done.code == 0, done.out + done.err
    back = files_below(tmp_path / "back")
    back.pop("ragdata.json")
    assert back == files_below(source)


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")

    done = run("convert", "--to", "datamind", "--dry-run", source, tmp_path / "dm")

    assert done.code == 0
    assert "Nothing was written" in done.out
    assert "chunks/" in done.out
    assert names_in(tmp_path) == ["skarn"]


def test_losses_are_reported_and_strict_stops(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "reef")

    done = run("convert", "--to", "arag", "--loss-report", tmp_path / "loss.json", source, tmp_path / "out")
    strict = run("convert", "--to", "arag", "--strict", source, tmp_path / "strict")

    assert done.code == 0, done.out + done.err
    assert "documents.title" in done.out
    report = json.loads((tmp_path / "loss.json").read_text())
    (losses,) = [c["losses"] for c in report["conversions"]]
    titles = next(loss for loss in losses if loss["column"] == "title")
    assert (titles["kind"], titles["count"], titles["examples"][0]) == ("lost", 2, "d1: Light")
    assert strict.code == 1
    assert "--strict was given" in strict.out
    assert not (tmp_path / "strict").exists()


def test_sidecar_restores_what_was_lost(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "reef")
    assert run("convert", "--to", "arag", "--sidecar", source, tmp_path / "out").code == 0

    done = run("convert", "--to", "beir", tmp_path / "out", tmp_path / "back")

    assert done.code == 0, done.out + done.err
    with ragdatakit.read(source) as before, ragdatakit.read(tmp_path / "back") as after:
        assert before.tables == after.tables
        for table in before.tables:
            assert list(before.rows(table)) == list(after.rows(table))


def test_errors_stop_and_keep_going_leaves_out(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn", [*CHUNKS, "no id here"])

    stopped = run("convert", "--to", "datamind", source, tmp_path / "dm")
    going = run("convert", "--to", "datamind", "--keep-going", source, tmp_path / "dm")

    assert stopped.code == 1
    assert "AR105" in stopped.out
    assert "Nothing was written" in stopped.out
    assert going.code == 0, going.out + going.err
    assert "1 record: AR105" in going.out
    with ragdatakit.read(tmp_path / "dm") as after:
        assert len(list(after.rows("chunks"))) == 2


def test_of_records_with_one_id_the_one_goes_on_that_the_loader_keeps(tmp_path: Path) -> None:
    source = tmp_path / "beir"
    (source / "qrels").mkdir(parents=True)
    rounds = ((1, 60, "first"), (1, 41, "later"), (1, 3, "last"))
    corpus = [f'{{"_id": "d{n}", "title": "", "text": "{word} {n}"}}\n' for a, b, word in rounds for n in range(a, b)]
    (source / "corpus.jsonl").write_text("".join([*corpus, '{"_id": "d7",\n']))
    (source / "queries.jsonl").write_text('{"_id": "q1", "text": "pears"}\n')
    (source / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")

    stopped = run("convert", "--to", "arag", source, tmp_path / "out")
    going = run("convert", "--to", "datamind", "--keep-going", source, tmp_path / "out")

    assert "Found 43 errors" in stopped.out  # all of them, though 20 are shown
    assert "Repair them (`ragdata validate --fix` repairs some), or leave the records out" in stopped.out
    assert going.code == 0, going.out + going.err
    assert "42 records: BE201" in going.out and f"for example {source}/corpus.jsonl:1 " in going.out
    assert f"BE111 invalid-json\n        for example {source}/corpus.jsonl:102 " in going.out
    with ragdatakit.read(tmp_path / "out") as after:
        texts = [str(row) for table in after.tables for row in after.rows(table) if "text" in row._fields]
    assert [len([t for t in texts if word in t]) for word in ("first", "later", "last")] == [19, 38, 2]


def test_of_records_with_one_id_a_sound_one_goes_on(tmp_path: Path) -> None:
    source = tmp_path / "beir"
    source.mkdir()
    texts = ('"first"', '"second"', "null", '"other"', "7")
    lines = [f'{{"_id": "d{n // 3}", "title": "", "text": {text}}}\n' for n, text in enumerate(texts)]
    (source / "corpus.jsonl").write_text("".join(lines))
    (source / "queries.jsonl").write_text('{"_id": "q1", "text": "pears"}\n')

    going = run("convert", "--to", "beir", "--keep-going", source, tmp_path / "out")

    assert going.code == 0, going.out + going.err
    kept = [json.loads(line)["text"] for line in (tmp_path / "out/corpus.jsonl").read_text().splitlines()]
    assert kept == ["second", "other"]


def test_a_full_target_is_left_alone(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")
    (tmp_path / "dm").mkdir()
    (tmp_path / "dm" / "mine.txt").write_text("mine")

    refused = run("convert", "--to", "datamind", source, tmp_path / "dm")
    assert refused.code == 2
    assert "is not empty" in refused.err
    assert files_below(tmp_path / "dm") == {"mine.txt": b"mine"}

    done = run("convert", "--to", "datamind", "--overwrite", source, tmp_path / "dm")
    assert done.code == 0
    assert not (tmp_path / "dm" / "mine.txt").exists()


def test_the_source_is_never_replaced(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "all" / "skarn")
    before = files_below(source)

    done = run("convert", "--to", "datamind", "--overwrite", source, tmp_path / "all")

    assert done.code == 2
    assert "holds the source" in done.err
    assert files_below(source) == before


def test_a_second_run_over_the_default_target(tmp_path: Path) -> None:
    """The target stands in the source's folder: what was written before is not read as a source."""
    source = write_arag(tmp_path / "skarn")
    words = ("convert", "--to", "datamind", "--overwrite")
    assert run(*words, cwd=source).code == 0
    first = files_below(source / "datamind")

    done = run(*words, cwd=source)

    assert done.code == 0, done.out + done.err
    assert files_below(source / "datamind") == first


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "datamnd"], "did you mean datamind"),
        (["--from", "arg", "--to", "datamind"], "did you mean"),
        (["--to", "text"], "only read"),
        ([], "--to FORMAT"),
        (["--to", "datamind", "-o", "metdata=none"], "did you mean metadata"),
        (["--to", "datamind", "-o", "metadata"], "expected NAME=VALUE"),
        (["--to", "datamind", "-o", "metadata=some"], "expected one of"),
        (["--to", "datamind", "--profile", "v1"], "written in one way only"),
        (["--to", "sage", "--profile", "operator"], "did you mean operators"),
        (["--to", "datamind", "--list"], "--list takes no paths"),
    ],
)
def test_wrong_words(tmp_path: Path, words: list[str], message: str) -> None:
    source = write_arag(tmp_path / "skarn")

    done = run("convert", *words, source, tmp_path / "dm")

    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert names_in(tmp_path) == ["skarn"]


def test_missing_source(tmp_path: Path) -> None:
    done = run("convert", "--to", "datamind", tmp_path / "none")

    assert done.code == 2
    assert "no such file or folder" in done.err


def test_several_datasets_at_once(tmp_path: Path) -> None:
    write_arag(tmp_path / "all" / "skarn")
    write_arag(tmp_path / "all" / "north" / "reef")

    done = run("convert", "--to", "datamind", tmp_path / "all", tmp_path / "dm")

    assert done.code == 0, done.out + done.err
    assert (tmp_path / "dm" / "skarn" / "ragdata.json").is_file()
    assert (tmp_path / "dm" / "north" / "reef" / "ragdata.json").is_file()


def test_the_manifest_is_the_same_each_time_and_verifies(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "reef")
    for name in ("one", "two"):
        assert run("convert", "--to", "light-splade", "--sidecar", source, tmp_path / name).code == 0

    assert files_below(tmp_path / "one") == files_below(tmp_path / "two")
    manifest = json.loads((tmp_path / "one" / "ragdata.json").read_text())
    assert manifest["source"]["format"] == "beir"
    assert {f["path"] for f in manifest["source"]["files"]} == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert {f["path"] for f in manifest["files"]} | {"ragdata.json"} == set(files_below(tmp_path / "one"))
    verified = run("verify", tmp_path / "one", "--source", source)
    assert (verified.code, verified.out) == (0, "All files are as they were written.\n")


def test_verify_tells_each_difference(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")
    target = tmp_path / "dm"
    assert run("convert", "--to", "datamind", source, target).code == 0
    chunks = target / "data" / "profiles" / "skarn" / "chunks" / "skarn.jsonl"
    chunks.write_bytes(chunks.read_bytes().replace(b"1871", b"1872"))
    (target / "data" / "bench" / "skarn.jsonl").unlink()
    (target / "note.txt").write_text("mine")
    (source / "questions.json").write_text("[]")

    done = run("verify", target, "--source", source)

    assert done.code == 1
    assert "missing   data/bench/skarn.jsonl" in done.out
    assert "changed   data/profiles/skarn/chunks/skarn.jsonl: expected sha256" in done.out
    assert "unlisted  note.txt" in done.out
    assert "questions.json: expected sha256" in done.out
    assert "3 files not as written." in done.out


def test_verify_finds_the_files_of_a_source_of_several_parts_and_of_datasets_that_look_alike(tmp_path: Path) -> None:
    write_arag(tmp_path / "arag")
    assert run("convert", "--to", "datamind", tmp_path / "arag", tmp_path / "dm").code == 0
    write_beir(tmp_path / "sets" / "one")
    two = write_beir(tmp_path / "sets" / "two")
    (two / "queries.jsonl").write_text('{"_id": "q1", "text": "Which reef?"}\n')
    assert run("convert", "--to", "beir", tmp_path / "dm", tmp_path / "beir").code == 0
    assert run("convert", "--to", "light-splade", tmp_path / "sets", tmp_path / "splade").code == 0

    assert run("verify", tmp_path / "beir", "--source", tmp_path / "dm").code == 0
    assert run("verify", tmp_path / "splade", "--source", tmp_path / "sets").code == 0
    (two / "corpus.jsonl").unlink()
    done = run("verify", tmp_path / "splade", "--source", tmp_path / "sets")
    assert (done.code, done.out.count("missing")) == (1, 1)
    assert "two/corpus.jsonl" in done.out


def test_an_old_copy_below_the_source_does_not_stand_for_it(tmp_path: Path) -> None:
    source = Path(shutil.copytree(FIXTURES / "beir/valid/splits", tmp_path / "source"))
    run("convert", "--from", "beir", "--to", "arag", source, tmp_path / "out")
    shutil.copytree(source, source / "old/source")
    (source / "corpus.jsonl").write_bytes((source / "corpus.jsonl").read_bytes() + b"\n")

    done = run("verify", tmp_path / "out", "--source", source)

    assert done.code == 1
    assert str(source / "corpus.jsonl") in done.out


def test_verify_without_a_manifest(tmp_path: Path) -> None:
    done = run("verify", tmp_path)

    assert done.code == 2
    assert "no ragdata.json" in done.err


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"version": 2}', '{"version": 1, "files": [{}]}', '{"version":1,"x":1}']
)
def test_verify_with_a_damaged_manifest(tmp_path: Path, content: str) -> None:
    (tmp_path / "ragdata.json").write_text(content)

    done = run("verify", tmp_path)

    assert done.code == 2
    assert "cannot be read" in done.err
    assert "Traceback" not in done.err


def test_verify_does_not_follow_a_manifest_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "in").mkdir()
    entry = {"path": "../secret", "records": None, "bytes": 6, "sha256": "0" * 64}
    (tmp_path / "in" / "ragdata.json").write_text(json.dumps({"version": 1, "ragdata": "0", "files": [entry]}))

    done = run("verify", tmp_path / "in")

    assert done.code == 2
    assert "no path below the folder: '../secret'" in done.err


def many_chunks(folder: Path, megabytes: int) -> Path:
    text = "whale oil burned bright over the reef " * 100
    return write_arag(folder, [f"{i}:{text}{i}" for i in range(megabytes * 1_000_000 // len(text))])


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("wait", [0.3, 0.6, 1.0, 1.4])
def test_a_kill_leaves_the_old_dataset(tmp_path: Path, wait: float) -> None:
    source = many_chunks(tmp_path / "skarn", 20)
    (tmp_path / "dm").mkdir()
    (tmp_path / "dm" / "old.txt").write_text("old")
    words = [sys.executable, "-m", "ragdatakit", "convert", "--to", "datamind", "--overwrite", source, tmp_path / "dm"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)

    time.sleep(wait)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 10
    while len(names_in(tmp_path)) > 2 and time.monotonic() < until:
        time.sleep(0.05)

    assert names_in(tmp_path) == ["dm", "skarn"]
    content = files_below(tmp_path / "dm")
    assert content == {"old.txt": b"old"} or ragdatakit.verify(tmp_path / "dm") == [], (
        "all of the old, or all of the new"
    )


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_file_that_cannot_grow_leaves_the_old_dataset(tmp_path: Path) -> None:
    source = many_chunks(tmp_path / "skarn", 4)
    (tmp_path / "dm").mkdir()
    (tmp_path / "dm" / "old.txt").write_text("old")

    done = spawn(
        "convert", "--to", "datamind", "--overwrite", source, tmp_path / "dm",
        first=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000)),
    )  # fmt: skip

    assert done.code == 2
    assert "File too large" in done.err
    assert "Traceback" not in done.err
    assert files_below(tmp_path / "dm") == {"old.txt": b"old"}
    assert names_in(tmp_path) == ["dm", "skarn"]


def test_a_full_disk_leaves_the_old_dataset(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no permission to mount a small file system")
    try:
        source = many_chunks(tmp_path / "skarn", 4)
        (disk / "dm").mkdir()
        (disk / "dm" / "old.txt").write_text("old")

        done = run("convert", "--to", "datamind", "--overwrite", source, disk / "dm")

        assert done.code == 2
        assert "no space left" in done.err
        assert files_below(disk) == {"dm/old.txt": b"old"}
        assert names_in(disk) == ["dm"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_unreadable_source_leaves_nothing(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")
    (source / "questions.json").unlink()
    (source / "questions.json").symlink_to("gone.json")

    done = run("convert", "--from", "arag", "--to", "datamind", source, tmp_path / "dm")

    assert done.code == 1
    assert "Traceback" not in done.err
    assert names_in(tmp_path) == ["skarn"]


def test_json_output(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")

    done = run("convert", "--to", "datamind", "--output-format", "json", source, tmp_path / "dm")

    document = json.loads(done.out)
    assert (document["written"], document["lossless"]) == (True, True)
    assert document["conversions"][0]["counts"] == {"chunks": 2, "questions": 2}


def test_list_names_every_format() -> None:
    done = run("convert", "--list")
    pair = run("convert", "--list", "--from", "arag", "--to", "datamind")

    assert done.code == pair.code == 0
    assert all(name in done.out for name in ("arag", "datamind", "beir", "text", "table"))
    assert "arag → datamind: exact" in pair.out
    assert "--option metadata=" in pair.out


def test_no_progress_and_no_colour_without_a_terminal(tmp_path: Path) -> None:
    source = many_chunks(tmp_path / "skarn", 1)

    done = run("convert", "--to", "datamind", source, tmp_path / "dm")

    assert done.err == ""
    assert "\x1b" not in done.out


def test_a_target_that_holds_files_of_the_source_is_refused(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "reef")
    before = files_below(source)

    done = run("convert", "--to", "trec", "--overwrite", source, source / "qrels")

    assert done.code == 2
    assert "holds a file of the source (qrels/test.tsv)" in done.err
    assert files_below(source) == before


def test_texts_below_the_target_are_refused_too_but_not_what_was_written_there(tmp_path: Path) -> None:
    (tmp_path / "texts" / "sub").mkdir(parents=True)
    (tmp_path / "texts" / "a.md").write_text("# A\n\nThe lamp.\n")
    (tmp_path / "texts" / "sub" / "b.md").write_text("# B\n\nThe reef.\n")
    words = ("convert", "--from", "text", "--to", "datamind", "--overwrite", tmp_path / "texts")

    refused = run(*words, tmp_path / "texts" / "sub")
    once, again = (run(*words, tmp_path / "texts" / "dm") for _ in range(2))

    assert refused.code == 2
    assert "holds a file of the source (sub/b.md)" in refused.err
    assert once.code == again.code == 0, once.err + again.err
    assert "2 documents" in again.out


def test_another_target_beside_the_first(tmp_path: Path) -> None:
    """What stands below the source because it was converted from it is no second source."""
    write_arag(tmp_path / "skarn")
    assert run("convert", "--to", "datamind", cwd=tmp_path / "skarn").code == 0

    done = run("convert", "--to", "sage", cwd=tmp_path / "skarn")

    assert done.code == 0, done.err
    assert "arag → sage" in done.out


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "ragdata.json").unlink(), "but no ragdata.json"),
        (lambda folder: (folder / "ragdata.ids.ndjson").unlink(), "ragdata.ids.ndjson is missing"),
        (lambda folder: (folder / "ragdata.ids.ndjson").write_text("{}\n"), "was changed or is damaged"),
        (lambda folder: next((folder / "ragdata.sidecar").iterdir()).write_bytes(b"x"), "was changed or is damaged"),
    ],
)
def test_what_was_kept_aside_must_be_whole(tmp_path: Path, damage: Any, message: str) -> None:
    source = write_beir(tmp_path / "reef")
    assert run("convert", "--to", "light-splade", "--sidecar", source, tmp_path / "ls").code == 0
    damage(tmp_path / "ls")

    done = run("convert", "--to", "beir", tmp_path / "ls", tmp_path / "back")

    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "back").exists()


def test_a_record_that_is_too_long_can_be_left_out(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "reef")
    with (source / "corpus.jsonl").open("a") as file:
        file.write('{"_id":"d3","title":"","text":"' + "x" * 20_000_000 + '"}\n')
    words = ("convert", "--to", "trec", "--memory-limit", "64MiB", source, tmp_path / "out")

    stopped, going = spawn(*words), spawn(*words, "--keep-going")

    assert stopped.code == 1
    assert "RD111" in stopped.out
    assert going.code == 0, going.err
    assert "1 record: RD111" in going.out


def test_errors_say_the_option_of_this_command(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "picture.png").write_bytes(b"\x89PNG")

    done = run("convert", "--to", "beir", tmp_path / "other")

    assert done.code == 2
    assert "--from" in done.err
    assert "--format" not in done.err


@pytest.mark.parametrize(("warnings", "shows"), [(1, "it"), (2, "them")])
def test_where_warnings_are_shown_is_said(warnings: int, shows: str) -> None:
    lines = [*conversion_lines(ConversionResult("out", warnings=warnings))]

    assert f"`ragdata validate out` shows {shows}." in lines


def test_an_output_that_is_not_valid_is_a_fault_of_ragdata() -> None:
    report = ragdatakit.validate(FIXTURES / "demo-broken")

    *_, last = conversion_lines(ConversionResult("out", invalid=report))

    assert last == "This is a fault of ragdata: please report it, with the findings above"


def test_more_memory_is_asked_for_where_a_written_record_is_too_long(tmp_path: Path) -> None:
    source = tmp_path / "quotes"
    source.mkdir()
    text = '"' * 1_900_000  # two bytes each in JSON, three in CSV
    (source / "chunks.jsonl").write_text(json.dumps({"id": "a", "text": text, "source": "s"}) + "\n")
    (source / "triplets.jsonl").write_text('{"subject": "x", "relation": "r", "object": "y"}\n')
    words = ("convert", "--from", "datamind", "--to", "gfm-rag", source, tmp_path / "out")

    stopped, done = run(*words, "--memory-limit", "16MiB"), run(*words, "--memory-limit", "64MiB")

    assert stopped.code == 1
    assert "RD111" in stopped.out
    assert "raise --memory-limit" in stopped.out.splitlines()[-1]
    assert done.code == 0, done.out

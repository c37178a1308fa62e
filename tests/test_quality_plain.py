"""`ragdata validate --quality` of plain texts and tables, of which nothing is declared."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("ftfy", reason="needs ragdatakit[quality]")

from ragdatakit import validate
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import GOOD, run

TEXTS = {"a1": "the mill by the river", "a2": "the old bridge", "a3": "the mill  by the river"}


def csv(folder: Path) -> tuple[Path, int]:
    file = folder / "corpus.csv"
    file.write_text("id,text\n" + "".join(f'{name},"{text}"\n' for name, text in TEXTS.items()))
    return file, 4


def tsv(folder: Path) -> tuple[Path, int]:
    file = folder / "corpus.tsv"
    file.write_text("id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in TEXTS.items()))
    return file, 4


def json_lines(folder: Path) -> tuple[Path, int]:
    file = folder / "rows.jsonl"
    file.write_text("".join(f"{json.dumps({'id': name, 'text': text})}\n" for name, text in TEXTS.items()))
    return file, 3


def json_by_id(folder: Path) -> tuple[Path, int]:
    file = folder / "corpus.json.gz"
    file.write_bytes(gzip.compress(json.dumps(TEXTS, indent=1).encode()))
    return file, 4


def texts(folder: Path) -> tuple[Path, int]:
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    return folder / "a3.txt", 1


@pytest.mark.parametrize("make", [csv, tsv, json_lines, json_by_id, texts], ids=lambda make: make.__name__)
def test_findings_have_their_lines(make: Callable[[Path], tuple[Path, int]], tmp_path: Path) -> None:
    file, line = make(tmp_path)

    (found,) = validate(tmp_path, quality=True).findings

    assert (found.code, Path(found.path), found.line) == ("QU202", file, line)


def test_triples(tmp_path: Path) -> None:
    lines = [f"n{i}\tpart of\tall\n" for i in range(150)] + [f"n{i}\tnext to\tn{i + 1}\n" for i in range(150)]
    (tmp_path / "train.txt").write_text("".join(lines))

    (found,) = validate(tmp_path, quality=True).findings

    assert (found.code, found.line, found.column) == ("QU501", 1, 12)


def test_the_command(tmp_path: Path) -> None:
    file, _ = csv(tmp_path)

    for words in (("--quality",), ("--select", "QU"), ("--quality", "--from", "table")):
        outcome = run("validate", tmp_path, *words)
        assert f"{file}\n  4:4 QU202 warning document a3 has the same text as a1" in outcome.out
        assert outcome.out.splitlines()[-1].startswith("Quality checked with 1 warning: table, 1 file in ")
        assert (outcome.code, outcome.err) == (0, "")
    output = run("validate", tmp_path, "--quality", "--option", "map=id=id,title=text").out
    assert "QU202" not in output


def test_without_quality_nothing_is_checked(tmp_path: Path) -> None:
    csv(tmp_path)

    plain, named = run("validate", tmp_path), run("validate", tmp_path, "--format", "table")

    assert (plain.code, named.code) == (2, 2)
    assert "; plain texts and tables are checked with --quality, tables also where a [[table]]" in plain.err
    assert "nothing is declared of plain data (table)" in named.err and "--quality" in named.err


def test_quality_is_not_advised_where_there_is_nothing_for_it(tmp_path: Path) -> None:
    (tmp_path / "reef.png").write_bytes(b"\x89PNG")

    for words in ((), ("--quality",)):
        outcome = run("validate", tmp_path, *words)
        assert outcome.code == 2 and "no dataset recognised" in outcome.err and "--quality" not in outcome.err


def test_a_declared_format_goes_first() -> None:
    report = validate(GOOD, quality=True)

    assert {d.format for d in report.datasets} == {"light-splade"} and not report.quality_only


def test_texts_and_tables_side_by_side(tmp_path: Path) -> None:
    csv(tmp_path)
    texts(tmp_path)

    assert "choose one with --from text or --from table" in run("validate", tmp_path, "--quality").err
    assert [f.code for f in validate(tmp_path, format="text", quality=True).findings] == ["QU202"]


def test_what_is_not_read_is_reported(tmp_path: Path) -> None:
    file, _ = json_lines(tmp_path)
    file.write_text(f'{file.read_text()}{{"id": "a4", "text":\n[1, 2]\n')
    (tmp_path / "README.md").write_text("About them.")

    messages = [f.message for f in validate(tmp_path, select="QU101", quality=True).findings]

    assert len(messages) == 2
    assert "no JSON object" in messages[0] and "no JSON: " in messages[1]


def test_what_cannot_be_read_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x,y\n1,2\n")

    with pytest.raises(RagdataError, match="--option map=text=COLUMN"):
        validate(tmp_path, quality=True)
    assert run("validate", tmp_path, "--quality").code == 2


def test_one_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    for name in ("rivers", "towns"):
        (tmp_path / name).mkdir()
    (tmp_path / "rivers" / "rows.csv").write_text("x,y\n1,2\n")
    csv(tmp_path / "towns")

    assert [f.code for f in validate(tmp_path, quality=True).findings] == ["QU101", "QU202"]


def shown(path: Path, *rules: str) -> list[tuple[str, int | None, list[tuple[str, int | None]]]]:
    """File and line of each finding, and of what it is compared with."""
    return [
        (Path(f.path).name, f.line, [(Path(r.path).name, r.line) for r in f.related])
        for f in validate(path, quality=True, select=rules or ("QU202",)).findings
    ]


def test_records_of_one_text_whose_ids_are_made_up(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text(
        "text\nthe same words here, which are many\nother words\n" + "the same words here, which are many\n" * 2
    )

    assert shown(tmp_path) == [("rows.csv", 4, [("rows.csv", 2)]), ("rows.csv", 5, [("rows.csv", 2)])]


def test_one_id_tells_some_of_them_apart(tmp_path: Path) -> None:
    text = "the same words here, which are many"
    rows = [{"id": "a1", "text": text}, {"text": text}, {"id": "a3", "text": text}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert [line for _, line, _ in shown(tmp_path)] == [2, 3]


def test_files_of_one_text(tmp_path: Path) -> None:
    for name in ("a/x.md", "b/y.md", "c/x.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("The same words stand in all of these files.")

    found = validate(tmp_path, quality=True).findings

    assert [Path(f.path).relative_to(tmp_path).as_posix() for f in found] == ["b/y.md", "c/x.md"]
    assert {Path(f.related[0].path).relative_to(tmp_path).as_posix() for f in found} == {"a/x.md"}


def test_short_texts_that_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text\nword\nmany words\nword\n")

    assert [line for _, line, _ in shown(tmp_path, "QU201")] == [2, 4]


def test_questions_of_one_text_whose_ids_are_made_up(tmp_path: Path) -> None:
    rows = [
        ("who mends the old bridge here", ["a"]),
        ("another question", ["b"]),
        ("who mends the old bridge here", ["c"]),
    ]
    folder = tmp_path / "data"
    folder.mkdir()
    documents = [
        {
            "doc_id": f"d{n}",
            "original_uuid": f"u{n}",
            "content": "x",
            "chunks": [{"chunk_id": f"c{n}", "original_index": n, "content": f"{name} stands here in the text"}],
        }
        for n, name in enumerate("abc")
    ]
    (folder / "codebase_chunks.json").write_text(json.dumps(documents))
    lines = []
    for number, (text, _) in enumerate(rows):
        gold = {"golden_doc_uuids": [f"u{number}"], "golden_chunk_uuids": [[f"u{number}", number]]}
        lines.append(json.dumps({"query": text, **gold}) + "\n")
    (folder / "evaluation_set.jsonl").write_text("".join(lines))

    assert shown(folder, "QU305") == [("evaluation_set.jsonl", 3, [("evaluation_set.jsonl", 1)])]

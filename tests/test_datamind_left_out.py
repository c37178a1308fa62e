"""Files of DataMind that do not go along: refused by a check, or such that its loaders would stop at them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.canonical import Asset, Document
from tests.conversion_tools import tables_of, write_tables
from tests.datamind_profiles import account, errors

TABLE = b"CREATE TABLE harbour (id INTEGER);\n"
BOMB = "\n".join(f"k{n}: &k{n} [{','.join(f'*k{n - 1}' for _ in range(9))}]" for n in range(1, 12))


def names(folder: Path) -> list[str]:
    found = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    return sorted(n for n in found if "/chunks/" not in n and "/" in n)


def written(folder: Path, *assets: Asset) -> list[str]:
    """The files that are written beside a document."""
    tables = tables_of(documents=[Document("d", "x")], assets=assets)
    write_tables(tables, "datamind", folder)
    assert errors(folder) == []
    return names(folder)


def repository(folder: Path, **files: bytes) -> Path:
    for name, data in {"profiles/harbour/chunks/a.jsonl": b'{"text": "Lit."}\n', **files}.items():
        (folder / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "data" / name).write_bytes(data)
    return folder


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"1.sql": TABLE, "2.sql": b"INSERT INTO;"}, ["1.sql"]),
        ({"1.sql": TABLE + b"INSERT INTO;", "2.sql": b"INSERT INTO harbour VALUES (1);"}, []),
        ({"1.sql": b"SELECT '\0';", "2.sql": TABLE, "3.sql": b"SELECT '\xff';"}, ["2.sql"]),
    ],
)
def test_sql_with_errors_and_what_needs_it_is_left_out(
    files: dict[str, bytes], kept: list[str], tmp_path: Path
) -> None:
    source = repository(tmp_path / "in", **{f"profiles/harbour/tables/{n}": data for n, data in files.items()})

    assert ragdatakit.convert(source, tmp_path / "out", to="datamind").refused
    result = ragdatakit.convert(source, tmp_path / "out", to="datamind", keep_going=True)

    assert result.written
    assert names(tmp_path / "out") == [f"data/profiles/harbour/tables/{n}" for n in kept]
    losses = [loss for loss in result.conversions[0].losses if loss.kind == "dropped" and loss.table == "assets"]
    assert sum(loss.count for loss in losses) == len(files) - len(kept)


def test_other_files_with_errors_are_left_out(tmp_path: Path) -> None:
    skill = b"---\nname: knots\ndescription: >\n  Knots.\n---\nTie.\n"
    source = repository(
        tmp_path / "in",
        **{"profiles/harbour/uploads/b.csv": b"a,a\n1,2\n", "../.claude/skills/knots/SKILL.md": skill},
        **{"../.claude/skills/knots/more.md": b"More.", "skills/tides.md": b"\xff", "skills/lamps.md": b"Lit."},
    )

    result = ragdatakit.convert(source, tmp_path / "out", to="datamind", keep_going=True)

    assert result.written
    assert names(tmp_path / "out") == ["data/skills/lamps.md"]
    reasons = {loss.examples[0]: re.split("[ ,]", loss.reason)[1] for loss in result.conversions[0].losses}
    assert reasons == {
        "uploads/b.csv": "duplicate-csv-header",
        ".claude/skills/knots/SKILL.md": "multi-line-front-matter",
        "skills/tides.md": "UTF-8",
    }


@pytest.mark.parametrize(
    "asset",
    [
        Asset("tables/a.sql", b"SELECT '\0';", "sql"),
        Asset("tables/a.sql", b"SELECT '\xff';", "sql"),
        Asset("notes/a.md", b"\xff", "file"),
        Asset("uploads/a.csv", b"a\xc3", "file"),
        Asset("skills/a.md", b"\xff", "skill"),
        Asset(".claude/skills/../a.md", b"x", "skill"),
        Asset(".claude/skills/../../SKILL.md", b"x", "skill"),
        Asset(".claude/skills/a/more.md", b"x", "skill"),
    ],
)
def test_what_the_loaders_would_stop_at_is_not_written(asset: Asset, tmp_path: Path) -> None:
    tables = tables_of(documents=[Document("d", "x")], assets=[asset])

    write_tables(tables, "datamind", tmp_path)

    assert errors(tmp_path) == []
    assert names(tmp_path) == []
    assert account(tables) == {("dropped", "assets", None): 1}


def test_skills_of_like_names_stay_apart_with_their_files(tmp_path: Path) -> None:
    skills = [
        Asset(f".claude/skills/{folder}/{name}", f"{folder} {name}".encode(), "skill")
        for folder in ("a b", "a-b", "A-B")
        for name in ("SKILL.md", "more.md", "skill.md")
    ]

    found = written(tmp_path, *skills)

    assert [n for n in found if n.startswith(".claude")] == [
        f".claude/skills/{folder}/{name}"
        for folder in ("A-B-3", "a-b-2", "a-b")
        for name in ("SKILL.md", "more.md", "skill-2.md")
    ]
    assert (tmp_path / ".claude/skills/a-b-2/more.md").read_text() == "a-b more.md"


def test_no_two_skills_get_one_name(tmp_path: Path) -> None:
    called = b"---\nname: c\ndescription: Same.\n---\nx"

    written(
        tmp_path,
        Asset(".claude/skills/a/SKILL.md", b"no header", "skill"),
        Asset(".claude/skills/b/SKILL.md", called.replace(b"c\n", b"a\n", 1), "skill"),
        Asset(".claude/skills/c/SKILL.md", called, "skill"),
        Asset(".claude/skills/d/SKILL.md", called, "skill"),
    )

    headers = {p.parent.name: p.read_text().split("\n")[1] for p in tmp_path.glob(".claude/skills/*/SKILL.md")}
    assert headers == {"a": "name: a-2", "b": "name: a", "c": "name: c", "d": "name: d"}


@pytest.mark.parametrize(
    "header",
    [
        f"k0: &k0 [x]\n{BOMB}\ndescription: *k11\nkeywords:\n- x",
        "description: &x [*x]\nkeywords:\n- x",
        f"description: >\n x\na: {'[' * 5_000}",
        "description: >\n x\nday: 2024-13-45",
        "description: >\n x\nnumber: !!int x",
        "description:\n- {a: b}\nkeywords:\n- [a]\n- {b: c}",
    ],
)
def test_front_matter_that_none_should_read_is_written_anew(header: str, tmp_path: Path) -> None:
    written(tmp_path, Asset(".claude/skills/a/SKILL.md", f"---\n{header}\n---\nTie.\n".encode(), "skill"))

    text = (tmp_path / ".claude/skills/a/SKILL.md").read_text()
    assert len(text) < 100
    assert text.endswith("\nTie.\n")


def test_a_header_that_never_ends_takes_no_time(tmp_path: Path) -> None:
    text = b"---" + b"\n" * 100_000 + b"-"

    written(tmp_path, Asset("skills/a.md", text, "skill"))

    (tmp_path / ".claude/skills/a/SKILL.md").write_bytes(text)
    assert [e.split(" ")[1] for e in errors(tmp_path)] == ["unread-front-matter"]


def test_texts_and_numbers_of_front_matter_are_kept(tmp_path: Path) -> None:
    header = "description: >\n  Tie\n  knots.\nkeywords:\n- 'a, b'\n- 1900\n- yes\n- [c]"

    written(tmp_path, Asset(".claude/skills/a/SKILL.md", f"---\n{header}\n---\n".encode(), "skill"))

    text = (tmp_path / ".claude/skills/a/SKILL.md").read_text()
    assert text.split("\n")[1:4] == ["name: a", 'description: "Tie knots."', "keywords: [a b, 1900, yes]"]

"""Raw documents, skills, images and SQL of DataMind: what goes along with a corpus, in both directions."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.schemas.canonical import Asset, Chunk, Document
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import rows, tables_of, write_tables
from tests.datamind_profiles import account, errors, read_repository, records, write_repository

FIXTURE = Path(__file__).parents[1] / "fixtures" / "datamind" / "valid" / "repository"
PROFILE = Path("data/profiles/notes")


def _names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_whole_repository_is_read_and_written_again(tmp_path: Path) -> None:
    before = read_repository(FIXTURE, "notes")
    found = rows(before)
    write_tables(before, "datamind", tmp_path)

    after = rows(read_repository(tmp_path, "notes"))

    assert sorted((a.path, a.kind) for a in found["assets"]) == [
        (".claude/skills/tide-tables/SKILL.md", "skill"),
        (".claude/skills/tide-tables/reference.md", "skill"),
        ("images/moon.png", "image"),
        ("skills/tides.md", "skill"),
        ("tables/01_schema.sql", "sql"),
        ("tables/02_rows.sql", "sql"),
    ]
    assert {t: found[t] for t in found if t not in ("assets", "questions")} == {
        t: after[t] for t in after if t not in ("assets", "questions")
    }
    assert found["questions"] == after["questions"]
    contents = {a.path: a.content.read_bytes() for a in found["assets"]}
    again = {a.path: a.content.read_bytes() for a in after["assets"]}
    assert contents == again
    assert not account(before)
    assert errors(tmp_path) == []


def test_raw_documents_have_their_folder_for_category(tmp_path: Path) -> None:
    profile = tmp_path / "data/profiles/harbour"
    for name, text in {
        "triplets/t.jsonl": '{"subject": "a", "relation": "r", "object": "b"}\n',
        "manuals/old/lamp.md": "# Lamp\r\n",
        "tide.txt": "Tide.",
        "uploads/boats.csv": "a,b\n1,2\n",
        "manuals/plan.pdf": "%PDF-",
        ".hidden/x.md": "no",
        "images/readme.txt": "an image, as far as the folder goes",
    }.items():
        (profile / name).parent.mkdir(parents=True, exist_ok=True)
        (profile / name).write_bytes(text.encode())
    (profile / "outside.md").symlink_to("/etc/hostname")

    found = rows(read_repository(tmp_path))

    assert sorted(found["documents"]) == [
        Document("manuals/old/lamp.md", "# Lamp\r\n", None, '{"category":"manuals/old"}'),
        Document("tide.txt", "Tide."),
    ]
    assert sorted((a.path, a.kind) for a in found["assets"]) == [
        ("images/readme.txt", "image"),
        ("manuals/plan.pdf", "file"),
        ("uploads/boats.csv", "file"),
    ]


DOCUMENTS = [
    Document("lamp", "It was lit.\r\n", None, '{"category":"manuals"}'),
    Document("a/b.txt", "Oil."),
    Document("A/B.TXT", "Whale."),
    Document("chunks/x.md", "Taken.", "A title", '{"category":"chunks.","page":1}'),
    Document("../../x", "Out?"),
    Document("empty", " "),
]


def test_documents_become_files_by_category(tmp_path: Path) -> None:
    tables = tables_of(documents=DOCUMENTS)

    write_tables(tables, "datamind", tmp_path, documents="files")

    assert _names(tmp_path / PROFILE) == [
        "A/B-2.TXT",
        "a/b.txt",
        "documents/chunks/chunks-x.md",
        "manuals/lamp.md",
        "x.md",
    ]
    assert (tmp_path / PROFILE / "manuals/lamp.md").read_bytes() == b"It was lit.\r\n"
    assert (tmp_path / PROFILE / "documents/chunks/chunks-x.md").read_text() == "# A title\n\nTaken."
    assert {r["id"]: r["was"] for r in records(tmp_path / RENAMED_IDS)} == {
        "A/B-2.TXT": "A/B.TXT",
        "documents/chunks/chunks-x.md": "chunks/x.md",
        "manuals/lamp.md": "lamp",
        "x.md": "../../x",
    }
    assert account(tables) == {
        ("renumbered", "passages", None): 4,
        ("coerced", "documents", "title"): 1,
        ("lost", "documents", "metadata"): 1,
        ("dropped", "documents", None): 1,
    }


TEXTS = {
    "guides/harbour.md": b"---\ntitle: Harbour\ntags: [a, b]  # two\n---\n\n# The harbour\n\nText.\n",
    "guides/deep/lamp.md": b"# Lamp\r\n\r\nLit.\r\n",
    "herring-gulls.txt": b"Gulls.",
    "chunks/x.md": b"No loader of chunks reads this.",
}


def test_plain_texts_are_copied_as_they_are(tmp_path: Path) -> None:
    for name, content in TEXTS.items():
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / name).write_bytes(content)
    (tmp_path / "texts/bom.md").write_bytes("\ufeff# Marked".encode())

    result = ragdatakit.convert(tmp_path / "texts", tmp_path / "out", to="datamind", source_format="text", name="notes")

    written = tmp_path / "out" / PROFILE
    expected = {**TEXTS, "documents/chunks/x.md": TEXTS["chunks/x.md"], "bom.md": b"# Marked"}
    del expected["chunks/x.md"]
    assert {name: (written / name).read_bytes() for name in _names(written)} == expected
    losses = {(x.kind, x.table, x.column, x.reason) for x in result.conversions[0].losses if x.kind != "derived"}
    assert losses == {
        ("coerced", "documents", "text", "the byte-order mark is left out"),
        ("renumbered", "passages", None, f"the mapping is in {RENAMED_IDS}"),
    }


def test_texts_in_another_encoding_are_written_anew(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/fyr.md").write_bytes("# Fyr på øen\n\nTændt.".encode("latin-1"))

    ragdatakit.convert(
        tmp_path / "texts",
        tmp_path / "out",
        to="datamind",
        source_format="text",
        name="notes",
        options={"encoding": "latin-1"},
    )

    assert (tmp_path / "out" / PROFILE / "fyr.md").read_bytes() == "# Fyr på øen\n\nTændt.".encode()


def test_a_heading_that_is_the_title_is_not_written_twice(tmp_path: Path) -> None:
    documents = [Document("a", "Lamp\n====\n\nLit.", "Lamp"), Document("lit-lamp", "Out.", "lit lamp")]
    tables = tables_of(documents=documents)

    write_tables(tables, "datamind", tmp_path, documents="files")

    assert (tmp_path / PROFILE / "a.md").read_text() == documents[0].text
    assert (tmp_path / PROFILE / "lit-lamp.md").read_text() == "# lit lamp\n\nOut."
    assert account(tables)[("coerced", "documents", "title")] == 1


def test_the_database_of_a_profile_goes_along(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / PROFILE / "tables").mkdir(parents=True)
    (source / PROFILE / "tables/01.sql").write_text("CREATE TABLE boat (name TEXT);")
    (source / "storage/notes").mkdir(parents=True)
    (source / "storage/notes/demo.db").write_bytes(b"SQLite format 3\0 and so on")
    (source / "storage/notes/graph.json").write_text("{}")

    write_tables(read_repository(source, "notes"), "datamind", tmp_path / "a")
    (tmp_path / "t.csv").write_text("a\n1\n")
    tables = read_repository(source, "notes")
    write_repository(tables, tmp_path / "b", {"tables": str(tmp_path / "t.csv")})

    assert _names(tmp_path / "a") == [f"{PROFILE}/tables/01.sql", "storage/notes/demo.db"]
    assert (tmp_path / "a/storage/notes/demo.db").read_bytes() == b"SQLite format 3\0 and so on"
    assert (tmp_path / "b/storage/notes/demo.db").read_bytes() != b"SQLite format 3\0 and so on"
    assert account(tables) == {("dropped", "assets", None): 1}
    (source / "storage/notes/demo.db").unlink()
    (source / "storage/notes/demo.db").symlink_to("/etc/hostname")
    assert [a.path for a in read_repository(source, "notes").peek("assets")] == ["tables/01.sql"]


def test_documents_called_as_the_folders_of_others_are_written(tmp_path: Path) -> None:
    documents = [Document(name, "Lit.") for name in ("a.txt", "a.txt/b.txt", "A.TXT/c.txt", "d/e/f.md", "d/e", "d")]
    tables = tables_of(documents=documents)

    write_tables(tables, "datamind", tmp_path, documents="files")

    names = _names(tmp_path / PROFILE)
    assert len(names) == len(documents)
    assert errors(tmp_path) == []
    assert {d.doc_id for d in rows(read_repository(tmp_path))["documents"]} == {d.doc_id for d in documents}


def test_documents_as_files_come_back_with_their_ids(tmp_path: Path) -> None:
    documents = [DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[2]._replace(metadata='{"category":"A"}')]
    write_tables(tables_of(documents=documents), "datamind", tmp_path, documents="files")

    found = {d.doc_id: d for d in rows(read_repository(tmp_path))["documents"]}

    assert found["lamp"] == documents[0]
    assert {name: d.text for name, d in found.items()} == {d.doc_id: d.text for d in documents}


@pytest.mark.parametrize(
    ("format_name", "mode", "expected"),
    [
        ("text", {}, (False, True)),
        ("beir", {}, (True, False)),
        ("beir", {"documents": "both"}, (True, True)),
        ("text", {"documents": "chunks"}, (True, False)),
    ],
)
def test_plain_texts_stay_files_and_others_become_chunks(
    format_name: str, mode: dict[str, str], expected: tuple[bool, bool], tmp_path: Path
) -> None:
    write_tables(tables_of(format_name=format_name, documents=[Document("d.md", "Lit.")]), "datamind", tmp_path, **mode)

    assert ((tmp_path / PROFILE / "chunks").is_dir(), (tmp_path / PROFILE / "d.md").is_file()) == expected


def test_chunks_of_documents_get_their_titles(tmp_path: Path) -> None:
    tables = tables_of(documents=[Document("d", "Lit. Out.", "Skarn")], chunks=[Chunk("d-0", "Lit.", "d", 0)])

    write_tables(tables, "datamind", tmp_path)

    (record,) = records(tmp_path / PROFILE / "chunks/notes.jsonl")
    assert (record["source"], record["metadata"]) == (
        "d",
        {"source": "d", "source_id": "d-0", "ordinal": 0, "title": "Skarn"},
    )


SKILLS = {
    "plain.md": "# Reading tides\n\nRead the first column.\n",
    "crlf.md": "---\r\nname: c\r\ndescription: d\r\n---\r\nText.",
    "open.md": "---\nname: never closed\n",
    "block.md": "---\nname: block\ndescription: >\n  Over\n  two lines\nkeywords:\n  - a, b\n  - c\n---\nText.\n",
    "good.md": "---\nname: tides\ndescription: d\nkeywords: [a, b]\n---\n\nText.\n",
    "twin.md": "---\nname: tides\ndescription: d\n---\nOther.\n",
    "empty.md": "",
    "bom.md": "\ufeff---\nname: b\ndescription: d\n---\n",
}


def test_skills_are_written_for_both_loaders(tmp_path: Path) -> None:
    skills = [Asset(f"skills/{n}", t.encode(), "skill") for n, t in SKILLS.items()]
    tables = tables_of(documents=[Document("d", "Lit.")], assets=skills)

    write_tables(tables, "datamind", tmp_path / "out")

    read = {n: (tmp_path / "out" / f".claude/skills/{n[:-3]}/SKILL.md").read_bytes().decode() for n in SKILLS}
    assert read["plain.md"] == f'---\nname: plain\ndescription: "Reading tides"\n---\n\n{SKILLS["plain.md"]}'
    assert read["crlf.md"] == SKILLS["crlf.md"]
    assert read["good.md"] == SKILLS["good.md"]
    assert read["block.md"] == '---\nname: block\ndescription: "Over two lines"\nkeywords: [a b, c]\n---\n\nText.\n'
    assert read["twin.md"].startswith("---\nname: twin\n")
    assert (tmp_path / "out/data/skills/plain.md").read_text() == SKILLS["plain.md"]
    assert errors(tmp_path / "out") == []


def test_skills_of_a_folder_are_added(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for name in ("a.md", "b/SKILL.md", "b/more/table.csv", "notes.txt", "c/other.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"Text of {name}.")

    write_tables(tables_of(documents=[Document("d", "Lit.")]), "datamind", tmp_path / "out", skills=str(folder))

    assert [n for n in _names(tmp_path / "out") if "skills" in n] == [
        ".claude/skills/a/SKILL.md",
        ".claude/skills/b/SKILL.md",
        ".claude/skills/b/more/table.csv",
        "data/skills/a.md",
        "data/skills/b.md",
    ]
    assert errors(tmp_path / "out") == []
    with pytest.raises(RagdataError, match="no such folder"):
        write_tables(tables_of(), "datamind", tmp_path / "out2", skills=str(tmp_path / "none"))


def test_assets_of_others_do_not_get_into_folders_of_the_loaders(tmp_path: Path) -> None:
    assets = [
        Asset("chunks/x.jsonl", b"no json"),
        Asset("../up.bin", b"u"),
        Asset("a.png", b"\x89PNG\r\n\x1a\n", "image"),
        Asset("A.png", b"\x89PNG\r\n\x1a\n", "image"),
        Asset("db/one.sql", b"CREATE TABLE t (a);", "sql"),
        Asset("skills/x.txt", b"", "skill"),
    ]
    tables = tables_of(assets=assets)

    write_tables(tables, "datamind", tmp_path)

    assert _names(tmp_path / PROFILE) == [
        "files/chunks-files/x.jsonl",
        "files/up.bin",
        "images/A-2.png",
        "images/a.png",
        "tables/one.sql",
    ]
    assert account(tables) == {("coerced", "assets", "path"): 5, ("dropped", "assets", None): 1}
    assert errors(tmp_path) == []

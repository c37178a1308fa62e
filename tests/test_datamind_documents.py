"""DataMind profiles that have raw documents only, and repositories with skills only: found, judged, read, written."""

from __future__ import annotations

from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.converters.chunking import ChunkOptions, chunk_tables
from ragdatakit.files.detection.find import detect
from ragdatakit.schemas.canonical import Asset, Document
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import rows, tables_of, write_tables
from tests.datamind_profiles import account, errors, read_repository, records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "datamind" / "valid"


def put(folder: Path, *names: str, text: bytes = b"Lit.\n") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    return folder


def found(path: Path, format_name: str | None = None) -> list[tuple[str, list[str]]]:
    """(layout, names and kinds of the files) of each dataset."""
    return [(d.layout, [f"{f.kind} {f.name}" for f in d.files]) for d in detect(path, format_name).datasets]


@pytest.mark.parametrize("below", ["", "data", "data/profiles", "data/profiles/harbour"])
def test_a_profile_of_raw_documents_is_found_from_every_folder_above_it(below: str, tmp_path: Path) -> None:
    put(tmp_path / "data/profiles/harbour", "tide.md", "a/b/c/LAMP.TXT", "a/x.Markdown", ".hidden/no.md", "a/.no.md")

    assert found(tmp_path / below) == [
        ("profile", ["documents a/b/c/LAMP.TXT", "documents a/x.Markdown", "documents tide.md"])
    ]


def test_where_a_profile_stands_its_names_tell_and_not_where_links_lead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = put(tmp_path / "data/profiles/harbour", "more/tide.md")
    elsewhere = put(tmp_path / "texts", "lamp.md")
    (tmp_path / "data/profiles/linked").symlink_to(elsewhere)
    (tmp_path / "link").symlink_to(profile)
    monkeypatch.chdir(profile / "more")

    assert [f.name for f in detect(Path("..")).datasets[0].files] == ["more/tide.md"]
    assert [f.name for f in detect(tmp_path / "data/profiles/linked").datasets[0].files] == ["lamp.md"]
    with pytest.raises(RagdataError, match="no dataset recognised"):
        detect(tmp_path / "link")


def test_folders_of_the_loaders_hold_no_raw_documents(tmp_path: Path) -> None:
    put(tmp_path / "data/profiles/harbour", "chunks/a.md", "images/b/c.txt", "tables/d.md", "more/chunks/e.md")

    assert found(tmp_path) == [("profile", ["documents more/chunks/e.md"])]


def test_raw_documents_beside_chunks_belong_to_the_same_profile(tmp_path: Path) -> None:
    profile = put(tmp_path / "data/profiles/harbour", "chunks/a.jsonl", text=b'{"text": "Lit."}\n')
    put(profile, "tide.md", text=b"\xff")

    assert found(tmp_path) == [("profile", ["chunks chunks/a.jsonl", "documents tide.md"])]
    assert [e.split(" ")[1] for e in errors(tmp_path)] == ["invalid-utf8"]


def test_elsewhere_a_profile_takes_no_texts_that_lie_about(tmp_path: Path) -> None:
    put(tmp_path, "chunks/a.jsonl", text=b'{"text": "Lit."}\n')
    put(tmp_path, "README.md", "other/b.txt")

    assert found(tmp_path) == [("profile", ["chunks chunks/a.jsonl"])]


@pytest.mark.parametrize(
    "names",
    [
        ("README.md",),
        ("data/README.md", "data/profiles/README.md"),
        ("profiles/anna/README.md", "skills/knots.md"),
        ("data/profiles/anna/photo.png", "data/profiles/anna/images/b.png"),
        ("data/profiles/anna/uploads/boats.csv",),
        ("data/skills/knots.md",),
        (".claude/skills/knots/SKILL.md", "docs/a.md"),
    ],
)
def test_texts_of_others_are_no_dataset(names: tuple[str, ...], tmp_path: Path) -> None:
    put(tmp_path, *names)

    with pytest.raises(RagdataError, match="no dataset recognised"):
        detect(tmp_path)


def test_a_lone_text_is_no_raw_document(tmp_path: Path) -> None:
    put(tmp_path / "data/profiles/harbour", "tide.md")

    with pytest.raises(RagdataError, match="not recognised"):
        detect(tmp_path / "data/profiles/harbour/tide.md")


def test_skills_beside_profiles_of_raw_documents_are_found(tmp_path: Path) -> None:
    put(tmp_path, "data/profiles/a/tide.md", "data/profiles/b/deep/tide.txt", "data/skills/knots.md")
    put(tmp_path, ".claude/skills/knots/SKILL.md", text=b"---\nname: knots\ndescription: Knots.\n---\nTie.\n")

    assert sorted(found(tmp_path)) == [
        ("data", ["skills skills/knots.md"]),
        ("profile", ["documents deep/tide.txt"]),
        ("profile", ["documents tide.md"]),
        ("repository", ["claude-skills .claude/skills/knots/SKILL.md"]),
    ]


def test_a_repository_with_skills_alone_is_one_dataset() -> None:
    assert found(FIXTURES / "skills") == [
        ("repository", ["skills data/skills/tides.md", "claude-skills .claude/skills/tides/SKILL.md"])
    ]


def test_raw_documents_are_read_with_their_category() -> None:
    tables = rows(read_repository(FIXTURES / "raw-documents", "harbour"))

    assert sorted(tables["documents"]) == [
        Document("manuals/old/LAMP.TXT", "The lamp burned whale oil.\n", None, '{"category":"manuals/old"}'),
        Document("tides.md", "# Tides\n\nSpring tides follow the new and the full moon.\n"),
        Document("uploads/boats.markdown", "Boats are listed by berth.\n", None, '{"category":"uploads"}'),
    ]
    assert [a.path for a in tables["assets"]] == ["skills/tides.md"]


def test_documents_that_are_not_utf8_are_left_out_with_an_account(tmp_path: Path) -> None:
    profile = put(tmp_path / "data/profiles/harbour", "a.md", text=b"\xef\xbb\xbfLit.")
    put(profile, "b.md", text=b"H\xf6rnum")

    tables = read_repository(tmp_path)

    for _ in range(2):
        assert list(tables.peek("documents")) == [Document("a.md", "Lit.")]
    assert account(tables) == {("dropped", "documents", None): 1, ("coerced", "documents", "text"): 1}


def test_plain_texts_are_converted_and_come_back(tmp_path: Path) -> None:
    texts = put(tmp_path / "texts", "manuals/lamp.md", "TIDE.TXT", "chunks/x.md")

    result = ragdatakit.convert(texts, tmp_path / "out", to="datamind")
    back = ragdatakit.convert(tmp_path / "out", tmp_path / "back", to="beir")

    assert result.ok
    assert result.written
    assert back.ok
    ids = {record["_id"] for record in records(tmp_path / "back/corpus.jsonl")}
    assert ids == {"manuals/lamp.md", "TIDE.TXT", "chunks/x.md"}


def test_skills_alone_are_converted(tmp_path: Path) -> None:
    tables = tables_of(assets=[Asset("skills/knots.md", b"# Knots\n", "skill")])

    write_tables(tables, "datamind", tmp_path)

    assert errors(tmp_path) == []
    assert len(detect(tmp_path).datasets) == 1


def test_skills_of_one_loader_that_go_with_no_profile_are_written_for_both(tmp_path: Path) -> None:
    put(tmp_path / "two", "data/profiles/a/tide.md", "data/profiles/b/tide.md", "data/skills/knots.md")

    result = ragdatakit.convert(tmp_path / "two", tmp_path / "out", to="datamind")

    assert result.ok
    (skills,) = (d for d in detect(tmp_path / "out").datasets if d.layout == "repository")
    assert [f.name for f in skills.files] == ["data/skills/knots.md", ".claude/skills/knots/SKILL.md"]


@pytest.mark.parametrize("asset", [Asset("a.png", b"", "image"), Asset("a.pdf", b"", "file")])
def test_what_no_loader_finds_alone_is_not_written(asset: Asset, tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="has no chunks, documents"):
        write_tables(tables_of(assets=[asset]), "datamind", tmp_path)


def test_titles_that_stand_in_the_metadata_of_chunks_are_not_lost(tmp_path: Path) -> None:
    documents = [
        Document("a", "Lit. Out.", "Skarn"),
        Document("b", "Lit.", "Own", '{"title":"Own"}'),
        Document("c", "Lit.", "Given", '{"title":"Other"}'),
        Document("d", "Lit. Out.", "Given", '{"title":["Other"],"document_title":1}'),
    ]
    tables = chunk_tables(tables_of(documents=documents), ChunkOptions(by="characters", size=5))

    write_tables(tables, "datamind", tmp_path)

    (path,) = tmp_path.glob("data/profiles/*/chunks/*.jsonl")
    titles = [(m.get("title"), m.get("document_title")) for m in (r["metadata"] for r in records(path))]
    assert titles == [("Skarn", None), ("Skarn", None), ("Own", None), ("Other", "Given")] + [('["Other"]', 1)] * 2
    losses = account(tables)
    assert losses[("lost", "documents", "title")] == 1  # of d
    assert ("dropped", "documents", None) not in losses
    assert errors(tmp_path) == []


def test_without_metadata_titles_of_chunked_documents_are_lost(tmp_path: Path) -> None:
    tables = chunk_tables(tables_of(documents=[Document("a", "Lit. Out.", "Skarn")]), ChunkOptions(by="sentences"))

    write_tables(tables, "datamind", tmp_path, metadata="none")

    assert account(tables)[("lost", "documents", "title")] == 1


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("data/profiles/a/page.md", []),
        ("data/profiles/a/page.txt", []),
        ("data/skills/page.md", []),
        ("data/profiles/a/tables/page.sql", ["RD118"]),
    ],
)
def test_a_page_of_html_is_prose_and_no_table(tmp_path: Path, name: str, codes: list[str]) -> None:
    put(tmp_path, "data/profiles/a/tide.md")
    put(tmp_path, name, text=b"<!DOCTYPE html>\n<html><body>Lit.</body></html>\n")

    findings = ragdatakit.validate(tmp_path, format="datamind").findings

    assert [f.code for f in findings if f.severity == "error"] == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (b"<html> or <body>: which comes first?\nWhat is a tide?\n", []),
        (b"<!doctype html> means what?\n", []),
        (b"<html lang='en'>\n<head></head>\n</html>\n", ["RD118"]),
        (b"<HTML>404 Not Found</HTML>\n", ["RD118"]),
    ],
)
def test_a_question_may_begin_with_the_name_of_a_tag(tmp_path: Path, text: bytes, codes: list[str]) -> None:
    put(tmp_path, "data/profiles/a/tide.md")
    put(tmp_path, "data/bench/asked.jsonl", text=text)

    findings = ragdatakit.validate(tmp_path, format="datamind").findings

    assert [f.code for f in findings if f.severity == "error"] == codes

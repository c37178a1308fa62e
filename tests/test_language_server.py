"""The language server, asked by a real client on its standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from ragdatakit.api.editor.checked import check, is_safe_alone
from ragdatakit.api.editor.positions import Point, Positions
from ragdatakit.api.editor.references import targets
from ragdatakit.api.editor.server import _as_text
from tests.command_line import run

ROOT = Path(__file__).parents[1]


class Client(LanguageClient):
    """Keeps what the server publishes, by its folder and name."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.published: dict[str, list[lsp.Diagnostic]] = {}
        self.said: list[str] = []

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def keep(params: lsp.PublishDiagnosticsParams) -> None:
            self.published["/".join(params.uri.split("/")[-2:])] = list(params.diagnostics)

        @self.feature(lsp.WINDOW_LOG_MESSAGE)
        def hear(params: lsp.LogMessageParams) -> None:
            self.said.append(params.message)

    async def until(self, done: Callable[[], object]) -> None:
        for _ in range(600):
            if done():
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"nothing came: {list(self.published)}, {self.said}")

    def open(self, path: Path) -> str:
        uri = path.as_uri()
        text = path.read_bytes().decode("utf-8-sig")
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "json", 1, text)))
        return uri


def talk(folder: Path, conversation: Callable[[Client], Awaitable[None]]) -> None:
    """Start the server in ``folder``, hold the conversation, and end both."""

    async def run() -> None:
        client = Client()
        await client.start_io(sys.executable, "-m", "ragdatakit", "lsp", "--stdio")
        await client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=folder.as_uri(), process_id=None)
        )
        client.initialized(lsp.InitializedParams())
        try:
            await conversation(client)
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

    asyncio.run(asyncio.wait_for(run(), 120))


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return Path(shutil.copytree(ROOT / "fixtures/demo-broken", tmp_path / "data", symlinks=False))


def at(line: int, character: int) -> lsp.Range:
    return lsp.Range(lsp.Position(line, character), lsp.Position(line, character))


def test_a_conversation_about_a_broken_dataset(broken: Path) -> None:
    triplets, queries = broken / "train/triplets.ndjson", broken / "train/query_master.ndjson"

    async def conversation(client: Client) -> None:
        uri = client.open(triplets)
        await client.until(lambda: {"train/triplets.ndjson", "validation/query_master.ndjson"} <= set(client.published))
        found = {each.code: each for each in client.published["train/triplets.ndjson"]}
        assert set(found) == {"SP111", "SP201", "SP207"}
        assert found["SP201"].range == lsp.Range(lsp.Position(6, 8), lsp.Position(6, 10))
        assert found["SP201"].severity == lsp.DiagnosticSeverity.Error
        assert "add the query to query_master" in found["SP201"].message

        shown = await client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(6, 9))
        )
        assert shown is not None and "**SP201** dangling-qid" in shown.contents.value

        lead = await client.text_document_definition_async(
            lsp.DefinitionParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 9))
        )
        assert isinstance(lead, list)
        assert [(each.uri.rpartition("/")[2], each.range.start.line) for each in lead] == [("query_master.ndjson", 0)]

        opened = client.open(queries)
        await client.until(lambda: client.published["train/query_master.ndjson"])
        actions = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(opened), at(2, 9), lsp.CodeActionContext([]))
        )
        assert actions is not None
        (fix,) = actions
        assert isinstance(fix, lsp.CodeAction) and fix.title.startswith("SP121: ") and not fix.is_preferred
        assert fix.title.endswith(" (other records may forbid it)")
        (edit,) = fix.edit.changes[opened]  # type: ignore[union-attr, index]
        assert (edit.range, edit.new_text) == (lsp.Range(lsp.Position(2, 8), lsp.Position(2, 11)), "3")

        every = await client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(uri), at(0, 0), lsp.CodeActionContext([], [lsp.CodeActionKind.SourceFixAll])
            )
        )
        assert every is not None and [each.title for each in every] == ["Fix all that ragdata repairs safely"]

        lines = queries.read_text().replace('"qid": "3"', '"qid": 3')
        queries.write_text(lines)
        client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(opened)))
        await client.until(lambda: not client.published["train/query_master.ndjson"])
        # What the editor has is no longer what was checked: an edit by the bytes of the file would go wrong.
        stale = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(opened), at(2, 9), lsp.CodeActionContext([]))
        )
        assert not stale

    talk(broken, conversation)


def test_files_of_no_format_and_large_ones_are_passed_over(tmp_path: Path) -> None:
    other, large = tmp_path / "package.json", tmp_path / "corpus.jsonl"
    other.write_text('{"name": "x"}\n')
    with large.open("wb") as file:
        file.truncate(50_000_001)

    async def conversation(client: Client) -> None:
        client.open(other)
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(large.as_uri(), "json", 1, ""))
        )
        await client.until(lambda: client.said)
        assert client.said == ["corpus.jsonl is not checked: it has more than 50 MB; `ragdata validate` checks it"]
        assert not any(client.published.values())

    talk(tmp_path, conversation)


@pytest.mark.parametrize(
    ("encoding", "character"), [("utf-8", 9), ("utf-16", 6), ("utf-32", 5)], ids=["utf-8", "utf-16", "utf-32"]
)
def test_places_count_in_the_units_of_the_encoding(encoding: str, character: int) -> None:
    data = '\ufeffone\r\n{"𝄞é": 1}'.encode()
    positions = Positions(data, encoding)
    offset = data.index(b'": 1')

    assert positions.point(offset) == Point(1, character - 1)
    assert positions.offset(positions.point(offset)) == offset
    assert positions.point(0) == Point(0, 0)
    assert positions.end_of(0) == 6


def test_every_byte_that_begins_a_character_is_found_again() -> None:
    data = b"a\xffb\n" + "ü𝄞x\n".encode() + b"last"
    for encoding in ("utf-8", "utf-16", "utf-32"):
        positions = Positions(data, encoding)
        for offset in (0, 1, 2, 4, 6, 10, 12, 16):
            if not (encoding == "utf-8" and offset in (1, 2)):  # a byte that is not UTF-8 has no length there
                assert positions.offset(positions.point(offset)) == offset


@pytest.mark.parametrize(
    ("fixture", "name", "before", "expected"),
    [
        ("beir/valid/splits", "qrels/test.tsv", b"\n", ("queries.jsonl", "q1")),
        ("beir/valid/splits", "qrels/test.tsv", b"\nq1\t", ("corpus.jsonl", "d2")),
        ("light-splade/valid/triplet", "train/positive_lists.ndjson", b"[", ("doc_master.ndjson", "10")),
    ],
)
def test_ids_lead_to_records(tmp_path: Path, fixture: str, name: str, before: bytes, expected: tuple[str, str]) -> None:
    (tmp_path / ".git").mkdir()  # up to here a dataset is looked for
    folder = Path(shutil.copytree(ROOT / "fixtures" / fixture, tmp_path / "data", symlinks=False))
    path = folder / name
    data = path.read_bytes()
    (one,) = targets(path, data.index(before) + len(before))

    assert (one.path.name, one.path.read_bytes()[one.start : one.end].strip(b'"').decode()) == expected


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("qrels.txt", "q1 0 d2 1\nq1 0 d2 0\nq1 0 d2 1\n", "TR203"),
        ("train/query_master.ndjson", '{"qid": 1, "text": "a"}\n{"qid": "1", "text": "b"}\n', "SP121"),
    ],
)
def test_what_other_records_may_forbid_is_not_safe(tmp_path: Path, name: str, text: str, code: str) -> None:
    (tmp_path / ".git").mkdir()
    path = tmp_path / "data" / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    if code == "SP121":
        shutil.copytree(ROOT / "fixtures/light-splade/valid/triplet/train", path.parent, dirs_exist_ok=True)
        path.write_text(text)
    checked = check(path)
    fixable = [each for each in checked.findings[path] if each.code == code and each.fix is not None]

    assert fixable and fixable[0].fix is not None and fixable[0].fix.applicability == "safe"
    assert not any(is_safe_alone(checked.kinds[path], each) for each in fixable)


def test_texts_of_rules_are_shown_as_they_are() -> None:
    assert _as_text("![x](https://evil.example/p.png)") == r"\!\[x\]\(https\://evil.example/p.png\)"


def test_text_leads_nowhere(broken: Path) -> None:
    assert targets(broken / "train/query_master.ndjson", 25) == []
    assert targets(broken / "train/triplets.ndjson", 1) == []


def test_the_task_of_the_docs_reads_what_is_printed() -> None:
    page = (ROOT / "docs/editors.md").read_text()
    (task,) = json.loads(page.partition('```json title="tasks.json"\n')[2].partition("```")[0])["tasks"]
    pattern = task["problemMatcher"]["pattern"]
    printed = run("validate", str(ROOT / "fixtures/demo-broken"), "--output-format", "concise").out

    read = [match for line in printed.splitlines() if (match := re.fullmatch(pattern["regexp"][1:-1], line))]

    assert len(read) == 9
    assert Path(read[0][pattern["file"]]).name == "query_master.ndjson"
    assert read[0].group(*(pattern[name] for name in ("line", "column", "code", "severity", "message"))) == (
        "3",
        "9",
        "SP121",
        "error",
        'qid is "3", expected an integer',
    )

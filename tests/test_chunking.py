"""Documents are cut into chunks: every character but blanks is in one, sizes and overlaps are as asked, any script."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.converters.chunking import ChunkOptions, chunk_tables, splitter
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts import plain_tokens
from ragdatakit.schemas.canonical import Document, Qrel
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from tests.broad import examples
from tests.conversion_tools import tables_of

pytest.importorskip("semantic_text_splitter", reason="needs ragdatakit[split]")
pytest.importorskip("sentencex", reason="needs ragdatakit[split]")
tokenizers = pytest.importorskip("tokenizers", reason="needs ragdatakit[split]")

WORDS = [
    "ferry",
    "The",
    "timetable",
    "naïve",
    "cafe\u0301",
    "Dr.",
    "3.14",
    "港",
    "今日は",
    "。",
    "！",
    "「船」",
    "배가",
    "नाव",
    "😀",
    "x" * 40,
    ".",
    '"',
    "\u00a0",
    "\x1f",
    "𠮷",
]
TEXTS = st.lists(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " ", "\n", "\n\n", "\r\n", "\t", "　"])), max_size=120
).map(lambda parts: "".join(a + b for a, b in parts)) | st.text(max_size=200)
LONG = "The ferry leaves at nine. " * 700 + "\n\n" + "渡し船は九時に出る。港で待つ。" * 300 + "\n\n" + "w" * 9000


def covered_by(spans: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in spans for at in range(start, end)}


def marks_of(text: str) -> set[int]:
    return {at for at, character in enumerate(text) if character.strip()}


def sized(options: ChunkOptions, text: str) -> int:
    return plain_tokens.count(text) if options.by == "tokens" else len(text)


@settings(max_examples=examples(80), deadline=None)
@given(TEXTS, st.sampled_from(["tokens", "characters", "sentences"]), st.integers(1, 40))
def test_pieces_without_overlap_are_the_text_without_blanks(text: str, by: str, size: int) -> None:
    options = ChunkOptions(by, size)  # type: ignore[arg-type]

    spans = list(splitter(options)(text))

    assert covered_by(spans) >= marks_of(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end].strip() for start, end in spans)
    if by != "sentences":
        assert all(sized(options, text[start:end]) <= size for start, end in spans)
    assert spans == list(splitter(options)(text))


@settings(max_examples=examples(80), deadline=None)
@given(TEXTS, st.integers(2, 30), st.data())
def test_overlap_by_tokens_is_exact(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, size - 1))
    options = ChunkOptions("tokens", size, overlap)

    spans = list(splitter(options)(text))

    bare = list(splitter(ChunkOptions("tokens", size - overlap))(text))
    assert [end for _, end in spans] == [end for _, end in bare]
    for (start, end), (bare_start, _) in zip(spans, bare, strict=True):
        repeated = plain_tokens.count(text[start:bare_start])
        available = plain_tokens.count(text[:bare_start])
        assert repeated == min(overlap, available)
        assert plain_tokens.count(text[start:end]) <= size


@settings(max_examples=examples(80), deadline=None)
@given(TEXTS, st.integers(2, 60), st.data())
def test_overlap_by_characters_is_at_most_as_asked(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, size - 1))

    spans = list(splitter(ChunkOptions("characters", size, overlap))(text))

    assert covered_by(spans) >= marks_of(text)
    assert all(0 < end - start <= size for start, end in spans)
    assert all(before[0] <= after[0] and before[1] < after[1] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


def test_an_overlap_by_characters_begins_with_a_word() -> None:
    text = "alpha beta gamma delta epsilon zeta eta theta"

    pieces = [text[a:b] for a, b in splitter(ChunkOptions("characters", 20, 8))(text)]

    assert pieces == ["alpha beta", "beta gamma delta", "delta epsilon zeta", "zeta eta theta"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "The boat left. Dr. Ash was late! Why? Nobody knew.",
            ["The boat left.", "Dr. Ash was late!", "Why?", "Nobody knew."],
        ),
        (
            "船は出た。なぜ？誰も知らない！「そうか。」と彼は言った。",
            ["船は出た。", "なぜ？", "誰も知らない！", "「そうか。」", "と彼は言った。"],
        ),
        ("One line\n\nAnother paragraph.  ", ["One line", "Another paragraph."]),
        ("It costs 3.50 today. Buy it.", ["It costs 3.50 today.", "Buy it."]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in splitter(ChunkOptions("sentences", 1))(text)] == sentences


def test_groups_of_sentences_overlap() -> None:
    text = "One. Two. Three. Four. Five."

    def cut(size: int, overlap: int) -> list[str]:
        return [text[a:b] for a, b in splitter(ChunkOptions("sentences", size, overlap))(text)]

    assert cut(2, 1) == ["One. Two.", "Two. Three.", "Three. Four.", "Four. Five."]
    assert cut(3, 1) == ["One. Two. Three.", "Three. Four. Five."]
    assert cut(3, 0) == ["One. Two. Three.", "Four. Five."]
    assert cut(9, 8) == [text]


@pytest.mark.parametrize("by", ["tokens", "characters", "sentences"])
def test_a_text_of_many_windows_is_covered(by: str) -> None:
    options = ChunkOptions(by, 20, 3)  # type: ignore[arg-type]

    spans = list(splitter(options)(LONG))

    assert covered_by(spans) >= marks_of(LONG)
    if by != "sentences":
        assert max(sized(options, LONG[a:b]) for a, b in spans) <= 20


def test_sentences_of_a_long_text_are_those_of_its_parts() -> None:
    text = "The ferry leaves at nine. " * 700

    pieces = {text[a:b] for a, b in splitter(ChunkOptions("sentences", 1))(text)}

    assert pieces == {"The ferry leaves at nine."}


@settings(max_examples=examples(80), deadline=None)
@given(TEXTS | st.text(max_size=60))
def test_plain_tokens_are_counted_as_they_are_found(text: str) -> None:
    begins = plain_tokens.starts(text)

    assert plain_tokens.count(text) == len(begins)
    assert {at for at in begins if not text[at].strip()} == set()
    assert (len(begins) == 0) == (not text.strip())


@settings(max_examples=examples(80), deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_plain_tokens_of_ascii_are_words_and_marks(text: str) -> None:
    assert plain_tokens.count(text) == len(re.findall(r"\w{1,12}|[^\w\s]", text))
    assert plain_tokens.count(text + "é") == len(re.findall(r"\w{1,12}|[^\w\s]", text + "é"))


def test_plain_tokens_of_other_scripts() -> None:
    assert plain_tokens.count("渡し船、九時。") == 7
    assert plain_tokens.count("배가 떠난다") == 2
    assert plain_tokens.count("cafe\u0301 नाव") == 2
    assert plain_tokens.count("𠮷野") == 2
    assert plain_tokens.count("s" * 25) == 3


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tokenizer that counts bytes, with truncation switched on, as published ones have it."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    alphabet = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=8)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize("overlap", [0, 7])
def test_a_models_tokenizer_counts(model: Path, overlap: int) -> None:
    text = ("The ferry leaves at nine. 渡し船は九時に出る。 " * 40).strip()

    spans = list(splitter(ChunkOptions("tokens", 50, overlap, model))(text))

    assert covered_by(spans) >= marks_of(text)
    assert max(len(text[a:b].encode()) for a, b in spans) <= 50
    shared = [before[1] - after[0] for before, after in pairwise(spans)]
    assert all(len(text[after[0] : before[1]].encode()) <= overlap for before, after in pairwise(spans))
    assert (max(shared) > 0) == bool(overlap)


def test_a_tokenizer_that_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{}")

    with pytest.raises(RagdataError, match=r"broken\.json is not a tokenizer\.json"):
        splitter(ChunkOptions("tokens", 50, tokenizer=broken))
    with pytest.raises(RagdataError, match=r"none\.json cannot be read: No such file"):
        splitter(ChunkOptions("tokens", 50, tokenizer=str(tmp_path / "none.json")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ChunkOptions("tokens", 10, 10), "overlap of 10 does not go with a size of 10; give 0 to 9"),
        (ChunkOptions("tokens", -1), "chunk size of -1 is too small"),
        (ChunkOptions("tokens", 5, -1), "overlap of -1"),
        (ChunkOptions("words", 5), "not by 'words'"),  # type: ignore[arg-type]
        (ChunkOptions("sentences", 5, tokenizer="t.json"), "a tokenizer goes with chunks by tokens"),
    ],
)
def test_values_that_make_no_sense(options: ChunkOptions, message: str) -> None:
    with pytest.raises(RagdataError, match=message):
        chunk_tables(tables_of(documents=[Document("a", "text")]), options)


def test_chunks_of_tables() -> None:
    documents = [
        Document("harbour", "One. Two. Three.", "The harbour", '{"category":"sea"}'),
        Document("empty", " \n"),
        Document("odd", "Four.", None, '{"start":7}'),
        Document("harbour", "Five.", None, "{}"),
    ]
    tables = tables_of(documents=documents, qrels=[Qrel("q", "harbour")])

    cut = chunk_tables(tables, ChunkOptions("sentences", 2))

    assert [(c.chunk_id, c.text, c.doc_id, c.ordinal, json.loads(c.metadata)) for c in cut.take("chunks")] == [
        ("harbour#0", "One. Two.", "harbour", 0, {"start": 0, "end": 9, "category": "sea"}),
        ("harbour#1", "Three.", "harbour", 1, {"start": 10, "end": 16, "category": "sea"}),
        ("odd#0", "Four.", "odd", 0, {"chunk_start": 0, "chunk_end": 5, "start": 7}),
        ("harbour#2", "Five.", "harbour", 2, {"start": 0, "end": 5}),
    ]
    assert list(cut.peek("documents")) == documents
    assert [q.target_id for q in cut.take_passage_qrels("question_id", "target_id")] == [
        "harbour#0",
        "harbour#1",
        "harbour#2",
    ]


def losses_of(tables: CanonicalTables) -> list[tuple[str, str, str | None, int]]:
    tables.finish()
    return [(loss.kind, loss.table, loss.column, loss.count) for loss in tables.losses]


@pytest.fixture
def cut() -> CanonicalTables:
    documents = [Document("a", "One. Two.", "Numbers", '{"lang":"en"}'), Document("b", "\n")]
    return chunk_tables(tables_of(documents=documents), ChunkOptions("sentences", 1))


ALL = ("chunk_id", "text", "doc_id", "ordinal", "metadata")


def test_a_document_that_is_in_its_chunks_is_not_lost(cut: CanonicalTables) -> None:
    list(cut.take("chunks", *ALL))

    assert losses_of(cut) == [
        ("dropped", "documents", None, 1),
        ("lost", "documents", "title", 1),
        ("derived", "chunks", None, 2),
    ]


def test_a_title_that_passages_have_is_not_lost(cut: CanonicalTables) -> None:
    passages = list(cut.take_passages("doc_id", "text", "title", "metadata"))

    assert [p.title for p in passages] == ["Numbers", "Numbers"]
    assert ("lost", "documents", "title", 1) not in losses_of(cut)


def test_a_writer_may_leave_out_the_texts_of_documents(cut: CanonicalTables) -> None:
    list(cut.take("chunks", *ALL))
    list(cut.take("documents", "doc_id", "title"))

    assert losses_of(cut) == [("derived", "chunks", None, 2)]


def test_chunks_are_reported_once_however_often_they_are_read(cut: CanonicalTables) -> None:
    for _ in range(3):
        list(cut.peek("chunks"))

    assert [(loss.reason, loss.count) for loss in cut.losses] == [
        ("cut out of documents by sentences, at most 1, overlap 0", 2)
    ]


def test_what_cannot_be_cut() -> None:
    chunked = chunk_tables(tables_of(documents=[Document("a", "One.")]), ChunkOptions())

    with pytest.raises(RagdataError, match="notes has chunks already"):
        chunk_tables(chunked, ChunkOptions())
    with pytest.raises(RagdataError, match="notes has no documents"):
        chunk_tables(tables_of(qrels=[]), ChunkOptions())
    assert chunk_tables(chunked, ChunkOptions(size=0)) is chunked


@pytest.mark.parametrize(("by", "library"), [("tokens", "semantic_text_splitter"), ("sentences", "sentencex")])
def test_without_the_libraries(monkeypatch: pytest.MonkeyPatch, by: str, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(MissingExtraError, match=r"ragdatakit\[split\]"):
        list(splitter(ChunkOptions(by, 2))("One of two. Two of two."))  # type: ignore[arg-type]


def test_a_short_text_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "semantic_text_splitter", None)

    assert list(splitter(ChunkOptions("tokens", 4, overlap=2))(" One of two.\n")) == [(1, 12)]

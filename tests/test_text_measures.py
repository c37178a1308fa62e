"""What the compiled library sees of texts is what Python sees; it names every text of which a rule says something."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("ftfy", reason="needs ragdatakit[quality]")

from ftfy.badness import BADNESS_RE

from ragdatakit import validate
from ragdatakit.converters.beir.sql_tables import beir_passages
from ragdatakit.converters.kept_texts import LookedAt, TextBlock, TextColumn, _with_others
from ragdatakit.converters.sql_tables import blocks_of
from ragdatakit.files.detection.find import detect
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.texts import cut_texts
from ragdatakit.files.texts.cut_texts import TextLengths
from ragdatakit.quality import measures, odd_characters
from ragdatakit.quality.garbled import _IN_A_ROW, garbled
from ragdatakit.quality.measures import Measured, Measuring, in_batches
from ragdatakit.quality.odd_characters import alphabet, ascii_alphabet
from ragdatakit.quality.sketches import sketches
from ragdatakit.quality.texts import _CONTROL
from ragdatakit.scanner.blocks import KeptValues
from ragdatakit.scanner.library import library
from ragdatakit.scanner.measures import USES, Alphabet, Measures, TextMeasures
from ragdatakit.scanner.texts import FoldedCharacters, Joined
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import FIXTURES
from tests.conversion_tools import read_tables

pytestmark = pytest.mark.skipif(library() is None, reason="needs the compiled scanner")

ODD = "aZ É\u0301\xa0\x85\t\n\x00\x1c.\u3000！»漢字縺锟Âêéößœ°–\x9d\ufffd\ufffe\u202e\ud83d\ude00\udfff😀𝒜ǅŁ"
WHOLE = ["Ab " * 40, "A B ", "…", "ab...", "漢" * 7, "éééééé öööööö", "A" * 99 + "É a", "\ud800", "Ab  c"]
TEXTS = st.lists(st.one_of(st.text(ODD, max_size=12), st.text(max_size=12), st.sampled_from(WHOLE)), max_size=7)
ASKED = Measuring(
    least_words=2, most_characters=30, characters=True, garbled=True, titles=True, near_words=3, near=None, jobs=2
)


def text_measures(texts: Joined, alphabet: Alphabet) -> TextMeasures:
    measures = Measures(texts.number, alphabet)
    sketches(TextColumn(texts), texts, 3, measures)
    return measures.found()


def lengths_of(found: Sequence[Measured]) -> list[Any]:
    """All that is kept of the lengths of texts."""
    lengths = TextLengths()
    for one in found:
        lengths.extend(one.lengths)
    return [lengths._characters, lengths._words, lengths._marks, lengths._first, lengths._last]


def says_something(text: str) -> bool:
    return garbled(text) is not None or _CONTROL.search(text) is not None


def agree(texts: Sequence[str]) -> None:
    rows = [Document(f"d{number}", text, texts[-1 - number]) for number, text in enumerate(texts)]
    mine, plain = (
        [of(rows[first : first + 3])[0] for first in range(0, len(rows), 3)]
        for of in (ASKED.in_library, ASKED._in_python)
    )

    assert lengths_of(mine) == lengths_of(plain)
    for name in ("words", "squeezed", "exact"):
        codes, others = (np.concatenate([getattr(b, name) for b in batches]).tolist() for batches in (mine, plain))
        assert [codes.index(code) for code in codes] == [others.index(code) for code in others]
        assert name == "exact" or [code != 0 for code in codes] == [code != 0 for code in others]
    for batch, other in zip(mine, plain, strict=True):
        assert batch.words.tolist() == other.words.tolist()
        assert batch.looks.items() <= other.looks.items()
        for place, row in other.looks.items():
            is_of_note = batch.words[place] < ASKED.least_words or len(row.text) > ASKED.most_characters
            assert place in batch.looks or not (is_of_note or says_something(row.text) or says_something(row.title))


@settings(max_examples=examples(150), deadline=None)
@example(["", " ", "\ud800 ", "\ud800", "a\ud800"])
@example(["Ab c", "Ab c", "Ab  c", " Ab c\t", "Abc.", "É b", "Ab"])
@given(TEXTS)
def test_texts(texts: list[str]) -> None:
    if texts:
        agree(texts)


def test_a_very_long_text_is_for_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.scanner.texts._LONGEST", 40)

    agree(["Ab c", "a\x00" * 20, "b " * 20 + "b", "a\x00" * 20, "c"])


def test_each_character() -> None:
    agree([f"aZ{chr(code)} b{chr(code)}" for code in range(0x11000, 0x10FFFF, 9973)])
    texts = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    found = text_measures(Joined.of(texts), alphabet(garbled_too=True))

    assert [not text.strip() for text in texts] == (found.squeezed == 0).tolist()
    assert not [text for text, looked in zip(texts, found.looked, strict=True) if says_something(text) and not looked]


def named(texts: Sequence[str]) -> list[str]:
    looked = text_measures(Joined.of(texts), alphabet(garbled_too=True)).looked
    return [text for text, is_named in zip(texts, looked.tolist(), strict=True) if is_named]


@settings(max_examples=examples(60), deadline=None)
@given(st.from_regex(BADNESS_RE), st.text(ODD, max_size=9))
def test_all_that_ftfy_takes_for_odd_is_named(text: str, more: str) -> None:
    text = text.encode("utf-8", "ignore").decode()

    assert not BADNESS_RE.search(text) or named([text, more + text, text + more])[:1] == [text]


def test_mojibake_is_named_and_true_text_is_not() -> None:
    true = [
        "Où est l’œuvre d'été ?",
        "Größe „überall“ – 5 °C",
        "Что это такое?",
        "市役所の開庁時間",
        "łódź, žluťoučký kůň",
    ]
    broken = [t.encode().decode(e, "replace") for t in true for e in ("cp1252", "latin-1", "cp1251", "gbk", "macroman")]

    assert named(true) == []
    assert {text for text in broken if says_something(text)} <= set(named(broken))


def test_texts_of_ascii_have_a_table_of_their_own() -> None:
    texts = [chr(code) for code in range(0x80)]
    small, whole = (text_measures(Joined.of(texts), table) for table in (ascii_alphabet(), alphabet(garbled_too=True)))

    assert [column.tolist() for column in small[:]] == [column.tolist() for column in whole[:]]


@pytest.mark.parametrize("pattern", ["ab", "(?i)é|b", "é|^", "é|(b|c)"])
def test_a_pattern_of_a_new_kind_names_all_beyond_ascii(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.quality.garbled.badness_of_ftfy", lambda: re.compile(pattern))
    monkeypatch.setattr(odd_characters, "alphabet", alphabet.__wrapped__)
    found = text_measures(Joined.of(["ab", "ł", "漢", "b😀"]), odd_characters.alphabet(garbled_too=True))

    assert found.looked.tolist() == [0, 1, 1, 1]


def test_numbers_of_the_library_are_those_of_python() -> None:
    source = (Path(__file__).parents[1] / "scanner" / "src" / "measures.rs").read_text()
    stated = {name: int(number) for name, number in re.findall(r"const (\w+): \w+ = (\d+);", source)}

    assert stated == {
        **{name.upper(): use for name, use in USES.items()},
        "IN_A_ROW": _IN_A_ROW,
        "HEAD": cut_texts._HEAD,
        "STOPS": cut_texts._STOPS,
        "BEGINS": cut_texts._BEGINS,
        "DOUBTFUL": cut_texts._DOUBTFUL,
    }


ODD_LINES = [
    "",
    '{"_id": "o1", "text": "half a \\ud83d character, and more", "metadata": {}}',
    '{"_id": 7, "text": "a number as the id", "title": null}',
    '{"_id": "o2", "title": "Lena \\u0008 here"}',
    '{"_id": "o3", "text": "Lena carries slate, \\u00e2\\u20ac\\u2122 and \\"more\\"", "title": "Lena\\u0008"}',
    "no JSON",
    '{"_id": "o4", "text": "twice", "text": "two times the text \\ufffd", "url": "x"}',
    '{"_id": "o5", "text": "Lena carries slate, Lena carries slate,", "title": 5, "metadata": {"year": [1]}}',
]


def written() -> Iterator[str]:
    choose = random.Random(3)
    words = "Lena carries slate, öre äpple kůň 市役所 worldâ€™s \x08 \xa0 ‘é’ Âé縺繧".split(" ")
    for _ in range(60):
        chosen = choose.choices(words[:6], k=choose.randint(0, 12)) + choose.choices(words)
        yield " ".join(chosen * choose.choice([1, 1, 9]))


def chunk_files(kind: str, texts: Sequence[str], folder: Path) -> None:
    """Chunks of DataMind, or of A-RAG as texts or objects, with others among them that are not read as these."""
    if kind == "datamind":
        metadata = [{}, {"year": 1}, {"arag_id": "d3", "source_id": "s"}, None]
        rows: list[Any] = [
            {"id": f"d{n}", "text": text, "metadata": metadata[n % 4], "image_path": "a.png" if n % 7 == 1 else ""}
            for n, text in enumerate(texts)
        ]
        odd = ["", '{"id": 7, "text": "a number"}', "no JSON", '{"id": "o", "text": "", "image_path": "b.png"}', "[]"]
        (folder / "chunks").mkdir()
        lines = [line for row, each in zip(rows, odd * len(rows), strict=False) for line in (json.dumps(row), each)]
        (folder / "chunks" / "part.jsonl").write_text("\n".join(lines), encoding="utf-8")
        return
    rows = [f"{n}:{text}" if kind == "arag" else {"id": f"{n}", "text": text} for n, text in enumerate(texts)]
    rows[5:5] = [7, "no colon", None, "x:half \ud83d", {"id": 3, "text": "a"}, rows[4]]
    (folder / "chunks.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


@pytest.fixture(
    params=["drawn", "arag", "arag-objects", "datamind", *sorted(p.name for p in (FIXTURES / "quality").iterdir())]
)
def data(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    texts = list(written())
    if request.param in ("arag", "arag-objects", "datamind"):
        chunk_files(request.param, [*texts, *texts[:9]], tmp_path)
        return tmp_path
    if request.param != "drawn":
        return FIXTURES / "quality" / request.param / "data"
    rows = [{"_id": f"d{n}", "title": text[:9], "text": text} for n, text in enumerate([*texts, *texts[:9]])]
    lines = [line for row, odd in zip(rows, ODD_LINES * 10, strict=False) for line in (json.dumps(row), odd)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "which barge?"}\n', encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    return tmp_path


def test_findings_are_the_same(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    thresholds = {"near-words": 4, "most-tokens": 60}

    def found() -> Any:
        return validate(data, quality=thresholds, max_per_rule=3)

    plain = found()
    monkeypatch.setattr(measures, "_MOST_ROWS", 5)
    monkeypatch.setattr(measures, "_FEWEST", 1)
    for least_bytes in (1 << 20, 0):
        taken = partial(blocks_of, least_bytes=least_bytes)
        monkeypatch.setattr("ragdatakit.quality.checked_tables.blocks_of", taken)
        again = found()
        assert again.findings == plain.findings
        assert (again.datasets, again.by_rule) == (plain.datasets, plain.by_rule)


def test_blocks_of_texts_are_the_rows(tmp_path: Any) -> None:
    lines = [each for n, odd in enumerate(ODD_LINES) for each in (f'{{"_id": "d{n}", "text": "t\\u00e9xt {n}"}}', odd)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "which barge?"}\n', encoding="utf-8")
    (dataset,) = detect(tmp_path).datasets
    tables = read_tables(tmp_path)

    blocks = list(beir_passages(dataset, RecordReader(Losses()), 2))

    assert [isinstance(block, TextBlock) for block in blocks] == [True]
    block: Any = blocks[0]
    rows = [(row.doc_id, row.text, row.title or "") for row in tables.peek("documents")]
    assert [row[:3] for row in block] == rows
    assert [*block.columns["text"]] == [row[1] for row in rows]
    assert [row[0] for row in block[2:-1]] == block.columns["doc_id"][2:-1] == [row[0] for row in rows[2:-1]]


def test_blocks_that_are_looked_at_are_let_go_of(tmp_path: Any) -> None:
    """Their texts are those of the library until it scans again: who keeps some gets an error, not other texts."""
    lines = [f'{{"_id": "d{n}", "title": "T", "text": "t\\u00e9xt {n}"}}' for n in range(9)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "which barge?"}\n', encoding="utf-8")
    (dataset,) = detect(tmp_path).datasets
    held: list[Any] = []

    def look(rows: Any) -> list[Any]:
        held.append(rows)
        return list(rows)

    (block,) = beir_passages(dataset, RecordReader(Losses()), 2, look)

    assert isinstance(block, LookedAt)
    assert [row[:3] for row in block.found] == [(f"d{n}", f"téxt {n}", "T") for n in range(9)]
    assert len(block) == 9
    with pytest.raises(LookupError):
        block[0]
    with pytest.raises(ValueError, match="released"):
        held[0].columns["text"][0]
    with pytest.raises(ValueError, match="released"):
        text_measures(held[0].columns["text"].joined, ascii_alphabet())


@pytest.mark.parametrize("fewest", [1, 2, 9])
def test_what_was_read_before_a_failure_is_looked_at(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_MOST_ROWS", 2)
    monkeypatch.setattr(measures, "_FEWEST", fewest)

    def rows() -> Iterator[Document]:
        for number in range(9):
            yield Document(f"d{number}", "a")
        raise RagdataError("cut off")

    seen = list[str]()
    with pytest.raises(RagdataError, match="cut off"):  # noqa: PT012 - up to there
        for batch in ASKED.each(in_batches(rows())):
            seen += [row.doc_id for row in batch.looks.values()]

    assert seen == [f"d{number}" for number in range(9)]


@pytest.mark.parametrize(("most", "ahead"), [(1 << 20, 3), (1500, 1), (500, 0)])
def test_long_texts_wait_for_those_before_them(most: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_MOST_WAITING", most)
    read = 0

    def batches() -> Iterator[list[Document]]:
        nonlocal read
        for number in range(9):
            read += 1
            yield [Document(f"d{number}", "a b " * 250)]

    before = []
    for place, batch in enumerate(ASKED.each(batches())):
        assert [row.doc_id for row in batch.looks.values()] == [f"d{place}"]
        before.append(read - place - 1)

    assert max(before[2:]) <= ahead
    assert before[0] == max(ahead, 1)  # two are read to know whether there are many


def test_texts_of_more_than_two_gigabytes_stay_at_their_places() -> None:
    class Large(bytes):
        def __len__(self) -> int:
            return 3 << 30

    places = np.array([0, 5, 1 << 31, 3 << 30])

    assert _with_others(KeptValues(Large(), places, places[:0]), "text", {}).offsets.tolist() == places.tolist()
    assert _with_others(KeptValues(b"a" * 9, np.array([0, 9]), places[:0]), "text", {}).offsets.dtype == np.int32


def test_characters_are_learnt_into_one_table_while_another_thread_learns() -> None:
    known = []
    for code in (0xE9, 0x436):
        characters = FoldedCharacters(str.encode)
        characters.learn(code)
        known.append(characters.known)

    class Raced(FoldedCharacters):
        """Each time it is asked another thread has put another table in the place of the one before."""

        @property
        def known(self) -> Any:
            return known.pop(0)

        @known.setter
        def known(self, made: Any) -> None:
            self.made = made

    raced = Raced(str.encode)
    raced.learn(0x4E2D)

    places, texts = raced.made
    for code in (0xE9, 0x4E2D):
        first = places[code] + 1
        assert texts[first : first + texts[places[code]]].decode() == chr(code)

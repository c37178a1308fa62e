"""TREC collections checked: what pytrec_eval made of each fixture, detection by content, elements in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.files.containers.tagged_text import UNCLOSED, ElementFinder, TaggedReader, escape, unescape
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES
from tests.upstream_data import UPSTREAM_DATA, needs

CRANFIELD = UPSTREAM_DATA / "cranfield"

# What `parse_qrel` and `parse_run` of pytrec-eval-terrier 0.5.11 did with judgements and runs that are damaged.
STOPPED = {
    "blank-line": "ValueError: not enough values to unpack (expected 4, got 0)",
    "blank-line-2": "ValueError: not enough values to unpack (expected 6, got 0)",
    "comment-line": "ValueError: not enough values to unpack (expected 6, got 5)",
    "judged-twice": "AssertionError",
    "relevance-not-integer": "ValueError: invalid literal for int() with base 10: '1.0'",
    "retrieved-twice": "AssertionError",
    "score-not-number": "ValueError: could not convert string to float: 'high'",
    "wrong-columns": "ValueError: not enough values to unpack (expected 4, got 3)",
    "wrong-columns-2": "ValueError: too many values to unpack (expected 6)",
}
LOADED = (
    *("equal-scores", "many-results", "odd-rank", "odd-rank-2", "query-without-results", "rank-against-score"),
    *("several-tags", "topics-by-position", "unknown-docno", "unknown-topic"),
)


@pytest.mark.parametrize("name", STOPPED)
def test_what_stops_the_reader_is_an_error(name: str) -> None:
    assert not validate(FIXTURES / "trec/broken" / name / "data", profile="pytrec_eval").ok


@pytest.mark.parametrize("name", LOADED)
def test_what_the_reader_takes_is_none(name: str) -> None:
    assert validate(FIXTURES / "trec/broken" / name / "data").ok


@pytest.mark.parametrize("name", ["blank-line-2", "comment-line"])
def test_the_program_passes_over_them(name: str) -> None:
    report = validate(FIXTURES / "trec/broken" / name / "data", profile="trec_eval")

    assert report.ok and [f.severity for f in report.findings] == ["warning"]


DOCUMENT = "<DOC>\n<DOCNO> a-1 </DOCNO>\n<TEXT>\nwords\n</TEXT>\n</DOC>\n"
CONTENTS = {
    "a.txt": ("1 0 d1 1\n1 Q0 d2 0\n", "qrels"),
    "b.txt": ("q1\t0\tclueweb09-en0000-00-00001\t-2\n", "qrels"),
    "c.res": ("q1 Q0 d1 1 0.5 a\nq1 Q0 d2 2 -3e-05 a\n", "run"),
    "d.txt": ("# comment\nq1 x d1 0 12 a\n", "run"),
    "e.trec": (DOCUMENT, "documents"),
    "f.xml": (f"<?xml version='1.0'?>\n<docs>\n{DOCUMENT}</docs>\n", "documents"),
    "g.txt": ("<top>\n<num> Number: 1\n<title> reef\n</top>\n", "topics"),
    "h.xml": ("<topics><topic number='1'><title>reef</title></topic></topics>", "topics"),
    "i.qrels": ("q1 0 d1 1\nq1 0 d2\nq1 0 d3 0\n", "qrels"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    content, kind = CONTENTS[name]
    (tmp_path / name).write_text(content)

    (alone,) = validate(tmp_path / name).datasets
    (inside,) = validate(tmp_path).datasets

    assert {(d.format, d.files[0].kind) for d in (alone, inside)} == {("trec", kind)}


@pytest.mark.parametrize(
    "content",
    [
        "The boat left at 3\nand came back at 7\n",
        "a,b,c\n1,2,3\n",
        "1 2 3\n4 5 6\n",
        "<html><top></html>\n",
        "q1 d1 1\n",
        "",
        '{"id": 1}\n',
        "<doc>no number</doc>",
    ],
)
def test_other_texts_are_not(content: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(content)

    with pytest.raises(RagdataError, match="no dataset recognised"):
        validate(tmp_path)


def test_topics_are_found_by_either_form(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "topics.tsv").write_text("q1\treef\n")

    report = validate(tmp_path)

    assert [(f.rule, f.line) for f in report.findings] == [("unknown-topic", 2)]


@pytest.mark.parametrize(
    ("content", "rule"),
    [("q1 d1 1\n", "wrong-columns"), ("version https://git-lfs.github.com/spec/v1\n", "lfs-pointer")],
)
def test_names_decide_where_two_files_have_them(content: str, rule: str, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(content + f"oid sha256:{0:064}\nsize 12\n" * ("lfs" in content))
    with pytest.raises(RagdataError, match="no dataset recognised"):
        validate(tmp_path)
    (tmp_path / "topics.tsv").write_text("q1\twhen to prune\n")

    assert {f.rule for f in validate(tmp_path).findings} == {rule}


def test_blanks_are_not_blamed_for_a_tab_too_much(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("q1\ta tide\nq2\ta moon\tand more words\nq3 a reef\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")

    faults = [f.fault for f in validate(tmp_path, select="wrong-columns").findings]

    assert faults == [
        "3 tab-separated columns instead of 2",
        "1 tab-separated column instead of 2 (there are blanks where tabs should be)",
    ]


def test_unknown_queries_are_reported_once_each(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    results = "".join(f"{q} Q0 d{i} {i} {-i} a\n" for q in ("q1", "q2", "q3") for i in range(1, 9))
    (tmp_path / "run.txt").write_text(results)

    report = validate(tmp_path)

    assert [(f.rule, f.line, f.value) for f in report.findings] == [
        ("unknown-query", 9, "q2"),
        ("unknown-query", 17, "q3"),
    ]


ELEMENT = st.sampled_from(
    [
        "<doc>",
        "</doc>",
        "<DOC id=1>",
        "</DOC >",
        "<docno>é</docno>",
        "<text>",
        "</text>",
        "\n",
        "a",
        "é",
        "<",
        "<do",
        "\r\n",
    ]
)


@given(parts=st.lists(ELEMENT, max_size=30), size=st.integers(1, 40))
def test_elements_are_the_same_in_any_pieces(parts: list[str], size: int) -> None:
    data = "".join(parts).encode()
    whole = list(ElementFinder(("doc",)).elements([data]))

    pieces = [data[i : i + size] for i in range(0, len(data), size)]

    assert list(ElementFinder(("doc",)).elements(pieces)) == whole
    for element in whole:
        before = data[: element.byte_offset].decode()
        assert element.line == before.count("\n") + 1
        assert element.indent.characters == len(before[before.rfind("\n") + 1 :])
        assert data[element.byte_offset :].startswith(element.raw)


def test_an_element_that_is_too_long_is_passed_over() -> None:
    data = b"<doc>" + b"x" * 5000 + b"</doc>\n<doc>a</doc>"

    first, second = ElementFinder(("doc",), longest=4000).elements(
        [data[i : i + 100] for i in range(0, len(data), 100)]
    )

    assert (first.too_long, second.too_long, second.line, second.raw) == (True, False, 2, b"<doc>a</doc>")


TEXTS = st.text(
    st.one_of(st.sampled_from(list("<>&;# \t\r\nax")), st.characters(exclude_categories=["Cs"])), max_size=20
)


@given(text=TEXTS, title=TEXTS)
def test_what_is_escaped_reads_the_same(text: str, title: str) -> None:
    raw = f"<doc>\n<docno>1</docno>\n<title>{escape(title)}</title>\n<text>\n{escape(text)}\n</text>\n</doc>"

    found = TaggedReader(("doc",), ("docno", "title", "text")).record(raw)

    assert found == {"docno": "1", "title": title, "text": text}


MARKUP = (
    "<doc> </doc> <DOC> <top> </top> <docno> </docno> <Title> </Title> <text> </text> <num> </num> <query> </query> < "
    "<a_b=1> <a </a> <1> > / &lt; words <text>é_&amp;_b</text> <docno>D1</docno>\n <é> \r\n \r"
)
PIECES = st.lists(st.sampled_from([*MARKUP.split(" "), " ", "</text >", "Number: 3"]), max_size=9)


@given(pieces=PIECES, whole=st.booleans())
def test_plain_elements_are_read_as_all_others(pieces: list[str], whole: bool) -> None:
    for tag, fields in (("doc", ("docno", "title", "text")), ("top", ("num", "title", "desc", "narr"))):
        text = f"<{tag}>{''.join(pieces)}</{tag}>" if whole else "".join(pieces)
        reader, slow = TaggedReader((tag,), fields), TaggedReader((tag,), fields)
        slow._plain = lambda _: None  # type: ignore[method-assign]

        assert list(reader.record(text).items()) == list(slow.record(text).items())


@given(text=TEXTS)
def test_ampersands_stand_for_themselves(text: str) -> None:
    plain = text.replace(";", "")

    assert unescape(plain) == plain


def test_topics_in_the_old_manner() -> None:
    reader = TaggedReader(("top", "topic"), ("num", "title", "desc", "narr"))
    text = (
        "<top>\n<num> Number: 51 \n<title> Topic:  Reefs & piers\n\n<desc> Description:\nWho?\n"
        "<narr> Narrative:\nNames.\n</top>"
    )

    assert reader.record(text) == {"num": "51", "title": "Reefs & piers", "desc": "Who?", "narr": "Names."}
    assert reader.record("<top><num>1</num><title>Topic: maps</title>") == {
        "num": "1",
        "title": "Topic: maps",
        UNCLOSED: "",
    }
    start, length = reader.span(text, "title") or (0, 0)
    assert text[start : start + length] == "Topic:  Reefs & piers"


@needs("cranfield")
def test_a_public_collection() -> None:
    report = validate(CRANFIELD, severity="info")

    assert {(f.kind, f.records) for d in report.datasets for f in d.files} == {
        ("documents", 1400),
        ("topics", 225),
        ("qrels", 1837),
    }
    assert [(f.rule, f.line) for f in report.findings] == [
        ("blank-text", 12549),
        ("blank-text", 25768),
        ("topics-by-position", None),
        ("unknown-topic", 55),
    ]


def test_a_rank_of_hundreds_of_digits_is_compared(tmp_path: Path) -> None:
    run = tmp_path / "model.run"
    run.write_text(f"q0 Q0 d1 1 8.5 tag\nq0 Q0 d2 {'1' * 400} 9.5 tag\n")

    codes = {finding.code for finding in validate(run, format="trec").findings}

    assert "RD112" not in codes
    assert "TR122" in codes

"""Big files of elements between tags, through the scanner: what is found, and where, is what plain Python finds.

``RAGDATA_FUZZ=100000`` tries that many files instead of the usual number.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading import tagged_blocks
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.schemas import get_format
from ragdatakit.validators import checks_of
from tests.block_mutations import tries
from tests.scanner_tools import needs_scanner
from tests.test_scanner_records import found_in

pytestmark = needs_scanner
SEEDS = range(4)
TEXTS = (
    *("tide tables", "A &amp; B", "&#32;", "&nope; x", "3 < 4 <b", "<P>one</P>\n<P>two</P>", "漢字", "\u3000", "", " "),
    *("a\tb\r\nc", "</p>", "<!-- x -->", "&#x20;&#8195;", "\u2003", "x" * 90, "<docs>", "</doc x>"),
)
TOKENS = (
    *(b"<DOC>", b"</DOC>", b"<doc ", b"</doc >", b"<DOCNO>", b"</DOCNO>", b"<TEXT>", b"</TEXT\t>", b"<", b">", b"&"),
    *(b"\r", b"\n", b"\xff", b"\xe2\x84\xaa", b"</te\xc5\xbft>", b"</doc\x1f>", b"<x>", b"</", b"\xc2\xa0", b" "),
)


def document(rng: Random) -> bytes:
    """One document, as a rule a sound one."""
    name = rng.choice((f"D{rng.randrange(60)}",) * 12 + ("", "a b", "é", "1&amp;2", "\u2003x"))
    odd = rng.random() < 0.2
    parts = [f"<DOCNO> {name} </DOCNO>", f"<TEXT>\n{rng.choice(TEXTS if odd else TEXTS[:3])} tide\n</TEXT>"]
    if odd:
        parts[1] = rng.choice((f"<TEXT>{rng.choice(TEXTS)}</TEXT>", rng.choice(TEXTS), "<TEXT>a", "<text>b</Text >"))
    for other in ("TITLE", "Headline", "text", "DOCNO", "dochdr"):
        if rng.random() < 0.12:
            parts.insert(rng.randrange(3), f"<{other}>{rng.choice(TEXTS)}</{rng.choice((other, other.lower()))}>")
    opening = rng.choice(("<DOC>",) * 9 + ("<doc>", '<DOC id="7">', "<DOC\n>"))
    closing = rng.choice(("</DOC>",) * 9 + ("</doc>", "</DOC >", ""))
    return "\n".join((opening, *parts, closing, "")).encode()


def documents(rng: Random, many: int) -> bytes:
    """Documents, with something wrong in some of them."""
    data = b"".join(document(rng) for _ in range(many))
    for _ in range(rng.choice((0, 0, 1, 2, many // 20))):
        at = rng.randrange(len(data) + 1)
        gone = rng.choice((0, 0, 1, 5, 30))
        data = data[:at] + (rng.choice(TOKENS) if rng.random() < 0.8 else b"") + data[at + gone :]
    return rng.choice((b"", b"", b"\xef\xbb\xbf", b"junk </doc>\n")) + data + rng.choice((b"", b"tail\n", b"<DOC>"))


@pytest.mark.parametrize("seed", SEEDS)
def test_documents_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    (tmp_path / "qrels.txt").write_text("".join(f"q1 0 D{i} 1\n" for i in range(70)))
    path = tmp_path / "documents.trec"

    for _ in range(tries(80) // len(SEEDS)):
        path.write_bytes(documents(rng, rng.choice((1, 3, 12))))
        plain = found_in(tmp_path, "trec", 1 << 40, 1 << 20, 1)
        size, jobs = rng.choice((1, 40, 150, 600, 1 << 19)), rng.choice((1, 2, 7))
        assert found_in(tmp_path, "trec", -1, size, jobs) == plain, (size, jobs, path.read_bytes())


def test_long_elements_are_left_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagged_blocks, "LONG_ELEMENT", 1 << 8)
    long = b"<DOC><DOCNO>long</DOCNO><TEXT>%b</TEXT></DOC>\n" % (b"tide " * 400)
    rng = Random(2)
    data = document(rng) * 3 + long + b"".join(document(rng) for _ in range(9))
    (tmp_path / "documents.trec").write_bytes(data)

    assert found_in(tmp_path, "trec", -1, 64, 2) == found_in(tmp_path, "trec", 1 << 40, 1 << 20, 1)


def test_sound_documents_are_proved() -> None:
    """Else the speed would be gone, and nothing else would show it."""
    fmt = get_format("trec")
    kind = fmt.file("documents")
    file = DataFile(Path("x"), "x", "x", "documents")
    asked = checks_of("trec")(Dataset(Path(), "", fmt, "file", [file]), ()).scanning(file).predicates
    texts = ("tide &amp; moon", "<P>one</P> 3 < 4", "漢字 and\n more", "\n &amp")
    data = "".join(f"<DOC>\n<DOCNO> D{i} </DOCNO>\n<TEXT>{t} x</TEXT>\n</DOC>\n" for i, t in enumerate(texts)).encode()

    for portable in (False, True):
        scanner = BlockScanner(kind.record, {"docno": "docno"}, asked or (), portable, tags=kind.tags)
        block, done = scanner.scan_tagged(data)
        assert (block.rows, len(block.notes), done) == (4, 1, len(data))  # what an entity is, is for Python to say

"""Questions of several splits: what DuckDB takes for one text is spelled alike."""

from __future__ import annotations

import sys

import duckdb
import pytest

from ragdatakit.database.columns import Kind, packed
from ragdatakit.reports.summary import leakage
from ragdatakit.reports.summary.leakage import _letters, _letters_of_ascii, _spelled

TEXTS = [
    "Where\0 is it",
    "where is it ",
    "",
    "cafe\u0301",
    "CAFÉ",
    "\u212b\u03a9",
    "東京\u3099 か\u3099",
    "\u0130\u212a",
    "ﬁ ß ẞ",
]


def spelled(*texts: str) -> list[str]:
    return [found.decode() for found in _spelled(packed(Kind.TEXT, texts), _letters)]


def test_all_characters_are_spelled_as_what_sql_makes_of_them() -> None:
    usual = "select chr(code::integer) as one, lower(nfc_normalize(chr(code::integer))) as made from codes"
    with duckdb.connect() as connection:
        surrogates = "code not between 55296 and 57343"
        connection.execute(
            f"create table codes as select range as code from range(1, {sys.maxunicode + 1}) where {surrogates}"
        )
        found = connection.execute(f"select one, made from ({usual}) where one <> made").fetchall()
    assert len(found) > 2000
    assert spelled(*(one for one, _ in found)) == spelled(*(made for _, made in found))


def test_letters_of_ascii_are_those_of_all_letters() -> None:
    column = packed(Kind.TEXT, [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000])

    found = [text.decode().encode("ascii", "ignore") for text in _spelled(column, _letters)]

    assert _spelled(column, _letters_of_ascii) == found


def test_texts_are_spelled_as_what_sql_makes_of_them() -> None:
    with duckdb.connect() as connection:
        made = [connection.execute("select lower(nfc_normalize($1))", [text]).fetchall()[0][0] for text in TEXTS]
    assert spelled(*TEXTS) == spelled(*made)
    assert spelled("Where\0 is it", "where is it ", "cafe\u0301", "CAFÉ") == ["whereisit", "whereisit", "cafe", "cafe"]


@pytest.mark.parametrize("few", [0, 1000])
def test_characters_are_left_out_one_by_one_as_all_at_once(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leakage, "_FEW", few)

    found = spelled("Ünï\tcode 東京 ½ Ⅷ", "plain TEXT, 7", "שלום\u05bc x", *TEXTS[:5])

    assert found == ["unicode東京", "plaintext,7", "שלוםx", "whereisit", "whereisit", "", "cafe", "cafe"]

"""Cards of datasets that somebody meant ill: headers that would hang a parser, names that would break the page."""

from __future__ import annotations

from typing import Any

import pytest

from ragdatakit.hub.dataset_card import BEGIN, END, CardFacts, DataFile, card
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.results import Report


def facts(name: str = "chunks.json", **words: Any) -> CardFacts:
    by_name = {"dataset": "", "format": "arag", "kind": "chunks", "split": None, "records": 5, "bytes": 9, **words}
    file = DataFile(name=name, **by_name)
    return CardFacts(repo="keeper/harbour", files=(file,), report=Report(), ragdata="0", license="mit")


@pytest.mark.parametrize(
    "header",
    [
        "k0: &k0 [x]\n" + "\n".join(f"k{n}: &k{n} [{','.join([f'*k{n - 1}'] * 9)}]" for n in range(1, 12)),
        "a: &a [*a]",
        f"a: {'[' * 5_000}",
        f"a: {'[' * 60}{']' * 60}",
        "a: [",
        "just text",
        "a: " + "x" * (1 << 20),
    ],
)
def test_headers_that_none_should_read_are_errors_of_the_run(header: str) -> None:
    with pytest.raises(RagdataError, match=r"README\.md: its header is not a YAML mapping"):
        card(facts(), f"---\n{header}\n---\nWords.\n")


@pytest.mark.parametrize("tags", ["5", "{a: b}", "null", "one", "[1, [x]]", "2024-13-45"])
def test_any_tags_are_kept(tags: str) -> None:
    text = card(facts(), f"---\ntags: {tags}\n---\nWords.\n").text

    assert "- ragdata\n" in text


def test_values_stay_what_they_were_written_as() -> None:
    text = card(facts(), "---\nlanguage: no\nday: 2024-01-05\ntime: 12:30\nn: 007\n---\n").text

    assert "language: 'no'\nday: '2024-01-05'\ntime: '12:30'\nn: '007'\n" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b_c*.json", "`a b_c*.json`"),
        ("a|b.json", "<code>a&#124;b.json</code>"),
        ("<b>&`x`_y_.json", "<code>&#60;b&#62;&#38;&#96;x&#96;&#95;y&#95;.json</code>"),
        ("a\nb\x1b\u202e.json", r"<code>a\x0ab\x1b\u202e.json</code>"),
        (" a", "<code> a</code>"),
    ],
)
def test_names_do_not_become_markup(name: str, shown: str) -> None:
    assert f"| {shown} | chunks |  | 5 | 9 |" in card(facts(name), None).text


def test_a_name_cannot_end_our_part() -> None:
    found = facts(f"a{END}.bin", split=f"|{BEGIN}")
    made = card(found, None).text

    assert made.count(END) == made.count("<!-- ragdata:begin") == 1
    assert card(found, made).text == made

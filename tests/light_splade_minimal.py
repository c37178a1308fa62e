"""The smallest dataset of both light-splade variants, and what one changed line of it breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.light_splade_oracle import Variant

NAMES = {
    "queries": "train/query_master.ndjson",
    "documents": "train/doc_master.ndjson",
    "positives": "train/positive_lists.ndjson",
    "triplets": "train/triplets.ndjson",
    "scores": "hard_negative_scores.ndjson",
}
MINIMAL = {
    "queries": ['{"qid": 1, "text": "how to prune a pear tree"}', '{"qid": 2, "text": "tide times for small boats"}'],
    "documents": [
        '{"doc_id": 10, "text": "Cut pear branches in late winter, above an outward bud."}',
        '{"doc_id": 11, "text": "Tide tables give high and low water for each harbour."}',
        '{"doc_id": 12, "text": "The museum opens at nine."}',
    ],
    "positives": ['{"qid": 1, "positive_doc_ids": [10]}', '{"qid": 2, "positive_doc_ids": [11]}'],
    "triplets": ['{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}', '{"qid": 2, "pos_doc_id": 11, "neg_doc_id": 12}'],
    "scores": ['{"qid": 1, "scores": {"10": 6.5, "12": -3.0}}', '{"qid": 2, "scores": {"11": 5.25, "12": -2.5}}'],
}

Edit = Callable[[list[str]], list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One change to one file: the rule it breaks, and how upstream's exception starts (``""``: it accepts).

    ``variant`` is the one whose loader reads the file.
    """

    number: int
    kind: str
    edit: Edit
    code: str
    upstream: str = ""
    variant: Variant = "triplet"
    name: str = ""

    def write(self, root: Path) -> None:
        """Write the changed dataset below ``root``."""
        for kind, lines in MINIMAL.items():
            changed = self.edit(list(lines)) if kind == self.kind else lines
            path = root / (self.name if self.name and kind == self.kind else NAMES[kind])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in changed), encoding="utf-8")


def first(line: str) -> Edit:
    """The first line becomes that one."""
    return lambda lines: [line, *lines[1:]]


def second(*new: str) -> Edit:
    """The second line becomes those (none: it is removed)."""
    return lambda lines: [lines[0], *new, *lines[2:]]


def added(line: str) -> Edit:
    """The line stands at the end."""
    return lambda lines: [*lines, line]


def between(line: str) -> Edit:
    """The line stands after the first."""
    return lambda lines: [lines[0], line, *lines[1:]]


def unchanged(lines: list[str]) -> list[str]:
    """The lines as they are."""
    return lines


_NO_DOCUMENT = "ValueError: doc_id {} from positive list does not exist"

ROWS = (
    Row(1, "queries", first('{"qid": 1, "text": "x", "lang": "en"}'), "E05", "TypeError"),
    Row(2, "queries", first('{"id": 1, "text": "x"}'), "E05", "TypeError"),
    Row(3, "queries", between(""), "E04", "JSONDecodeError"),
    Row(4, "queries", first('{"qid": "1", "text": "x"}'), "E06", "ValueError: qid 1 from the positive list"),
    Row(5, "queries", first('{"qid": 1, "text": null}'), "E07"),
    Row(6, "queries", added('{"qid": 2, "text": "x"}'), "E12"),
    Row(7, "documents", first('{"doc_id": 10.0, "text": "x"}'), "E06"),
    Row(8, "positives", first('{"qid": 1, "positive_doc_ids": []}'), "E10", "ValueError: qid 1 has no positive"),
    Row(9, "positives", first('{"qid": 1, "positive_doc_ids": [10, 99]}'), "E11", _NO_DOCUMENT.format(99)),
    Row(10, "positives", second(), "E09", "ValueError: qid 2 from the query master"),
    Row(11, "positives", added('{"qid": 9, "positive_doc_ids": [10]}'), "E08", "ValueError: qid 9 from the positive"),
    Row(12, "positives", first('{"qid": 1, "positive_doc_ids": "10"}'), "E06", _NO_DOCUMENT.format(1)),
    Row(13, "positives", added('{"qid": 1, "positive_doc_ids": [12]}'), "E13"),
    Row(14, "triplets", first('{"qid": 77, "pos_doc_id": 10, "neg_doc_id": 12}'), "E21"),
    Row(15, "triplets", first('{"qid": 1, "pos_doc_id": 11, "neg_doc_id": 12}'), "E22"),
    Row(16, "triplets", first('{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 10}'), "E23"),
    Row(17, "triplets", first('{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 99}'), "E20", "ValueError: doc_id 99"),
    Row(18, "scores", second(), "E30", "IndexError: The qid 2", "distil"),
    Row(19, "scores", first('{"qid": 1, "scores": {"12": -3.0}}'), "E31", "ValueError: The pair (1, 10)", "distil"),
    Row(20, "scores", first('{"qid": 1, "scores": {"10": 6.5}}'), "E32", "ValueError: qid 1 has no avail", "distil"),
    Row(21, "scores", first('{"qid": 1, "scores": {"10.0": 6.5, "12": -3.0}}'), "E33", "ValueError", "distil"),
    Row(22, "scores", first('{"qid": 1, "scores": {"10": NaN, "12": -3.0}}'), "E34", "", "distil"),
    *(
        Row(23, kind, unchanged, "E01", "ValueError", "distil" if kind == "scores" else "triplet", f"{stem}.jsonl")
        for kind, stem in ((kind, name.removesuffix(".ndjson")) for kind, name in NAMES.items())
    ),
)

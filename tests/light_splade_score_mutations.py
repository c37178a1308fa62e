"""Mutations of the teacher scores of the distil variant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.light_splade_mutations import UNKNOWN, Mutation, NothingToChange, Target, dumped, mutation

SCORE_MUTATIONS: list[Mutation] = []
score = partial(mutation, SCORE_MUTATIONS)

SPELLINGS: dict[str, Callable[[str], str]] = {
    "spaces": lambda key: f" {key} ",
    "newline": lambda key: f"{key}\n",
    "nbsp": lambda key: f"\u00a0{key}",
    "leading-zero": lambda key: key.replace("-", "-00") if "-" in key else f"0{key}",
    "plus": lambda key: key if "-" in key else f"+{key}",
    "full-width": lambda key: key.translate({ord("0") + i: 0xFF10 + i for i in range(10)}),
    "arabic-indic": lambda key: key.translate({ord("0") + i: 0x660 + i for i in range(10)}),
    "underscore": lambda key: f"{key[:-1]}_{key[-1]}" if key[:-1].strip("-") else f"0_{key}".replace("0_-", "-0_"),
}


def _pick(t: Target) -> tuple[int, dict[str, Any], dict[str, Any], list[Any]]:
    """A line of the scores of a trained query: its index, itself, its scores, and the query's positives."""
    trained = t.draft.files[t.draft.training, "positives"].rows
    positives = {row["qid"]: row.get("positive_doc_ids") for row in trained if isinstance(row, dict) and "qid" in row}
    for index, row in t.shuffled():
        listed = positives.get(row["qid"])
        if isinstance(row.get("scores"), dict) and isinstance(listed, list):
            return index, row, row["scores"], listed
    raise NothingToChange


def _value(name: str, codes: str, value: Any) -> None:
    """A mutation of one score of a positive or a known negative."""

    def change(t: Target) -> None:
        index, row = t.pick()
        key = t.rng.choice(list(row["scores"]))
        t.rows[index] = dumped(row | {"scores": row["scores"] | {key: "@"}}).replace('"@"', value, 1)

    score(name, scores=codes)(change)


_value("score-null", "E34", "null")
_value("score-text", "E34", '"6.5"')
_value("score-true", "E34", "true")
_value("score-nan", "E34", "NaN")
_value("score-infinity", "E34", "Infinity")
_value("score-minus-infinity", "E34", "-Infinity")
_value("score-list", "E34", "[1]")
_value("score-beyond-floats", "E34", "1e400")
_value("score-integer-beyond-floats", "E34", "1" + "0" * 400)
_value("score-with-plus", "E04", "+1")
_value("score-hexadecimal", "E04", "0x1F")
_value("score-without-leading-zero", "E04", ".5")
_value("score-point-at-end", "E04", "5.")
_value("score-minus-zero", "", "-0.0")
_value("score-tiny", "", "1e-400")
_value("score-with-many-digits", "", "0." + "3" * 400)
_value("score-at-the-cap", "W13", "1000000")


@score("scores-as-list", scores="E")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"scores": [[key, value] for key, value in row["scores"].items()]}


@score("scores-null", scores="E")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"scores": None}


@score("scores-empty", scores="E31")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"scores": {}}


@score("scores-empty-of-unknown-query", scores="W12")
def _(t: Target) -> None:
    t.rows.append({"qid": UNKNOWN, "scores": {}})


@score("positive-without-score", scores="E31")
def _(t: Target) -> None:
    index, row, scores, positives = _pick(t)
    lost = str(t.rng.choice(positives))
    t.rows[index] = row | {"scores": {key: value for key, value in scores.items() if key != lost}}


@score("no-negative", scores="E32")
def _(t: Target) -> None:
    index, row, scores, positives = _pick(t)
    t.rows[index] = row | {"scores": {key: value for key, value in scores.items() if int(key) in positives}}


@score("no-known-negative", scores="E32")
def _(t: Target) -> None:
    index, row, scores, positives = _pick(t)
    kept = {key: value for key, value in scores.items() if int(key) in positives}
    t.rows[index] = row | {"scores": kept | {str(UNKNOWN): -1.0}}


@score("unknown-document-scored", scores="W12")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"scores": row["scores"] | {str(UNKNOWN): 1.0}}


@score("all-scores-equal", scores="W10")
def _(t: Target) -> None:
    index, row = t.pick()
    t.rows[index] = row | {"scores": dict.fromkeys(row["scores"], 1.0)}


def _key(name: str, codes: str, spell: Callable[[str], str], keep: bool) -> None:
    """A mutation of the spelling of one key, which may stand beside the plain spelling."""

    def change(t: Target) -> None:
        index, row = t.pick()
        old = t.rng.choice(list(row["scores"]))
        scores = {spell(key) if key == old else key: value for key, value in row["scores"].items()}
        t.rows[index] = row | {"scores": scores | ({old: 0.5} if keep else {})}

    score(name, scores=codes)(change)


_key("key-decimal", "E33", lambda key: f"{key}.0", False)
_key("key-with-letter", "E33", lambda key: f"d{key}", False)
_key("key-empty", "E33", lambda _: "", False)
_key("key-with-two-underscores", "E33", lambda key: f"1__{key}", False)
_key("key-superscript", "E33", lambda _: "\u00b2", False)
_key("key-with-zero-width-space", "E33", lambda key: f"\u200b{key}", False)
for _name, _spell in SPELLINGS.items():
    _key(f"key-with-{_name}", "", _spell, False)
for _name in ("spaces", "leading-zero", "full-width", "underscore"):
    _key(f"keys-that-meet-with-{_name}", "E33", SPELLINGS[_name], True)


@score("key-twice", scores="E14")
def _(t: Target) -> None:
    index, row = t.pick()
    key = next(iter(row["scores"]))
    text = dumped(row)
    t.rows[index] = text.replace('"scores": {', '"scores": {' + f'"{key}": 99, ', 1)


@score("lines-of-unknown-query-repeated", scores="E13")
def _(t: Target) -> None:
    _, row = t.pick()
    t.rows.extend([row | {"qid": UNKNOWN}, row | {"qid": UNKNOWN}])

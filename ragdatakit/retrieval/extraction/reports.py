"""Reports on communities by a language model: what is asked, and how a reply is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.asking import Asker, Task
from ragdatakit.retrieval.extraction.prompts import REPORT_AGAIN, report_request
from ragdatakit.retrieval.extraction.replies import UnreadableReplyError, answered, json_values, parse_text

MOST_TOKENS = 8000
"""Of what is said of a community, as GraphRAG has it."""
_OF_REPORT = 600  # tokens of a reply, for the estimate
_BEST = 10.0


@dataclass(frozen=True, slots=True)
class Subject:
    """A community: its number, and lines about its entities and relationships, the most important ones first."""

    number: int
    entities: Sequence[str]
    relationships: Sequence[str]

    def data(self) -> str:
        """As many of the lines as may be sent; half of the room is for entities where both are many."""
        entities = _cut(self.entities, MOST_TOKENS // 2 if self.relationships else MOST_TOKENS)
        left = MOST_TOKENS - sum(map(plain_tokens.count, entities))
        relationships = _cut(self.relationships, left)
        return "\n".join(("Entities:", *entities, *(("Relationships:", *relationships) if relationships else ())))


@dataclass(frozen=True, slots=True)
class FoundReport:
    """What a reply says; ``findings`` are summaries with explanations."""

    title: str
    summary: str
    rating: float
    why: str
    findings: tuple[tuple[str, str], ...]


def report_task(asker: Asker) -> Task[Subject, FoundReport]:
    """What is asked for each community."""
    options = asker.options
    return Task(
        items="communities",
        request=lambda subject: report_request(options.model, subject.data(), options.max_tokens),
        read=parse_report,
        again=REPORT_AGAIN,
        name=lambda subject: f"community {subject.number}",
        expected=lambda _: _OF_REPORT,
    )


def parse_report(text: str) -> FoundReport:
    """The report of a reply. Raises `UnreadableReplyError` where it has no title or no summary."""
    for value in json_values(answered(text)):
        if isinstance(value, dict) and isinstance(value.get("summary"), str) and isinstance(value.get("title"), str):
            findings = value.get("findings")
            listed = [_finding(each) for each in (findings if isinstance(findings, list) else ())]
            why = value.get("rating_explanation")
            return FoundReport(
                " ".join(parse_text(value["title"]).split()),
                parse_text(value["summary"]),
                _rating(value.get("rating")),
                parse_text(why) if isinstance(why, str) and why.strip() else "",
                tuple(each for each in listed if each is not None),
            )
    raise UnreadableReplyError("there is no JSON object with a title and a summary in it")


def _finding(value: Any) -> tuple[str, str] | None:
    if isinstance(value, str) and value.strip():
        return parse_text(value), ""
    if not isinstance(value, dict):
        return None
    found = [value.get(name) for name in ("summary", "explanation")]
    texts = [parse_text(each) if isinstance(each, str) and each.strip() else "" for each in found]
    return (texts[0] or texts[1], texts[1]) if any(texts) else None


def _rating(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return min(max(number, 0.0), _BEST) if number == number else 0.0


def _cut(lines: Sequence[str], most: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        most -= plain_tokens.count(line)
        if most < 0 and kept:
            break
        kept.append(line)
    return kept

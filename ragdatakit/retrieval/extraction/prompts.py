"""What a language model is asked: the entities of a text and the relations between them, as JSON.

A changed text is another request, so that no reply to an older prompt is taken for one to this. Count `VERSION` up with
every change: it is in the manifest of what was made.
"""

from __future__ import annotations

from typing import Any

VERSION = 1

SYSTEM = """You turn texts into knowledge graphs. Use only what the text says.
Answer with one JSON object and nothing else:
{"entities": [{"name": "...", "type": "...", "description": "..."}], "triples": [["subject", "relation", "object"]]}
Entities are people, organisations, places, works, dates, events, products and technical terms, named as in the text and
in its language; replace pronouns by the names that they stand for. "type" is one word, "description" at most one
sentence. Subjects and objects of triples are names of entities; a relation is a short verb phrase in small letters.
Where the text names nothing, answer {"entities": [], "triples": []}."""
_AGAIN = (
    "This cannot be read: {reason}. Answer again with one JSON object that has the members entities and triples, and "
    "nothing else."
)


def request_of(model: str, title: str | None, text: str, max_tokens: int) -> dict[str, Any]:
    """The payload of a chat completion that asks for the graph of one text."""
    asked = f"Title: {title}\n\n{text}" if title else text
    return {
        "model": model,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}],
        "temperature": 0,
        "max_tokens": max_tokens,
    }


def repair_of(request: dict[str, Any], reply: str, reason: str) -> dict[str, Any]:
    """The same request once more, with the reply that could not be read and why."""
    answered = {"role": "assistant", "content": reply}
    return {
        **request,
        "messages": [*request["messages"], answered, {"role": "user", "content": _AGAIN.format(reason=reason)}],
    }

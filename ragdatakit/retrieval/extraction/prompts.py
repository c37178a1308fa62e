"""What a language model is asked: the graph of a text, the context of a chunk, the summary of some texts.

A changed text is another request, so that no reply to an older prompt is taken for one to this. Count `VERSION` up with
every change: it is in the manifest of what was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

VERSION = 1

SYSTEM = """You turn texts into knowledge graphs. Use only what the text says.
Answer with one JSON object and nothing else:
{"entities": [{"name": "...", "type": "...", "description": "..."}], "triples": [["subject", "relation", "object"]]}
Entities are people, organisations, places, works, dates, events, products and technical terms, named as in the text and
in its language; replace pronouns by the names that they stand for. "type" is one word, "description" at most one
sentence. Subjects and objects of triples are names of entities; a relation is a short verb phrase in small letters.
Where the text names nothing, answer {"entities": [], "triples": []}."""
GRAPH_AGAIN = (
    "This cannot be read: {reason}. Answer again with one JSON object that has the members entities and triples, and "
    "nothing else."
)
DESCRIBED = """You turn texts into knowledge graphs. Use only what the text says.
Answer with one record on each line and nothing else. The fields of a record are separated by <|#|>:
entity<|#|>NAME<|#|>TYPE<|#|>DESCRIPTION
relation<|#|>SOURCE<|#|>TARGET<|#|>KEYWORDS<|#|>DESCRIPTION
First all entities: people, organisations, places, works, dates, events, products and technical terms, named as in the
text and in its language, in the same way everywhere; replace pronouns by the names that they stand for. TYPE is one
word. Then the relations between two of these entities: KEYWORDS are one to three general words with commas between
them. A DESCRIPTION is one or two sentences that can be understood alone. The last line is <|COMPLETE|>."""
DESCRIBED_AGAIN = (
    "This cannot be read: {reason}. Answer again with lines of the two forms entity<|#|>NAME<|#|>TYPE<|#|>DESCRIPTION "
    "and relation<|#|>SOURCE<|#|>TARGET<|#|>KEYWORDS<|#|>DESCRIPTION and <|COMPLETE|> at the end, and nothing else."
)
_MISSED = """Entities and relations of the text are missing, or their records are broken. Answer with the records of
these alone, in the same form; what was given whole is not repeated, and relations may name it. The last line is
<|COMPLETE|>; where nothing is missing it is the only one."""
_MERGE = """These are descriptions of {name}, each from another text. Write one description of it from them, in their
language and in the third person, with all that they say; where they contradict each other, say so. Answer with the
description and nothing else.

{texts}"""
_REPORT = """Write a report on a community of entities for readers who have to decide something. Use only this data.
Answer with one JSON object and nothing else:
{{"title": "...", "summary": "...", "rating": 5.0, "rating_explanation": "...",
"findings": [{{"summary": "...", "explanation": "..."}}]}}
"title" names the most important entities, "summary" says in a paragraph what holds the community together, "rating"
from 0 to 10 is how much it matters, "rating_explanation" says why in a sentence, and five to ten "findings" are what is
most important, each in a sentence and in a paragraph.

{data}"""
REPORT_AGAIN = (
    "This cannot be read: {reason}. Answer again with one JSON object that has the members title, summary, rating, "
    "rating_explanation and findings, and nothing else."
)
_DOCUMENT = "<document>\n{document}\n</document>\n\n"
_CONTEXT = """Here is the chunk we want to situate within the whole document
<chunk>
{chunk}
</chunk>

Please give a short succinct context to situate this chunk within the overall document for the purposes of improving \
search retrieval of the chunk. Answer only with the succinct context and nothing else."""
_SUMMARY = "Write a summary of the following, including as many key details as possible: {texts}:"
TEXT_AGAIN = "This cannot be used: {reason}. Answer again with the text that was asked for, and nothing else."

REPORT_TOKENS = 2000
GRAPH_TOKENS, CONTEXT_TOKENS, SUMMARY_TOKENS = 2048, 1000, 200
"""How long a reply may be where nothing else is asked for."""


def graph_request(model: str, title: str | None, text: str, max_tokens: int, described: bool = False) -> dict[str, Any]:
    """The payload of a chat completion that asks for the graph of one text."""
    asked = f"Title: {title}\n\n{text}" if title else text
    return _request(model, asked, max_tokens or GRAPH_TOKENS, DESCRIBED if described else SYSTEM)


def missed_request(request: dict[str, Any], reply: str) -> dict[str, Any]:
    """The payload that asks for what the ``reply`` to a request for a described graph has missed."""
    return repair_of(request, reply, _MISSED)


def merge_request(model: str, name: str, descriptions: Sequence[str], max_tokens: int) -> dict[str, Any]:
    """The payload that asks for one description of what several texts describe."""
    asked = _MERGE.format(name=name, texts="\n".join(f"- {text}" for text in descriptions))
    return _request(model, asked, max_tokens or GRAPH_TOKENS)


def report_request(model: str, data: str, max_tokens: int) -> dict[str, Any]:
    """The payload that asks for the report on a community, of what is known of it."""
    return _request(model, _REPORT.format(data=data), max_tokens or REPORT_TOKENS)


def context_request(model: str, document: str, chunk: str, max_tokens: int) -> dict[str, Any]:
    """The payload that asks for the context of a chunk. All chunks of a document have the same beginning, which servers
    keep."""
    asked = _DOCUMENT.format(document=document) + _CONTEXT.format(chunk=chunk)
    return _request(model, asked, max_tokens or CONTEXT_TOKENS)


def summary_request(model: str, texts: Sequence[str], max_tokens: int) -> dict[str, Any]:
    """The payload that asks for the summary of some texts, in RAPTOR's words."""
    joined = "\n\n".join(" ".join(text.splitlines()) for text in texts)
    return _request(model, _SUMMARY.format(texts=joined), max_tokens or SUMMARY_TOKENS)


def _request(model: str, asked: str, max_tokens: int, system: str = "") -> dict[str, Any]:
    messages = [{"role": "system", "content": system}] if system else []
    return {
        "model": model,
        "messages": [*messages, {"role": "user", "content": asked}],
        "temperature": 0,
        "max_tokens": max_tokens,
    }


def repair_of(request: dict[str, Any], reply: str, complaint: str) -> dict[str, Any]:
    """The same request once more, with the reply that could not be read and what is said of it."""
    answered = {"role": "assistant", "content": reply}
    return {**request, "messages": [*request["messages"], answered, {"role": "user", "content": complaint}]}

"""What a search found, for people and as JSON; and what an index holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson

from ragdatakit.reports.terminal import Painter, one_line, painter, width_of
from ragdatakit.schemas.retrieved import (
    ContextItem,
    GoldPlace,
    Hit,
    IndexSummary,
    PathStep,
    Retrieval,
    Snippet,
    StoredIndex,
    Term,
)
from ragdatakit.schemas.texts import shortened, size
from ragdatakit.visible_text import visible_text

VERSION = 1
_HALVES = re.compile("[\ud800-\udfff]")
_INDENT = "    "
_MOST_SEEDS = 8
_MOST_TERMS = 8
_LONGEST_TITLE = 120
_LONGEST_QUESTION = 1000


def retrieval_lines(
    found: Retrieval,
    gold: Sequence[GoldPlace] | None = None,
    *,
    colour: bool = False,
    width: int = 100,
    explain: bool = False,
) -> Iterator[str]:
    """The screen of one search; ``gold`` are the relevant targets where they are known."""
    paint = painter(colour)
    if found.query.question_id is not None:
        question = shortened(one_line(found.query.text), _LONGEST_QUESTION)
        yield paint("bold", f"{_id(found.query.question_id)}: {question}")
    if found.seeds:
        more = f" and {len(found.seeds) - _MOST_SEEDS:,} more" if len(found.seeds) > _MOST_SEEDS else ""
        yield paint("dim", f"from {', '.join(map(_id, found.seeds[:_MOST_SEEDS]))}{more}")
    relevant = {place.target_id for place in gold or ()}
    for hit in found.hits:
        yield from _hit_lines(hit, relevant, paint, colour, width)
    if not found.hits:
        yield "Nothing was found."
    for note in found.notes:
        if found.hits or note != "Nothing was found.":
            yield paint("warning", one_line(note))
    if found.candidates is not None:
        yield from _candidate_lines(found.candidates, paint)
    if gold is not None:
        yield from _gold_lines(gold, found, paint, width if explain else 0, colour)


def _hit_lines(hit: Hit, relevant: set[str], paint: Painter, colour: bool, width: int) -> Iterator[str]:
    is_gold = hit.passage_id in relevant or hit.document_id in relevant
    place = f"{hit.rank:3} " if not is_gold else paint("good", f"{hit.rank:3} ")
    title = f"  {paint('bold', shortened(one_line(hit.title), _LONGEST_TITLE))}" if hit.title else ""
    mark = f"  {paint('good', 'gold')}" if is_gold else ""
    yield f"{place} {hit.score:8.4g}  {_id(hit.passage_id)}{title}{mark}"
    if hit.snippet is not None:
        yield from snippet_lines(hit.snippet, colour, width)
    if hit.path:
        yield f"{_INDENT}{paint('dim', path_text(hit.path))}"
    if hit.ranks:
        ranks = ", ".join(f"{mode} {rank}" for mode, rank in hit.ranks.items())
        yield f"{_INDENT}{paint('dim', f'rank by {ranks}')}"


_KINDS = {"entity": "entities", "relation": "relations", "claim": "claims", "chunk": "chunks", "summary": "summaries"}
_MOST_LEFT_OUT = 5


def _candidate_lines(items: Sequence[ContextItem], paint: Painter) -> Iterator[str]:
    """The candidates for a context by kind, with why each was found; of those that are left out the first."""
    inside = [item for item in items if not item.cut]
    counts = {kind: sum(item.kind == kind for item in inside) for kind in _KINDS}
    counted = ", ".join(f"{count:,} {_KINDS[kind] if count != 1 else kind}" for kind, count in counts.items() if count)
    yield ""
    yield paint("bold", f"Context: {counted or 'nothing'}")
    for kind in dict.fromkeys(item.kind for item in items):
        listed = [item for item in items if item.kind == kind]
        out = [item for item in listed if item.cut]
        for item in [item for item in listed if not item.cut] + out[:_MOST_LEFT_OUT]:
            score = "        " if item.score is None else f"{item.score:8.4g}"
            tokens = f", {item.tokens:,} tokens" if item.tokens is not None else ""
            yield f"{item.place:3} {score}  {paint('dim', item.kind)} {_id(item.name)}"
            yield paint("dim", f"{_INDENT}{one_line(item.why)}{tokens}")
            if item.cut:
                yield paint("warning", f"{_INDENT}left out: {one_line(item.cut)}")
        if len(out) > _MOST_LEFT_OUT:
            yield paint("dim", f"{_INDENT}{len(out) - _MOST_LEFT_OUT:,} more {_KINDS[kind]} left out")


def _id(text: str) -> str:
    """An id, or the name of a node."""
    return shortened(visible_text(text[: _LONGEST_TITLE + 1]), _LONGEST_TITLE)


def path_text(path: Sequence[PathStep]) -> str:
    """The way through the graph, as ``Turing —born in→ London ←located in— Thames``."""
    if not path:
        return ""
    text = _id(path[0].source)
    for step in path:
        relation = one_line(step.relation) or "—"
        text += f" —{relation}→ " if step.forward else f" ←{relation}— "
        text += _id(step.target)
    return text


def snippet_lines(snippet: Snippet, colour: bool, width: int) -> Iterator[str]:
    """The snippet, indented and cut into lines; matched terms are bold, or in «» where there is no colour."""
    opening, closing = ("\x1b[1m", "\x1b[0m") if colour else ("«", "»")
    room = max(width - len(_INDENT) - (0 if colour else 8), 20)
    before, after = "…" if snippet.before else "", "…" if snippet.after else ""
    starts = {start for start, _ in snippet.marks}
    ends = {end for _, end in snippet.marks}
    spans = list(_broken(snippet.text, room))
    for number, (start, end) in enumerate(spans):
        line = ""
        inside = any(a < start < b for a, b in snippet.marks)
        line += opening if inside else ""
        for place in range(start, end):
            line += opening if place in starts else ""
            line += snippet.text[place] if snippet.text[place].isprintable() else " "
            line += closing if place + 1 in ends else ""
        if any(a < end < b for a, b in snippet.marks):
            line += closing
        yield f"{_INDENT}{before if number == 0 else ''}{line}{after if number == len(spans) - 1 else ''}"


def _broken(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Where lines of at most ``room`` columns begin and end: at blanks where there are any."""
    start, used, blank = 0, 0, -1
    for place, character in enumerate(text):
        columns = width_of(character)
        if used + columns > room:
            end = blank if blank > start else place
            yield start, end
            start = end + 1 if end == blank else end
            used = width_of(text[start:place])
        used += columns
        if character == " ":
            blank = place
    if start < len(text):
        yield start, len(text)


def _gold_lines(gold: Sequence[GoldPlace], found: Retrieval, paint: Painter, width: int, colour: bool) -> Iterator[str]:
    """Where the gold is; with a width also why."""
    yield ""
    if not gold:
        yield "The dataset has no gold for this question."
        return
    reached = sum(place.rank is not None and place.rank <= found.k for place in gold)
    yield paint("bold", f"Gold: {reached:,} of {len(gold):,} within the first {found.k:,}")
    for place in gold:
        title = f"  {shortened(one_line(place.title), _LONGEST_TITLE)}" if place.title else ""
        yield f"{_INDENT}{_id(place.target_id)}  {_place_words(place, found.k, paint)}{title}"
        if width and not place.fault:
            yield from (f"{_INDENT * 2}{line}" for line in _why_lines(place, paint, width, colour))
    if width and any(place.shared or place.missing for place in gold):
        yield paint("dim", f"{_INDENT}(numbers: how many passages have the term)")


def _why_lines(place: GoldPlace, paint: Painter, width: int, colour: bool) -> Iterator[str]:
    """Why a gold passage is found or not, and what there is to see of it that is not among the hits."""
    is_copied = place.cause is not None and place.cause.kind == "copy"
    if why := place.why or (place.reason if is_copied else ""):
        yield paint("warning", f"why    {one_line(why)}")
    if place.ranks:
        ranks = (f"{mode} {'—' if rank is None else f'{rank:,}'}" for mode, rank in place.ranks.items())
        yield paint("dim", f"rank by {', '.join(ranks)}")
    if place.path:
        yield paint("dim", path_text(place.path))
    if place.shared or place.missing:
        yield f"has    {_terms(place.shared) or 'no term of the question'}"
    if place.missing:
        yield f"lacks  {_terms(_rarest(place.missing))}{_more(place.missing)}"
    if place.snippet is not None:
        for number, line in enumerate(snippet_lines(place.snippet, colour, width - len(_INDENT) - 7)):
            yield f"{'' if number else 'text':7}{line.removeprefix(_INDENT)}"


def _place_words(place: GoldPlace, k: int, paint: Painter) -> str:
    if place.fault:
        return paint("error", place.fault)
    if place.rank is None:
        return paint("error", f"not within the first {place.depth:,}")
    return paint("good" if place.rank <= k else "warning", f"rank {place.rank:,}")


def _rarest(terms: Sequence[Term]) -> Sequence[Term]:
    """The terms, or those that say most where there are too many."""
    if len(terms) <= _MOST_TERMS:
        return terms
    return sorted(terms, key=lambda term: (term.spelled is None, term.passages))[:_MOST_TERMS]


def _more(terms: Sequence[Term]) -> str:
    return f" … and {len(terms) - _MOST_TERMS:,} more" if len(terms) > _MOST_TERMS else ""


def _terms(terms: Iterable[Term]) -> str:
    return ", ".join(map(_term, terms))


def _term(term: Term) -> str:
    spelled = f", but has {one_line(term.spelled)}" if term.spelled is not None else ""
    return f"{one_line(term.text)} ({term.passages:,}{spelled})"


def retrieval_dict(found: Retrieval, gold: Sequence[GoldPlace] | None = None) -> dict[str, Any]:
    """The JSON form of one search."""
    document = found.as_dict()
    return document if gold is None else {**document, "gold": [_gold_dict(place) for place in gold]}


def _gold_dict(place: GoldPlace) -> dict[str, Any]:
    return {
        "id": place.target_id,
        "grade": place.grade,
        "rank": place.rank,
        "depth": place.depth,
        "fault": place.fault or None,
        "title": place.title,
        "shared": [{"text": term.text, "passages": term.passages} for term in place.shared],
        "missing": [{"text": term.text, "passages": term.passages} for term in place.missing],
        "why": place.why or None,
        "cause": None if place.cause is None else asdict(place.cause),
        "snippet": None if place.snippet is None else place.snippet.as_dict(),
        "ranks": dict(place.ranks),
        "path": [step.as_dict() for step in place.path],
    }


def json_head(summary: IndexSummary, mode: str, k: int) -> bytes:
    """The beginning of the JSON document of searches, version 1; then come `json_query` and `JSON_TAIL`."""
    head = {
        "version": VERSION,
        "dataset": summary.dataset,
        "name": summary.name,
        "format": summary.format,
        "index": summary.folder,
        "unit": summary.unit,
        "passages": summary.passages,
        "mode": mode,
        "k": k,
    }
    return _json(head).removesuffix(b"}") + b',"queries":['


JSON_TAIL = b"]}\n"


def json_query(found: Retrieval, gold: Sequence[GoldPlace] | None, first: bool) -> bytes:
    """One search in the JSON document."""
    return (b"\n" if first else b",\n") + _json(retrieval_dict(found, gold))


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # halves of characters, which UTF-8 cannot hold
        return orjson.dumps(_whole(value))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_whole(name): _whole(member) for name, member in value.items()}
    return [_whole(member) for member in value] if isinstance(value, list | tuple) else value


def head_line(summary: IndexSummary, mode: str) -> str:
    """What was searched, in one line; where the index lies if it was built now."""
    unit = summary.unit if summary.passages == 1 else f"{summary.unit}s"
    words = f"{_name(summary)} ({summary.format}): {summary.passages:,} {unit}, mode {mode}"
    built = [part for part in summary.parts if part.built]
    if not built:
        return words
    seconds = sum(part.seconds for part in built)
    return f"{words}; index built in {seconds:.1f} s: {visible_text(summary.folder)}"


def _name(summary: IndexSummary) -> str:
    """What the user called the dataset, and its own name where that is another."""
    place = summary.dataset.rstrip("/").rsplit("/", 1)[-1]
    if not place.strip(".") or place == summary.name or place.startswith(f"{summary.name}."):
        return visible_text(summary.name)
    return f"{visible_text(place)} ({visible_text(summary.name)})"


def time_line(found: Retrieval) -> str:
    """How many were found, and how long the search alone took."""
    return f"Found {len(found.hits):,} in {found.seconds * 1000:.1f} ms"


def index_lines(
    summary: IndexSummary, modes: Sequence[str], named: Sequence[str], lacks: Mapping[str, str], colour: bool = False
) -> Iterator[str]:
    """What an index holds, and by which modes it can be searched; ``named`` are those that are built where they are
    asked for."""
    paint = painter(colour)
    unit = summary.unit if summary.passages == 1 else f"{summary.unit}s"
    yield paint("bold", f"{visible_text(summary.dataset)}: {summary.format}, {summary.passages:,} {unit}")
    yield f"  index    {visible_text(summary.folder)}"
    for part in summary.parts:
        how = f"built in {part.seconds:.1f} s" if part.built else "was there"
        facts = "".join(f", {value:,} {_fact_name(name, value)}" for name, value in _counts(part.facts))
        yield f"  {part.kind:8} {how}, {size(part.bytes)}{facts}"
    for note in summary.notes:
        yield paint("dim", f"  {visible_text(note)}")
    yield f"  modes    {', '.join(modes)}"
    if named:
        yield f"  by name  {', '.join(named)}"
    for mode, lack in lacks.items():
        yield paint("dim", f"  no {mode}: {lack}")


_OF_ONE = {
    "entities": "entity",
    "edges": "edge",
    "joined_pairs": "joined pair",
    "passages_with_edges": "passage with edges",
    "summaries": "summary",
    "layers": "layer",
}


def _fact_name(name: str, value: int) -> str:
    return (_OF_ONE.get(name, name) if value == 1 else name).replace("_", " ")


def _counts(facts: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in facts.items():
        if isinstance(value, int) and not isinstance(value, bool) and name != "passages":
            yield name, value


def index_json(summary: IndexSummary, modes: Sequence[str], lacks: Mapping[str, str]) -> bytes:
    """The JSON document about an index, version 1."""
    document = summary.as_dict()
    notes = document.pop("notes")
    document |= {"modes": list(modes), "unavailable": dict(lacks), "notes": notes}
    return orjson.dumps(_whole(document), option=orjson.OPT_INDENT_2) + b"\n"


def stored_lines(indexes: Sequence[StoredIndex], colour: bool = False) -> Iterator[str]:
    """A list of indexes."""
    paint = painter(colour)
    if not indexes:
        yield "There are no indexes in the cache."
        return
    names = [visible_text(index.name) for index in indexes]
    width = max(map(len, names))
    for index, name in zip(indexes, names, strict=True):
        state = paint("good" if index.state == "current" else "warning", f"{index.state:8}")
        parts = ", ".join(index.parts) or "no parts"
        yield f"{state} {name:{width}}  {index.passages:>11,} passages  {size(index.bytes):>9}  {parts}"
        yield paint(
            "dim", f"         {visible_text(index.dataset) or 'unknown dataset'} → {visible_text(index.folder)}"
        )
    total = size(sum(index.bytes for index in indexes))
    old = sum(index.state != "current" for index in indexes)
    yield f"{len(indexes):,} index{'es' * (len(indexes) != 1)}, {total}" + (
        f"; `ragdata index --prune` removes {old:,} of them" if old else ""
    )


def stored_json(indexes: Sequence[StoredIndex], removed: bool = False) -> bytes:
    """A list of indexes as JSON, version 1."""
    listed = [
        {
            "folder": index.folder,
            "name": index.name,
            "format": index.format,
            "dataset": index.dataset,
            "passages": index.passages,
            "parts": list(index.parts),
            "bytes": index.bytes,
            "made": index.made or None,
            "state": index.state,
        }
        for index in indexes
    ]
    document = {"version": VERSION, "removed" if removed else "indexes": listed}
    return orjson.dumps(_whole(document), option=orjson.OPT_INDENT_2) + b"\n"

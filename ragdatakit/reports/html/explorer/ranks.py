"""What a retriever finds for a question, and the ranks of the gold of all, with what keeps it from the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragdatakit.reports.html.explorer.layout import link, page, still_reading, target_html
from ragdatakit.reports.html.explorer.values import (
    DatasetState,
    Found,
    Links,
    RankedGold,
    RankedQuestion,
    RankedQuestions,
    Record,
    Target,
)
from ragdatakit.reports.html.parts import Cell, badge, escape, linked_html, marked, number, prose_html, section, table
from ragdatakit.reports.rule_addresses import page_address
from ragdatakit.schemas.retrieved import GoldPlace, Hit
from ragdatakit.schemas.search.gold_causes import BY_OTHER_WORDS, CauseKind, cause_of_questions
from ragdatakit.schemas.texts import many, shortened

_SHOWN_RANKS, _SHOWN_CAUSES, _LONGEST_ID, _LONGEST_TEXT = 5, 3, 60, 300


def search_section(
    links: Links,
    dataset: DatasetState,
    record: Record,
    mode: str,
    modes: Sequence[str],
    found: Found | None,
    waiting: str,
) -> str:
    """What is found for a question: its gold with what keeps it from the top, and the passages at the top."""
    address = f"{links.record(dataset.number, record.table, record.row)}#search"
    form = _modes(address, modes or [mode or "bm25"], mode)
    if waiting:
        return f'{form}<p role="status">{escape(waiting)} …</p>{still_reading()}'
    if found is None:
        return form
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    hits = [_hit(links, dataset, *each) for each in found.hits]
    heads = ("rank", "score", "judged", "passage")
    listed = table("Passages that are found", heads, hits, classes="blocks") if hits else "<p>Nothing.</p>"
    rows = [_gold(links, dataset, *each) for each in found.gold]
    columns = ("passage", "why", "rank", "has of the question", "lacks of the question")
    gold = table("Gold", columns, rows, classes="blocks why-first") if rows else "<p>The question has no gold.</p>"
    asks_for_vectors = any(place.cause is not None and place.cause.kind in BY_OTHER_WORDS for place, _ in found.gold)
    return f"{form}{notes}{gold}{_vectors(modes) if asks_for_vectors else ''}{listed}"


def _vectors(modes: Sequence[str]) -> str:
    """How one searches by vectors here, while there are none."""
    if "dense" in modes:
        return ""
    address = page_address("retrieval")
    more = f" {link(address, 'How to search by vectors')}" if address else ""
    return (
        "<p>With <code>ragdata explore … --embedder KIND:MODEL</code> or <code>--vectors FILE</code> these pages "
        f"search by vectors, too.{more}</p>"
    )


def _modes(address: str, modes: Sequence[str], mode: str, splits: str = "") -> str:
    """A form by which one chooses how to search, and of ``splits``, if there are any."""
    choices = "".join(f"<option{' selected' * (each == mode)}>{escape(each)}</option>" for each in modes)
    return (
        f'<form class="tools" action="{escape(address)}"><label>Mode<select name="mode">{choices}</select></label>'
        f'{splits}<button type="submit">Search</button></form>'
    )


def _splits(ranked: RankedQuestions) -> str:
    """The choice of a split, where there are several."""
    if len(ranked.splits) < 2:
        return ""
    named = "".join(f"<option{' selected' * (each == ranked.split)}>{escape(each)}</option>" for each in ranked.splits)
    return f'<label>Split<select name="split"><option value="">all</option>{named}</select></label>'


def _hit(links: Links, dataset: DatasetState, hit: Hit, is_gold: bool, target: Target) -> tuple[Any, ...]:
    snippet = hit.snippet
    words = escape(shortened(hit.text, _LONGEST_TEXT))
    if snippet is not None:
        words = f"{'…' * snippet.before}{marked(snippet.text, snippet.marks)}{'…' * snippet.after}"
    passage = f'{target_html(links, dataset.number, target)}<br><span dir="auto">{words}</span>'
    return str(hit.rank), hit.score, Cell(badge("gold", "good") if is_gold else ""), Cell(passage)


def _gold(links: Links, dataset: DatasetState, place: GoldPlace, target: Target) -> tuple[Any, ...]:
    rank = str(place.rank) if place.rank is not None else "" if place.fault else f"not in the first {place.depth:,}"
    has, lacks = (", ".join(term.text for term in terms) for terms in (place.shared, place.missing))
    why = f'<span dir="auto">{prose_html(place.reason)}</span>' if place.reason else ""
    is_named_only = target.row is None and place.fault  # which says that it is not there
    named = f"<code>{escape(target.id)}</code>" if is_named_only else target_html(links, dataset.number, target)
    return Cell(named), Cell(why), rank, has, lacks


def ranks_page(links: Links, dataset: DatasetState, mode: str, ranked: RankedQuestions, modes: Sequence[str]) -> bytes:
    """The questions with the ranks of their gold, the worst first, and how many of them each cause has."""
    address = links.ranks(dataset.number)
    gold = "the gold" if ranked.single else "gold"
    words = {kind: cause_of_questions(kind, gold, k=ranked.k, depth=ranked.depth) for kind in ranked.causes}
    title = f"All {many(ranked.judged, 'question')}"
    if ranked.cause is not None:
        title = f"{number(ranked.causes[ranked.cause])} of {many(ranked.judged, 'question')}: {words[ranked.cause]}"
    elif not ranked.causes:
        title += f": {gold} is in the first {ranked.k:,}"
    rows = [_question(links, dataset, mode, one) for one in ranked.worst]
    columns = ("question", "why", "ranks of its gold")
    listed = table("Questions", columns, rows, hidden_caption=True, classes="blocks why-first")
    body = (
        _joined_wrongly(ranked)
        + _modes(address, modes, mode, _splits(ranked))
        + _causes(links, dataset, mode, ranked, words)
    )
    body += section("questions", title, listed, lead=_lead(ranked))
    lead = f"{dataset.name}: {number(ranked.missed)} of {many(ranked.judged, 'judged question')} miss all of their gold"
    return page(links, "Ranks of gold", body, lead=lead, dataset=dataset, here=address)


def _joined_wrongly(ranked: RankedQuestions) -> str:
    """What shows that questions, judgements and passages are not of one set."""
    notes = []
    if ranked.nameless:
        are = "is judged and is" if ranked.nameless == 1 else "are judged and are"
        notes.append(
            f"{many(ranked.nameless, 'more question')} {are} not among the questions of the dataset: are these "
            "judgements those of another split, or are the ids written otherwise?"
        )
    notes += ranked.patterns
    items = (
        f'<li class="warning">{badge("warning", "warning")}<span dir="auto">{escape(n)}</span></li>' for n in notes
    )
    return f'<ul class="notes">{"".join(items)}</ul>' if notes else ""


def _lead(ranked: RankedQuestions) -> str:
    """Which of the questions are listed."""
    of_cause = ranked.causes[ranked.cause] if ranked.cause else ranked.judged
    if len(ranked.worst) < of_cause:
        return f"The worst {number(len(ranked.worst))} of them."
    return "" if ranked.cause else "The worst first."


def _causes(
    links: Links, dataset: DatasetState, mode: str, ranked: RankedQuestions, words: dict[CauseKind, str]
) -> str:
    """How many questions each cause has; each leads to these questions alone."""
    if not ranked.causes:
        return ""
    items = []
    for kind in (None, *ranked.causes):
        count = number(ranked.causes[kind] if kind else ranked.judged)
        current = ' aria-current="true"' if kind == ranked.cause else ""
        to = escape(links.ranks(dataset.number, mode, kind or "", ranked.split))
        named = escape(words[kind]) if kind else "all questions"
        items.append(f'<li><a href="{to}"{current}><b>{count}</b> {named}</a></li>')
    return f'<nav class="causes" aria-label="Causes"><ul>{"".join(items)}</ul></nav>'


def _question(links: Links, dataset: DatasetState, mode: str, one: RankedQuestion) -> tuple[Cell, Cell, str]:
    ranks = ", ".join("not found" if each.rank is None else str(each.rank) for each in one.gold[:_SHOWN_RANKS])
    ranks += " …" * (len(one.gold) > _SHOWN_RANKS)
    target = one.question
    to = links.record(dataset.number, target.table, target.row, mode=mode) if target.row is not None else ""
    question = linked_html(escape(shortened(target.id, _LONGEST_ID)), to)
    question += f' <span class="label" dir="auto">{escape(target.label)}</span>' if target.label else ""
    return Cell(question), Cell(_why(one.gold)), ranks


def _why(gold: Sequence[RankedGold]) -> str:
    """The cause of each gold target that is not among the first results."""
    causes = [
        f'<code dir="auto">{escape(shortened(each.id, _LONGEST_ID))}</code> {escape(each.cause.words)}'
        for each in gold
        if each.cause is not None
    ]
    more = f"<br>and {len(causes) - _SHOWN_CAUSES:,} more" if len(causes) > _SHOWN_CAUSES else ""
    return "<br>".join(causes[:_SHOWN_CAUSES]) + more

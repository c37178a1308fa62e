"""RAGChecker's metrics as bars, and the claims that failed below the answers that they are about."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.reports.html.parts import Cell, badge, bar, details, escape, table
from ragdatakit.reports.summary.claims import claim_words
from ragdatakit.schemas.search.claims import CheckedAnswer, ClaimScores, FailedClaim
from ragdatakit.schemas.texts import many, shortened

_MOST_ANSWERS, _MOST_CLAIMS, _OPEN = 25, 20, 2
_ID, _CLAIM, _QUESTION = 60, 400, 160


def claims_html(scores: ClaimScores | None, prefix: str) -> str:
    """The means with a bar for each, and the claims that failed by answer; empty without labels."""
    if scores is None:
        return ""
    rows = [
        (
            name.replace("_", " "),
            group.removesuffix("_metrics"),
            Cell(f"{value:.1f}\u2009%", numeric=True),
            Cell(bar(value, 100)),
        )
        for group, metrics in scores.groups.items()
        for name, value in metrics.items()
    ]
    out = f'<p class="small muted">{escape(claim_words(scores))}.</p>'
    out += table("RAGChecker's metrics", ("metric", "of", "mean", ""), rows, classes="bars")
    return out + _failed(scores, prefix) if scores.failed else out


def _failed(scores: ClaimScores, prefix: str) -> str:
    by_answer: dict[str, list[FailedClaim]] = {}
    for claim in scores.failed:
        by_answer.setdefault(claim.question_id, []).append(claim)
    about = {answer.question_id: answer for answer in scores.answers}
    listed = list(by_answer.items())[:_MOST_ANSWERS]
    items = "".join(
        _answer(name, claims, about.get(name), f"{prefix}-answer-{number}", number < _OPEN)
        for number, (name, claims) in enumerate(listed)
    )
    shown = sum(len(claims[:_MOST_CLAIMS]) for _, claims in listed)
    left = len(scores.failed) - shown
    more = f'<p class="small muted">And {many(left, "other claim")} at least.</p>' if left else ""
    return f'<h3 id="{escape(prefix)}-failed">Claims that failed</h3><div class="examples answers">{items}</div>{more}'


def _answer(name: str, claims: list[FailedClaim], about: CheckedAnswer | None, identity: str, opened: bool) -> str:
    question = about.question if about is not None else ""
    head = (
        f"{badge(many(len(claims), 'claim'), 'error')} "
        f'<span class="preview" dir="auto">{escape(shortened(question or name, _QUESTION))}</span>'
    )
    rows = [
        (
            shortened(claim.claim, _CLAIM),
            claim.of,
            claim.why,
            Cell(", ".join(map(_id, claim.passages)) or '<span class="none">none</span>'),
        )
        for claim in claims[:_MOST_CLAIMS]
    ]
    heads = ("claim", "of the", "why it failed", "passages that say it")
    listed = table("Claims", heads, rows, hidden_caption=True, classes="blocks")
    fields = "".join(f'<dt>{escape(term)}</dt><dd dir="auto">{text}</dd>' for term, text in _fields(name, about))
    return details(head, f'<dl class="record" id="{escape(identity)}">{fields}</dl>{listed}', opened=opened)


def _fields(name: str, about: CheckedAnswer | None) -> Iterator[tuple[str, str]]:
    yield "id", _id(name)
    if about is None:
        return
    yield "question", escape(about.question)
    for term, text in (("right answer", about.right_answer), ("response", about.response)):
        if text is not None:
            yield term, escape(text)
    yield "retrieved", escape(many(about.retrieved, "passage"))
    for passage in about.passages:
        yield f"rank {passage.rank}", f"{_id(passage.passage_id)} {escape(passage.text)}"


def _id(name: str) -> str:
    return f"<code>{escape(shortened(name, _ID))}</code>"

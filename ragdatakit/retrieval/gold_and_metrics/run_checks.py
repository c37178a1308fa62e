"""What the runs of an evaluation say about its gold: no better than chance, perhaps that of others, never found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.alike_ids import shifted_ids
from ragdatakit.retrieval.gold_and_metrics.faults import Fault, listed, shown
from ragdatakit.retrieval.gold_and_metrics.metrics import metric
from ragdatakit.retrieval.gold_and_metrics.moved_gold import moved_gold
from ragdatakit.retrieval.gold_and_metrics.near_texts import near_pairs
from ragdatakit.schemas.evaluations import RunResult
from ragdatakit.schemas.search.modes import FRAMEWORK_MODES

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts
    from ragdatakit.retrieval.passages import Passages

_SELF_RETRIEVAL = 0.8
_FIRST = 10
_MANY_NEVER, _MANY_WITHOUT, _TOO_MANY = 0.2, 0.25, 1.5
"""Questions without gold in any result, and gold pairs without a common term (as a share of what dealt gold gives).
Where 30 % of the gold is that of others, both are about 0.3. In sound public sets they are below 0.1 and 0.2, except
for NFCorpus (0.22 and 0.83): wrong gold alone does not make the second more than 1.5 times the first."""
_ROUNDING = 1e-9
_ENOUGH = 20
"""Passages that have to be asked before their share means something."""
_BY_TERMS = ("bm25", "sparse", "graph", "contextual", "hybrid", *FRAMEWORK_MODES)
_MOVED_HINT = (
    "compare the gold of one question with the next: was a question added or left out, or were the rows of one file "
    "moved against those of the other, before the two were joined?"
)
_SHIFT_HINT = (
    "compare the gold of one question with the corpus: are its ids counted from 0 and those of the corpus from 1, or "
    "were passages added or left out after they were numbered?"
)


def check_runs(gold: Gold, runs: Sequence[RunResult], passages: Passages | None) -> Iterator[Fault]:
    """Gold is aligned if it is for any run: another may be a poor retriever."""
    if not any(run.sanity.aligned for run in runs):
        wrong = [run for run in runs if run.sanity.aligned is False]
        without = next((run for run in wrong if 2 * run.sanity.without_token > len(run.questions)), None)
        if without is not None:
            facts = {"number": f"{without.sanity.without_token:,}", "judged": f"{len(without.questions):,}"}
            yield Fault("questions-without-term", without.name, facts)
        for run in wrong:
            if without is None or run.name not in _BY_TERMS:
                shift = _shifted([run], gold.unit, passages)
                reason = "; ".join(filter(None, (shift, _not_aligned(run))))
                yield Fault("gold-not-aligned", run.name, {"reason": reason}, hint=_SHIFT_HINT if shift else "")
    for run in runs:
        share, count = run.sanity.self_retrieval, run.sanity.self_retrieval_count
        if share is not None and share < _SELF_RETRIEVAL and count >= _ENOUGH:
            yield Fault(
                "self-retrieval-low", run.name, {"run": shown(run.name), "share": f"{share:.0%}", "count": count}
            )


def perhaps_misjoined(
    gold: Gold, runs: Sequence[RunResult], facts: GoldFacts | None, passages: Passages | None
) -> Iterator[Fault]:
    """What speaks for gold of which a part is that of other questions, though some run is better than chance."""
    lost = facts.lost if facts is not None else frozenset[str]()
    hopeless = {q.question_id for q in gold.judged if lost.issuperset(q.gold)}
    wide = [run for run in runs if run.sanity.aligned and run.depth >= _FIRST and run.name != "graph"]
    ranks: dict[str, dict[str, int | None]] = {
        run.name: {q.question_id: q.first_rank for q in run.questions if q.question_id not in hopeless} for run in wide
    }
    missed = {name: sum(r is None or r > _FIRST for r in found.values()) for name, found in ranks.items()}
    best = min(missed, key=lambda name: missed[name], default=None)
    shift, moved = _shifted(runs, gold.unit, passages), _moved(gold, runs)
    whole = facts is None or facts.cut is None  # texts that were cut off make questions miss their gold, too
    reasons = []
    if whole and best is not None and len(ranks[best]) >= _ENOUGH:
        reasons = _misjoined(ranks, missed, best, wide)
    if shift or moved:
        what, hint = "; ".join((shift or moved, *reasons)), _SHIFT_HINT if shift else _MOVED_HINT
        yield Fault("gold-perhaps-misjoined", best, {"what": what}, hint=hint)
    elif reasons:
        what = f"part of the gold may belong to other questions: {', and '.join(reasons)}"
        yield Fault("gold-perhaps-misjoined", best, {"what": what})


def _misjoined(
    ranks: Mapping[str, Mapping[str, int | None]], missed: Mapping[str, int], best: str, wide: Sequence[RunResult]
) -> list[str]:
    """What of the ranks speaks for it; ``best`` is the run that misses the fewest."""
    count, reasons = len(ranks[best]), list[str]()
    if 2 * missed[best] > count:
        reasons.append(
            f"{missed[best]:,} of {count:,} questions miss it in the first {_FIRST} results of run {shown(best)}"
        )
    never = sum(all(found.get(question) is None for found in ranks.values()) for question in ranks[best])
    for run in wide:
        own, dealt = run.sanity.no_common_token, run.sanity.no_common_token_shuffled
        share = own / dealt if own and dealt else 0.0
        if never >= _MANY_NEVER * count and _MANY_WITHOUT <= share <= _TOO_MANY * never / count:
            reasons += [] if reasons else [f"{never:,} of {count:,} questions never find it"]
            reasons.append(f"{own:.1%} of the gold shares no term with its question (of others' gold {dealt:.1%})")
    return reasons


def _shifted(runs: Sequence[RunResult], unit: str, passages: Passages | None) -> str:
    """That the ids of the gold are shifted against those of what some run finds first; empty where they are not."""
    near = partial(near_pairs, unit=unit, passages=passages)
    each = (shifted_ids(((q.gold, q.found) for q in run.questions), near) for run in runs if run.name != "graph")
    found = next((shift for shift in each if shift is not None), None)
    return replace(found, gold=shown(found.gold), first=shown(found.first)).words if found is not None else ""


def _moved(gold: Gold, runs: Sequence[RunResult]) -> str:
    """That judgements were moved, as the first run says that shows it; empty where none does."""
    each = (moved_gold(gold.judged, {q.question_id: q.found for q in run.questions}) for run in runs)
    found = next((moved for moved in each if moved is not None), None)
    return "" if found is None else replace(found, question=shown(found.question), other=shown(found.other)).words


def _not_aligned(run: RunResult) -> str:
    name, own = shown(run.name), run.scores.get("ndcg@10")
    dealt, ratio = run.sanity.shuffled.get("ndcg@10"), run.sanity.ratio
    if not ratio:
        return f"run {name} finds none of it in the first 10 results"
    values = f" ({own.mean:.4f} and {dealt:.4f})" if own is not None and dealt is not None else ""
    return (
        f"nDCG@10 of run {name} is {ratio:.1f} times what gold of other questions gives{values}; 3 times is the least"
    )


def below_minimums(runs: Sequence[RunResult], minimums: Mapping[str, float]) -> Iterator[Fault]:
    """Demands on metrics that the best run does not meet."""
    for asked, minimum in minimums.items():
        name = metric(asked).name
        values = {run.name: run.scores[name].mean for run in runs if name in run.scores}
        best = max(values, key=lambda run: values[run], default=None)
        if best is None:
            reached = "not known, for there is no run with gold"
        elif not values[best] >= minimum - _ROUNDING:
            digits = 4 if values[best] < minimum - 0.0001 else 9
            reached = f"{values[best]:.{digits}f} in run {shown(best)}" + (", the best" if len(values) > 1 else "")
        else:
            continue
        yield Fault("below-minimum", name, {"metric": name, "reached": reached, "minimum": f"{minimum:g}"})


def never_found(gold: Gold, runs: Sequence[RunResult], facts: GoldFacts | None) -> Iterator[Fault]:
    """Gold that no run finds; first the questions of which no gold is found at all."""
    lost = facts.lost if facts is not None else frozenset[str]()
    seen: dict[str, set[str]] = {}
    asked: set[str] = set()
    for run in runs:
        for result in run.questions:
            asked.add(result.question_id)
            found = (t for t, rank in zip(result.gold, result.gold_ranks, strict=False) if rank is not None)
            seen.setdefault(result.question_id, set()).update(found)
    depth = max((run.depth for run in runs), default=0)
    judged = [question for question in gold.judged if question.question_id in asked]
    for question in sorted(judged, key=lambda q: bool(seen[q.question_id])):
        never = [t for t in question.gold if t not in lost and t not in seen[question.question_id]]
        if never:
            some = "any" if len(never) == len(question.gold) else f"{len(never):,}"
            what = f"{some} of its {len(question.gold):,} gold {gold.unit}s"
            details = {
                "question": shown(question.question_id),
                "what": what if len(question.gold) > 1 else f"its gold {gold.unit}",
                "depth": f"{depth:,}",
                "targets": listed(never),
            }
            yield Fault("gold-never-found", question.question_id, details)

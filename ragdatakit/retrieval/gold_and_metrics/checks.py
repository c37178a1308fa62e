"""The end-to-end checks of an evaluation, as findings: what is wrong in the dataset, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics import ceiling as causes
from ragdatakit.retrieval.gold_and_metrics.alike_ids import shifted_ids
from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import flattened, in_numbers, sought
from ragdatakit.retrieval.gold_and_metrics.gold import is_train
from ragdatakit.retrieval.gold_and_metrics.metrics import metric
from ragdatakit.retrieval.gold_and_metrics.near_texts import near_pairs
from ragdatakit.retrieval.gold_and_metrics.sanity import ordinals_of
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.evaluations import Ceiling, RunResult
from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity
from ragdatakit.schemas.rules.evaluation import RULES
from ragdatakit.schemas.search.modes import FRAMEWORK_MODES
from ragdatakit.schemas.texts import encodable, shortened

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts
    from ragdatakit.retrieval.passages import Passages

SELF_RETRIEVAL = 0.8
_FIRST = 10
_MANY_NEVER, _MANY_WITHOUT, _TOO_MANY = 0.2, 0.25, 1.5
"""Questions without gold in any result, and gold pairs without a common term (as a share of what dealt gold gives).
Where 30 % of the gold is that of others, both are about 0.3. In sound public sets they are below 0.1 and 0.2, except
for NFCorpus (0.22 and 0.83): wrong gold alone does not make the second more than 1.5 times the first."""
_ROUNDING = 1e-9
_ENOUGH = 20
"""Passages that have to be asked before their share means something."""
_BY_TERMS = ("bm25", "sparse", "graph", "contextual", "hybrid", *FRAMEWORK_MODES)
_SHOWN = 3
_LONGEST = 80
_MANY_COPIES, _LONGEST_TEXT = 10, 50
"""Documents of one text that hardly are copies: it was put in the place of theirs."""
_SHIFT_HINT = (
    "compare the gold of one question with the corpus: are its ids counted from 0 and those of the corpus from 1, or "
    "were passages added or left out after they were numbered?"
)
_LOST_HINT = (
    "look at these {unit}s: where a banner, an error page or a placeholder took the place of their texts, restore them "
    "or take them out; remove other copies (`ragdata validate` finds them), or judge all of them"
)
_LONGEST_ANSWER = 60
"""Characters of an answer beyond which it is a sentence."""
_MOST_TEXTS = 20_000
_BY_NAME = {rule.name: rule for rule in RULES}
_OF_TABLE = {
    "gold-not-aligned": "qrels",
    "gold-perhaps-misjoined": "qrels",
    "questions-without-term": "questions",
    "no-gold-in-corpus": "qrels",
    "gold-not-in-corpus": "qrels",
    "gold-without-text": "passages",
    "gold-never-found": "qrels",
    "identical-texts-one-gold": "passages",
    "question-in-corpus": "passages",
    "no-gold": "qrels",
    "judged-question-not-there": "qrels",
    "near-copy-above-gold": "passages",
    "answer-not-in-gold": "questions",
    "answered-by-duplicate-in-train": "questions",
}
_CAUSES = {
    "gold-not-in-corpus": causes.MISSING,
    "gold-without-text": causes.EMPTY,
    "identical-texts-one-gold": causes.IDENTICAL,
    "question-in-corpus": causes.ASKED,
}


@dataclass(frozen=True, slots=True)
class _Fault:
    """A finding before it is worded: the facts of its message, and the id that it is about."""

    rule: str
    value: str | None
    facts: Mapping[str, Any]
    severity: Severity | None = None
    hint: str = ""


def check_evaluation(
    gold: Gold,
    runs: Sequence[RunResult],
    dataset: str,
    *,
    facts: GoldFacts | None = None,
    ceiling: Ceiling | None = None,
    passages: Passages | None = None,
    tables: CanonicalTables | None = None,
    minimums: Mapping[str, float] | None = None,
    files: Mapping[str, str] | None = None,
    most: int = 20,
    counts: Counter[str] | None = None,
) -> list[Finding]:
    """The findings of an evaluation, errors first, then by rule, then in the order of the questions (of
    `gold-never-found` those first that find none of theirs; it is left out where the gold is not aligned).

    ``dataset`` is the path that findings name; ``files`` has better ones by table (``qrels``, ``questions``,
    ``documents``, ``chunks``). Of each rule ``most`` findings are kept (0: all); ``counts`` is given the whole number
    by code. What is None is not checked. ``minimums`` are the demands by metric, of which the best run has to meet
    each. The value of a finding is the id of the question, or of the gold, that it is about.
    """
    of_runs = list(_runs(gold, runs, passages))
    every: list[Iterable[_Fault]] = [of_runs, _minimums(runs, minimums or {}), _without_gold(gold)]
    followed = ("gold-not-aligned", "questions-without-term")  # of which gold that is not found is but a consequence
    if not any(fault.rule in followed for fault in of_runs):
        every += [_never_found(gold, runs, facts), _perhaps_misjoined(gold, runs, facts, passages)]
    if facts is not None:
        every += [_all_lost(gold, facts, passages), _lost(gold, facts), _copies(gold, facts)]
        every.append(_near_copies(gold, runs, facts))
    if passages is not None and gold.unit in ("document", "chunk"):
        every.append(_answers(gold, passages))
    if tables is not None:
        every.append(_leaks(gold, tables))
    costs = _costs(ceiling)
    passage_table = "chunks" if passages is not None and passages.unit == "chunk" else "documents"
    paths = {**(files or {}), "passages": (files or {}).get(passage_table, dataset)}
    source = tables.format if tables is not None else ""
    counted: Counter[str] = Counter()
    found: list[Finding] = []
    for faults in every:
        for fault in faults:
            rule = _BY_NAME[fault.rule]
            counted[rule.code] += 1
            if not most or counted[rule.code] <= most:
                found.append(_worded(fault, costs, paths.get(_OF_TABLE.get(fault.rule, ""), dataset), source))
    if counts is not None:
        counts.update(counted)
    return sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.code))


def _worded(fault: _Fault, costs: Mapping[str, str], path: str, source: str) -> Finding:
    rule = _BY_NAME[fault.rule]
    message = rule.message.format_map(fault.facts)
    consequence = f"{rule.consequence()}{costs.get(fault.rule, '')}"
    value = None if fault.value is None else encodable(fault.value)
    severity = fault.severity or rule.severity
    return Finding(
        rule.code,
        rule.name,
        severity,
        f"{message}; {consequence}",
        path,
        value=value,
        hint=_hint(rule, fault.hint or rule.hint, source),
        consequence=consequence,
    )


def _hint(rule: Rule, hint: str, source: str) -> str:
    """What to do about it in a dataset of this format."""
    if rule.name == "gold-not-aligned" and source == "trec":
        return f"{hint} TREC judgements often number topics by their position (`--option topics=position`)"
    if rule.name == "identical-texts-one-gold" and source not in FORMATS:  # there is no `ragdata validate` for it
        return hint.replace(" (`ragdata validate` finds them)", "")
    return hint


def _costs(ceiling: Ceiling | None) -> dict[str, str]:
    """What all findings of a rule cost together: the metric that loses most."""
    found: dict[str, str] = {}
    by_name = {cause.name: cause for cause in ceiling.causes} if ceiling is not None else {}
    for rule, name in _CAUSES.items():
        cost = by_name[name].cost if name in by_name else {}
        worst = max(cost, key=lambda m: cost[m], default="")
        if worst and cost[worst] >= 0.00005:
            found[rule] = f" (all such cases cost {cost[worst]:.4f} of {worst})"
    return found


def _shown(text: str) -> str:
    """An id or answer fit to print: short, on one line, without control characters."""
    return _printable(shortened(text, _LONGEST)) or '""'


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _listed(ids: Sequence[str], total: int = 0) -> str:
    """The first few of some ids."""
    total = max(total, len(ids))
    more = f" and {total - _SHOWN:,} more" if total > _SHOWN else ""
    return ", ".join(map(_shown, ids[:_SHOWN])) + more


def _questions(ids: Sequence[str]) -> str:
    return f"question {_listed(ids)}" if len(ids) == 1 else f"questions {_listed(ids)}"


def _runs(gold: Gold, runs: Sequence[RunResult], passages: Passages | None) -> Iterator[_Fault]:
    """Gold is aligned if it is for any run: another may be a poor retriever."""
    if not any(run.sanity.aligned for run in runs):
        wrong = [run for run in runs if run.sanity.aligned is False]
        without = next((run for run in wrong if 2 * run.sanity.without_token > len(run.questions)), None)
        if without is not None:
            facts = {"number": f"{without.sanity.without_token:,}", "judged": f"{len(without.questions):,}"}
            yield _Fault("questions-without-term", without.name, facts)
        for run in wrong:
            if without is None or run.name not in _BY_TERMS:
                shift = _shifted([run], gold.unit, passages)
                reason = "; ".join(filter(None, (shift, _not_aligned(run))))
                yield _Fault("gold-not-aligned", run.name, {"reason": reason}, hint=_SHIFT_HINT if shift else "")
    for run in runs:
        share, count = run.sanity.self_retrieval, run.sanity.self_retrieval_count
        if share is not None and share < SELF_RETRIEVAL and count >= _ENOUGH:
            yield _Fault(
                "self-retrieval-low", run.name, {"run": _shown(run.name), "share": f"{share:.0%}", "count": count}
            )


def _perhaps_misjoined(
    gold: Gold, runs: Sequence[RunResult], facts: GoldFacts | None, passages: Passages | None
) -> Iterator[_Fault]:
    """What speaks for gold of which a part is that of other questions, though some run is better than chance."""
    lost = facts.lost if facts is not None else frozenset[str]()
    hopeless = {q.question_id for q in gold.judged if lost.issuperset(q.gold)}
    wide = [run for run in runs if run.sanity.aligned and run.depth >= _FIRST and run.name != "graph"]
    ranks: dict[str, dict[str, int | None]] = {
        run.name: {q.question_id: q.first_rank for q in run.questions if q.question_id not in hopeless} for run in wide
    }
    missed = {name: sum(r is None or r > _FIRST for r in found.values()) for name, found in ranks.items()}
    best = min(missed, key=lambda name: missed[name], default=None)
    shift = _shifted(runs, gold.unit, passages)
    reasons = _misjoined(ranks, missed, best, wide) if best is not None and len(ranks[best]) >= _ENOUGH else []
    if shift:
        yield _Fault("gold-perhaps-misjoined", best, {"what": "; ".join((shift, *reasons))}, hint=_SHIFT_HINT)
    elif reasons:
        what = f"part of the gold may belong to other questions: {', and '.join(reasons)}"
        yield _Fault("gold-perhaps-misjoined", best, {"what": what})


def _misjoined(
    ranks: Mapping[str, Mapping[str, int | None]], missed: Mapping[str, int], best: str, wide: Sequence[RunResult]
) -> list[str]:
    """What of the ranks speaks for it; ``best`` is the run that misses the fewest."""
    count, reasons = len(ranks[best]), list[str]()
    if 2 * missed[best] > count:
        reasons.append(
            f"{missed[best]:,} of {count:,} questions miss it in the first {_FIRST} results of run {_shown(best)}"
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
    return replace(found, gold=_shown(found.gold), first=_shown(found.first)).words if found is not None else ""


def _not_aligned(run: RunResult) -> str:
    name, own = _shown(run.name), run.scores.get("ndcg@10")
    dealt, ratio = run.sanity.shuffled.get("ndcg@10"), run.sanity.ratio
    if not ratio:
        return f"run {name} finds none of it in the first 10 results"
    values = f" ({own.mean:.4f} and {dealt:.4f})" if own is not None and dealt is not None else ""
    return (
        f"nDCG@10 of run {name} is {ratio:.1f} times what gold of other questions gives{values}; 3 times is the least"
    )


def _minimums(runs: Sequence[RunResult], minimums: Mapping[str, float]) -> Iterator[_Fault]:
    for asked, minimum in minimums.items():
        name = metric(asked).name
        values = {run.name: run.scores[name].mean for run in runs if name in run.scores}
        best = max(values, key=lambda run: values[run], default=None)
        if best is None:
            reached = "not known, for there is no run with gold"
        elif not values[best] >= minimum - _ROUNDING:
            digits = 4 if values[best] < minimum - 0.0001 else 9
            reached = f"{values[best]:.{digits}f} in run {_shown(best)}" + (", the best" if len(values) > 1 else "")
        else:
            continue
        yield _Fault("below-minimum", name, {"metric": name, "reached": reached, "minimum": f"{minimum:g}"})


def _without_gold(gold: Gold) -> Iterator[_Fault]:
    number = len(gold.questions) - len(gold.judged)
    if number:
        severity: Severity = "info" if number < len(gold.questions) else "warning"
        facts = {"number": f"{number:,}", "questions": f"{len(gold.questions):,}"}
        yield _Fault("no-gold", None, facts, severity)
    if gold.nameless:
        judged = gold.nameless + sum(bool(q.grades) for q in gold.questions)
        counts = {"number": gold.nameless, "judged": judged, "questions": len(gold.questions)}
        yield _Fault("judged-question-not-there", None, {name: f"{count:,}" for name, count in counts.items()})


def _never_found(gold: Gold, runs: Sequence[RunResult], facts: GoldFacts | None) -> Iterator[_Fault]:
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
                "question": _shown(question.question_id),
                "what": what if len(question.gold) > 1 else f"its gold {gold.unit}",
                "depth": f"{depth:,}",
                "targets": _listed(never),
            }
            yield _Fault("gold-never-found", question.question_id, details)


def _all_lost(gold: Gold, facts: GoldFacts, passages: Passages | None) -> Iterator[_Fault]:
    """That no gold at all is in the corpus, which the single cases do not say."""
    targets = dict.fromkeys(target for question in gold.judged for target in question.gold)
    if len(targets) < 2 or passages is None or not len(passages) or not facts.missing.issuperset(targets):
        return
    there = ""
    if gold.unit in ("document", "chunk"):
        there = passages.document_id(0) if gold.unit == "document" else passages.id(0)
    named = {"gold": repr(_shown(next(iter(targets)))), "there": repr(_shown(there)) if there else "other nodes"}
    yield _Fault("no-gold-in-corpus", None, {"number": f"{len(targets):,}", "unit": gold.unit, **named})


def _lost(gold: Gold, facts: GoldFacts) -> Iterator[_Fault]:
    of_target: dict[str, list[str]] = {}
    for question in gold.judged:
        for target in question.gold:
            if target in facts.missing or target in facts.empty:
                of_target.setdefault(target, []).append(question.question_id)
    for target, ids in of_target.items():
        rule = "gold-not-in-corpus" if target in facts.missing else "gold-without-text"
        alike = f"; the corpus has {_shown(facts.alike[target])}" if target in facts.alike else ""
        details = {"unit": gold.unit, "target": _shown(target), "questions": _questions(ids), "alike": alike}
        yield _Fault(rule, target, details)


def _copies(gold: Gold, facts: GoldFacts) -> Iterator[_Fault]:
    of_target: dict[str, list[str]] = {}
    for question in gold.judged:
        texts = Counter(id(facts.copies[t]) for t in question.gold if t in facts.copies)
        for target in question.gold:
            copies = facts.copies.get(target)
            if copies is not None and texts[id(copies)] < copies.count:
                of_target.setdefault(target, []).append(question.question_id)
        own = facts.questions.get(question.question_id)
        if own is not None and own.ids[0] not in question.gold and id(own) not in texts:
            others = _listed(own.ids, own.count)
            details = {"question": _shown(question.question_id), "others": others}
            yield _Fault("question-in-corpus", question.question_id, details)
    yield from _lost_texts(gold, facts, of_target)
    for target, ids in of_target.items():
        copies = facts.copies[target]
        if copies.count >= _MANY_COPIES:
            continue
        others = _listed([i for i in copies.ids if i != target], copies.count - 1)
        what = (
            f"{gold.unit} {_shown(target)}, gold for {_questions(ids)}, has the same text as {others}, not gold there"
        )
        yield _Fault("identical-texts-one-gold", target, {"what": what})


def _lost_texts(gold: Gold, facts: GoldFacts, of_target: Mapping[str, Sequence[str]]) -> Iterator[_Fault]:
    """Texts that so many have that they are hardly their own, each with the gold that has it."""
    sharing: dict[int, list[str]] = {}
    for target in of_target:
        sharing.setdefault(id(facts.copies[target]), []).append(target)
    for targets in sharing.values():
        copies = facts.copies[targets[0]]
        if copies.count >= _MANY_COPIES:
            asking = list(dict.fromkeys(question for target in targets for question in of_target[target]))
            what = (
                f"{copies.count:,} {gold.unit}s have the text “{_printable(shortened(copies.text, _LONGEST_TEXT))}”, "
                f"among them {_listed(targets)}, gold for {_questions(asking)}: their texts were perhaps lost"
            )
            yield _Fault("identical-texts-one-gold", targets[0], {"what": what}, hint=_LOST_HINT.format(unit=gold.unit))


def _near_copies(gold: Gold, runs: Sequence[RunResult], facts: GoldFacts) -> Iterator[_Fault]:
    """Passages that have nearly the text of the gold and are above it, in the first run that has them there."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        for result in run.questions:
            for target, cause in zip(result.gold, result.causes, strict=False):
                pair = (result.question_id, target)
                if cause is None or cause.kind != "copy" or target in facts.copies or pair in seen:
                    continue
                seen.add(pair)
                details = {
                    "target": _shown(target),
                    "question": _shown(result.question_id),
                    "copy": _printable(cause.words),
                }
                yield _Fault("near-copy-above-gold", target, {"unit": gold.unit, **details})


def _answers(gold: Gold, passages: Passages) -> Iterator[_Fault]:
    """Answers of which some word is in no gold text. Numbers, which may be written otherwise, and sentences, which have
    words of their own, are passed over."""
    asked = [
        (q, found)
        for q in gold.judged
        if (found := sought(q)) and len(found[0]) <= _LONGEST_ANSWER and not any(map(in_numbers, found))
    ]
    ordinals = ordinals_of(gold.unit, passages, (target for q, _ in asked for target in q.gold))
    known: dict[str, str] = {}

    def text(target: str) -> str:
        if target not in known:
            if len(known) > _MOST_TEXTS:
                known.clear()
            known[target] = " ".join(flattened(passages[ordinal].searched) for ordinal in ordinals[target])
        return known[target]

    for question, answers in asked:
        there = [target for target in question.gold if target in ordinals]
        if there and not any(answer in text(target) for target in there for answer in answers):
            texts = [text(target) for target in there]
            if not _loosely(answers, texts):
                facts = {"question": _shown(question.question_id), "answer": _shown(question.answers[0])}
                yield _Fault("answer-not-in-gold", question.question_id, {**facts, "unit": gold.unit})


def _loosely(answers: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether texts have the words of an answer in any order, or the answer if blanks do not count (``e-mail``)."""
    words = {word for text in texts for word in text.split()}
    if any(words.issuperset(answer.split()) for answer in answers):
        return True
    joined = [text.replace(" ", "") for text in texts]
    return any(answer.replace(" ", "") in text for answer in answers for text in joined)


def _leaks(gold: Gold, tables: CanonicalTables) -> Iterator[_Fault]:
    """Questions that are in train, too; looked for where one split is evaluated that is not train."""
    evaluated = gold.split or (next(iter(gold.splits)) if len(gold.splits) == 1 else None)
    if not evaluated or is_train(evaluated):
        return
    same, answers = _same_questions(gold, tables)
    golds: dict[str, set[str]] = {}
    for row in tables.peek("qrels"):
        if row.question_id in same and row.grade > 0 and row.target_kind == gold.unit and is_train(row.split):
            golds.setdefault(row.question_id, set()).add(row.target_id)
    others: dict[str, list[str]] = {}
    for other, ids in same.items():
        for question_id in ids:
            others.setdefault(question_id, []).append(other)
    for question in gold.judged:
        name, there = question.question_id, others.get(question.question_id, ())
        own = {answer for text in question.answers if (answer := flattened(text))}
        by_gold = [other for other in there if not golds.get(other, set()).isdisjoint(question.gold)]
        by_answer = [other for other in there if other != name and answers.get(other) in own]
        if by_gold or by_answer:
            facts = {"others": _listed(by_gold or by_answer), "same": "gold" if by_gold else "answer"}
            yield _Fault("answered-by-duplicate-in-train", name, {"question": _shown(name), **facts})


def _same_questions(gold: Gold, tables: CanonicalTables) -> tuple[dict[str, list[str]], dict[str, str]]:
    """By question of the dataset, the evaluated ones of the same words; and the answers of those that are in train."""
    evaluated: set[str] = set()
    texts: dict[str, list[str]] = {}
    for question in gold.judged:
        evaluated.add(question.question_id)
        if text := flattened(question.text):
            texts.setdefault(text, []).append(question.question_id)
    same: dict[str, list[str]] = {}
    answers: dict[str, str] = {}
    for row in tables.peek("questions"):
        other = row.question_id
        if other is None or other in same:
            continue
        ids = [i for i in texts.get(flattened(row.text), ()) if i == other or other not in evaluated]
        if ids:
            same[other] = ids
            if is_train(row.split) and row.answer:
                answers[other] = flattened(row.answer)
    return same, answers

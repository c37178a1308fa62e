"""The end-to-end checks of an evaluation, as findings: what is wrong in the dataset, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics import ceiling as causes
from ragdatakit.retrieval.gold_and_metrics.faults import Fault, listed, named_questions, printable, shown
from ragdatakit.retrieval.gold_and_metrics.gold_facts import MANY
from ragdatakit.retrieval.gold_and_metrics.question_checks import answered_in_train, answers_not_in_gold
from ragdatakit.retrieval.gold_and_metrics.run_checks import below_minimums, check_runs, never_found, perhaps_misjoined
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.evaluations import Ceiling, RunResult
from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity
from ragdatakit.schemas.rules.evaluation import RULES
from ragdatakit.schemas.search.gold_patterns import LOST_TEXTS
from ragdatakit.schemas.texts import encodable, shortened

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.gold_and_metrics.gold_facts import Copies, GoldFacts
    from ragdatakit.retrieval.passages import Passages


_LONGEST_TEXT = 50
_LOST_HINT = (
    "look at these {unit}s: where a banner, an error page or a placeholder took the place of their texts, restore them "
    "or take them out; remove other copies (`ragdata validate` finds them), or judge all of them"
)
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
    "gold-cut-off": "passages",
    "answer-not-in-gold": "questions",
    "answered-by-duplicate-in-train": "questions",
}
_CAUSES = {
    "gold-not-in-corpus": causes.MISSING,
    "gold-without-text": causes.EMPTY,
    "identical-texts-one-gold": causes.IDENTICAL,
    "question-in-corpus": causes.ASKED,
}


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
    of_runs = list(check_runs(gold, runs, passages))
    every: list[Iterable[Fault]] = [of_runs, below_minimums(runs, minimums or {}), _without_gold(gold)]
    followed = ("gold-not-aligned", "questions-without-term")  # of which gold that is not found is but a consequence
    if not any(fault.rule in followed for fault in of_runs):
        every += [never_found(gold, runs, facts), perhaps_misjoined(gold, runs, facts, passages)]
    if facts is not None:
        every += [_all_lost(gold, facts, passages), _lost(gold, facts), _copies(gold, facts)]
        every += [_near_copies(gold, runs, facts), _cut_off(facts, passages)]
    if passages is not None and gold.unit in ("document", "chunk"):
        every.append(answers_not_in_gold(gold, passages))
    if tables is not None:
        every.append(answered_in_train(gold, tables))
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


def _worded(fault: Fault, costs: Mapping[str, str], path: str, source: str) -> Finding:
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


def _without_gold(gold: Gold) -> Iterator[Fault]:
    number = len(gold.questions) - len(gold.judged)
    if number:
        severity: Severity = "info" if number < len(gold.questions) else "warning"
        facts = {"number": f"{number:,}", "questions": f"{len(gold.questions):,}"}
        yield Fault("no-gold", None, facts, severity)
    if gold.nameless:
        judged = gold.nameless + sum(bool(q.grades) for q in gold.questions)
        counts = {"number": gold.nameless, "judged": judged, "questions": len(gold.questions)}
        yield Fault("judged-question-not-there", None, {name: f"{count:,}" for name, count in counts.items()})


def _all_lost(gold: Gold, facts: GoldFacts, passages: Passages | None) -> Iterator[Fault]:
    """That no gold at all is in the corpus, which the single cases do not say."""
    targets = dict.fromkeys(target for question in gold.judged for target in question.gold)
    if len(targets) < 2 or passages is None or not len(passages) or not facts.missing.issuperset(targets):
        return
    gold_id = next((target for target in targets if target in facts.alike), next(iter(targets)))
    there = facts.alike.get(gold_id, "")
    if not there and gold.unit in ("document", "chunk"):
        there = passages.document_id(0) if gold.unit == "document" else passages.id(0)
    hint = ""
    if facts.alike:
        alike = f"{len(facts.alike):,} of {len(targets):,} are there written otherwise"
        hint = f"write the ids of the judgements as the corpus has them: {alike}"
    named = {"gold": repr(shown(gold_id)), "there": repr(shown(there)) if there else "other nodes"}
    yield Fault("no-gold-in-corpus", None, {"number": f"{len(targets):,}", "unit": gold.unit, **named}, hint=hint)


def _lost(gold: Gold, facts: GoldFacts) -> Iterator[Fault]:
    of_target: dict[str, list[str]] = {}
    for question in gold.judged:
        for target in question.gold:
            if target in facts.missing or target in facts.empty:
                of_target.setdefault(target, []).append(question.question_id)
    for target, ids in of_target.items():
        rule = "gold-not-in-corpus" if target in facts.missing else "gold-without-text"
        alike = f"; the corpus has {shown(facts.alike[target])}" if target in facts.alike else ""
        details = {"unit": gold.unit, "target": shown(target), "questions": named_questions(ids), "alike": alike}
        yield Fault(rule, target, details)


def _copies(gold: Gold, facts: GoldFacts) -> Iterator[Fault]:
    of_target: dict[str, list[str]] = {}
    for question in gold.judged:
        texts = Counter(id(facts.copies[t]) for t in question.gold if t in facts.copies)
        for target in question.gold:
            copies = facts.copies.get(target)
            if copies is not None and texts[id(copies)] < copies.count:
                of_target.setdefault(target, []).append(question.question_id)
        own = facts.questions.get(question.question_id)
        if own is not None and own.ids[0] not in question.gold and id(own) not in texts:
            others = listed(own.ids, own.count)
            details = {"question": shown(question.question_id), "others": others}
            yield Fault("question-in-corpus", question.question_id, details)
    for what, first in lost_texts(gold, facts):
        yield Fault("identical-texts-one-gold", first, {"what": what}, hint=_LOST_HINT.format(unit=gold.unit))
    for target, ids in of_target.items():
        copies = facts.copies[target]
        if copies.count >= MANY:
            continue
        others = listed([i for i in copies.ids if i != target], copies.count - 1)
        what = f"{gold.unit} {shown(target)}, gold for {named_questions(ids)}, has the same text as {others}"
        what = f"{what}, not gold there"
        yield Fault("identical-texts-one-gold", target, {"what": what})


def lost_texts(gold: Gold, facts: GoldFacts) -> Iterator[tuple[str, str]]:
    """Texts that so many have that they are hardly their own, in words, each with the first gold that has it."""
    sharing: dict[int, tuple[Copies, dict[str, None], dict[str, None]]] = {}
    for question in gold.judged:
        for target in question.gold:
            copies = facts.bodies.get(target) or facts.copies.get(target)
            if copies is not None and copies.count >= MANY:
                _, targets, asking = sharing.setdefault(id(copies), (copies, {}, {}))
                targets[target] = asking[question.question_id] = None
    for copies, targets, asking in sharing.values():
        words = (
            f"{copies.count:,} {gold.unit}s have the text “{printable(shortened(copies.text, _LONGEST_TEXT))}”, "
            f"among them {listed([*targets])}, gold for {named_questions([*asking])}: {LOST_TEXTS}"
        )
        yield words, next(iter(targets))


def _near_copies(gold: Gold, runs: Sequence[RunResult], facts: GoldFacts) -> Iterator[Fault]:
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
                    "target": shown(target),
                    "question": shown(result.question_id),
                    "copy": printable(cause.words),
                }
                yield Fault("near-copy-above-gold", target, {"unit": gold.unit, **details})


def _cut_off(facts: GoldFacts, passages: Passages | None) -> Iterator[Fault]:
    if facts.cut is not None and passages is not None:
        yield Fault("gold-cut-off", None, {"what": facts.cut.words(passages.unit)})

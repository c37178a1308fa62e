"""An evaluation for people: what was reached beside what could be reached, whether it means anything, what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from shlex import quote

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.terminal import Painter, column_lines, cut_to, one_line, painter, width_of, wrapped
from ragdatakit.schemas.evaluations import (
    AnswerScores,
    Comparison,
    Evaluation,
    QuestionResult,
    RunResult,
    Sanity,
    Score,
)
from ragdatakit.schemas.search.claims import ClaimScores
from ragdatakit.schemas.search.gold_causes import BY_OTHER_WORDS, LOST
from ragdatakit.schemas.search.gold_patterns import GOLD_PATTERNS, LOST_TEXTS
from ragdatakit.schemas.search.modes import ALL_MODES
from ragdatakit.schemas.texts import many, with_visible_ends
from ragdatakit.visible_text import visible_text

MOST_TYPES = 8
"""Up to so many types of questions are shown without being asked for."""
_INDENT = "  "
_MOST_CAUSES, _MOST_ANSWERS = 8, 3
_LONGEST_NAME, _SCORE, _BESIDE = 24, 12, 22
"""Columns: of the name of a run, of a score, of what is beside the runs except for the names of metrics."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """How to print. ``by_type``: scores by type of question (None: where there are at most 8); ``worst``: how many.

    ``retrieve`` is the command that searches this dataset, to which the id of a question is added (empty: there is
    none).
    """

    colour: bool = False
    width: int = 100
    quiet: bool = False
    by_type: bool | None = None
    worst: int = 5
    retrieve: str = ""


def evaluation_lines(done: Evaluation, options: EvaluationOptions) -> Iterator[str]:
    """The whole screen, line by line."""
    paint = painter(options.colour)
    yield from _head(done, paint)
    if done.runs:
        yield ""
        yield from _first_words(done, paint)
        yield from _scores(done, paint, options.width)
        yield from _causes(done, paint, options.width)
        beside = [*_sanity(done.runs, paint, options.width), *_run_notes(done.runs, paint)]
        yield from ("", *beside) if beside else ()
    elif done.judged == 0 and done.questions:
        yield paint("warning", "No gold: no judgement says what is relevant, so retrieval is not scored.")
    yield from _answers_in_top(done, paint)
    yield from _comparisons(done.comparisons, paint)
    for scores in done.answers:
        yield from _answer_scores(scores, paint, options)
    for claims in done.claims:
        yield from _claim_scores(claims, paint, options)
    if not options.quiet:
        yield from _types(done, paint, options)
        yield from _worst(done, paint, options)
        yield from _findings(done, paint, options)
    else:
        yield from _rules(done, paint)
    yield ""
    yield from _summary(done, paint, options.quiet)


def _head(done: Evaluation, paint: Painter) -> Iterator[str]:
    split = f", split {one_line(done.split)}" if done.split else ""
    yield f"{paint('bold', visible_text(done.dataset))}: {one_line(done.format)}{split}"
    judged = f"{many(done.judged, 'question')} with gold" if done.judged or done.runs else "no gold"
    others = f", {done.without_gold:,} without it are left out" if done.judged and done.without_gold else ""
    others = f" for {many(done.questions, 'question')}" if not done.judged and done.questions else others
    searched = f"; {many(done.passages, 'passage')}" if done.passages else "; no corpus"
    unit = f"; {done.unit}s are judged" if done.unit and done.judged else ""
    yield f"{judged}{others}{searched}{unit}"
    for note in done.notes:
        yield paint("dim", one_line(note))


def _scores(done: Evaluation, paint: Painter, width: int) -> Iterator[str]:
    """Metrics by run; the ceiling, and how much of it the best run reached."""
    runs = done.runs
    column = max((min(width_of(one_line(run.name)), _LONGEST_NAME) for run in runs), default=0)
    column = max(column, _SCORE)
    beside = _BESIDE + max(map(len, runs[0].scores), default=0)
    gap = 3 if beside + len(runs) * (column + 3) <= width else 2
    together = max((width - beside) // (column + gap), 1)
    for start in range(0, len(runs), together):
        yield from _scores_of(done, runs[start : start + together], paint, gap)
    top = done.ceiling.scores if done.ceiling is not None else {}
    if any(name in top and score.mean >= 1.005 * top[name] > 0 for run in runs for name, score in run.scores.items()):
        luck = "of identical texts the gold one came first, or a question's own text did not"
        yield paint("dim", f"{_INDENT}more than the ceiling is luck: {luck}")
    if done.judged > 1:
        yield paint(
            "dim", f"{_INDENT}± is half the 95 % interval of the mean (bootstrap over {done.judged:,} questions)"
        )


def _scores_of(done: Evaluation, runs: Sequence[RunResult], paint: Painter, gap: int) -> Iterator[str]:
    """Some of the runs; beside the last ones is what the best of all reached."""
    ceiling = done.ceiling.scores if done.ceiling is not None and runs[-1] is done.runs[-1] else {}
    rows = [
        ["", *(cut_to(one_line(run.name), _LONGEST_NAME) for run in runs), *(("ceiling", "reached") if ceiling else ())]
    ]
    for name in done.runs[0].scores:
        row = [name, *(_score(run.scores.get(name)) for run in runs)]
        if ceiling:
            best = max((run.scores[name].mean for run in done.runs if name in run.scores), default=0.0)
            top = ceiling.get(name)
            row += [f"{top:.3f}" if top is not None else "", f"{best / top:4.0%}" if top else ""]
        rows.append(row)
    yield from column_lines(rows, paint, gap=gap)


def _score(score: Score | None) -> str:
    if score is None:
        return "–"
    return f"{score.mean:.3f} ±{(score.high - score.low) / 2:.3f}" if score.count > 1 else f"{score.mean:.3f}"


def _causes(done: Evaluation, paint: Painter, width: int) -> Iterator[str]:
    """What keeps any retriever below 1."""
    if done.ceiling is None or not done.ceiling.causes:
        return
    names = list(done.ceiling.scores)
    is_below = any(f"{top:.3f}" != "1.000" for top in done.ceiling.scores.values())
    yield f"{_INDENT}{'What keeps the ceiling below 1' if is_below else 'Faults that do not lower the ceiling'}:"
    for cause in done.ceiling.causes[:_MOST_CAUSES]:
        costs = sorted(((cause.cost.get(n, 0.0), -i, n) for i, n in enumerate(names)), reverse=True)
        cost, _, name = costs[0] if costs else (0.0, 0, "")
        words = f", {name} −{cost:.3f}" if cost >= 0.0005 else ""
        words = f"{one_line(cause.words)}: {many(cause.questions, 'question')}{words}"
        for number, line in enumerate(wrapped(words, max(width - 8, 30))):
            yield f"{_INDENT * (2 if number == 0 else 3)}{line}"


def _against_chance(run: RunResult) -> tuple[str, float, float] | None:
    """A metric (nDCG@10, or else the first) with its value, and its value with the gold dealt to other questions."""
    for name in ("ndcg@10", *run.scores):
        if name in run.scores and name in run.sanity.shuffled:
            return name, run.scores[name].mean, run.sanity.shuffled[name]
    return None


def _first_words(done: Evaluation, paint: Painter) -> Iterator[str]:
    """What is said before the metrics, because they mean nothing then."""
    rules = {f.rule: f for f in done.findings}
    if (lost := rules.get("no-gold-in-corpus")) is not None:
        words = one_line(lost.message.partition(";")[0])
        yield paint("error", f"{words[:1].upper()}{words[1:]}.")
        yield ""
    if "questions-without-term" in rules:
        yield paint("error", "Most questions have no term in the index: are they in the language of the passages?")
        yield f"{_INDENT}Metrics of a search by terms say nothing of the gold then (--analyzer, --stemmer)."
        yield ""
    if "gold-not-aligned" in rules:
        otherwise = ", or read the dataset otherwise (-o topics=position)" if done.format == "trec" else ""
        yield paint("error", "Your gold is not aligned: no run finds it better than the gold of other questions.")
        yield f"{_INDENT}Questions, judgements and passages were probably joined by the wrong ids: compare some of them"
        yield f"{_INDENT}(below){otherwise}."
        yield ""
    for finding in done.findings:
        is_whole = finding.rule == "gold-cut-off" or LOST_TEXTS in finding.message
        starts = [0] if is_whole else [finding.message.find(pattern) for pattern in GOLD_PATTERNS]
        if (at := max(starts)) >= 0:
            words = one_line(finding.message[at:].partition(";")[0])
            yield paint(finding.severity, f"{words[:1].upper()}{words[1:]}.")
            yield ""


def _sanity(runs: Sequence[RunResult], paint: Painter, width: int) -> Iterator[str]:
    kinds: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    metric = ""
    for run in runs:
        if (chances := _against_chance(run)) is not None:
            metric, reached, chance = chances
            kinds[run.sanity.aligned].append(f"{one_line(run.name)} {reached:.3f} against {chance:.3f}")
    heads = {
        True: ("good", "better than chance"),
        False: ("error", "no better than chance"),
        None: ("warning", "too few to say whether it is better than chance"),
    }
    for kind, listed in kinds.items():
        style, head = heads[kind]
        words = f"{head}; {metric} against that with the gold dealt to other questions: {', '.join(listed)}"
        for number, line in enumerate(wrapped(words, max(width - 4, 30)) if listed else ()):
            yield f"{_INDENT}{paint(style, head)}{line[len(head) :]}" if number == 0 else f"{_INDENT * 2}{line}"
    for run in runs:
        yield from _search_checks(run.sanity, run, paint)


def _search_checks(sanity: Sanity, run: RunResult, paint: Painter) -> Iterator[str]:
    judged = len(run.questions)
    if sanity.self_retrieval is not None:
        words = f"{sanity.self_retrieval:.1%} of {many(sanity.self_retrieval_count, 'passage')}"
        style = "good" if sanity.self_retrieval >= 0.8 else "warning"
        yield f"{_INDENT}{paint(style, 'self-retrieval')}: {words} come first when their first words are the question"
    if sanity.no_common_token:
        dealt = sanity.no_common_token_shuffled
        others = f" ({dealt:.1%} with the gold dealt to others)" if dealt is not None else ""
        yield f"{_INDENT}{sanity.no_common_token:.1%} of the gold pairs share no term with their question{others}"
    if sanity.without_token:
        yield paint("warning", f"{_INDENT}{sanity.without_token:,} of {judged:,} questions have no term in the index")
    if sanity.without_seed:
        words = f"{sanity.without_seed:,} of {judged:,} questions have no start node in the graph"
        yield paint("warning", f"{_INDENT}{one_line(run.name)}: {words}")


def _run_notes(runs: Iterable[RunResult], paint: Painter) -> Iterator[str]:
    for run in runs:
        for note in run.notes:
            yield paint("dim", f"{_INDENT}{one_line(run.name)}: {one_line(note)}")


def _answers_in_top(done: Evaluation, paint: Painter) -> Iterator[str]:
    found = done.answers_in_top
    if not found:
        return
    yield ""
    asked = many(found[0].asked, "question")
    yield f"How often the answer is in the first k passages ({asked} whose answer can be looked for):"
    rows = [["k", *(one_line(t.run) for t in found), "reached"]]
    ceiling = max(t.ceiling for t in found)
    for k in found[0].at:
        best = max(t.at[k] for t in found)
        rows.append([str(k), *(f"{t.at[k]:.3f}" for t in found), f"{best / ceiling:4.0%}" if ceiling else ""])
    yield from column_lines(rows, paint, gap=3)
    yield f"{_INDENT}ceiling {ceiling:.3f}: how often it is anywhere in the corpus"


def _comparisons(found: Sequence[Comparison], paint: Painter) -> Iterator[str]:
    if not found:
        return
    yield ""
    a, b = one_line(found[0].a), one_line(found[0].b)
    yield f"{paint('bold', f'{b} against {a}')}, {many(found[0].count, 'question')}, paired tests:"
    rows = [["", a, b, "difference", "95 % interval", "p randomised", "p t-test", "better", "worse", "equal"]]
    for name, group in groupby(found, key=lambda c: c.metric):
        tests = {c.test: c for c in group}
        one = tests["randomisation"]
        rows.append(
            [
                name,
                f"{one.mean_a:.3f}",
                f"{one.mean_b:.3f}",
                f"{one.difference:+.3f}",
                f"{one.low:+.3f} to {one.high:+.3f}",
                _p_value(one.p_value),
                _p_value(tests["t"].p_value) if "t" in tests else "",
                f"{one.wins:,}",
                f"{one.losses:,}",
                f"{one.ties:,}",
            ]
        )
    yield from column_lines(rows, paint)


def _p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _answer_scores(scores: AnswerScores, paint: Painter, options: EvaluationOptions) -> Iterator[str]:
    yield ""
    counts = [many(scores.answered, "answer")]
    counts += [f"{scores.unanswered:,} empty are left out"] if scores.unanswered else []
    counts += [f"{scores.without_gold:,} without a gold answer are left out"] if scores.without_gold else []
    counts += [f"{many(scores.missing, 'question')} of the dataset not among them"] if scores.missing else []
    yield f"{paint('bold', f'Answers, {one_line(scores.name)}')}: {', '.join(counts)}"
    words = {
        "exact_match": "equal to an answer (SQuAD, SAGE)",
        "f1": "shared words, best of the answers (SQuAD, SAGE)",
        "contain_arag": "the answer is in it (A-RAG's contain_accuracy)",
        "contain_datamind": "the answer is in it (DataMind's exact match)",
        "f1_datamind": "shared words (DataMind's F1)",
    }
    if scores.scores:
        rows = [["", "", "mean"], *([name, words.get(name, ""), _score(s)] for name, s in scores.scores.items())]
        yield from column_lines(rows, paint, left=(0, 1), gap=3)
    for question, gold, text in () if options.quiet else scores.worst[: min(options.worst, _MOST_ANSWERS)]:
        line = f"{one_line(question)}: expected {one_line(gold)!r}, got {one_line(text)!r}"
        yield paint("dim", cut_to(f"{_INDENT}{line}", options.width))


def _claim_scores(scores: ClaimScores, paint: Painter, options: EvaluationOptions) -> Iterator[str]:
    yield ""
    counts = [f"{many(scores.rows, 'row')} with labels"] if scores.rows else []
    counts += [f"{scores.misfits:,} whose labels do not fit are left out"] if scores.misfits else []
    counts += [f"{scores.long:,} whose claims and labels take more than 16 MB are left out"] if scores.long else []
    counts += [f"{many(scores.unchecked, 'row')} with claims and no labels"] if scores.unchecked else []
    title = f"RAGChecker's metrics, {one_line(scores.name)}"
    yield f"{paint('bold', title)}: {', '.join(counts)}"
    rows = [[group, metric, f"{value:.1f}"] for group, metric, value in scores.metric_rows()]
    if rows:
        yield from column_lines([["", "", "%"], *rows], paint, left=(0, 1), gap=3)
    if scores.by_words:
        rows = [[name, _BY_WORDS[name], f"{100 * value:.1f}"] for name, value in scores.by_words.items()]
        yield from column_lines([["approximate", "", "%"], *rows], paint, left=(0, 1), gap=3)
    for failed in () if options.quiet else scores.failed[: options.worst]:
        line = f"{one_line(failed.question_id)}: {failed.of}, {failed.why}: {one_line(failed.claim)}"
        yield paint("dim", cut_to(f"{_INDENT}{line}", options.width))
    left = len(scores.failed) - options.worst
    if options.worst and left > 0 and not options.quiet:
        yield paint("dim", f"{_INDENT}… {many(left, 'other claim')} that failed; --worst shows more")


_BY_WORDS = {
    "claim_recall": "claims of the right answer all of whose words are in one passage",
    "recall": "claims of the right answer all of whose words are in the response",
}


def _types(done: Evaluation, paint: Painter, options: EvaluationOptions) -> Iterator[str]:
    types = list(done.runs[0].by_type) if done.runs else []
    if not types or options.by_type is False or (options.by_type is None and not 1 < len(types) <= MOST_TYPES):
        return
    name = next(iter(done.runs[0].scores))
    yield ""
    yield f"{name} by type of question:"
    rows = [["", "questions", *(one_line(run.name) for run in done.runs)]]
    for kind in types:
        count = done.runs[0].by_type[kind][name].count
        scores = [_score(run.by_type.get(kind, {}).get(name)) for run in done.runs]
        rows.append([cut_to(one_line(kind), 40), f"{count:,}", *scores])
    yield from column_lines(rows, paint, gap=3)


def best_run(done: Evaluation) -> RunResult | None:
    """The run with the highest value of the first metric, of equal ones the first."""
    scored = [run for run in done.runs if run.scores]
    return max(scored, key=lambda run: next(iter(run.scores.values())).mean) if scored else None


def _worst(done: Evaluation, paint: Painter, options: EvaluationOptions) -> Iterator[str]:
    run = best_run(done)
    listed = run.worst(options.worst) if run is not None else []
    if run is None or not listed:
        return
    yield ""
    name = next(iter(run.scores))
    yield f"Worst questions of {one_line(run.name)} ({name}):"
    for question in listed:
        head = f"{_INDENT}{one_line(question.question_id)}  "
        text = cut_to(one_line(question.text), max(options.width - width_of(head), 20))
        yield f"{_INDENT}{paint('bold', one_line(question.question_id))}  {text}"
        yield from _worst_gold(question, run.depth, done.titles, options.width)
        wanted = set(question.gold)
        for place, target in enumerate(question.found[:3], 1):
            if target not in wanted:
                yield _named(f"{_INDENT * 2}found  {f'rank {place}':>10}  ", target, done.titles, options.width)
        if not question.found:
            yield f"{_INDENT * 2}found     nothing"
    if options.retrieve:
        own = run.name in ALL_MODES
        mode = f" --mode {run.name}" if own and run.name != "bm25" else ""
        asked = f"{options.retrieve}{mode} --id {quote(listed[0].question_id)} --explain"
        why = "shows why" if own else "shows what bm25 finds here (the run itself cannot be asked)"
        yield paint("dim", f"{_INDENT}`{visible_text(asked)}` {why}")


def _worst_gold(question: QuestionResult, depth: int, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """The first gold of a question: its ranks, or why it has none."""
    ranked = [*zip_longest(question.gold, question.gold_ranks, question.causes)]
    for target, rank, cause in ranked[:3]:
        reached = f"rank {rank}" if rank is not None else f"not in {depth}"
        more = cause.words if cause is not None and cause.kind in (*BY_OTHER_WORDS, "copy") else ""
        if cause is not None and cause.kind in LOST:
            reached, _, more = cause.words.partition("; ")
        yield _named(f"{_INDENT * 2}gold   {reached:>10}  ", target, titles, width)
        for line in wrapped(one_line(more), max(width - 23, 30)) if more else ():
            yield f"{_INDENT * 2}{'':19}{line}"
    if len(ranked) > 3:
        yield f"{_INDENT * 2}gold   … and {len(ranked) - 3:,} more"


def _named(head: str, target: str, titles: Mapping[str, str], width: int) -> str:
    title = one_line(titles.get(target, ""))
    return cut_to(
        f"{head}{one_line(with_visible_ends(target))}" + (f"  {title}" if title and title != target else ""), width
    )


def _rules(done: Evaluation, paint: Painter) -> Iterator[str]:
    """Each rule that has findings, without the cases."""
    shown = {f.code: f for f in done.findings if f.severity != "info"}
    yield from [""] if shown else []
    for code, finding in shown.items():
        number = done.by_rule.get(code, 1)
        times = f", {number:,} times" if number > 1 else ""
        yield f"{paint('bold', code)} {paint(finding.severity, finding.severity)} {finding.rule}{times}"


def _findings(done: Evaluation, paint: Painter, options: EvaluationOptions) -> Iterator[str]:
    shown = [f for f in done.findings if f.severity != "info"]
    if not shown:
        return
    yield ""
    for code, group in groupby(shown, key=lambda f: f.code):
        listed = list(group)
        severity = listed[0].severity
        head = f"{paint('bold', code)} {paint(severity, severity)}"
        total = done.by_rule.get(code, len(listed))
        messages = [one_line(f.message) for f in listed]
        consequence = _common_end(messages) if total > 1 else ""
        if consequence:  # what follows from each of them is said once
            yield f"{head} {listed[0].rule}, {total:,} times: {consequence}"
            yield from (f"    {message.removesuffix(f'; {consequence}')}" for message in messages)
        else:
            yield from (f"{head} {message}" for message in messages)
        if total > len(listed):
            more = f"{total - len(listed):,} more of {code} {listed[0].rule}"
            yield paint("dim", f"    … and {more} (--max-per-rule 0 shows all)")
        if listed[0].hint:
            yield f"    {paint('good', '→')} {one_line(listed[0].hint)}"


def _common_end(messages: Sequence[str]) -> str:
    """What follows the last semicolon of all, if it is the same: messages are "what; what follows from it"."""
    ends = {message.rpartition("; ")[2] if "; " in message else "" for message in messages}
    return ends.pop() if len(ends) == 1 else ""


def _summary(done: Evaluation, paint: Painter, quiet: bool) -> Iterator[str]:
    best = {name: max(run.scores[name].mean for run in done.runs if name in run.scores) for name in done.minimums}
    for name, least in done.minimums.items():
        met = best[name] >= least - _ROUNDING
        words = f"{name} {best[name]:.3f} {'≥' if met else '<'} {least:g}"
        yield paint("good" if met else "error", f"{words}: {'as demanded' if met else 'below what was demanded'}")
    counts = []
    for severity in ("error", "warning"):
        codes = [f.code for f in done.findings if f.severity == severity]
        number = sum(done.by_rule.get(code, codes.count(code)) for code in set(codes))
        shown = f", {len(codes):,} shown" if len(codes) < number and not quiet else ""
        counts += [f"{paint(severity, many(number, severity))}{shown}"] if codes else []
    verdict = paint("good", "Evaluated") if done.ok else paint("error", "Evaluated, with errors")
    between = "; " if any("shown" in count for count in counts) else ", "
    found = f" ({between.join(counts)})" if counts else ""
    what = many(len(done.runs), "run") if done.runs else many(len(done.answers), "set") + " of answers"
    what = f"{what} on {many(done.judged, 'question')}" if done.runs else what
    what = many(done.answers_in_top[0].asked, "question") if done.answers_in_top and not done.answers else what
    yield f"{verdict}: {what} in {done.seconds:.1f} s{found}"

"""Canonical tables written as a light-splade dataset: masters and positive lists by split, triplets or scores."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.light_splade.document_parts import MastersInParts
from ragdatakit.converters.light_splade.documents import DocumentMasters
from ragdatakit.converters.light_splade.samples import (
    SCORES_NAME,
    USUAL_RANDOM,
    Named,
    Teacher,
    TripletWriter,
    may_have_negatives,
    note_split,
    random_negatives,
    wanted_documents,
)
from ragdatakit.converters.light_splade.splits import (
    TRAIN,
    VALIDATION,
    Judged,
    NotUsed,
    Plan,
    Planner,
    judgements,
    usable_question,
)
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.parquet_container import PARQUET, put_into_parquet
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE

_MOST_EVALUATED = {"triplets": 10_000, "queries": 5_000}
_NO_NEGATIVES = (
    "light-splade trains on triplets, and the source has no negatives to make them of (no triplets, no judgements of "
    "grade 0, no runs) and is to draw none; --option random-negatives=4 takes 4 random documents for each question"
)


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write the files. Raises `RagdataError` where the source lacks what every such dataset needs."""
    options = _usual_profile(tables, options)
    judged = judgements(tables)
    has_scores = options.profile != "triplet" and tables.any("pair_scores")
    _refuse_without(tables, judged, options, has_scores)
    wanted = wanted_documents(tables, judged, options, has_scores)
    masters = DocumentMasters(tables, out, options, wanted)
    if tables.in_parts is not None:
        masters = MastersInParts(tables, out, options, wanted, tables.in_parts)
    masters.write()
    teacher = Teacher(tables, judged, masters.numbers, options["positive-grade"]) if has_scores else None
    if teacher is not None and options.profile != "distil":
        teacher = _complete(teacher, tables, judged, masters, options)
    refuse = (teacher.refuse,) if teacher is not None else ()
    planner = Planner(tables, judged, masters.numbers, options, *refuse)
    plan = planner.plan()
    _write_queries(tables, out, plan)
    named = _write_positives(tables, out, plan, planner)
    counts = _write_triplets(tables, out, options, plan, planner, masters, judged, named, teacher is None)
    if teacher is not None:
        teacher.write(out, plan, named)
    masters.distribute(plan.splits, named, options["documents"])
    if options["container"] == PARQUET:
        put_into_parquet(out, LIGHT_SPLADE, tables.losses)
    elif plan.splits == (TRAIN, VALIDATION):
        ending = "" if out.line_shards else ".ndjson"
        out.write("data.yaml", _config(len(plan.positives[TRAIN]), counts[TRAIN], teacher is not None, ending))


def _usual_profile(tables: CanonicalTables, options: Options) -> Options:
    """The options: what is a light-splade set of scores alone stays one, without triplets that are drawn."""
    if options.profile or tables.format != "light-splade" or tables.any("triplets") or not tables.any("pair_scores"):
        return options
    return replace(options, profile="distil")


def _refuse_without(tables: CanonicalTables, judged: Judged, options: Options, has_scores: bool) -> None:
    """Raise `RagdataError` where it is clear at once that there is too little for a dataset."""
    for table, word in ((tables.passages, "documents"), ("questions", "questions")):
        if not tables.any(table):
            raise RagdataError(f"light-splade needs {word}, and the source has none")
    if not judged:
        raise RagdataError("light-splade needs questions with relevant documents, and the source has no judgements")
    if options.profile == "distil" and not has_scores:
        raise RagdataError("the profile distil needs a teacher's scores of questions and documents, which are missing")
    if not has_scores and options["validation-ratio"] < 1 and not may_have_negatives(tables, judged, options):
        raise RagdataError(_NO_NEGATIVES)


def _complete(
    teacher: Teacher, tables: CanonicalTables, judged: Judged, masters: DocumentMasters, options: Options
) -> Teacher | None:
    """The teacher, if a trainer could use the scores for every question; nobody asked to leave questions out for it."""
    planner = Planner(tables, judged, masters.numbers, options)
    planner.plan()
    lacking = next((p for p in planner.usable() if teacher.refuse(*p)), None)
    if lacking is None:
        return teacher
    reason = (
        f"not every question and positive has one ({teacher.refuse(*lacking)}); --profile distil keeps those that have"
    )
    for row in tables.take("pair_scores", "question_id", "doc_id", "score"):
        tables.drop("pair_scores", row, reason)
    return None


def _write_queries(tables: CanonicalTables, out: Output, plan: Plan) -> None:
    encode = msgspec.json.Encoder().encode
    written: set[str] = set()
    with ExitStack() as stack:
        files = {s: stack.enter_context(out.lines(f"{s}/query_master.ndjson")) for s in plan.splits}
        for row in tables.take("questions", "question_id", "text", "split"):
            splits = plan.splits_of(row.question_id)
            why = usable_question(row)
            if not why and row.question_id in written:
                why = "a question with this id came before"
            if not why and not splits:
                why = "no document is relevant for it that could be written"
            if why:
                tables.drop("questions", row, why)
                continue
            written.add(row.question_id)
            number = plan.numbers[row.question_id]
            if str(number) != row.question_id:
                out.renamed("question", number, row.question_id)
            if row.split not in splits:
                note_split(tables, "questions", row.question_id, row.split, splits[0])
            for split in splits:
                files[split].put(b'{"qid": %d, "text": %b}\n' % (number, encode(row.text)))
                files[split].records += 1


def _write_positives(tables: CanonicalTables, out: Output, plan: Plan, planner: Planner) -> Named:
    """Account for every judgement, and write the lists."""
    columns = ("question_id", "target_id", "grade", "split")
    for row in tables.take_passage_qrels(*columns):
        try:
            split, number = planner.place_of(row.question_id, row.target_id, row.grade, row.split)
        except NotUsed as why:
            tables.drop("qrels", row, str(why))
            continue
        positives = plan.positives[split][row.question_id]
        if positives[number]:
            tables.drop("qrels", row, "the same is judged before")
            continue
        positives[number] = True
        note_split(tables, "qrels", row.question_id, row.split, split)
        if row.grade != 1:
            shown = f"{row.question_id} {row.target_id}: {row.grade}"
            tables.losses.add("coerced", "qrels", "grade", "a positive list knows no grades", shown)
    named: Named = {TRAIN: set(), VALIDATION: set()}
    for split in plan.splits:
        with out.lines(f"{split}/positive_lists.ndjson") as file:
            for question_id, positives in plan.positives[split].items():
                listed = ", ".join(map(str, positives)).encode()
                file.put(b'{"qid": %d, "positive_doc_ids": [%b]}\n' % (plan.numbers[question_id], listed))
                file.records += 1
                named[split].update(positives)
    return named


def _write_triplets(
    tables: CanonicalTables,
    out: Output,
    options: Options,
    plan: Plan,
    planner: Planner,
    masters: DocumentMasters,
    judged: Judged,
    named: Named,
    needed: bool,
) -> dict[str, int]:
    """How many triplets each split has. Raises `RagdataError` where they are needed and cannot be made."""
    most_random = random_negatives(tables, judged, options)
    triplets = TripletWriter(tables, out, options, plan, masters, named, most_random)
    try:
        triplets.write_given(planner)
        if TRAIN in plan.splits and not triplets.counts[TRAIN] and options.profile != "distil":
            triplets.write_derived(judged)
            if needed and not triplets.counts[TRAIN] and options["random-negatives"] == "auto":
                triplets.most_random = USUAL_RANDOM  # what negatives there are were of no use
                triplets.write_derived(judged)
    finally:
        triplets.close()
    if needed and TRAIN in plan.splits and not triplets.counts[TRAIN]:
        raise RagdataError(_NO_NEGATIVES)
    return triplets.counts


def _config(queries: int, triplets: int, has_scores: bool, ending: str) -> str:
    """A data config; files have this ending, folders of shards none. ``eval_loss_size`` samples are held out of the
    training set, so it must be smaller than that."""
    samples = [min(_MOST_EVALUATED["triplets"], max(1, triplets // 10), triplets - 1)] if triplets else []
    if has_scores:
        samples.append(min(_MOST_EVALUATED["queries"], max(1, queries // 10), queries - 1))
    lines = [
        "# Paths are relative to the folder in which the trainer is run: set DATA_PATH to the folder of this file.",
        "DATA_PATH: .",
    ]
    for split in (TRAIN, VALIDATION):
        for key, stem in (("doc_master",) * 2, ("query_master",) * 2, ("positives", "positive_lists")):
            lines.append(f"{split}_{key}: ${{.DATA_PATH}}/{split}/{stem}{ending}")
        if split == TRAIN and triplets:
            lines.append(f"train_triplets: ${{.DATA_PATH}}/train/triplets{ending}")
    if has_scores:
        lines.append(f"hard_negative_scores: ${{.DATA_PATH}}/{SCORES_NAME.removesuffix('.ndjson')}{ending}")
    lines.append(f"eval_loss_size: {min(samples)}")
    return "\n".join(lines) + "\n"

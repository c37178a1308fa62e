"""The JSON Schemas of what ``ragdata index``, ``retrieve`` and ``eval`` print as JSON: docs/output-schema-*.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from ragdatakit.reports.output_schema import FINDING, RELATED
from ragdatakit.reports.schema_parts import (
    VERSION,
    Schema,
    count,
    head_of,
    list_of,
    map_of,
    number,
    object_of,
    optional,
    optional_text,
    place,
    share,
    text,
    truth,
)
from ragdatakit.schemas.retrieved import ALL_MODES

_MODE: Schema = {"enum": list(ALL_MODES), "description": "A way to search."}
_UNIT: Schema = {"enum": ["document", "chunk"], "description": "What a passage is."}
_BY_METRIC = map_of("By metric.", number("The value."))


def search_output_schemas() -> dict[str, Schema]:
    """All of them, by the command's name (``index-list`` is that of ``--list`` and ``--prune``)."""
    return {"index": _index(), "index-list": _index_list(), "retrieve": _retrieve(), "eval": _evaluation()}


def _document(name: str, title: str, body: Schema, definitions: dict[str, Schema] | None = None) -> Schema:
    head = head_of(f"output-{name}", title)
    return {**head, **body, **({"$defs": definitions} if definitions else {})}


def _dataset() -> dict[str, Schema]:
    return {
        "version": VERSION,
        "dataset": text("The path that was given."),
        "name": text("What the dataset is called."),
        "format": text("Its format, see `ragdata formats`."),
    }


def _index() -> Schema:
    part = object_of(
        "One part of the index.",
        {
            "kind": {"enum": ["lexical", "sparse", "dense", "graph"], "description": "Which part."},
            "built": truth("Whether it was built just now; false where it was there."),
            "seconds": number("What building it took."),
            "bytes": count("Its size on the disk."),
            "facts": {"type": "object", "description": "What is to be known of it; depends on the kind."},
        },
    )
    body = object_of(
        "What `ragdata index PATH --json` prints.",
        {
            **_dataset(),
            "index": text("The index's folder."),
            "digest": text("SHA-256 over the dataset's files."),
            "unit": _UNIT,
            "passages": count("How many passages are indexed."),
            "parts": list_of("The parts that were opened.", part),
            "modes": list_of("The modes that can be used.", _MODE),
            "unavailable": map_of("The other modes, with what they lack.", text("What is to be given.")),
            "notes": list_of("Sentences about faults of the dataset and what was built anew.", text("A sentence.")),
        },
    )
    return _document("index", "Output of ragdata index", body)


def _index_list() -> Schema:
    stored = object_of(
        "An index in the cache.",
        {
            "folder": text("Where it lies."),
            "name": text("What its dataset is called."),
            "format": text("The format of its dataset; empty where the index is damaged."),
            "dataset": text("Where the dataset is, or was; empty where the index is damaged."),
            "passages": count("How many passages it has."),
            "parts": list_of("The kinds of its parts.", text("A kind.")),
            "bytes": count("Its size on the disk."),
            "made": optional_text("When it was made, in UTC."),
            "state": {
                "enum": ["current", "changed", "gone", "damaged"],
                "description": "Whether the dataset is as it was indexed, has changed, or is not there any more.",
            },
        },
    )
    properties = {
        "indexes": list_of("With --list: all of them.", stored),
        "removed": list_of("With --prune: those that were removed.", stored),
    }
    body = object_of("What `ragdata index --list --json` and `--prune --json` print.", {"version": VERSION}, properties)
    return _document("index-list", "Output of ragdata index --list", body)


def _retrieve() -> Schema:
    snippet = object_of(
        "The part of the passage that says most about the question.",
        {
            "text": text("One line."),
            "marks": {
                "type": "array",
                "description": "The matched terms: start and end in characters of the text.",
                "items": {"type": "array", "items": count("An offset."), "minItems": 2, "maxItems": 2},
            },
            "before": truth("Whether the passage goes on before it."),
            "after": truth("Whether the passage goes on behind it."),
        },
    )
    step = object_of(
        "An edge on the way from a start node.",
        {
            "source": text("The node that it is walked from."),
            "relation": text("Its relation."),
            "target": text("The node that it is walked to."),
            "forward": truth("Whether it is walked along its arrow; else the edge is from target to source."),
        },
    )
    hit = object_of(
        "A passage that was found.",
        {
            "rank": count("1-based.", 1),
            "id": text("The id of the document or chunk."),
            "score": number("The mode's own score; higher is better."),
            "title": optional_text("Its title."),
            "document": optional_text("The document of a chunk."),
            "text": text("The whole passage."),
            "snippet": optional(snippet),
            "ranks": map_of("Mode hybrid: its rank in each mode that found it.", count("1-based.", 1)),
            "path": list_of("Mode graph: the way from a start node; empty where there is none.", step),
        },
    )
    term = object_of(
        "A term of the question.",
        {"text": text("As it is in the question."), "passages": count("How many passages have it.")},
    )
    gold = object_of(
        "What became of a relevant target of the question.",
        {
            "id": text("The target."),
            "grade": count("Its grade."),
            "rank": place("Its rank; null where it is not within the depth.", 1),
            "depth": count("How far was looked."),
            "fault": optional_text("Why it cannot be found at all."),
            "title": optional_text("Its title."),
            "shared": list_of("Terms of the question that it has.", term),
            "missing": list_of("Terms of the question that it has not.", term),
            "why": optional_text("What stands above it, or why it is not found; null where there is nothing to say."),
            "snippet": optional(snippet),
            "ranks": map_of(
                "Mode hybrid: its rank in each mode; null where it does not find it.", place("1-based.", 1)
            ),
            "path": list_of("Mode graph: the way from a start node; empty where there is none.", step),
        },
    )
    query = object_of(
        "One question, and what was found.",
        {
            "id": optional_text("Its id."),
            "text": text("The question."),
            "seconds": number("What the search took, without opening the index."),
            "seeds": list_of("Mode graph: the start nodes, the heaviest first.", text("A node.")),
            "notes": list_of("What the user should know.", text("A sentence.")),
            "hits": list_of("The passages, best first.", hit),
        },
        {"gold": list_of("With --id: the gold of the question.", gold)},
    )
    body = object_of(
        "What `ragdata retrieve --output-format json` prints.",
        {
            **_dataset(),
            "index": text("The index's folder."),
            "unit": _UNIT,
            "passages": count("How many passages are searched."),
            "mode": _MODE,
            "k": count("How many passages were asked for.", 1),
            "queries": list_of("The questions, in their order.", query),
        },
    )
    return _document("retrieve", "Output of ragdata retrieve", body)


def _score() -> Schema:
    return object_of(
        "A mean over questions.",
        {
            "mean": share("The mean."),
            "low": share("The lower end of its 95 % confidence interval."),
            "high": share("The upper end."),
            "count": count("How many questions."),
        },
    )


def _sanity() -> Schema:
    return object_of(
        "Whether the metrics of a run mean anything.",
        {
            "shuffled": map_of("The metrics with the gold dealt to other questions.", share("The mean.")),
            "ratio": optional(number("nDCG@10 against that; null where that is 0.")),
            "aligned": optional(truth("Whether the gold is that of the questions; null where it is not known.")),
            "self_retrieval": optional(share("Share of passages that their own first words find first.")),
            "self_retrieval_count": count("Of how many."),
            "no_common_token": optional(share("Share of gold pairs without a common term.")),
            "no_common_token_shuffled": optional(share("That share with the gold dealt to other questions.")),
            "without_token": count("Questions without a term in the index."),
            "without_seed": place("Questions without a start node; null but for mode graph.", 0),
        },
    )


def _question() -> Schema:
    rank = place("1-based; null where it is not within the depth.", 1)
    return object_of(
        "One of the worst questions.",
        {
            "question_id": text("Its id."),
            "text": text("The question."),
            "type": optional_text("Its type."),
            "values": map_of("Its metrics.", share("The value.")),
            "first_rank": rank,
            "gold": list_of("Its gold.", text("An id.")),
            "gold_ranks": list_of("The rank of each.", rank),
            "found": list_of("What is at the top of the run.", text("An id.")),
            "titles": map_of("Titles, or beginnings of texts, by id.", text("A title.")),
        },
    )


def _run() -> Schema:
    scores = map_of("By metric.", {"$ref": "#/$defs/score"})
    return object_of(
        "One run against the gold.",
        {
            "name": text("A mode, or the tag or stage of a run that was given."),
            "depth": count("Results of a question that count."),
            "seconds": optional(number("What the searches took.")),
            "scores": scores,
            "by_type": map_of("By type of question; empty where there are no types.", scores),
            "sanity": _sanity(),
            "worst": list_of("The questions with the lowest values of the first metric.", _question()),
            "notes": list_of("What the user should know.", text("A sentence.")),
        },
    )


def _ceiling() -> Schema:
    cause = object_of(
        "Something that no retriever can make good.",
        {
            "name": text("Its name."),
            "words": text("What it is."),
            "questions": count("How many questions it concerns."),
            "pairs": count("How many pairs of question and gold."),
            "cost": {**_BY_METRIC, "description": "What the ceiling would gain without it, by metric."},
            "examples": list_of("Some, as `question: gold`.", text("An example.")),
            "alone": {**_BY_METRIC, "description": "What it would cost if there were nothing else, by metric."},
        },
    )
    body = object_of(
        "The best that any retriever could reach; null where nothing is judged.",
        {
            "scores": map_of("By metric.", share("The ceiling.")),
            "causes": list_of("What keeps it below 1, the dearest first.", cause),
        },
    )
    return optional(body)


def _comparison() -> Schema:
    return object_of(
        "Two runs on the same questions, one metric, one test.",
        {
            "a": text("The one run."),
            "b": text("The other."),
            "metric": text("The metric."),
            "mean_a": share("Its mean in the one."),
            "mean_b": share("Its mean in the other."),
            "difference": number("b minus a."),
            "low": number("The lower end of the difference's 95 % confidence interval."),
            "high": number("The upper end."),
            "p_value": share("Two-sided."),
            "wins": count("Questions on which b is better."),
            "losses": count("Questions on which b is worse."),
            "ties": count("Questions on which they are equal."),
            "test": {"enum": ["randomisation", "t"], "description": "The test, paired."},
            "count": count("Questions that both have."),
        },
    )


def _answers() -> Schema:
    worst = object_of(
        "A reply that is not the answer.",
        {"question_id": text("The question."), "gold": text("Its answer."), "answer": text("The reply.")},
    )
    return object_of(
        "Answers of a system.",
        {
            "name": text("The run, or the file."),
            "scores": map_of("By metric.", {"$ref": "#/$defs/score"}),
            "answered": count("Answers that are scored."),
            "unanswered": count("Empty ones, left out."),
            "without_gold": count("Those without a gold answer, left out."),
            "missing": count("Questions of the dataset with a gold answer that are not among them."),
            "worst": list_of("The worst of them.", worst),
        },
    )


def _in_top() -> Schema:
    return object_of(
        "How often the answer is in what is found.",
        {
            "run": text("The mode."),
            "at": map_of("By number of passages.", share("Share of the questions.")),
            "ceiling": share("Share of the questions whose answer stands anywhere in the corpus."),
            "asked": count("Questions whose answer can be looked for."),
        },
    )


def _evaluation() -> Schema:
    body = object_of(
        "What `ragdata eval --output-format json` prints, and `--output FILE` writes.",
        {
            **_dataset(),
            "split": optional_text("The split that was evaluated; null: all questions."),
            "unit": text("What is judged: document, chunk or node; empty where nothing is known of it."),
            "passages": count("How many passages are searched; 0 where there is no corpus."),
            "questions": count("Questions of the split."),
            "judged": count("Those with gold, which are scored."),
            "without_gold": count("The others."),
            "ok": truth("Whether no finding is an error; the exit code is 0 then."),
            "runs": list_of("The runs, in their order.", _run()),
            "ceiling": _ceiling(),
            "answers_in_top": list_of("Where there is no gold, one for each mode.", _in_top()),
            "comparisons": list_of("With --compare: two tests for each metric.", _comparison()),
            "answers": list_of("Answers that were scored.", _answers()),
            "minimums": map_of("The demands of --min.", share("The least value.")),
            "findings": list_of("What is wrong, errors first; at most --max-per-rule of one rule.", "finding"),
            "by_rule": map_of("All findings by code, shown or not.", count("Findings of this rule.")),
            "notes": list_of("What the user should know.", text("A sentence.")),
            "seconds": number("What all of it took."),
        },
    )
    definitions = {"score": _score(), "finding": FINDING, "related": RELATED}
    return _document("eval", "Output of ragdata eval", body, definitions)

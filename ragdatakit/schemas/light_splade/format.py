"""light-splade datasets (triplet and distil), declared.

Facts: bizreach-inc/light-splade, commit e1155e5 (data modules identical to release 0.1.3), read and run.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import (
    ELSEWHERE,
    INT64_MAX,
    INT64_MIN,
    Adopted,
    ConfigFile,
    Consistency,
    Coverage,
    Disjoint,
    Field,
    File,
    Format,
    Key,
    Layout,
    Membership,
    Record,
    Reference,
    late_rules,
)

_LINE_RULES = {
    "syntax": "invalid-json",
    "blank": "blank-line",
    "not-object": "line-not-object",
    "extra": "unexpected-field",
    "missing": "missing-field",
    "no-records": "no-records",
}
_ID_RULES = {
    "null": "id-not-integer",
    "type": "id-not-integer",
    "range": "id-beyond-int64",
    "item-type": "id-not-integer",
    "item-range": "id-beyond-int64",
}
_PLAIN_SUFFIXES = (".ndjson", ".ndjson.gz")
_SUFFIXES = (*_PLAIN_SUFFIXES, ".parquet")


_MEANT = {"qid": "query id", "doc_id": "document id", "pos_doc_id": "positive id", "neg_doc_id": "negative id"}


def _id(name: str, description: str) -> Field:
    return Field(
        f"{name}: integer",
        description,
        minimum=INT64_MIN,
        maximum=INT64_MAX,
        examples=(1,),
        rules=_ID_RULES,
        elsewhere=ELSEWHERE[_MEANT[name]],
    )


def _text(description: str) -> Field:
    return Field(
        "text: string",
        description,
        examples=("tide times for small boats",),
        rules={"null": "text-not-string", "type": "text-not-string"},
        elsewhere=(*ELSEWHERE["text"], *ELSEWHERE["question"]),
    )


QUERY = Record(
    name="Query",
    title="light-splade query",
    description="One query of the query master.",
    fields=(_id("qid", "Query id, unique in the split."), _text("The query.")),
    extra="forbid",
    ordered=True,
    rules=_LINE_RULES,
    examples=({"qid": 1, "text": "how to prune a pear tree"},),
)
DOCUMENT = Record(
    name="Document",
    title="light-splade document",
    description="One document of the document master.",
    fields=(_id("doc_id", "Document id, unique in the split."), _text("The document.")),
    extra="forbid",
    ordered=True,
    rules=_LINE_RULES,
    examples=({"doc_id": 10, "text": "Cut pear branches in late winter."},),
)
POSITIVE_LIST = Record(
    name="PositiveList",
    title="light-splade positive list",
    description="The documents that answer one query.",
    fields=(
        _id("qid", "The query."),
        Field(
            "positive_doc_ids: integer[]",
            "Ids of the documents that answer it, at least one.",
            minimum=INT64_MIN,
            maximum=INT64_MAX,
            non_empty=True,
            examples=([10, 11],),
            rules={
                **_ID_RULES,
                "null": "positives-not-list",
                "type": "positives-not-list",
                "empty": "empty-positive-list",
            },
        ),
    ),
    extra="forbid",
    rules=_LINE_RULES,
    examples=({"qid": 1, "positive_doc_ids": [10]},),
)
TRIPLET = Record(
    name="Triplet",
    title="light-splade training triplet",
    description="One training sample: a query, a document that answers it, one that does not.",
    fields=(
        _id("qid", "The query."),
        _id("pos_doc_id", "A document from the query's positive list."),
        _id("neg_doc_id", "A document that is not in the query's positive list."),
    ),
    extra="forbid",
    rules=_LINE_RULES,
    examples=({"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12},),
)
SCORES = Record(
    name="Scores",
    title="light-splade teacher scores",
    description="The teacher's scores of one query's positives and hard negatives.",
    fields=(
        _id("qid", "The query."),
        Field(
            "scores: object",
            "Document id (as text) to the teacher's logit.",
            values="number",
            examples=({"10": 6.5, "12": -3.0},),
            rules={"null": "scores-not-object", "type": "scores-not-object", "item-type": "score-not-number"},
        ),
    ),
    extra="forbid",
    rules=_LINE_RULES,
    examples=({"qid": 1, "scores": {"10": 6.5, "12": -3.0}},),
)

_master = partial(File, suffixes=_SUFFIXES, shards=True)

FILES = (
    _master(
        "queries: ndjson",
        title="query master",
        records=(QUERY,),
        keys=("qid", "text"),
        description="Every query of a split, one per line.",
    ),
    _master(
        "documents: ndjson",
        title="document master",
        records=(DOCUMENT,),
        keys=("doc_id", "text"),
        description="Every document of a split, one per line.",
    ),
    _master(
        "positives: ndjson",
        title="positive lists",
        records=(POSITIVE_LIST,),
        keys=("qid", "positive_doc_ids"),
        description="One line per query: the documents that answer it.",
    ),
    _master(
        "scores: ndjson",
        title="hard-negative scores",
        records=(SCORES,),
        keys=("qid", "scores"),
        description="Distil variant: one line per query with the teacher's scores, for both splits.",
    ),
    _master(
        "triplets: ndjson",
        title="triplets",
        records=(TRIPLET,),
        keys=("qid", "pos_doc_id", "neg_doc_id"),
        description="Triplet variant: one training sample per line.",
    ),
    File(
        "initial-scores: opaque",
        title="initial scores",
        suffixes=_PLAIN_SUFFIXES,
        description="A by-product: the candidate pairs before the teacher scored them. No trainer reads it.",
    ),
    File(
        "training-pairs: opaque",
        title="cross-encoder pairs",
        suffixes=(".pkl.gz", ".pkl"),
        description="A by-product: a pickle, which is never opened.",
    ),
)

_STEMS = {"query_master": "queries", "doc_master": "documents", "positive_lists": "positives", "triplets": "triplets"}
# After the folder and Parquet come endings written by mistake: the loader refuses them, so they must be seen, not
# skipped.
_ENDINGS = (
    *(".ndjson", ".ndjson.gz", "/", ".parquet", "-*.parquet"),
    *(".jsonl", ".jsonl.gz", ".json", ".NDJSON", ".ndjson.GZ", ""),
)
_SCORE_NAMES = {
    # by-products of the distil recipe, read by no trainer; the pickle is never opened
    "hard*negative*init*scores*.ndjson*": "initial-scores",
    "cross*encoder*training*pairs*": "training-pairs",
    **{f"hard*negative*scores*{e}": "scores" for e in _ENDINGS if e},
}


def _patterns(prefix: str) -> dict[str, str]:
    return {f"{prefix}{stem}{ending}": kind for stem, kind in _STEMS.items() for ending in _ENDINGS}


def _any_of(prefix: str, *stems: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{stem}{ending}" for stem in stems for ending in _ENDINGS)


LIGHT_SPLADE = Format(
    name="light-splade",
    title="light-splade",
    letters="SP",
    description="NDJSON training sets for SPLADE: query and document masters, positive lists, and triplets (SPLADE v2) "
    "or teacher scores (SPLADE++).",
    homepage="https://github.com/bizreach-inc/light-splade",
    files=FILES,
    rules=late_rules("ragdatakit.schemas.light_splade", "rules:RULES"),
    config=ConfigFile(suffixes=(".yaml", ".yml"), reader="ragdatakit.files.light_splade.config:read_config"),
    profiles=("triplet", "distil"),
    profile_needs={"triplet": "triplets", "distil": "scores"},
    layouts=(
        Layout(
            name="splits",
            description="`train/` and `validation/`, each with its masters and lists",
            requires=("queries", "documents", "positives"),
            files={**_patterns("train/"), **_patterns("validation/"), **_SCORE_NAMES},
            splits={"train/": "train", "validation/": "validation"},
            signature=(
                _any_of("train/", "query_master", "doc_master", "positive_lists")
                + _any_of("validation/", "query_master", "doc_master", "positive_lists"),
            ),
        ),
        Layout(
            name="split",
            description="the files of one split",
            requires=("queries", "documents", "positives"),
            files={**_patterns(""), **_SCORE_NAMES},
            signature=(_any_of("", "query_master", "doc_master", "positive_lists"),),
        ),
    ),
    keys=(
        Key(kind="queries", fields=("qid",), rule="duplicate-qid"),
        Key(kind="documents", fields=("doc_id",), rule="duplicate-doc-id"),
        Key(kind="positives", fields=("qid",), rule="duplicate-positive-list"),
        Key(kind="scores", fields=("qid",), rule="duplicate-scores"),
        Key(kind="documents", fields=("text",), rule="duplicate-text"),
        Key(kind="triplets", fields=("qid", "pos_doc_id", "neg_doc_id"), rule="duplicate-triplet"),
        Key(kind="positives", fields=("positive_doc_ids",), rule="shared-positive"),
    ),
    references=(
        Reference(kind="positives", field="qid", to_kind="queries", to_field="qid", rule="dangling-positive-qid"),
        Reference(
            kind="positives",
            field="positive_doc_ids",
            to_kind="documents",
            to_field="doc_id",
            rule="dangling-positive-doc-id",
        ),
        Reference(kind="triplets", field="qid", to_kind="queries", to_field="qid", rule="dangling-qid"),
        Reference(kind="triplets", field="pos_doc_id", to_kind="documents", to_field="doc_id", rule="dangling-doc-id"),
        Reference(kind="triplets", field="neg_doc_id", to_kind="documents", to_field="doc_id", rule="dangling-doc-id"),
    ),
    coverages=(
        Coverage(kind="queries", field="qid", by=(("positives", "qid"),), rule="query-without-positives"),
        Coverage(kind="positives", field="qid", by=(("scores", "qid"),), rule="query-without-scores"),
        Coverage(
            kind="queries", field="qid", by=(("triplets", "qid"),), rule="query-without-triplet", splits=("train",)
        ),
        Coverage(
            kind="documents",
            field="doc_id",
            by=(
                ("positives", "positive_doc_ids"),
                ("triplets", "pos_doc_id"),
                ("triplets", "neg_doc_id"),
                ("scores", "@doc_ids"),
            ),
            rule="unreferenced-document",
            splits=("train",),
        ),
    ),
    memberships=(
        Membership(
            kind="triplets",
            fields=("qid", "pos_doc_id"),
            to_kind="positives",
            to_fields=("qid", "positive_doc_ids"),
            within=True,
            rule="positive-not-listed",
        ),
        Membership(
            kind="triplets",
            fields=("qid", "neg_doc_id"),
            to_kind="positives",
            to_fields=("qid", "positive_doc_ids"),
            within=False,
            same_as="pos_doc_id",
            rule="negative-is-positive",
        ),
    ),
    disjoints=(
        Disjoint(kind="queries", field="qid", rule="query-leak"),
        Disjoint(kind="queries", field="text", rule="query-leak"),
    ),
    agreements=(Consistency(kind="documents", names=(("doc_id", "text"),), rule="conflicting-document"),),
    adopts={
        "parquet-not-loaded": Adopted("warning", "the loader refuses the file with ValueError"),
        "unreadable-file": Adopted("error", "the loader stops when it opens the file"),
        "byte-order-mark": Adopted("error", "the loader stops with JSONDecodeError: Unexpected UTF-8 BOM"),
        "mislabelled-compression": Adopted(
            "error", "the loader goes by the name and stops with BadGzipFile or UnicodeDecodeError"
        ),
        "broken-compression": Adopted("error", "the loader stops there with EOFError or BadGzipFile"),
        "duplicate-key": Adopted("error", "the last value silently wins"),
        "lone-surrogate": Adopted("error", "the loader accepts it and the tokenizer stops in the middle of training"),
        "lone-carriage-return": Adopted(
            "warning", "light-splade ends a line there; DuckDB, orjson and line tools do not"
        ),
    },
    replaces=True,
    example={
        "train/query_master.ndjson": '{"qid": 1, "text": "how to prune a pear tree"}\n'
        '{"qid": 2, "text": "tide times for small boats"}\n',
        "train/doc_master.ndjson": '{"doc_id": 10, "text": "Cut pear branches in late winter, above an outward bud."}\n'
        '{"doc_id": 11, "text": "Tide tables give high and low water for each harbour."}\n'
        '{"doc_id": 12, "text": "The museum opens at nine."}\n',
        "train/positive_lists.ndjson": '{"qid": 1, "positive_doc_ids": [10]}\n{"qid": 2, "positive_doc_ids": [11]}\n',
        "train/triplets.ndjson": '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}\n'
        '{"qid": 2, "pos_doc_id": 11, "neg_doc_id": 12}\n',
        "validation/query_master.ndjson": '{"qid": 3, "text": "when does the museum open"}\n',
        "validation/doc_master.ndjson": '{"doc_id": 12, "text": "The museum opens at nine."}\n'
        '{"doc_id": 13, "text": "The harbour office is closed on Sundays."}\n',
        "validation/positive_lists.ndjson": '{"qid": 3, "positive_doc_ids": [12]}\n',
    },
)

"""What a repair rests on besides its own record: others of its group, ids of other files, records that can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ragdatakit.fixes.find import Repair, repairs_of
from ragdatakit.fixes.records import copy_or_last, drop_copy, keep_last, lowest_score_goes
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Damage, Format
from ragdatakit.validators.faults import Fault

Group = tuple[str, int, int | str]

_IDS: Mapping[str, frozenset[str]] = {
    "light-splade": frozenset({"id-not-integer"}),
    "arag": frozenset({"chunk-id-not-string"}),
    "beir": frozenset({"id-not-string"}),
    "datamind": frozenset({"source-not-string", "triple-source-not-string"}),
    "gfm-rag": frozenset({"question-id-decimal", "mixed-question-ids"}),
}
"""By format the rules whose repairs write ids in another way, which is done in all files of a dataset or in none."""
_SAME_ID: Mapping[str, frozenset[str]] = {
    "light-splade": frozenset(
        {"duplicate-qid", "duplicate-doc-id", "duplicate-positive-list", "duplicate-scores", "duplicate-triplet"}
    ),
    "gfm-rag": frozenset({"duplicate-question-id"}),
}
"""By format the rules of records with one id that take 1 and "1" for the same, where the framework does not."""

_UNREAD: tuple[Damage, ...] = (
    *("syntax", "not-object", "array", "duplicate-key", "repeated-wrapper", "no-header", "missing-column"),
    *("long-row", "short-row", "cut-off", "shifted", "unclosed-quote", "nul"),
)
"""Kinds of damage that leave it open what a record, or a file, has."""
_UNREAD_KEY: tuple[Damage, ...] = ("missing", "null", "type", "range", "item-type", "surrogate")
"""The same of a field that the records of other files, or other records, are compared with; what is out of a range and
is only warned of is read as it is."""
_UNREAD_SHARED = frozenset(
    {
        *("unreadable-file", "link-leaves-dataset", "lfs-pointer", "not-text", "mislabelled-compression"),
        "array-for-lines",
        *("broken-compression", "decompression-bomb", "invalid-utf8", "line-too-long", "rule-crashed"),
        *("unreliable-key", "duplicate-key"),
    }
)
_BY_CODE: Mapping[str, frozenset[str]] = {
    "sage": frozenset({"unknown-document"}),
    "trec": frozenset({"unknown-query"}),
    "gfm-rag": frozenset(
        {
            *("dangling-endpoint", "dangling-relation", "duplicate-edge", "unknown-start-node", "unknown-target-node"),
            *("no-known-start-node", "no-known-target-node", "no-usable-sample"),
            *("unknown-document-entity", "legacy-sample-skipped", "no-usable-legacy-sample"),
        }
    ),
}
"""By format the rules, whose faults code finds, that speak of all records of the dataset."""
ALL_KINDS = frozenset({""})
MISPLACED: Mapping[str, str] = {"beir": "swapped-files"}
"""By format the rule that says that files hold what others should: what a record lacks is not known then."""

UNUSABLE: Mapping[str, Mapping[str, str]] = {
    "gfm-rag": dict.fromkeys(("dangling-endpoint", "dangling-relation"), "no-usable-edge")
}
"""By format and rule what says that all records of a file have such a fault: their repairs would leave none."""


def changes_ids(fault: Fault) -> bool:
    """Whether the repair of a fault is made in all files of the dataset, or in none."""
    return fault.rule.name in _IDS.get(fault.dataset.format.name, ())


def is_same_id(fault: Fault) -> bool:
    """Whether a fault is that two records have one id, which may be a number in one and a text in the other."""
    return fault.rule.name in _SAME_ID.get(fault.dataset.format.name, ())


def is_grouped(format_name: str, rule: str) -> bool:
    """Whether each fault of a rule has to be seen, as it may forbid the repair of another one."""
    found = _IDS.get(format_name, frozenset()) | _SAME_ID.get(format_name, frozenset())
    return rule in found or _grouping(format_name, rule) is not None


def may_forbid(format_name: str, other: str, rule: str) -> bool:
    """Whether faults of another rule may be of a group with those of this one, or say that no record is left by it."""
    if UNUSABLE.get(format_name, {}).get(rule) == other:
        return True
    grouping, ids = _grouping(format_name, rule), _IDS.get(format_name, frozenset())
    if grouping is not None and grouping is _grouping(format_name, other):
        return True
    return rule in ids and (other in ids or other in _SAME_ID.get(format_name, ()))


@cache
def unread_rules(format_name: str) -> frozenset[str]:
    """The rules whose faults leave it open what a record has, so that it may be what a repair elsewhere rests on."""
    fmt, found = get_format(format_name), set(_UNREAD_SHARED)
    for file in fmt.files:
        for record in file.records:
            found |= {record.rules[damage] for damage in _UNREAD if damage in record.rules}
            compared = {name for kind, name in _compared(fmt) if kind == file.kind}
            is_derived = any(name.startswith("@") for name in compared)
            keys = [each for each in record.fields if each.name in compared or (is_derived and each.required)]
            found |= {record.rule_for(damage, each.name) for each in keys for damage in _UNREAD_KEY}
            found -= {name for each in keys if (name := each.rules.get("range")) and fmt.rule(name).severity != "error"}
    return frozenset(found - {""})


def _compared(fmt: Format) -> set[tuple[str, str]]:
    """Kinds of files and those of their fields that other records are compared with."""
    repaired = repairs_of(fmt.name).keys()
    found = {(key.kind, name) for key in fmt.keys if key.rule in repaired for name in key.fields}
    for reference in fmt.references:
        found |= {(reference.kind, reference.field), (reference.to_kind, reference.to_field)}
    for member in fmt.memberships:
        found |= {(member.kind, name) for name in member.fields} | {(member.to_kind, name) for name in member.to_fields}
    for coverage in fmt.coverages:
        found |= {(coverage.kind, coverage.field), *coverage.by}
    return found


@cache
def rests_on(format_name: str, rule: str, kind: str) -> frozenset[str]:
    """The kinds of files all records of which have to be read before a fault of this rule, in a file of this kind, is
    repaired; ``ALL_KINDS`` for any."""
    if rule in _BY_CODE.get(format_name, frozenset()):
        return ALL_KINDS
    fmt = get_format(format_name)
    found = {each.to_kind for each in fmt.references if each.rule == rule}
    found |= {each.to_kind for each in fmt.memberships if each.rule == rule}
    found |= {by for each in fmt.coverages if each.rule == rule for by, _ in each.by}
    if repairs_of(format_name).get(rule) in _OF_COPIES or _BY_RULE.get((format_name, rule)) in (_of_first, _of_query):
        found.add(kind)
    return frozenset(found)


def group_of(fault: Fault) -> Group | None:
    """The group of a fault: if one of them has no safe repair, the others have none either."""
    group = _grouping(fault.dataset.format.name, fault.rule.name)
    return None if group is None else group(fault)


def _grouping(format_name: str, rule: str) -> Callable[[Fault], Group | None] | None:
    named = _BY_RULE.get((format_name, rule))
    repair = repairs_of(format_name).get(rule)
    return named or (_BY_REPAIR.get(repair) if repair is not None else None)


def _of_first(fault: Fault) -> Group | None:
    """All records that clash with one: of A, B and A the last one is no copy that says nothing, if the last counts."""
    if fault.other is None or fault.other_file is None:
        return None
    return "record", fault.dataset.number_of(fault.other_file), fault.other.byte_offset


def _of_query(fault: Fault) -> Group | None:
    """All results of a query in one file: their ranks keep their order if all of them are written anew."""
    record = fault.form.value(fault.located.raw.decode("utf-8", "replace")) if fault.located is not None else None
    query = record.get("qid") if isinstance(record, dict) else None
    return "query", fault.dataset.number_of(fault.file), str(query)


def _of_dataset(fault: Fault) -> Group | None:
    """All of the dataset."""
    return "dataset", 0, 0


_OF_COPIES: tuple[Repair | None, ...] = (drop_copy, keep_last, copy_or_last, lowest_score_goes)
_BY_REPAIR: Mapping[Repair, Callable[[Fault], Group | None]] = {
    drop_copy: _of_first,
    keep_last: _of_first,
    lowest_score_goes: _of_first,
}
_BY_RULE: Mapping[tuple[str, str], Callable[[Fault], Group | None]] = {
    ("light-splade", "duplicate-positive-list"): _of_first,
    ("datamind", "duplicate-chunk-id"): _of_first,
    ("datamind", "duplicate-chunk"): _of_first,
    ("trec", "odd-rank"): _of_query,
    ("gfm-rag", "mixed-question-ids"): _of_dataset,
    ("gfm-rag", "question-id-decimal"): _of_dataset,
}

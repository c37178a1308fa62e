"""The rules of DataMind triples.

Facts: haolpku/DataMind, commit 5a8f883: two models of one name, `schema/types.py:GraphTriple` (v1) and
`datamind/core/protocols.py:GraphTriple` (v2), which accept different fields.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import SYNTAX_WORDS

_V1 = "modules/graphrag/graph_rag.py:load_triplets_from_file"
_V2 = "datamind/capabilities/graph/service.py:load_from_profile"
_MODELS = "schema/types.py:GraphTriple, datamind/core/protocols.py:GraphTriple"
_SKIPS = "skips the line with a warning"
_BOTH_SKIP = {"v1": _SKIPS, "v2": _SKIPS}
_GOOD = '{"subject": "Spring tide", "relation": "caused_by", "object": "Moon"}'

_rule = partial(Rule, good=_GOOD, source=f"{_V1}, {_V2}")

GRAPH_RULES: tuple[Rule, ...] = (
    _rule(
        "DM301 broken-triple-line error",
        summary="A line of a triplet file that is not JSON.",
        message="not JSON: {reason}",
        upstream=_BOTH_SKIP,
        hint="repair the line; every line is one whole JSON object",
        fix=SYNTAX_WORDS,
        reveals=("DM3", "missing-entity-image", "RD115", "RD2"),
        bad='{"subject": "A", "relation": "r", "object": "B"',
    ),
    _rule(
        "DM302 triple-not-object error",
        summary="A line of a triplet file that is JSON, but not an object.",
        message="{value} is not an object",
        upstream=_BOTH_SKIP,
        hint="write an object with subject, relation and object",
        bad='["A", "r", "B"]',
    ),
    _rule(
        "DM303 missing-triple-field error",
        summary="A triple without subject, relation or object.",
        message="the field {field} is {fault}",
        upstream=_BOTH_SKIP,
        hint="add the field, or remove the line",
        bad='{"subject": "A", "relation": "r"}',
        source=_MODELS,
    ),
    _rule(
        "DM304 triple-field-not-string error",
        summary="A subject, relation, object or type that is null or not a string.",
        message="{field} is {value}, expected a string",
        upstream=_BOTH_SKIP,
        hint="write names and types as strings, numbers too; leave a type out where there is none",
        fix="safe: put the number into quotes, or remove a type that is null",
        bad='{"subject": "A", "relation": "year", "object": 1982}',
        good='{"subject": "A", "relation": "year", "object": "1982"}',
        source=_MODELS,
    ),
    _rule(
        "DM305 confidence-not-number error",
        summary="A confidence that is null or not a number.",
        message="confidence is {value}, expected a number",
        upstream=_BOTH_SKIP,
        hint="write a number between 0 and 1, or leave confidence out",
        fix="safe: remove the null, or write the number without quotes",
        reveals=("confidence-out-of-range",),
        bad='{"subject": "A", "relation": "r", "object": "B", "confidence": "high"}',
        good='{"subject": "A", "relation": "r", "object": "B", "confidence": 0.9}',
        source=_MODELS,
    ),
    _rule(
        "DM306 empty-name error",
        summary="A subject, relation or object that is empty or only white space.",
        message="{field} is {value}, expected a name",
        upstream={"v1": "skips the triple silently", "v2": "stores an entity or relation without a name"},
        hint="give the name, or remove the line",
        bad='{"subject": "A", "relation": " ", "object": "B"}',
    ),
    _rule(
        "DM307 padded-name warning",
        summary="A name with white space at its start or end.",
        message="{field} {value} starts or ends with white space",
        upstream={"v1": "strips it", "v2": "makes another entity of it than of the name without"},
        hint="strip names when you write them",
        fix=("safe: strip the name, for v1", "unsafe: strip it also for v2, which makes another entity of it"),
        reveals=("duplicate-triple", "conflicting-entity-type", "name-variants"),
        bad='{"subject": "A ", "relation": "r", "object": "B"}',
        good='{"subject": "A", "relation": "r", "object": "B"}',
    ),
    _rule(
        "DM308 confidence-out-of-range warning",
        summary="A confidence below 0 or above 1.",
        message="confidence is {value}, expected 0 to 1",
        upstream={"v2": "takes it for the weight of the edge, and ranks paths by it"},
        hint="scale confidences to 0…1",
        bad='{"subject": "A", "relation": "r", "object": "B", "confidence": 7}',
        good='{"subject": "A", "relation": "r", "object": "B", "confidence": 0.7}',
        source="datamind/core/protocols.py:GraphTriple",
    ),
    _rule(
        "DM309 duplicate-triple warning",
        summary="The same subject, relation and object twice.",
        message="the same triple is already in the profile",
        upstream={"v1": "keeps one edge", "v2": "keeps one edge with the last confidence and properties"},
        hint="remove one of the two, or merge their properties",
        fix="safe: remove a triple that is equal in every field",
        bad='{"subject": "A", "relation": "r", "object": "B"}\n{"subject": "A", "relation": "r", "object": "B"}',
        good='{"subject": "A", "relation": "r", "object": "B"}',
    ),
    _rule(
        "DM310 conflicting-entity-type warning",
        summary="One entity has two types.",
        message="an entity of this triple was given another type before",
        upstream={"v1": "keeps the first type it meets", "v2": "keeps the first type it meets"},
        hint="give an entity one type everywhere",
        bad='{"subject": "A", "subject_type": "Event", "relation": "r", "object": "B"}\n'
        '{"subject": "A", "subject_type": "Body", "relation": "s", "object": "C"}',
        good='{"subject": "A", "subject_type": "Event", "relation": "r", "object": "B"}',
    ),
    _rule(
        "DM311 entity-properties-not-object error",
        summary="subject_properties or object_properties that are null or no object.",
        message="{field} is {value}, expected an object",
        upstream={"v1": _SKIPS},
        hint="write an object, or leave the field out",
        fix="safe: remove the null",
        bad='{"subject": "A", "relation": "r", "object": "B", "subject_properties": null}',
        good='{"subject": "A", "relation": "r", "object": "B", "subject_properties": {"since": "1982"}}',
        source="schema/types.py:GraphTriple",
    ),
    _rule(
        "DM312 unused-entity-properties warning",
        summary="Triples give subject_properties or object_properties, which only v1 reads.",
        message="{count} triple(s) give subject_properties or object_properties",
        upstream={"v2": "silently ignores them"},
        hint="for v2, put what belongs to the edge into properties (`--profile v1` where v2 does not matter)",
        bad='{"subject": "A", "relation": "r", "object": "B", "subject_properties": {"since": "1982"}}',
        good='{"subject": "A", "relation": "r", "object": "B", "properties": {"since": "1982"}}',
        source="datamind/core/protocols.py:GraphTriple",
    ),
    _rule(
        "DM313 unused-edge-properties warning",
        summary="Triples give properties, which only v2 reads.",
        message="{count} triple(s) give properties",
        upstream={"v1": "silently ignores them"},
        hint="for v1, put what belongs to an entity into subject_properties or object_properties (`--profile v2` where "
        "v1 does not matter)",
        bad='{"subject": "A", "relation": "r", "object": "B", "properties": {"since": "1982"}}',
        good='{"subject": "A", "relation": "r", "object": "B", "subject_properties": {"since": "1982"}}',
        source="schema/types.py:GraphTriple",
    ),
    _rule(
        "DM314 unused-confidence warning",
        summary="Triples give a confidence, which only v2 uses.",
        message="{count} triple(s) give a confidence",
        upstream={"v1": "checks that it is a number, and throws it away"},
        hint="nothing to do for v2 (`--profile v2`); v1 cannot weigh edges",
        bad='{"subject": "A", "relation": "r", "object": "B", "confidence": 0.9}',
        source=_V1,
    ),
    _rule(
        "DM315 unused-triple-source warning",
        summary="Triples give a source, which no loader keeps.",
        message="{count} triple(s) give a source",
        upstream={"v1": "throws it away", "v2": "throws it away"},
        hint="keep provenance outside the triples, or for v2 inside properties",
        bad='{"subject": "A", "relation": "r", "object": "B", "source": "tides.md"}',
        good='{"subject": "A", "relation": "r", "object": "B", "properties": {"from": "tides.md"}}',
    ),
    _rule(
        "DM316 name-variants warning",
        summary="Two names that differ only by case, Unicode form, quotation marks or spaces.",
        message="{field} {value} differs only in spelling from a name before it",
        upstream={
            "v1": "makes two entities (names that differ by a quotation mark and a space become one)",
            "v2": "makes two entities",
        },
        hint="spell a name one way, in NFC",
        bad='{"subject": "Ann", "relation": "r", "object": "B"}\n{"subject": "ann", "relation": "s", "object": "C"}',
        good='{"subject": "Ann", "relation": "r", "object": "B"}\n{"subject": "Ann", "relation": "s", "object": "C"}',
    ),
    _rule(
        "DM317 self-loop warning",
        summary="A triple whose subject is its object.",
        message="subject and object are the same: {value}",
        upstream={"v2": "stores the edge and never returns it from a traversal"},
        hint="remove the line, if it says nothing",
        bad='{"subject": "A", "relation": "r", "object": "A"}',
        source="datamind/capabilities/graph",
    ),
    _rule(
        "DM318 null-triple-source error",
        summary="A triple whose source is null.",
        message="source is null, expected a string",
        upstream={"v1": _SKIPS},
        hint="leave source out",
        fix="safe: remove the null",
        bad='{"subject": "A", "relation": "r", "object": "B", "source": null}',
        source="schema/types.py:GraphTriple",
    ),
    _rule(
        "DM319 triple-source-not-string error",
        summary="A triple whose source is neither a string nor null.",
        message="source is {value}, expected a string",
        upstream=_BOTH_SKIP,
        hint="write the source as a string, or leave it out",
        bad='{"subject": "A", "relation": "r", "object": "B", "source": 12}',
        source=_MODELS,
        fix="safe: put the number into quotes",
        reveals=("duplicate-triple", "conflicting-entity-type", "name-variants"),
    ),
    _rule(
        "DM320 edge-properties-not-object error",
        summary="properties that are null or no object.",
        message="properties is {value}, expected an object",
        upstream={"v2": _SKIPS},
        hint="write an object, or leave the field out",
        fix="safe: remove the null",
        bad='{"subject": "A", "relation": "r", "object": "B", "properties": null}',
        good='{"subject": "A", "relation": "r", "object": "B", "properties": {"since": "1982"}}',
        source="datamind/core/protocols.py:GraphTriple",
    ),
)

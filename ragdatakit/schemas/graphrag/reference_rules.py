"""The rules of GraphRAG data: ids, and what refers to them."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_ADAPTERS = "query/indexer_adapters.py"
_MIXED = "query/structured_search/local_search/mixed_context.py"

_rule = partial(Rule, since="0.2.0")

REFERENCE_RULES: tuple[Rule, ...] = (
    _rule(
        "GR101 repeated-id error",
        summary="An id that is missing, or that two rows of a table have.",
        message="{reason}",
        upstream="rows are looked up by it: all but one are lost silently",
        hint="give each row an id of its own",
        bad="e1, e1",
        good="e1, e2",
        source=f"{_ADAPTERS}: read_indexer_entities",
    ),
    _rule(
        "GR019 repeated-text-unit warning",
        summary="Two text units have the same id.",
        message="the id {value} is that of row {first}, too",
        upstream="the last one is taken; GraphRAG makes ids of texts, so the two are mostly the same text",
        hint="remove one of them, or give them ids of their own",
        bad='{"text_unit_ids": ["t1", "t1"]}',
        good='{"text_unit_ids": ["t1"]}',
        source="index/workflows/create_base_text_units.py",
    ),
    _rule(
        "GR102 repeated-title error",
        summary="Two entities have the same title.",
        message="the title {value} is that of row {first}, too",
        upstream="relationships name entities by their titles, and it is open which of the two is meant",
        hint="merge the two entities, or give one of them another title",
        bad='{"title": "REEF"} in two entities',
        good='{"title": "REEF"} and {"title": "HARBOUR"}',
        source="query/context_builder/local_context.py",
    ),
    _rule(
        "GR103 unknown-endpoint warning",
        summary="One end of a relationship is no entity.",
        message="there is no entity {value}",
        upstream="queries show the relationship with its other end only; 3.0.6 and later drop it when they index",
        hint="add the entity, or remove the relationship",
        bad='{"source": "REEF", "target": "REEFS"} without an entity REEFS',
        good='{"source": "REEF", "target": "HARBOUR"}',
        source="index/operations/extract_graph/utils.py: filter_orphan_relationships",
    ),
    _rule(
        "GR117 misnamed-endpoint error",
        summary="An end of a relationship is the id of an entity, or its title in another spelling.",
        message="there is no entity {value}: that is {reason}",
        upstream="the relationship is counted, and never joined to that entity",
        hint="write the title of the entity, letter for letter",
        bad="source: e1",
        good="source: MARA VENN",
        source="query/input/retrieval/relationships.py",
    ),
    _rule(
        "GR118 stray-relationship error",
        summary="Neither end of a relationship is an entity.",
        message="neither {value} nor {other} is an entity",
        upstream="the relationship is never shown",
        hint="add the entities, or remove the relationship",
        bad='{"source": "A", "target": "B"} where neither is an entity',
        good='{"source": "REEF", "target": "HARBOUR"}',
        source="query/input/retrieval/relationships.py",
    ),
    _rule(
        "GR104 unknown-text-unit warning",
        summary="A text unit that is not in the table of text units.",
        message="text unit {value} does not exist",
        upstream="it is skipped: the text is missing from the context",
        hint="add the text unit, or remove the id",
        bad='{"text_unit_ids": ["t9"]} without a text unit t9',
        good='{"text_unit_ids": ["t1"]}',
        source=f"{_MIXED}: _build_text_unit_context",
    ),
    _rule(
        "GR105 unknown-document error",
        summary="A text unit of a document that is not in the table of documents.",
        message="there is no document {value}",
        upstream="queries run; nothing tells where the text comes from, and updates keep it for ever",
        hint="add the document, or write the id of the right one",
        bad='{"id": "t1", "document_id": "d9"} without a document d9',
        good='{"id": "t1", "document_id": "d1"}',
        source="index/update/incremental_index.py",
    ),
    _rule(
        "GR106 documents-unlike-units warning",
        summary="The text units that a document lists are not those that name the document.",
        message="{reason}",
        upstream="queries do not read the list",
        hint="list the ids of the text units of this document, in their order",
        bad='{"id": "d1", "text_unit_ids": ["t1"]} where t1 is of d2',
        good='{"id": "d1", "text_unit_ids": ["t1"]} where t1 is of d1',
        source="index/workflows/create_final_text_units.py",
    ),
    _rule(
        "GR113 links-unlike-units warning",
        summary="What a text unit lists is not what names the text unit.",
        message="{reason}",
        upstream="text units are ordered by it: others come into the context",
        hint="list the ids of all rows that name this text unit",
        bad='{"id": "t1", "entity_ids": []} where an entity names t1',
        good='{"id": "t1", "entity_ids": ["e1"]}',
        source=f"{_MIXED}: _build_text_unit_context",
    ),
    _rule(
        "GR114 unknown-subject warning per-file",
        summary="A claim about what is no entity.",
        message="there is no entity {value}",
        upstream="the claim is never shown",
        hint="write the title of an entity where there is one; models name many subjects that are none",
        bad='{"subject_id": "REEFS"} without an entity REEFS',
        good='{"subject_id": "REEF"}',
        source="query/input/retrieval/covariates.py",
    ),
    _rule(
        "GR124 empty-claim warning per-file",
        summary="A claim without a subject, or with nothing but one: what an answer without claims becomes.",
        message="a claim without {missing}",
        upstream="the claim says nothing; GraphRAG makes one of each answer that has no claims",
        hint="remove the row",
        bad='{"subject_id": ""}',
        good='{"subject_id": "REEF", "type": "FACT"}',
        source="index/operations/extract_covariates/claim_extractor.py",
    ),
)

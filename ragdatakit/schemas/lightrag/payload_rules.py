"""The rules of LightRAG data: the payload of a custom graph."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0", source="lightrag.py: ainsert_custom_kg")

PAYLOAD_RULES: tuple[Rule, ...] = (
    _rule(
        "LR501 payload-not-json error",
        summary="The payload of a custom graph is not JSON.",
        message="not JSON: {reason}",
        upstream="json.load stops with JSONDecodeError",
        hint="write it with json.dump",
        bad="{'chunks': []}",
        good='{"chunks": [], "entities": [], "relationships": []}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR502 payload-not-object error",
        summary="The payload of a custom graph is not one object.",
        message="{value} is not an object with chunks, entities and relationships",
        upstream="ainsert_custom_kg stops with AttributeError",
        hint="write one object",
        bad='[{"entity_name": "Joss Alder"}]',
        good='{"entities": [{"entity_name": "Joss Alder"}]}',
    ),
    _rule(
        "LR503 unknown-payload-key error",
        summary="A key of the payload that LightRAG does not read.",
        message="{value} is not read; expected chunks, entities and relationships",
        upstream="it is passed over silently: what is under it is lost",
        hint="rename it: nodes are entities, edges are relationships",
        bad='{"nodes": [{"entity_name": "Joss Alder"}]}',
        good='{"entities": [{"entity_name": "Joss Alder"}]}',
    ),
    _rule(
        "LR504 payload-without-part warning",
        summary="The payload has no chunks, no entities or no relationships.",
        message="there are no {expected}",
        upstream=(
            "without chunks no text is returned, without entities local finds nothing, without "
            "relationships global finds nothing"
        ),
        cases={
            "chunks": "entities and relationships are found, but no text",
            "entities": "local mode finds nothing; the modes that search texts work",
            "relationships": "global mode finds nothing; the modes that search entities or texts work",
        },
        hint="leave it so if you mean it; `ragdata convert --extractor names` makes entities and relationships",
        bad='{"entities": [], "relationships": []}',
        good='{"chunks": [], "entities": [], "relationships": []}',
    ),
    _rule(
        "LR511 unusable-payload-field error",
        summary="A field of the payload that is missing, null or of another type.",
        message="{field} is {fault}{beside}",
        upstream=(
            "ainsert_custom_kg stops with KeyError, TypeError or ValueError, in part after chunks and "
            "nodes were stored: the directory is left half filled"
        ),
        hint="write the field as a text; chunks, entities and relationships as lists of objects",
        bad='{"src_id": "Joss Alder", "tgt_id": "Kettle Reef", "description": "mapped it"}',
        good='{"src_id": "Joss Alder", "tgt_id": "Kettle Reef", "description": "mapped it", "keywords": "survey"}',
    ),
    _rule(
        "LR512 payload-self-loop error",
        summary="A relationship of an entity with itself, once the names are normalised.",
        message="{value} is related to itself",
        upstream="ainsert_custom_kg stops with ValueError before anything is stored",
        hint="remove it",
        bad='{"src_id": "Joss Alder", "tgt_id": "\\"Joss Alder\\""}',
        good='{"src_id": "Joss Alder", "tgt_id": "Kettle Reef"}',
    ),
    _rule(
        "LR513 vanishing-name error",
        summary=(
            "A name of which nothing is left when it is normalised: blanks, digits shorter than 3, "
            "digits and dots shorter than 6."
        ),
        message="{value} is empty once it is normalised",
        upstream="ainsert_custom_kg stops with ValueError before anything is stored",
        hint="write a longer name, such as route 42",
        bad='"entity_name": "42"',
        good='"entity_name": "route 42"',
        source="utils.py: normalize_extracted_info",
    ),
    _rule(
        "LR514 unusable-weight error",
        summary="A weight that is no finite number, is negative, or is less than 1 where the source is known.",
        message="weight is {value}; expected {expected}",
        upstream="ainsert_custom_kg stops with ValueError before anything is stored",
        hint="write 1.0 or more, or leave out source_id",
        bad='"weight": 0.4, "source_id": "c1"',
        good='"weight": 1.0, "source_id": "c1"',
        source="utils_graph.py: validate_relation_weight",
    ),
    _rule(
        "LR515 weight-as-text warning",
        summary="A weight that is a text.",
        message="weight is {value}",
        upstream="it is read as a number",
        hint="write the number",
        bad='"weight": "2"',
        good='"weight": 2.0',
        source="utils_graph.py: validate_relation_weight",
    ),
    _rule(
        "LR516 unknown-alias warning",
        summary="An entity or relationship whose source_id is that of no chunk.",
        message="no chunk has the source_id {value}",
        upstream="UNKNOWN is stored in its place: queries return no text for it",
        hint="write the source_id of a chunk",
        bad='"source_id": "zzz"',
        good='"source_id": "c1"',
    ),
    _rule(
        "LR517 shared-alias error",
        summary="Two chunks of different content have the same source_id.",
        message="{value} is the source_id of another chunk, too",
        upstream=("entities and relationships are joined to the last of them; the others are found by naive mode only"),
        hint="give each chunk a source_id of its own",
        bad='two chunks with "source_id": "c1"',
        good='"source_id": "c1" and "source_id": "c2"',
    ),
    _rule(
        "LR518 repeated-entity warning",
        summary="Two entities of the payload have one name.",
        message="{value} is declared twice",
        upstream="the last declaration replaces the others",
        hint="merge them",
        bad='two entities with "entity_name": "Joss Alder"',
        good='one entity with "entity_name": "Joss Alder"',
    ),
    _rule(
        "LR519 conflicting-relationship error",
        summary="Two relationships of the same pair, in whichever direction, with other keywords or descriptions.",
        message="the pair {value} is declared twice, with other keywords or another description",
        upstream="the last one replaces the others, and what they say is lost",
        hint="merge them: keywords with commas, descriptions with <SEP>",
        bad='Alder–Reef "survey" and Reef–Alder "fishing"',
        good='Alder–Reef "survey,fishing"',
    ),
    _rule(
        "LR520 repeated-relationship warning",
        summary="The same relationship twice.",
        message="the pair {value} is declared twice",
        upstream="the last one replaces the others",
        hint="remove one of them",
        bad='Alder–Reef "survey" twice',
        good='Alder–Reef "survey" once',
    ),
    _rule(
        "LR521 empty-chunk error",
        summary="A chunk of the payload without text.",
        message="content is {value}, which has no text",
        upstream="it is stored, and found by nothing",
        hint="remove it",
        bad='{"content": "", "source_id": "c1"}',
        good='{"content": "Joss Alder was a surveyor.", "source_id": "c1"}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR522 undeclared-endpoint warning",
        summary="A relationship with an entity that is not declared.",
        message="{value} is no entity of the payload",
        upstream="a node of type UNKNOWN is made for it, which local mode never finds",
        hint="declare it among the entities",
        bad='{"src_id": "Joss Alder", "tgt_id": "Ghost"}',
        good='{"src_id": "Joss Alder", "tgt_id": "Kettle Reef"}, both declared',
    ),
    _rule(
        "LR523 alias-not-text error",
        summary="A source_id that is not a text.",
        message="source_id is {value}; expected a text",
        upstream=(
            "of a chunk: it is stored, and entities and relationships that name it by text are joined to nothing; of "
            "an entity or relationship: the insertion stops, or UNKNOWN is stored"
        ),
        hint="write it as a text",
        bad='"source_id": 1',
        good='"source_id": "c1"',
    ),
    _rule(
        "LR524 blank-relationship-text warning",
        summary="A relationship without keywords, or without a description.",
        message="{field} is blank",
        upstream="global mode finds relations by both",
        hint="write them",
        bad='"keywords": ""',
        good='"keywords": "survey"',
    ),
)

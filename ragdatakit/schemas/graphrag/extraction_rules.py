"""The rules of GraphRAG data: what a model answered when it extracted entities, relationships and claims; settings."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_PARSER = "index/operations/extract_graph/graph_extractor.py: _process_result"
_CLAIMS = "index/operations/extract_covariates/claim_extractor.py: _parse_claim_tuples"

_rule = partial(Rule, since="0.2.0", source=_PARSER)

EXTRACTION_RULES: tuple[Rule, ...] = (
    _rule(
        "GR301 dropped-record error",
        summary="A record that GraphRAG's parser does not take.",
        message="{reason}",
        upstream="the record is dropped without a message",
        hint="write the tag in double quotes, then the fields with <|> between",
        bad="(entity<|>MARA VENN<|>PERSON<|>An engineer)",
        good='("entity"<|>MARA VENN<|>PERSON<|>An engineer)',
    ),
    _rule(
        "GR302 glued-end-mark warning",
        summary="The end mark is part of the last record.",
        message="<|COMPLETE|> is part of the record: there is no ## before it",
        upstream="a relationship loses its strength (1.0 is taken), an entity keeps the mark in its description",
        hint="write ## before <|COMPLETE|>",
        bad='("relationship"<|>A<|>B<|>met<|>9)<|COMPLETE|>',
        good='("relationship"<|>A<|>B<|>met<|>9)##<|COMPLETE|>',
    ),
    _rule(
        "GR303 glued-records error",
        summary="Two records without ## between them.",
        message="a second record begins inside this one",
        upstream="the second one is lost; answers to further rounds are put behind the first without ##",
        hint="write ## between records",
        bad='("entity"<|>A<|>GEO<|>x)("entity"<|>B<|>GEO<|>y)',
        good='("entity"<|>A<|>GEO<|>x)##("entity"<|>B<|>GEO<|>y)',
    ),
    _rule(
        "GR304 odd-strength warning",
        summary="A strength of a relationship that is not a number.",
        message="the strength is {value}",
        upstream="1.0 is taken",
        hint="write a number as the last field",
        bad='("relationship"<|>A<|>B<|>met<|>strong)',
        good='("relationship"<|>A<|>B<|>met<|>9)',
    ),
    _rule(
        "GR305 nameless-record warning",
        summary="An entity, or an end of a relationship, without a name.",
        message="the name is empty",
        upstream="it is taken: there is an entity without a name in the graph",
        hint="remove the record",
        bad='("entity"<|><|>GEO<|>north coast)',
        good='("entity"<|>REEF<|>GEO<|>north coast)',
    ),
    _rule(
        "GR306 no-record warning",
        summary="An answer without a record.",
        message="there is no record",
        upstream="nothing is made of the text unit",
        hint="ask the model again",
        bad="Here are the entities: REEF.",
        good='("entity"<|>REEF<|>GEO<|>north coast)',
    ),
    _rule(
        "GR307 surplus-fields warning",
        summary="A record with more fields than it has a use for.",
        message="{found} fields where {expected} are read",
        upstream="an entity loses what follows its description, of a relationship the last field is its strength",
        hint="write <|> between fields only",
        bad='("entity"<|>A<|>GEO<|>north<|>coast)',
        good='("entity"<|>A<|>GEO<|>north coast)',
    ),
    _rule(
        "GR308 quoted-name warning",
        summary="A name in quotes.",
        message="the name is {value}",
        upstream="the quotes are part of the name, so it is another entity than the one without",
        hint="write names without quotes",
        bad='("entity"<|>"REEF"<|>GEO<|>north coast)',
        good='("entity"<|>REEF<|>GEO<|>north coast)',
    ),
    _rule(
        "GR309 no-end-mark warning",
        summary="An answer that does not end with the end mark.",
        message="<|COMPLETE|> is missing at the end",
        upstream="it is taken as it is; the answer may have been cut off",
        hint="ask the model again, with more tokens for its answer",
        bad='("entity"<|>REEF<|>GEO<|>north coast)',
        good='("entity"<|>REEF<|>GEO<|>north coast)<|COMPLETE|>',
    ),
    _rule(
        "GR321 short-claim warning",
        summary="A claim with fewer than eight fields.",
        message="{found} fields, expected 8",
        upstream="those that are missing become null",
        hint="write subject, object, type, status, start, end, description and source, with <|> between",
        bad="(REEF<|>HARBOUR<|>FACT)",
        good="(REEF<|>HARBOUR<|>FACT<|>TRUE<|>2024-01-01<|>2024-01-02<|>The reef is north.<|>text)",
        source=_CLAIMS,
    ),
    _rule(
        "GR322 odd-claim-status warning",
        summary="A status of a claim that the prompt does not have.",
        message="the status is {value}, expected TRUE, FALSE or SUSPECTED",
        upstream="it is stored as it is",
        hint="write one of the three",
        bad="(REEF<|>NONE<|>FACT<|>MAYBE<|>NONE<|>NONE<|>north<|>text)",
        good="(REEF<|>NONE<|>FACT<|>TRUE<|>NONE<|>NONE<|>north<|>text)",
        source=_CLAIMS,
    ),
)
SETTINGS_RULES: tuple[Rule, ...] = (
    _rule(
        "GR041 unusable-settings error",
        summary="The settings are not YAML, or more than settings can be.",
        message="{reason}",
        upstream="every command of GraphRAG stops when it loads them",
        hint="repair the YAML, or make new settings with graphrag init",
        bad="chunks: [",
        good="chunks:\n  size: 1200",
        source="graphrag_common: config/load_config.py",
    ),
    _rule(
        "GR042 tables-elsewhere warning",
        summary="The settings name another folder for the tables than the one that was checked.",
        message="the tables are in {value}, these are in output",
        upstream="GraphRAG reads the tables there, and not these",
        hint="validate that folder, or set base_dir to output",
        bad="output: {base_dir: ../other/output}",
        good="output: {base_dir: output}",
        source="config/models/graph_rag_config.py: output_storage",
    ),
)

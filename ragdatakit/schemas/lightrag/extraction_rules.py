"""The rules of LightRAG data: the text of extractions."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0", source="operate.py: _process_extraction_result")

EXTRACTION_RULES: tuple[Rule, ...] = (
    _rule(
        "LR601 wrong-number-of-fields error",
        summary="A record of an extraction that has more or fewer fields than its kind.",
        message="{value} fields; an entity has 4, a relation 5",
        upstream="the record is dropped",
        hint="write entity, name, type, description; or relation, source, target, keywords, description",
        bad="relation<|#|>A<|#|>B<|#|>near<|#|>A is near B.<|#|>9",
        good="relation<|#|>A<|#|>B<|#|>near<|#|>A is near B.",
    ),
    _rule(
        "LR602 dropped-record error",
        summary=(
            "A record of an extraction that cannot be used: no name, no description, a type with marks "
            "in it, a relation with itself."
        ),
        message="{reason}",
        upstream="the record is dropped",
        hint="extract the chunk again",
        bad="entity<|#|>Joss Alder<|#|>person<|#|>",
        good="entity<|#|>Joss Alder<|#|>person<|#|>A surveyor.",
        source="operate.py: _handle_single_entity_extraction",
    ),
    _rule(
        "LR603 old-delimiters error",
        summary="An extraction with the delimiters of versions to 1.3.",
        message="records are separated by ##",
        upstream="the current parser finds nothing in it",
        hint="extract again, or write one record a line with <|#|>",
        bad='("entity"<|>JOSS ALDER<|>PERSON<|>A surveyor.)##',
        good="entity<|#|>Joss Alder<|#|>person<|#|>A surveyor.",
    ),
    _rule(
        "LR604 incomplete-extraction warning",
        summary="An extraction without the mark of its end.",
        message="there is no <|COMPLETE|>",
        upstream="it is taken as it is, with a line in the log; the model may have been cut off",
        hint="extract the chunk again",
        bad="entity<|#|>Joss Alder<|#|>person<|#|>A surv",
        good="entity<|#|>Joss Alder<|#|>person<|#|>A surveyor.\\n<|COMPLETE|>",
    ),
    _rule(
        "LR605 damaged-delimiter warning",
        summary="A delimiter that is damaged, and repaired by LightRAG.",
        message="{value} stands for <|#|>",
        upstream="it is repaired where it touches text; elsewhere it is part of a field",
        hint="write <|#|>",
        bad="entity<|>Joss Alder<|#|>person<|#|>A surveyor.",
        good="entity<|#|>Joss Alder<|#|>person<|#|>A surveyor.",
        source="utils.py: fix_tuple_delimiter_corruption",
    ),
    _rule(
        "LR606 relation-called-entity warning",
        summary="A record of five fields that is called an entity.",
        message="five fields are a relation",
        upstream="it is read as a relation",
        hint="call it relation",
        bad="entity<|#|>A<|#|>B<|#|>near<|#|>A is near B.",
        good="relation<|#|>A<|#|>B<|#|>near<|#|>A is near B.",
        source="operate.py: _normalize_text_extraction_record_attributes",
    ),
    _rule(
        "LR607 no-records error",
        summary="An extraction without any record that can be read.",
        message="no entity and no relation can be read",
        upstream="the chunk adds nothing to the graph",
        hint="extract the chunk again",
        bad="The text names Joss Alder.",
        good="entity<|#|>Joss Alder<|#|>person<|#|>A surveyor.\\n<|COMPLETE|>",
    ),
    _rule(
        "LR608 several-records-in-line error",
        summary="Several records in one line.",
        message="a record begins inside the line",
        upstream="the first is read with the fields of the second, or what follows is lost",
        hint="write one record a line",
        bad="entity<|#|>A<|#|>person<|#|>One.<|#|>entity<|#|>B<|#|>person<|#|>Two.",
        good="each of the two on a line of its own",
    ),
)

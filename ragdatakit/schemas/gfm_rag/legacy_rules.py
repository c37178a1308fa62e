"""The rules of GFM-RAG's older layout (kg.txt, document2entities.json, dataset_corpus.json), unknown to release 2.

Facts: release 1.0.0 (RManLuo/gfm-rag, commit f38361d), read and run: what it did with such files. They say what a
conversion would have to do with.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_KG = "gfm-rag 1.0.0 datasets/kg_dataset.py:load_file"
_QA = "gfm-rag 1.0.0 datasets/qa_dataset.py:process"
_GOOD_TRIPLES = "osprey,towed,lena\nlena,built in,port hale"
_GOOD_QUESTION = (
    '[{"id": "h1", "question": "Which boat did the Osprey tow?", "supporting_facts": ["Harbour log"], '
    '"question_entities": ["osprey"], "supporting_entities": ["lena"]}]'
)

_rule = partial(Rule, good='{"Harbour log": ["osprey", "lena"]}', source=_QA)

LEGACY_RULES: tuple[Rule, ...] = (
    _rule(
        "GF601 legacy-layout error",
        summary="The dataset has the layout that was used up to release 1.0.0.",
        message="this is the layout of release 1.0.0 and before",
        upstream="release 2.0.0 reads none of these files; it needs raw/documents.json and nodes, relations and edges",
        hint="convert it: `ragdata convert --from gfm-rag --to gfm-rag SRC DST`",
        bad="processed/stage1/kg.txt\nprocessed/stage1/document2entities.json\nraw/dataset_corpus.json",
        good="processed/stage1/nodes.csv, relations.csv, edges.csv\nraw/documents.json",
        source="gfm-rag 1.0.0 datasets/kg_dataset.py:load_file; no reader of these files in gfm-rag 57e3e28",
    ),
    _rule(
        "GF602 missing-legacy-file error",
        summary="Of kg.txt, document2entities.json and dataset_corpus.json, one is missing.",
        message="{file} is not there{beside}",
        upstream="release 1.0.0 stops with FileNotFoundError",
        hint="put the file back: dataset_corpus.json into raw/, the others into processed/stage1/",
        bad="processed/stage1/kg.txt\nraw/dataset_corpus.json",
        good="processed/stage1/kg.txt\nprocessed/stage1/document2entities.json\nraw/dataset_corpus.json",
        source=_KG,
    ),
    _rule(
        "GF603 triple-not-three error",
        summary="A line of kg.txt that does not have exactly two commas.",
        message="the line has {parts} parts between commas, not 3",
        upstream="release 1.0.0 skips the line, with a line in the log",
        hint="remove the commas from names: nothing can quote them here",
        bad="osprey,towed,lena\nosprey,towed,lena, the barge",
        good=_GOOD_TRIPLES,
        source=_KG,
    ),
    _rule(
        "GF604 untrimmed-part warning per-file",
        summary="A name in kg.txt with white space before or after it.",
        message="{value} begins or ends with white space",
        upstream="it is kept: another entity than the one without",
        hint="write no spaces around the commas",
        fix="unsafe: strip all names of the file",
        bad="osprey, towed, lena",
        good=_GOOD_TRIPLES,
        source=_KG,
    ),
    _rule(
        "GF605 empty-part warning per-file",
        summary="A line of kg.txt with an empty name or relation.",
        message="a part of the line is empty",
        upstream="it is taken as a name like any other",
        hint="give the name, or remove the line",
        bad="osprey,,lena",
        good=_GOOD_TRIPLES,
        source=_KG,
    ),
    _rule(
        "GF606 double-comma-delimiter error per-file",
        summary="kg.txt separates by two commas, as a fork of the framework does.",
        message="the parts are separated by two commas",
        upstream="release 1.0.0 counts five parts and skips the line; only the fork reads it",
        hint="write one comma between the parts, or convert it: `ragdata convert --to gfm-rag -o delimiter=,, SRC DST`",
        bad="osprey,,towed,,lena",
        good=_GOOD_TRIPLES,
        source=_KG,
    ),
    _rule(
        "GF607 repeated-triple warning per-file",
        summary="A line appears twice in kg.txt.",
        message="duplicate line",
        upstream="it is kept as a second edge",
        hint="remove one of the two",
        bad="osprey,towed,lena\nosprey,towed,lena",
        good=_GOOD_TRIPLES,
        source=_KG,
    ),
    _rule(
        "GF608 unknown-document-entity error",
        summary="document2entities.json names an entity that kg.txt does not have.",
        message="there is no entity {value} in kg.txt",
        upstream="release 1.0.0 silently leaves it out",
        hint="write the name as kg.txt does, to the letter, or add a line with it",
        bad='{"Harbour log": ["osprey", "lena", "alba"]}',
    ),
    _rule(
        "GF609 document-not-in-corpus error",
        summary="A document of document2entities.json is not in dataset_corpus.json.",
        message="the document {value} is not in dataset_corpus.json",
        upstream="release 1.0.0 loads it and stops with KeyError when it retrieves the document",
        hint="add its text to the corpus, or remove it here",
        bad='{"Harbour log": ["osprey", "lena"], "Dock log": ["lena"]}',
    ),
    _rule(
        "GF610 document-without-entities warning per-file",
        summary="A document of dataset_corpus.json is not in document2entities.json.",
        message="the document {value} is not in document2entities.json",
        upstream="it can never be retrieved",
        hint="add its entities, or leave it out of the corpus",
        bad='{"Harbour log": "The tug Osprey towed the barge Lena.", "Dock log": "Closed."}',
        good='{"Harbour log": "The tug Osprey towed the barge Lena."}',
    ),
    _rule(
        "GF611 entities-not-list error",
        summary="The entities of a document are null, a number or an object, or hold something that is not a text.",
        message="{field} is {value}, expected a list of names",
        upstream="release 1.0.0 stops with TypeError, or never finds the name",
        hint="write a list of names, `[]` where there are none",
        fix="safe: write an empty list for null",
        bad='{"Harbour log": null}',
    ),
    _rule(
        "GF612 entities-is-text error",
        summary="The entities of a document are one text instead of a list.",
        message="the entities are the text {value}, expected a list of names",
        upstream="release 1.0.0 looks up each of its characters, and none matches",
        hint="wrap it into a list",
        fix="safe: put the text into a list",
        reveals=("unknown-document-entity", "GF61"),
        bad='{"Harbour log": "osprey"}',
    ),
    _rule(
        "GF613 missing-legacy-field error",
        summary="A question without question, question_entities, supporting_entities or supporting_facts.",
        message="the field {field} is {fault}",
        upstream="release 1.0.0 stops with KeyError",
        hint="add the field",
        bad='[{"id": "h1", "question": "Which boat did the Osprey tow?", "supporting_facts": ["Harbour log"]}]',
        good=_GOOD_QUESTION,
    ),
    _rule(
        "GF614 legacy-sample-skipped error",
        summary="Of one of a question's three lists, nothing is known.",
        message="nothing in {list} is known",
        upstream="release 1.0.0 silently skips the question",
        hint="write the names as kg.txt and document2entities.json do, to the letter",
        bad=_GOOD_QUESTION.replace('["osprey"]', '["Osprey"]'),
        good=_GOOD_QUESTION,
    ),
    _rule(
        "GF615 supporting-facts-pairs error",
        summary="supporting_facts are pairs of title and sentence, as HotpotQA has them.",
        message="{field} is {value}, expected a title",
        upstream="release 1.0.0 stops with TypeError: unhashable type: 'list'",
        hint="write the titles only",
        bad=_GOOD_QUESTION.replace('["Harbour log"]', '[["Harbour log", 0]]'),
        good=_GOOD_QUESTION,
    ),
    _rule(
        "GF616 no-usable-legacy-sample error",
        summary="There is no question that release 1.0.0 can use, or no file of questions.",
        message="no question can be used ({samples:,} in all)",
        upstream="release 1.0.0 stops with RuntimeError: stack expects a non-empty TensorList",
        hint="for release 1.0.0 add a question whose entities are in kg.txt; release 2 needs no questions",
        follows=True,
        bad="[]",
        good=_GOOD_QUESTION,
    ),
    _rule(
        "GF617 legacy-not-json error",
        summary="A JSON file of the older layout that is not JSON.",
        message="not JSON: {reason}",
        upstream="release 1.0.0 stops with JSONDecodeError",
        hint="repair the file",
        bad='{"Harbour log": ["osprey", "lena"]',
    ),
    _rule(
        "GF618 legacy-not-object error",
        summary="A JSON file of the older layout, or a question or a field in it, that has another structure.",
        message="found {value}; expected an object of titles, or a list of questions with lists of names",
        upstream="release 1.0.0 stops with TypeError or AttributeError",
        hint="write an object of titles, or a list of questions with lists of names",
        bad='["osprey", "lena"]',
    ),
    _rule(
        "GF619 repeated-legacy-title error",
        summary="One title appears twice in dataset_corpus.json or document2entities.json.",
        message="duplicate title {value}",
        upstream="the last value wins, the first is silently lost",
        keeps_last=True,
        hint="give each document a title of its own",
        bad='{"Harbour log": ["osprey"], "Harbour log": ["lena"]}',
    ),
    _rule(
        "GF620 legacy-text-not-text error",
        summary="A document of dataset_corpus.json, or the question of a sample, is not a text.",
        message="{field} is {value}, expected a text",
        upstream="release 1.0.0 stops when it embeds or shows it",
        hint="write the text",
        bad='{"Harbour log": null}',
        good='{"Harbour log": "The tug Osprey towed the barge Lena."}',
    ),
)

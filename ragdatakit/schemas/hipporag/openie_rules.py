"""Rules of HippoRAG's OpenIE results: passages, the entities and the triples that were extracted from them."""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import COPY_WORDS

OPENIE_RULES: tuple[Rule, ...] = (
    Rule(
        "HR012 triple-not-three warning",
        summary="An extracted triple that does not have three members.",
        message="{value} has {members} members",
        upstream="it is dropped",
        hint="remove it, or extract the passage again",
        bad='"extracted_triples": [["Joss Alder", "mapped"]]',
        good='"extracted_triples": [["Joss Alder", "mapped", "Kettle Reef"]]',
        source="llm_utils.py: filter_invalid_triples",
    ),
    Rule(
        "HR013 repeated-triple warning",
        summary="One passage has the same triple twice.",
        message="duplicate {value}",
        upstream="the copy is dropped",
        hint="remove it",
        fix="safe: remove the second one",
        bad='"extracted_triples": [["Joss Alder", "mapped", "Kettle Reef"], ["Joss Alder", "mapped", "Kettle Reef"]]',
        good='"extracted_triples": [["Joss Alder", "mapped", "Kettle Reef"]]',
        source="llm_utils.py: filter_invalid_triples",
    ),
    Rule(
        "HR014 vanishing-name warning",
        summary="A subject or object of which nothing is left when all but A-Z, a-z, 0-9 and blanks is removed.",
        message="nothing is left of {value}",
        upstream="all such names, those of every other script among them, become one node without a name",
        hint="write the name in Latin letters, or use another framework for this language",
        bad='["Joss Alder", "mapped", "釜礁"]',
        good='["Joss Alder", "mapped", "Kettle Reef"]',
        source="misc_utils.py: text_processing",
    ),
    Rule(
        "HR036 self-loop warning",
        summary="A triple whose subject is its object.",
        message="{value} is related to itself",
        upstream="the loop is kept in the graph, and leads nowhere",
        hint="remove it",
        bad='"extracted_triples": [["Kettle Reef", "borders", "Kettle Reef"]]',
        good='"extracted_triples": [["Kettle Reef", "borders", "Port Hale"]]',
        source="llm_utils.py: filter_invalid_triples",
    ),
    Rule(
        "HR037 openie-not-json error",
        summary="The OpenIE results are not JSON.",
        message="not JSON: {reason}; one object is expected",
        upstream="json.load stops with JSONDecodeError",
        hint="write the results once more; an interrupted run leaves half a file",
        bad='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}',
        good='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}]}',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR038 openie-not-object error",
        summary="The OpenIE results are not an object with docs.",
        message='one object {{"docs": […]}} is expected',
        upstream="the run stops with AttributeError or JSONDecodeError",
        hint='the results of all passages are under docs: {"docs": […]}',
        bad='{"passages": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": '
        '[], "extracted_triples": []}]}',
        good='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}]}',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR040 openie-as-list error",
        summary="The OpenIE results are a list, or several lines of JSON, and not one object.",
        message="the file is a list, or has several lines of JSON; one object is expected",
        upstream="the run stops with AttributeError or JSONDecodeError",
        hint='write one object: {"docs": […]}',
        bad='[{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], "extracted_triples": []}]',
        good='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}]}',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR039 unusable-results error",
        summary="The results of a passage lack passage, extracted_entities or extracted_triples, or have other types.",
        message="{field} is {fault}",
        upstream="the run stops with KeyError, TypeError or AttributeError",
        hint="passage is a text, extracted_entities a list of texts, extracted_triples a list of lists",
        bad='{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": null}',
        good='{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], "extracted_triples": []}',
        source="misc_utils.py: reformat_openie_results",
    ),
    Rule(
        "HR105 results-without-passage error",
        summary="There are OpenIE results of a passage that the corpus does not have, letter by letter.",
        message="no passage of the corpus is {value}",
        upstream="the numbers of passages and of results differ: the run stops with AssertionError",
        hint="remove the results, or add the passage to the corpus",
        bad='openie_results_ner_small.json: "passage": "Kettle Reef\\nJoss Alder charted it."\n'
        'reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}]',
        good='openie_results_ner_small.json: "passage": "Kettle Reef\\nJoss Alder mapped it."\n'
        'reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}]',
        source="HippoRAG.py: index",
    ),
    Rule(
        "HR106 entity-not-extracted info",
        summary="Subjects and objects of triples that are not among the extracted entities of their passage.",
        message="{missing} of {members} subjects and objects are not extracted entities of their passage",
        upstream="the graph is made of the triples alone",
        hint="nothing needs to be done",
        bad='"extracted_entities": ["Joss Alder"], "extracted_triples": [["Joss Alder", "mapped", "Kettle Reef"]]',
        good='"extracted_entities": ["Joss Alder", "Kettle Reef"], "extracted_triples": [["Joss '
        'Alder", "mapped", "Kettle Reef"]]',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR111 wrong-passage-id warning",
        summary="The idx of a passage's results is not chunk- and the MD5 of the passage.",
        message="idx is {value}; {expected} is expected",
        upstream="idx is computed anew when the results are loaded",
        hint="leave idx out, or write the MD5 of the passage in UTF-8",
        bad='"idx": "chunk-1", "passage": "Kettle Reef\\nJoss Alder mapped it."',
        good='"idx": "chunk-917cdfab0018f824bcb631223c79b651", "passage": "Kettle Reef\\nJoss Alder mapped it."',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR112 passage-without-results warning",
        summary="Passages of the corpus that have no OpenIE results.",
        message="{missing} of {passages} passages of the corpus have no results here",
        upstream="they are sent to the language model when the corpus is indexed",
        hint="nothing needs to be done; a corpus changed by a letter is extracted again as a whole",
        bad='reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}, '
        '{"title": "Fog", "text": "Fog is low cloud."}]\n'
        'openie_results_ner_small.json: {"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped '
        'it.", "extracted_entities": [], "extracted_triples": []}]}',
        good='reefs_corpus.json: [{"title": "Kettle Reef", "text": "Joss Alder mapped it."}]\n'
        'openie_results_ner_small.json: {"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped '
        'it.", "extracted_entities": [], "extracted_triples": []}]}',
        source="HippoRAG.py: load_existing_openie",
    ),
    Rule(
        "HR113 repeated-results error",
        summary="One passage has its OpenIE results twice.",
        message="the results of {value} appear twice",
        upstream="the last ones replace the others",
        hint="keep one of them",
        fix=COPY_WORDS,
        bad='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []},\n'
        ' {"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}]}',
        good='{"docs": [{"passage": "Kettle Reef\\nJoss Alder mapped it.", "extracted_entities": [], '
        '"extracted_triples": []}]}',
        source="misc_utils.py: reformat_openie_results",
    ),
)

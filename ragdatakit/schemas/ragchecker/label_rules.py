"""Rules of what RAGChecker adds to a row: claims, labels, and the metrics that are computed from them."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_COMPUTED = "ragchecker/computation.py"
_AGGREGATED = "ragchecker/evaluator.py: RAGChecker.evaluate"

_rule = partial(Rule, since="0.2.0")

LABEL_RULES: tuple[Rule, ...] = (
    _rule(
        "RC007 unknown-label error",
        summary="A label is not Entailment, Neutral or Contradiction, spelt like that.",
        message="{value} is not Entailment, Neutral or Contradiction",
        upstream="it is silently counted as not entailed",
        hint="use one of the three labels, with a capital",
        bad='"answer2response": ["entailment"]',
        good='"answer2response": ["Entailment"]',
        source=f"{_COMPUTED}: to_bool",
    ),
    _rule(
        "RC008 misshapen-labels error",
        summary="There are more or fewer labels than claims or passages.",
        message="{mismatch}",
        upstream="lists that do not fit together are stretched silently and give other metrics, or the tool stops "
        "(ValueError, IndexError or TypeError)",
        hint="give one label for each claim; in retrieved2answer and retrieved2response a list for each claim, with "
        "one label for each passage",
        bad='"answer2response": ["Entailment", "Neutral"]',
        good='"answer2response": ["Entailment"]',
        source=f"{_COMPUTED}: evaluate_retrieval, evaluate_noise_sensitivity",
    ),
    _rule(
        "RC010 legacy-groups error",
        summary="The groups of metrics have the names of older versions: overall, retriever, generator.",
        message="the groups have old names: {value} is now called {expected}",
        upstream="evaluating the file again stops with KeyError",
        hint="rename the groups to overall_metrics, retriever_metrics and generator_metrics",
        bad='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": []}],\n'
        ' "metrics": {"overall": {}, "retriever": {}, "generator": {}}}',
        good='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": []}],\n'
        ' "metrics": {"overall_metrics": {}, "retriever_metrics": {}, "generator_metrics": {}}}',
        source=_AGGREGATED,
    ),
    _rule(
        "RC011 stored-metric-differs warning",
        summary="A metric that is stored in a row is not what its labels give.",
        message="{field} is {value}; the labels give {expected}",
        upstream="the stored value is kept, and is part of the mean (faithfulness is computed anew)",
        hint="remove metrics from the rows whose labels were changed; the tool computes them anew",
        bad='"metrics": {"precision": 0.9}',
        good='"metrics": {"precision": 1.0}',
        source=f"{_COMPUTED}: evaluate_precision",
    ),
    _rule(
        "RC012 incomplete-labels warning per-file",
        summary="A row has some of the four sets of labels, and lacks others.",
        message="{missing} is missing, although other labels are there",
        upstream="the tool asks a model for what is missing",
        hint="let the tool finish, or remove the labels of the rows that are to be checked anew",
        bad='"retrieved2answer": null',
        good='"retrieved2answer": [["Entailment"], ["Neutral"]]',
        source="ragchecker/evaluator.py: RAGChecker.check_claims",
    ),
    _rule(
        "RC020 labels-not-list error",
        summary="A set of labels is not a list.",
        message="{field} is {value}; a list is expected",
        upstream="a text is read letter by letter, each not entailed; a number stops the tool with TypeError",
        hint="write a list with a label for each claim",
        bad='"answer2response": "Entailment"',
        good='"answer2response": ["Entailment"]',
        source="ragchecker/container.py: RAGResult",
    ),
    _rule(
        "RC023 unusable-groups error",
        summary="metrics of the whole file is not an object of the three groups, each an object of numbers.",
        message="{mismatch}",
        upstream="the tool stops (KeyError for a group that is missing, else TypeError, AttributeError or ValueError)",
        hint="remove metrics, or write all three groups, which may be empty",
        bad='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": []}], "metrics": {}}',
        good='{"results": [{"query_id": "q1", "query": "Who mapped the reef?", "gt_answer": "Joss Alder.",\n'
        '  "response": "Joss Alder.", "retrieved_context": []}],\n'
        ' "metrics": {"overall_metrics": {}, "retriever_metrics": {}, "generator_metrics": {}}}',
        source=_AGGREGATED,
    ),
    _rule(
        "RC024 group-metric-differs warning",
        summary="A metric of the whole file is not the mean of the rows, in percent with one decimal.",
        message="{field} is {value}; the rows give {expected}",
        upstream="it is computed anew when the file is evaluated; until then it is wrong",
        hint="evaluate the file again",
        bad='"metrics": {"overall_metrics": {"precision": 90.0}, ...} where the mean of the rows is 0.764',
        good='"metrics": {"overall_metrics": {"precision": 76.4}, ...}',
        source=_AGGREGATED,
    ),
    _rule(
        "RC025 metric-not-number error",
        summary="metrics of a row is not an object of finite numbers.",
        message="{field} is {value}; finite numbers are expected",
        upstream="the tool stops (TypeError, AttributeError or ValueError); NaN makes the mean of all rows NaN",
        hint="remove metrics from the row; the tool computes them anew",
        bad='"metrics": {"precision": "high"}',
        good='"metrics": {"precision": 1.0}',
        source="ragchecker/container.py: RAGResult",
    ),
    _rule(
        "RC026 metric-as-text warning",
        summary="A metric of a row is a number in quotes, true or false.",
        message="{field} is {value}; a number is expected",
        upstream="it is silently made a number, and is part of the mean",
        hint="write a number",
        bad='"metrics": {"precision": "1.0"}',
        good='"metrics": {"precision": 1.0}',
        source="ragchecker/container.py: RAGResult",
    ),
    _rule(
        "RC027 metric-out-of-range warning",
        summary="A metric of a row is below 0 or above 1, and there are no labels to compute it from.",
        message="{field} is {value}; metrics of rows are from 0 to 1",
        upstream="it is kept, and is part of the mean, which is multiplied by 100",
        hint="write a share, not percent",
        bad='"metrics": {"precision": 76.4}, "answer2response": null',
        good='"metrics": {"precision": 0.764}, "answer2response": null',
        source=_AGGREGATED,
    ),
    _rule(
        "RC028 labels-without-claims warning per-file",
        summary="A row has labels, and lacks the claims that they are about.",
        message="{missing} is missing, although its labels are there",
        upstream="the metrics are computed from the labels; nothing says which claims they are about",
        hint="keep response_claims and gt_answer_claims with the labels",
        bad='"response_claims": null',
        good='"response_claims": [["Joss Alder", "mapped", "the reef"]]',
        source=f"{_COMPUTED} (claims are not read)",
    ),
    _rule(
        "RC029 claims-not-list error",
        summary="Claims are not a list.",
        message="{field} is {value}; a list is expected",
        upstream="a number stops the tool with TypeError; a text is read letter by letter, each a claim",
        hint='write a list of sentences, or of ["subject", "predicate", "object"] lists',
        bad='"response_claims": "Joss Alder mapped the reef."',
        good='"response_claims": ["Joss Alder mapped the reef."]',
        source="ragchecker/container.py: RAGResult",
    ),
)

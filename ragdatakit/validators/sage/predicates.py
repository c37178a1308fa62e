"""Which SAGE records the rules may want to see, in words that the scanner understands.

Proved are records as SAGE documents them: with an id in the question, stages of results and docs in pairs, and no older
key. All others go to Python.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import Blank, Given, Lacks, OpenUnlessGiven
from ragdatakit.scanner.relations import (
    Above,
    Apart,
    Ascending,
    Beyond,
    Closed,
    Empty,
    Lacking,
    Measure,
    More,
    NoQuotient,
    OneOfMany,
    Outside,
    Parts,
    Twice,
    Unlike,
    Without,
)
from ragdatakit.schemas.declarations import Field
from ragdatakit.validators.sage.refining import TOLERANCE
from ragdatakit.validators.sage.times import HOUR

DOCUMENTS: tuple[Asked, ...] = (Blank("contents"), Given("text"))
_STAGES = ("retrieval", "reranking", "refining")
_RETRIEVED, _RERANKED, _REFINED = (f"{stage}_results/text" for stage in _STAGES)
_RESULT = (
    Field("text: string"),
    Field("score?: number", minimum=0, maximum=1),
    Field("similarity_score?: any"),
    Field("metadata?: object"),
)
_NUMBERS = (
    Field("original_length?: integer", minimum=0),
    Field("refined_length?: integer", minimum=0),
    Field("compression_ratio?: number", minimum=0),
)
_SAYS = "".join(sorted({*string.ascii_letters, *string.digits} - {*"theanTHEAN"}))
"""No article is made of these, so that a text with one of them says something to the metrics."""


def _stage(stage: str) -> Iterator[Asked]:
    results, docs, time = f"{stage}_results", f"{stage}_docs", f"{stage}_time"
    text = f"{results}/text"
    yield Parts(results, (*_RESULT, *(_NUMBERS if stage == "refining" else ())))
    yield from (Given(f"{results}/similarity_score"), Blank(text), Twice((text,)))
    yield from (Apart((results, docs)), More((text, docs)), More((docs, text)), Unlike((text, docs)))
    yield from (Above((time,), HOUR), Without((time, results, docs)))
    yield Empty((results,)) if stage != "retrieval" else Ascending((f"{results}/score",))


def _refining() -> Iterator[Asked]:
    original, refined, ratio = (f"refining_results/{field.name}" for field in _NUMBERS)
    yield Apart((original, refined, ratio))
    yield NoQuotient((refined, original, ratio), TOLERANCE)
    yield Measure((_REFINED, refined), once="unit-of-lengths")
    yield from (More((_REFINED, _RETRIEVED)), OneOfMany((_REFINED, _RETRIEVED)), OneOfMany((_REFINED, _RERANKED)))


RECORDS: tuple[Asked, ...] = (
    Closed(unless="custom_"),
    Lacking(("query",)),
    Blank("query"),
    OpenUnlessGiven("question"),
    Parts("question", (Field("id: any"), Field("references?: string[]"))),
    Empty(("references",)),
    Twice(("references",)),
    Lacks("references", _SAYS),
    Unlike(("question/references", "references")),
    Without(("generated", "references")),
    Without(("generated", "prompt")),
    *(asked for stage in _STAGES for asked in _stage(stage)),
    Ascending(("reranking_results/score",)),
    Beyond((_RERANKED, _RETRIEVED)),
    *_refining(),
    Above(("generation_time",), HOUR),
    Without(("generation_time", "generated")),
    Outside(("prompt", "query")),
    Outside(("prompt", _REFINED, _RERANKED, _RETRIEVED)),
)

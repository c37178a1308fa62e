"""What a conversion makes of the tables before it writes them: a graph of the texts, hard negatives.

Takes the words of the command line and of `ragdatakit.convert`, and says in the manifest's words what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.errors import RagdataError, UnknownNameError

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.extraction.graph_tables import ExtractOptions
    from ragdatakit.retrieval.extraction.model import ModelOptions
    from ragdatakit.retrieval.parts import Progress
    from ragdatakit.schemas.conversions import ExtractionEstimate
    from ragdatakit.schemas.options import SearchOptions

Prepare = Callable[["CanonicalTables"], "CanonicalTables"]

_GRAPH = ("least", "linker", "start_nodes")
_SEARCH = ("embedder", "analyzer", "stemmer")
_SERVER = ("base_url", "api_key_env")
_ASKING = ("model", "concurrency", "timeout", "retries", "max_tokens", "most_failures", "cache")
_PRICES = ("price_in", "price_out")
_WORDS = (*_GRAPH, *_SEARCH, *_SERVER, *_ASKING, *_PRICES)
_NOT_IN_OUTPUT = ("api_key_env", "concurrency", "timeout", "retries", "cache", *_PRICES)
"""What has no influence on what is written."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """``prepare`` makes something of tables, ``words`` tell what; ``estimate`` says what it would take instead, where
    a model is asked."""

    prepare: Prepare
    words: Mapping[str, str]
    estimate: Callable[[CanonicalTables], ExtractionEstimate] | None = None


def make_preparation(
    extractor: str,
    extraction: Mapping[str, object],
    negatives: str,
    *,
    target: str,
    holds: Mapping[str, tuple[str, ...]],
    mentions: bool = False,
    by_title: bool = False,
    seed: int = 13,
    progress: Progress | None = None,
) -> Preparation | None:
    """What is to be made for a target that ``holds`` these tables; None where nothing is asked for. ``mentions``: it
    needs edges to passages, also where it has no place for start nodes.

    ``extraction`` has the options of the extractor by name. Raises `UnknownNameError` for an unknown one,
    `RagdataError` for values that make no sense and for a target that has no place for what is made.
    """
    if unknown := [name for name in extraction if name not in _WORDS]:
        raise UnknownNameError("extraction option", unknown[0], _WORDS)
    if not extractor and extraction:
        raise RagdataError(f"{next(iter(extraction)).replace('_', '-')} goes with --extractor names or openai")
    if extractor and negatives:
        raise RagdataError("--extractor makes a graph, --negatives triplets: no format holds both")
    if negatives:
        return _negatives(negatives, target, holds, seed, progress)
    if not extractor:
        return None
    if "edges" not in holds:
        raise RagdataError(f"--extractor makes a graph, and {target} has no place for one")
    options = _extract_options(extractor, extraction)
    links = "start_nodes" in holds
    options = replace(options, mentions=links or mentions, questions=links, by_title=by_title, progress=progress)
    options.check()
    if options.model is not None:
        options.model.endpoint()  # an address or a key that cannot be used is told at once
    return Preparation(_extract(options), _manifest_words(extractor, extraction), _estimate(options, extraction))


def _negatives(
    spec: str, target: str, holds: Mapping[str, tuple[str, ...]], seed: int, progress: Progress | None
) -> Preparation:
    from ragdatakit.retrieval.negatives import mine_negatives, parse_negatives

    if "triplets" not in holds or target != "light-splade":
        raise RagdataError(f"--negatives makes training triplets, and {target} has no place for them")
    parse_negatives(spec, seed)
    return Preparation(lambda tables: mine_negatives(tables, spec, seed, progress), {"negatives": spec})


def _extract(options: ExtractOptions) -> Prepare:
    from ragdatakit.retrieval.extraction.graph_tables import extract_graph

    return lambda tables: extract_graph(tables, options)


def _extract_options(extractor: str, given: Mapping[str, object]) -> ExtractOptions:
    from ragdatakit.retrieval.extraction.graph_tables import EXTRACTORS, ExtractOptions
    from ragdatakit.retrieval.extraction.model import ModelOptions
    from ragdatakit.schemas.options import SearchOptions

    if extractor not in EXTRACTORS:
        raise UnknownNameError("extractor", extractor, EXTRACTORS)
    for name in (*_ASKING, *_PRICES) if extractor == "names" else ("least",):
        if name in given:
            other = "openai" if extractor == "names" else "names"
            raise RagdataError(f"{name.replace('_', '-')} goes with --extractor {other}")
    model: ModelOptions | None = None
    if extractor == "openai":
        model = ModelOptions(**{"model": "", **_typed(ModelOptions, given, (*_SERVER, *_ASKING))})
    search: SearchOptions = SearchOptions(**_typed(SearchOptions, given, (*_SEARCH, *_SERVER)))
    own: Any = _typed(ExtractOptions, given, _GRAPH)
    return ExtractOptions(extractor=extractor, search=search, model=model, **own)  # type: ignore[arg-type]


def _typed(kind: Any, given: Mapping[str, object], names: tuple[str, ...]) -> dict[str, Any]:
    """The given values among these names, as the type of the field's default."""
    defaults: dict[str, Any] = {field.name: field.default for field in fields(kind)}
    found: dict[str, Any] = {}
    for name in names:
        if name not in given:
            continue
        value: Any = given[name]
        if name == "cache":
            found[name] = Path(value)
        elif isinstance(defaults[name], int | float):
            found[name] = _number(name, value, isinstance(defaults[name], float))
        elif isinstance(value, str):
            found[name] = value
        else:
            raise RagdataError(f"{name} is {value!r}, expected a text")
    return found


def _number(name: str, value: object, real: bool) -> int | float:
    with suppress(ValueError):
        if isinstance(value, str):
            return float(value) if real else int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and (real or value == int(value)):
            return float(value) if real else int(value)
    raise RagdataError(f"{name.replace('_', '-')} is {value!r}, expected {'a number' if real else 'an integer'}")


def _manifest_words(extractor: str, extraction: Mapping[str, object]) -> dict[str, str]:
    from ragdatakit.retrieval.extraction import names, prompts

    version = names.VERSION if extractor == "names" else prompts.VERSION
    told = {f"extract-{n.replace('_', '-')}": str(v) for n, v in extraction.items() if n not in _NOT_IN_OUTPUT}
    return {"extractor": extractor, "extract-version": str(version), **told}


def _estimate(
    options: ExtractOptions, extraction: Mapping[str, object]
) -> Callable[[CanonicalTables], ExtractionEstimate] | None:
    if options.model is None:
        return None
    from ragdatakit.retrieval.extraction.model import estimate

    model = options.model
    price_in, price_out = (
        float(_number(name, extraction[name], True)) if extraction.get(name) is not None else None for name in _PRICES
    )
    for price in (price_in, price_out):
        if price is not None and not 0 <= price < float("inf"):
            raise RagdataError(f"a price of {price} makes no sense: give that of a million tokens")
    return lambda tables: estimate(tables, model, price_in, price_out)

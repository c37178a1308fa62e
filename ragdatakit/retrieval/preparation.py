"""What a conversion makes of what the source does not have: a graph of the texts, hard negatives, and by a language
model the contexts of chunks and the summaries of a tree.

Takes the words of the command line and of `ragdatakit.convert`, and says in the manifest's words what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import SearchOptions

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.extraction.asking import Asker
    from ragdatakit.retrieval.extraction.graph_tables import ExtractOptions
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.schemas.options import SearchOptions

Prepare = Callable[["CanonicalTables"], "CanonicalTables"]

_GRAPH = ("least", "linker", "start_nodes")
_SEARCH = ("embedder", "analyzer", "stemmer")
_SERVER = ("base_url", "api_key_env")
_ASKING = (
    "model",
    "concurrency",
    "timeout",
    "retries",
    "max_tokens",
    "most_failures",
    "document_tokens",
    "gleaning",
    "cache",
)
_PRICES = ("price_in", "price_out")
_WORDS = (*_GRAPH, *_SEARCH, *_SERVER, *_ASKING, *_PRICES)
_NOT_IN_OUTPUT = ("api_key_env", "concurrency", "timeout", "retries", "cache", *_PRICES)
"""What has no influence on what is written."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """``prepare`` makes something of tables, ``words`` say what. ``asker`` asks a model, where one is to be asked: for
    ``prepare`` (``count`` then counts the requests instead), and for the writer. ``embedder`` makes vectors for the
    writer, where one was chosen."""

    words: Mapping[str, str]
    prepare: Prepare | None = None
    asker: Asker | None = None
    count: Callable[[CanonicalTables], None] | None = None
    embedder: ChosenEmbedder | None = None


def make_preparation(
    extractor: str,
    extraction: Mapping[str, object],
    negatives: str,
    *,
    target: str,
    holds: Mapping[str, tuple[str, ...]],
    described: bool = False,
    mentions: bool = False,
    vectors: bool = False,
    by_title: bool = False,
    required: bool = True,
    seed: int = 13,
    progress: Progress | None = None,
) -> Preparation | None:
    """What is to be made for a target that ``holds`` these tables, with a ``described`` graph or a plain one; None
    where nothing is asked for. ``mentions``: it needs edges to passages, also where it has no place for start nodes;
    ``vectors``: it has vectors of its texts, which an embedder can make without an extractor; ``required``: a graph in
    which there is nothing is an error.

    ``extraction`` has the options of the extractor by name. Raises `UnknownNameError` for an unknown one,
    `RagdataError` for values that make no sense and for a target that has no place for what is made.
    """
    if unknown := [name for name in extraction if name not in _WORDS]:
        raise UnknownNameError("extraction option", unknown[0], _WORDS)
    if not extractor and extraction:
        if other := [name for name in extraction if name not in ("embedder", *_SERVER)]:
            raise RagdataError(f"{other[0].replace('_', '-')} goes with --extractor names or openai")
        if "embedder" not in extraction:
            raise RagdataError(f"{next(iter(extraction)).replace('_', '-')} goes with --extractor or --embedder")
        if not vectors:
            raise RagdataError(f"--embedder makes vectors, and {target} has no place for them")
    if extractor and negatives:
        raise RagdataError("--extractor makes a graph, --negatives triplets: no format holds both")
    if negatives:
        return _negatives(negatives, target, holds, seed, progress)
    if not extractor:
        embedder = _embedder(_search_options(extraction))
        return Preparation(_as_texts(extraction), embedder=embedder) if embedder is not None else None
    search = _search_options(extraction)
    embedder = _embedder(search) if vectors else None
    options = _extract_options(extractor, extraction, search, embedder, progress)
    words = _manifest_words(extractor, extraction)
    if "edges" not in holds:
        _refuse_texts(extractor, extraction, target, holds)
        return Preparation(words, asker=options.asker, embedder=embedder)
    links = "start_nodes" in holds
    options = replace(
        options,
        described=described,
        mentions=links or mentions,
        questions=links,
        by_title=by_title,
        required=required,
        progress=progress,
    )
    options.check()
    if "gleaning" in extraction and not described:
        raise RagdataError(f"gleaning goes with graphs that have descriptions, and that of {target} has none")
    from ragdatakit.retrieval.extraction.graph_tables import count_requests, extract_graph

    if options.asker is not None and described:
        merged = "one description of what eight passages or more describe"
        further = ["a second request for each passage"] if options.asker.options.gleaning else []
        further += [merged, *(["a report on each community"] if "communities" in holds else ())]
        further += [f"vectors by {embedder.name}"] if embedder is not None else []
        options.asker.further = ", ".join(further)
    return Preparation(
        words, lambda tables: extract_graph(tables, options), options.asker,
        lambda tables: count_requests(tables, options), embedder,
    )  # fmt: skip


def _search_options(given: Mapping[str, object]) -> SearchOptions:
    from ragdatakit.schemas.options import SearchOptions

    return SearchOptions(**_typed(SearchOptions, given, (*_SEARCH, *_SERVER)))


def _embedder(search: SearchOptions) -> ChosenEmbedder | None:
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder

    return ChosenEmbedder(search) if search.embedder else None


def _refuse_texts(
    extractor: str, extraction: Mapping[str, object], target: str, holds: Mapping[str, tuple[str, ...]]
) -> None:
    """Raise where a target without a graph holds nothing else that a model makes, or an option is one of graphs."""
    texts = "summaries" in holds or "context" in holds.get("chunks", ())
    if not texts or extractor != "openai":
        reason = f"--extractor {extractor} makes a graph, and {target} has no place for one"
        more = f"; see `ragdata convert --list --from text --to {target}` for what it makes without a model"
        raise RagdataError(reason + (more if texts else ""))
    for name in _GRAPH:
        if name in extraction:
            raise RagdataError(f"{name.replace('_', '-')} goes with a graph, and {target} has no place for one")


def _negatives(
    spec: str, target: str, holds: Mapping[str, tuple[str, ...]], seed: int, progress: Progress | None
) -> Preparation:
    from ragdatakit.retrieval.negatives import mine_negatives, parse_negatives

    if "triplets" not in holds or target != "light-splade":
        raise RagdataError(f"--negatives makes training triplets, and {target} has no place for them")
    parse_negatives(spec, seed)
    return Preparation({"negatives": spec}, lambda tables: mine_negatives(tables, spec, seed, progress))


def _extract_options(
    extractor: str,
    given: Mapping[str, object],
    search: SearchOptions,
    embedder: ChosenEmbedder | None,
    progress: Progress | None,
) -> ExtractOptions:
    from ragdatakit.retrieval.extraction.asking import Asker, ModelOptions
    from ragdatakit.retrieval.extraction.graph_tables import EXTRACTORS, ExtractOptions

    if extractor not in EXTRACTORS:
        raise UnknownNameError("extractor", extractor, EXTRACTORS)
    for name in (*_ASKING, *_PRICES) if extractor == "names" else ("least",):
        if name in given:
            other = "openai" if extractor == "names" else "names"
            raise RagdataError(f"{name.replace('_', '-')} goes with --extractor {other}")
    asker: Asker | None = None
    if extractor == "openai":
        model = ModelOptions(**{"model": "", **_typed(ModelOptions, given, (*_SERVER, *_ASKING))})
        asker = Asker(model, progress, prices=_prices(given), embedder=embedder)
    own: Any = _typed(ExtractOptions, given, _GRAPH)
    return ExtractOptions(extractor=extractor, search=search, asker=asker, **own)  # type: ignore[arg-type]


def _prices(given: Mapping[str, object]) -> tuple[float | None, float | None]:
    """Those of a million prompt and reply tokens."""
    price_in, price_out = (
        float(_number(name, given[name], True)) if given.get(name) is not None else None for name in _PRICES
    )
    for price in (price_in, price_out):
        if price is not None and not 0 <= price < float("inf"):
            raise RagdataError(f"a price of {price} makes no sense: give that of a million tokens")
    return price_in, price_out


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
    return {"extractor": extractor, "extract-version": str(version), **_as_texts(extraction)}


def _as_texts(given: Mapping[str, object]) -> dict[str, str]:
    return {f"extract-{n.replace('_', '-')}": str(v) for n, v in given.items() if n not in _NOT_IN_OUTPUT}

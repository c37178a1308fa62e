"""Options that commands share: how to read the dataset, how to index and search it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click
from click.core import ParameterSource

from ragdatakit.cli.declared_options import Known, Names, Whole, given, is_given, options_of
from ragdatakit.cli.standard_output import say_printable
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.options import SearchOptions
from ragdatakit.schemas.search.modes import MODES
from ragdatakit.stopping import is_the_command

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FILE = click.Path(exists=True, path_type=Path)

FOLLOW_LINKS = "Read files that links lead to out of PATH, too."
follow_links_option = click.option("--follow-links", is_flag=True, help=FOLLOW_LINKS)

NO_PLUGINS = "RAGDATA_NO_PLUGINS"


MODE_WORDS = (
    "bm25, sparse, dense, graph, collapsed, traversal, contextual, hybrid, lightrag-local, -global, -hybrid, -mix "
    "or -naive, graphrag-local or -global (default: those for which there is what they need, without contextual, "
    "LightRAG's and GraphRAG's)."
)
"""Which modes may be named, where several may be."""


def _forbid_plugins(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """For this run and the processes that it starts."""
    if not value:
        return
    before = os.environ.get(NO_PLUGINS)  # which may say that plug-ins are loaded
    os.environ[NO_PLUGINS] = "1"
    ctx.call_on_close(partial(_set_again, before))


def _set_again(before: str | None) -> None:
    if before is None:
        os.environ.pop(NO_PLUGINS, None)
    else:
        os.environ[NO_PLUGINS] = before


_CONFIG = (
    click.option(
        "--config",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        envvar="RAGDATA_CONFIG",
        help="The settings of the project (default: the nearest ragdata.toml or [tool.ragdata] above each PATH).",
    ),
    click.option("--isolated", is_flag=True, help="Pass over all settings of the project."),
    click.option(
        "--no-plugins",
        is_flag=True,
        envvar=NO_PLUGINS,
        expose_value=False,
        callback=_forbid_plugins,
        help="Load none of the plug-ins that the settings name.",
    ),
)


def config_options(function: _Function) -> _Function:
    """Add the options that say which settings of the project hold; `configured` takes their values."""
    for option in reversed(_CONFIG):
        function = option(function)
    return function


def configured(words: dict[str, Any]) -> dict[str, Any]:
    """The keyword argument ``config``."""
    if words["isolated"] and words["config"] is not None:
        raise click.UsageError("--isolated and --config exclude each other")
    return {"config": words["config"] if words["config"] is not None else not words["isolated"]}


cache_dir_option = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="URLs: keep what is fetched there (default: the cache, RAGDATA_CACHE_DIR).",
)

_DATASET = (
    click.option(
        "--from",
        "source_format",
        type=Known("format"),
        metavar="FORMAT",
        default="",
        help="The format (default: auto-detected).",
    ),
    click.option(
        "--map",
        "maps",
        multiple=True,
        metavar="FIELD=COLUMN,…",
        help="Tables: which column is what, as text=body,id=doc_id.",
    ),
    click.option(
        "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the format's reader."
    ),
    click.option(
        "--chunk-size",
        type=Whole(0),
        metavar="N",
        help="Cut documents into chunks of at most this many units, and take those instead.",
    ),
    click.option("--chunk-overlap", type=Whole(0), metavar="N", help="Units that a chunk repeats of the one before."),
    click.option(
        "--chunk-by", type=Names(["tokens", "sentences", "characters"], "unit"), help="The unit (default: tokens)."
    ),
    follow_links_option,
    *_CONFIG,
    cache_dir_option,
)

_CALLED = "its name as `ragdata report` shows it, or its path"
_DATASET_NAMES = (
    "dataset",
    "source_format",
    "maps",
    "options",
    "chunk_size",
    "chunk_overlap",
    "chunk_by",
    "follow_links",
    "cache_dir",
    "config",
    "isolated",
)
_SEARCH_NAMES = (
    *("analyzer", "stemmer", "embedder", "base_url", "api_key_env", "vectors", "query_vectors", "vector_store"),
    *("graph", "community_level", "damping", "fuse", "tree_select", "index_dir"),
)
"""What the options are called that say what is searched, and how."""

_CHUNKING = {
    "size": "chunk_size",
    "overlap": "chunk_overlap",
    "by": "chunk_by",
    "language": "chunk_language",
    "tokenizer": "tokenizer",
}

SHARED_SECTIONS = {
    "How the dataset is read": (*_DATASET_NAMES, "no_plugins"),
    "How it is indexed and searched": (*_SEARCH_NAMES, "rebuild"),
}
"""Headings of the help, with what is below them."""


class SectionedCommand(click.Command):
    """A command whose help has its options below the headings of `sections`: heading and names of parameters. What is
    in none of them is last, as Options."""

    sections: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [
            ("help" if "--help" in param.opts else param.name, param.get_help_record(ctx))  # its name is click's own
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
        ]
        heading_of = {name: heading for heading, names in self.sections.items() for name in names}
        for heading in (*self.sections, "Options"):
            listed = [record for name, record in records if record and heading_of.get(name or "", "Options") == heading]
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)


_option = options_of(SearchOptions)
_SEARCH = (
    _option("--analyzer", show_default=True, help="How texts become terms: any script, or Japanese words (extra ja)."),
    _option(
        "--stemmer",
        metavar="LANGUAGE",
        show_default=True,
        help="Snowball stemmer for words in Latin and other alphabets; none: words as they are.",
    ),
    _option(
        "--embedder",
        metavar="KIND:MODEL",
        help="Dense mode: sentence-transformers:MODEL, or openai:MODEL with --base-url.",
    ),
    _option("--base-url", metavar="URL", help="An OpenAI-compatible server."),
    _option("--api-key-env", metavar="NAME", show_default=True, help="The environment variable that has its key."),
    _option("--vectors", type=_FILE, metavar="FILE", help="Vectors of the passages, dense or sparse."),
    _option("--query-vectors", type=_FILE, metavar="FILE", help="Vectors of the questions."),
    _option("--vector-store", show_default=True, help="Where dense vectors are kept."),
    _option(
        "--graph",
        show_default=True,
        help="Graph mode: the dataset's own graph, one of the names in the texts, or what there is.",
    ),
    _option("--damping", metavar="P", show_default=True, help="Graph mode: the probability to walk on."),
    _option(
        "--community-level",
        metavar="N",
        show_default=True,
        help="GraphRAG's modes: the lowest level of communities to look at; 0 is the top.",
    ),
    click.option(
        "--fuse",
        metavar="MODE=WEIGHT,…",
        default="",
        help="Hybrid mode: what to fuse, as bm25=1,graph=0.5 (default: bm25 and each of the others that there is).",
    ),
    _option(
        "--tree-select",
        metavar="HOW",
        show_default=True,
        help="Mode traversal: top-k; near:D, nodes at most the distance D away; far:D, as RAPTOR's own threshold does.",
    ),
    click.option(
        "--index-dir",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Keep the index there (default: the cache, RAGDATA_CACHE_DIR).",
    ),
    click.option("--rebuild", is_flag=True, help="Build the index anew, even if it is there."),
)


def not_empty(_context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse an option without a value, such as that of a variable that is not set: it would mean the default."""
    for text in value if isinstance(value, tuple) else (value,):
        if is_given(option.name or "") and isinstance(text, str) and not text.strip(" ,"):
            raise click.UsageError(f"{option.opts[0]} is empty; leave it out for the default")
    return value


def dataset_options(function: _Function) -> _Function:
    """Add the options that say how the dataset is read; `read_words` takes their values."""
    for option in reversed(_DATASET):
        function = option(function)
    return function


def dataset_name_option(function: _Function) -> _Function:
    """Add the option that says which of several datasets at a path is meant; `read_words` takes its value."""
    help_text = f"Which dataset, where PATH holds several: {_CALLED}."
    return click.option("--dataset", metavar="NAME", default="", callback=not_empty, help=help_text)(function)


def dataset_names_option(function: _Function) -> _Function:
    """Add the same option for a command that takes several; `read_words` takes its values."""
    help_text = f"Which dataset, where PATH holds several (may be given more than once): {_CALLED}."
    return click.option("--dataset", metavar="NAME", multiple=True, callback=not_empty, help=help_text)(function)


def search_options(function: _Function) -> _Function:
    """Add the options that say how it is indexed and searched; `retriever_words` takes their values."""
    for option in reversed(_SEARCH):
        function = option(function)
    return function


def named_value(option: str, text: str, hint: str = "") -> tuple[str, str]:
    """The two sides of what an option is given as NAME=VALUE; ``hint`` follows where that is not what it is. Blanks may
    be around the sign; a blank behind it alone is a value, such as a delimiter."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.UsageError(f"{option} {text}: expected NAME=VALUE{hint}")
    return name.strip(), value if name == name.rstrip() else value.strip()


def read_words(words: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of reading: ``source_format``, ``options``, ``chunking``, and ``dataset`` of the commands
    that have it."""
    options: dict[str, object] = {}
    for text in words["options"]:
        name, value = named_value("--option", text, file_hint(text))
        options[name] = value
    if words["maps"]:
        options["map"] = ",".join(words["maps"])
    chunking = {option: words.get(name) for option, name in _CHUNKING.items()}
    found = {
        "source_format": words["source_format"],
        "options": options,
        "chunking": {name: value for name, value in chunking.items() if value is not None},
        "follow_links": words["follow_links"],
        "cache_dir": words["cache_dir"],
        "tell": say_printable,
        **configured(words),
    }
    return {**found, "dataset": words["dataset"]} if "dataset" in words else found


def file_hint(text: str) -> str:
    """What to say where ``-o`` was taken for the option of the output."""
    opts = [opt for param in click.get_current_context().command.params for opt in param.opts]
    option = next((opt for opt in ("--output-file", "--report") if opt in opts), None)
    return f" (to write a file: {option} {text})" if option and Path(text).suffix else ""


def search_words(words: dict[str, Any]) -> SearchOptions:
    """How to index and search; what is read without its graph gets one of the names in its texts."""
    is_raw = words["source_format"] == "gfm-rag-raw" and words["graph"] == "auto"
    graph = "names" if is_raw else words["graph"]
    return SearchOptions(**given(SearchOptions, words, graph=graph, fuse=fuse_words(words["fuse"])))


def retriever_words(words: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments of what searches: how the dataset is read, how it is indexed, and where the index is."""
    return {
        **read_words(words),
        "search": search_words(words),
        "index_dir": words["index_dir"],
        "rebuild": words["rebuild"],
    }


def repeated_words() -> list[str]:
    """The words of the command line that say how to read, index and search, as they were given; not ``--rebuild``."""
    context = click.get_current_context()
    found: list[str] = []
    by_name = {param.name: param for param in context.command.params}
    for param in (by_name[name] for name in (*_DATASET_NAMES, *_SEARCH_NAMES)):
        assert param.name is not None
        if context.get_parameter_source(param.name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[param.name]
        if isinstance(value, bool):
            found.append(param.opts[0])
            continue
        for text in value if isinstance(value, tuple) else [value]:
            found += [param.opts[0], str(text)]
    return found


def fuse_words(text: str) -> dict[str, float]:
    """``bm25=1,graph=0.5`` as weights by mode; a mode without a number has the weight 1."""

    known = [mode for mode in MODES if mode != "hybrid"]
    found: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        mode, equals, number = (p.strip() for p in part.partition("="))
        if mode not in known:
            raise UnknownNameError("mode to fuse", mode, known)
        if mode in found:
            raise click.UsageError(f"--fuse {text}: {mode} is given twice")
        try:
            weight = float(number) if equals else 1.0
        except ValueError:
            weight = math.nan
        if not 0 < weight < math.inf:
            raise click.UsageError(f"--fuse {part}: expected MODE=WEIGHT with a weight above 0, as bm25=1,graph=0.5")
        found[mode] = weight
    return found


def engine_options(
    option: Callable[..., Callable[[_Function], _Function]], jobs: str, engine: str
) -> Callable[[_Function], _Function]:
    """The options, made by ``option`` (`options_of`), with the help of two of them."""
    options = (
        option("--jobs", metavar="N", help=jobs),
        option("--engine", metavar="NAME", help=engine),
        click.option(
            "--engine-option",
            "engine_options",
            multiple=True,
            metavar="NAME=VALUE",
            help="Which cluster: address=HOST:PORT of Ray, master=spark://HOST:PORT of Spark, or a setting of Spark.",
        ),
    )

    def add(function: _Function) -> _Function:
        for each in reversed(options):
            function = each(function)
        return function

    return add


def chosen_engine(words: dict[str, Any]) -> dict[str, Any]:
    """The field ``engine_options`` of the options. With Ray the rest of the command is done by a child."""
    if words["engine"] == "ray" and is_the_command():
        from ragdatakit.api.in_parts.witness import go_on_in_a_child

        go_on_in_a_child("Ray: the node that the command used is gone")
    return {"engine_options": dict(named_value("--engine-option", text) for text in words["engine_options"])}

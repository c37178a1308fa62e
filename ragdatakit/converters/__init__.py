"""Converters: one folder per format, whose `converter.py` reads it into the canonical tables and writes it from them.

The list is explicit; a new converter is one line here. A module in it has a `Converter` named ``CONVERTER``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import meant_by
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.settings.plugins import PLUGGED, plugged

if TYPE_CHECKING:
    from ragdatakit.converters.table_parts import Looked, TablePart
    from ragdatakit.files.datasets import DataFile, Dataset, FilePart
    from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output
    from ragdatakit.retrieval.extraction.asking import Asker
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder
    from ragdatakit.schemas.findings import Finding

CONVERTERS: dict[str, str] = {
    "arag": "ragdatakit.converters.arag.converter",
    "datamind": "ragdatakit.converters.datamind.converter",
    "gfm-rag": "ragdatakit.converters.gfm_rag.converter",
    "light-splade": "ragdatakit.converters.light_splade.converter",
    "sage": "ragdatakit.converters.sage.converter",
    "beir": "ragdatakit.converters.beir.converter",
    "trec": "ragdatakit.converters.trec.converter",
    "hipporag": "ragdatakit.converters.hipporag.converter",
    "ragchecker": "ragdatakit.converters.ragchecker.converter",
    "raptor": "ragdatakit.converters.raptor.converter",
    "contextual-retrieval": "ragdatakit.converters.contextual_retrieval.converter",
    "lightrag": "ragdatakit.converters.lightrag.converter",
    "graphrag": "ragdatakit.converters.graphrag.converter",
    "text": "ragdatakit.converters.plain.text",
    "table": "ragdatakit.converters.plain.table",
}
"""Format to module. Plain texts and tables with a mapping are sources only."""

_RAW = "gfm-rag-raw"  # a source that is part of a format


@dataclass(frozen=True, slots=True)
class Option:
    """An option of one converter, given as ``--option NAME=VALUE``.

    ``default`` None: nothing unless it is given. With ``choices`` the value is one of them; a default that is a bool,
    an int or a float makes the value one.
    """

    name: str
    side: Literal["read", "write"]
    help: str
    default: str | bool | int | float | None = None
    choices: tuple[str, ...] = ()


def container_option(usual: str) -> Option:
    """The option of a converter that writes Parquet, too, which ``--container`` sets."""
    return Option("container", "write", "what the records are written in", usual, choices=(usual, "parquet"))


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for, as far as it concerns one converter.

    ``name`` is what the dataset is to be called, ``profile`` the variant of the target format (empty: its usual one),
    ``source_format`` where the tables come from, ``values`` the converter's own options, all of them, with defaults.
    ``asker`` asks a language model for what the target holds and the source does not have, where one is to be asked;
    ``embedder`` makes vectors of texts, where one was chosen.
    """

    name: str = "dataset"
    profile: str = ""
    source_format: str = ""
    seed: int = 13
    values: Mapping[str, Any] = field(default_factory=dict)
    asker: Asker | None = None
    embedder: ChosenEmbedder | None = None

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The files that have the rows of a table, each a record or several in a row, so that a part of a file has rows of
    its own: ``groups`` in the order of the rows. Of those in a second group only the records count whose id, in the
    column ``key``, the first has not. ``along`` are read whole with each part.

    ``cut`` says how a file is cut into parts of about so many bytes (None: as files of lines are); all files are one
    part where they are read ``together``. ``given`` are
    options that the dataset of a part has. Where a part needs to know of others, ``look`` says, in a worker, what it
    shows, and ``settle`` what parts are given that all have shown what they show.
    """

    groups: tuple[tuple[DataFile, ...], ...]
    along: tuple[DataFile, ...] = ()
    key: str = ""
    together: bool = False
    cut: Callable[[DataFile, int], list[FilePart | None]] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    look: Callable[[Dataset, RecordReader], Looked] | None = None
    settle: Callable[[list[TablePart], list[Looked]], list[TablePart]] | None = None


@dataclass(frozen=True, slots=True)
class Converter:
    """How one format is read into canonical tables and written out of them.

    ``read`` gives the tables' row sources; ``write`` takes the tables and writes the files. Either may be None.
    ``group`` puts the datasets together that are one for a converter, the one that gives the name first (each is
    alone where it is None). ``gives`` and ``holds`` are the tables with the columns that reading can give and writing
    can hold.
    ``described`` says that a graph made of texts is to have descriptions, and to know the passages of its entities.
    ``repairs`` says, for a finding and the options of reading, whether reading takes care of it, so that it stops no
    conversion, neither of such a dataset nor into one. ``needs_graph``: what is written is made of a graph, so that
    texts without one get a graph of the names in them, with edges to the passages that have them. ``cuts``: how the
    framework cuts documents; texts and tables that are neither chunks nor a graph are cut so where nothing else is
    asked for. ``vectors``: what is written has vectors of texts. ``unread``: by kind of file, why reading passes over
    it, which a conversion then loses. ``form`` gives what the records of a dataset look like and no table says.
    ``in_parts`` says of a dataset, with the options of reading, which files have the rows of its tables; None where
    rows depend on more than their record. ``split_of``: the split that the name of a file gives its records.
    """

    name: str
    read: Callable[[Dataset, RecordReader, Options], Mapping[str, RowSource]] | None = None
    write: Callable[[CanonicalTables, Output, Options], None] | None = None
    group: Callable[[list[Dataset]], list[list[Dataset]]] | None = None
    gives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    holds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: tuple[Option, ...] = ()
    profiles: tuple[str, ...] = ()
    described: bool = False
    repairs: Callable[[Finding, Mapping[str, Any]], bool] | None = None
    needs_graph: bool = False
    cuts: Mapping[str, Any] = field(default_factory=dict)
    vectors: bool = False
    unread: Mapping[str, str] = field(default_factory=dict)
    form: Callable[[Dataset], Mapping[str, str]] | None = None
    in_parts: Callable[[Dataset, Mapping[str, Any]], Mapping[str, TableFiles] | None] | None = None
    split_of: Callable[[DataFile], str | None] | None = None

    def values(self, given: Mapping[str, str], side: Literal["read", "write"]) -> dict[str, Any]:
        """The options of one side: what was given, converted, or the default. Raises `RagdataError` for a bad value."""
        return {
            o.name: _converted(o, given[o.name]) if o.name in given else o.default
            for o in self.options
            if o.side == side
        }


def written_by(module: str, name: str = "write") -> Callable[[CanonicalTables, Output, Options], None]:
    """A function of a module that is imported when something is written: who only reads has no use for it."""

    def write(tables: CanonicalTables, out: Output, options: Options) -> None:
        getattr(importlib.import_module(module), name)(tables, out, options)

    return write


def get_converter(name: str) -> Converter:
    """The converter of a format; raises `UnknownNameError`."""
    if name not in CONVERTERS:
        if (plugin := plugged(name)) is not None:
            if plugin.converter is None:
                raise RagdataError(f"the plug-in of {name} has no converter: its datasets are only validated")
            of_plugin: Converter = plugin.converter
            return of_plugin
        further = () if name == _RAW else (_RAW,)
        raise UnknownNameError("format", name, (*CONVERTERS, *further), hint=meant_by(name))
    converter: Converter = importlib.import_module(CONVERTERS[name]).CONVERTER
    return converter


def split_of(name: str) -> Callable[[DataFile], str | None] | None:
    """What says, for a format, which split the name of a file gives its records; None where no name does."""
    return get_converter(name).split_of if name in CONVERTERS else None


def converter_names() -> list[str]:
    """The formats with a converter, those of plug-ins last."""
    found = ((name, plugged(name)) for name in PLUGGED)
    return [*CONVERTERS, *(name for name, plugin in found if plugin is not None and plugin.converter is not None)]


def _converted(option: Option, text: str) -> str | bool | int | float:
    if option.choices and text not in option.choices:
        raise RagdataError(f"--option {option.name}={text}: expected one of {', '.join(option.choices)}")
    kind = type(option.default)
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        return kind(text) if kind in (int, float) else text
    except (KeyError, ValueError):
        words = {bool: "true or false", int: "an integer", float: "a number"}
        raise RagdataError(f"--option {option.name}={text}: expected {words[kind]}") from None

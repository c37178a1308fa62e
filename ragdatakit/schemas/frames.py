"""pandera models of the formats, for people who work in pandas.

``from ragdatakit.schemas.frames import Nodes`` gives a `pandera.pandas.DataFrameModel`. A model is called by its format
and kind, ``LightSpladeQueries``, ``DatamindTriplets``; the tables of a GFM-RAG graph are ``Nodes``, ``Relations`` and
``Edges``, too. `models` lists them all, `read` reads a file so that a model sees what the loader sees.

pandas and pandera are imported when the first model is asked for: ``pip install 'ragdatakit[frames]'``.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas import FORMATS, all_formats, get_format
from ragdatakit.schemas.errors import MissingExtraError
from ragdatakit.schemas.frame.models import Table, build_model, reasons, table_of
from ragdatakit.schemas.frame.reading import read_table

if TYPE_CHECKING:
    import os

    import pandas as pd
    from pandera.pandas import DataFrameModel

SHORT = {"Nodes": "GfmRagNodes", "Relations": "GfmRagRelations", "Edges": "GfmRagEdges"}
"""Names without the format. Listed, not derived: a format that comes later must not take a name away."""

_built: dict[str, type[DataFrameModel]] = {}


def model_name(format_name: str, kind: str) -> str:
    """How the model of a kind is called, such as ``LightSpladeQueries``."""
    return "".join(part.capitalize() for part in f"{format_name}-{kind}".split("-"))


def tables() -> dict[str, Table]:
    """Name to what the model is made from, for every model; imports neither pandas nor pandera."""
    found = ((fmt, file, table_of(fmt, file)) for fmt in all_formats() for file in fmt.files)
    return {model_name(fmt.name, file.kind): table for fmt, file, table in found if table is not None}


def models() -> dict[tuple[str, str], type[DataFrameModel]]:
    """Every model by format and kind. Raises `MissingExtraError` where pandas or pandera are not installed."""
    return {(table.fmt.name, table.file.kind): _model(name, table) for name, table in tables().items()}


def not_shown(format_name: str) -> dict[str, str]:
    """The rules of a format that none of its models shows, each with the reason; `ragdatakit.validate` has them all.

    Beyond these, the rules that all formats share (``RD…``) are about the text of a file.
    """
    return reasons(get_format(format_name))


def read(path: str | os.PathLike[str], model: type[DataFrameModel] | None = None) -> pd.DataFrame:
    """A file as a table in which every cell is as it stands in the file.

    CSV cells are text: ``007``, ``NA`` and empty cells stay what they are. Values of JSON (lines, an array, one object;
    plain or gzip) keep their types: ``"12"`` is not a number, ``12`` no float. ``None`` is null, ``pandas.NA`` a field
    that the record does not have. ``model`` says how the file is to be read where its name and content do not:
    one JSON object is one row, but many where each of its members is a record (GFM-RAG's ``documents.json``).

    Raises `RagdataError` where the file is no table: a line that is no JSON object, a CSV row that is too long, bytes
    that are not UTF-8. `ragdatakit.validate` says what is wrong with it.
    """
    _require()
    known = tables() if model is not None else {}
    table = next((known[c.__name__] for c in getattr(model, "__mro__", ()) if c.__name__ in known), None)
    return read_table(path, table.file if table else None)


def _model(name: str, table: Table) -> type[DataFrameModel]:
    if name not in _built:
        _require()
        _built[name] = build_model(table, name)
    return _built[name]


def _require() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("pandas", "pandera")):
        raise MissingExtraError("frames", "pandas and pandera")


def _find(name: str) -> Table | None:
    """What the model of that name is made from; asks only the formats whose name it begins with."""
    name = SHORT.get(name, name)
    for format_name in FORMATS:
        if name.startswith(model_name(format_name, "")):
            fmt = get_format(format_name)
            for file in fmt.files:
                if model_name(format_name, file.kind) == name:
                    return table_of(fmt, file)
    return None


def __getattr__(name: str) -> Any:
    """A model by its name."""
    table = _find(name) if name[:1].isupper() else None
    if table is not None:
        return _model(model_name(table.fmt.name, table.file.kind), table)
    raise AttributeError(f"no model is called {name!r}; `ragdatakit.schemas.frames.models()` lists them")


def __dir__() -> list[str]:
    return sorted({*globals(), *tables(), *SHORT})

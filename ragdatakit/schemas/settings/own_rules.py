"""A rule of a project's own, as its configuration or a plug-in declares it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.settings.plugins import RulePlugin


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRule:
    """``rule`` is how it is called and worded, ``place`` the file and line that declare it, ``format`` whose datasets
    it is for (empty: all). It is either a query (``sql``), or a JSON Schema (``schema``) for the ``records`` of a kind
    (empty: of all), or for one ``field`` of theirs, or a pandera ``model`` of a ``table``, or one of a ``plugin``.
    ``seconds`` is what the query may take, or the schema for one record."""

    rule: Rule
    place: str
    format: str = ""
    sql: str = ""
    seconds: int = 60
    schema: Mapping[str, Any] | None = None
    records: str = ""
    field: str = ""
    model: str = ""
    table: str = ""
    plugin: RulePlugin | None = None

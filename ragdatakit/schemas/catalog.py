"""The JSON Schema documents of all formats, and the catalogue by which editors find the one that fits a file.

The catalogue has the form of the JSON Schema Store's: name, description, file patterns, URL. Editors know JSON
documents only: files of lines and tables have their schemas there, but no pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragdatakit.schemas import all_formats
from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.json_schema import whole_file_schema

CATALOG = "catalog.json"
CATALOG_DIALECT = "https://json.schemastore.org/schema-catalog.json"
_DOCUMENTS = ("json-array", "json-object", "json-wrapped", "json")


def documents(formats: Iterable[Format], base_url: str = "") -> dict[str, dict[str, Any]]:
    """File name to document: a schema for each kind of file with records, and the catalogue of them.

    ``base_url`` is what the catalogue's URLs begin with; without it they are names beside the catalogue.
    """
    patterns = file_patterns()
    found: dict[str, dict[str, Any]] = {}
    entries = []
    kinds = [(fmt, file) for fmt in formats for file in fmt.files if file.records]
    for fmt, file in kinds:
        name = schema_name(fmt, file)
        found[name] = whole_file_schema(fmt, file)
        entries.append(
            {
                "name": f"{fmt.title}: {file.title}",
                "description": file.description or file.record.description,
                "fileMatch": patterns.get((fmt.name, file.kind), []),
                "url": f"{base_url.rstrip('/')}/{name}" if base_url else name,
            }
        )
    return {**found, CATALOG: {"$schema": CATALOG_DIALECT, "version": 1, "schemas": entries}}


def schema_name(fmt: Format, file: File) -> str:
    """How the schema of a kind of file is called on disk."""
    return f"{fmt.name}.{file.kind}.schema.json"


def file_patterns() -> dict[tuple[str, str], list[str]]:
    """Format and kind to the names of its JSON documents, as glob patterns.

    A name that several kinds have goes to the one that is declared first: an editor would apply both schemas at once.
    """
    found: dict[tuple[str, str], list[str]] = {}
    taken: set[str] = set()
    for fmt in all_formats():
        for file in fmt.files:
            if file.container in _DOCUMENTS and file.records:
                patterns = [p for p in _patterns(fmt, file) if p not in taken]
                taken.update(patterns)
                if patterns:
                    found[fmt.name, file.kind] = patterns
    return found


def _patterns(fmt: Format, file: File) -> list[str]:
    """Without the names that say too little to an editor, and those that a longer one makes clearer."""
    names = dict.fromkeys(p for layout in fmt.layouts for p, kind in layout.patterns.items() if kind == file.kind)
    telling = [n for n in names if n.endswith(".json") and not n.rsplit("/", 1)[-1].startswith("*")]
    longest = [n for n in telling if not any(other.endswith(f"/{n}") for other in telling)]
    return [f"**/{n}" if "/" in n else n for n in longest]

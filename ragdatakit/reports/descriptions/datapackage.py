"""Data Package 2 (https://datapackage.org): a dataset for catalogues and tools of tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ragdatakit.reports.descriptions.described import (
    DescribedColumn,
    DescribedDataset,
    DescribedFile,
    FileForm,
    unique_names,
)

_MEDIA: dict[FileForm, str] = {
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
    "": "application/octet-stream",
}


def datapackage(dataset: DescribedDataset) -> dict[str, Any]:
    """The description as ``datapackage.json`` has it."""
    said = dataset.said
    found: dict[str, Any] = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _name(dataset.name),
        "title": dataset.name,
    }
    if said.get("description"):
        found["description"] = said["description"]
    if said.get("url"):
        found["homepage"] = said["url"]
    if said.get("version"):
        found["version"] = said["version"]
    if license_ := said.get("license"):
        found["licenses"] = [{"path" if "://" in license_ else "name": license_}]
    if said.get("cite"):
        found["sources"] = [{"title": said["cite"]}]
    names = unique_names([_name(file.path.replace("/", "-")) for file in dataset.files])
    named = dict(zip((file.path for file in dataset.files), names, strict=True))
    return found | {"resources": [_resource(file, named) for file in dataset.files]}


def _name(text: str) -> str:
    """A name as Data Package wants it: small letters, digits, and a few signs."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "data"


def _resource(file: DescribedFile, named: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": named[file.path],
        "title": file.title,
        "path": file.path,
        "mediatype": _MEDIA[file.form],
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
    }
    if not file.form:
        return found
    found |= {"type": "table", "format": file.form}
    if file.form != "parquet":
        found["encoding"] = "utf-8"
    if file.packed:
        found["compression"] = "gz"
    if file.form == "tsv":
        found["dialect"] = {"delimiter": "\t"}
    missing = [""] if file.form in ("csv", "tsv") else []
    fields = [_field(column) for column in file.columns]
    schema: dict[str, Any] = {"fieldsMatch": "partial", "missingValues": missing, "fields": fields}
    if file.key:
        schema["primaryKey"] = [*file.key]
    if file.references:
        schema["foreignKeys"] = [
            {"fields": [each.column], "reference": {"resource": named[each.to_file], "fields": [each.to_column]}}
            for each in file.references
        ]
    return found | {"schema": schema}


def _field(column: DescribedColumn) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "type": "array" if column.repeated else column.type}
    if column.description:
        found["description"] = column.description
    return found | ({"constraints": {"required": True}} if column.always else {})

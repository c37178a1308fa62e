"""Croissant 1.0 (https://docs.mlcommons.org/croissant/): a dataset for hubs and loaders of machine learning."""

from __future__ import annotations

import re
from typing import Any

from ragdatakit.reports.descriptions.described import (
    DescribedColumn,
    DescribedDataset,
    DescribedFile,
    FileForm,
    unique_names,
)

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_ENCODINGS: dict[FileForm, str] = {
    "ndjson": "application/jsonlines",
    "json": "application/json",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "parquet": "application/x-parquet",
    "": "application/octet-stream",
}
_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "boolean": "sc:Boolean"}
_SAID = {"description": "description", "license": "license", "url": "url", "cite": "citeAs", "version": "version"}


def croissant(dataset: DescribedDataset) -> dict[str, Any]:
    """The description as JSON-LD. Records of files that only their framework reads have none; nor have columns of
    objects, and, in one JSON document, columns that not every record has."""
    said = {_SAID[name]: value for name, value in dataset.said.items() if value}
    names = unique_names([_name(file.path) for file in dataset.files])
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": dataset.name,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **said,
        "distribution": [_file(file) for file in dataset.files],
        "recordSet": [
            found for file, name in zip(dataset.files, names, strict=True) if (found := _records(file, name))
        ],
    }


def _file(file: DescribedFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": file.title,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _ENCODINGS[file.form],
        "sha256": file.sha256,
    }


def _name(path: str) -> str:
    return re.sub(r"\.(gz|[a-z]+)$", "", re.sub(r"\.gz$", "", path)).replace("/", "-")


def _records(file: DescribedFile, name: str) -> dict[str, Any] | None:
    columns = [column for column in file.columns if column.type in _TYPES and (column.always or file.form != "json")]
    if not file.form or not columns:
        return None
    found: dict[str, Any] = {"@type": "cr:RecordSet", "@id": name, "name": name, "description": file.title}
    if file.key and {*file.key} <= {column.name for column in columns}:
        found["key"] = [{"@id": f"{name}/{column}"} for column in file.key]
    return found | {"field": [_field(file, name, column) for column in columns]}


def _field(file: DescribedFile, records: str, column: DescribedColumn) -> dict[str, Any]:
    extract = {"jsonPath": f"$[*].{_step(column.name)}"} if file.form == "json" else {"column": column.name}
    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{records}/{column.name}",
        "name": column.name,
        "dataType": _TYPES[column.type],
        "source": {"fileObject": {"@id": file.path}, "extract": extract},
    }
    if column.description:
        found["description"] = column.description
    return found | ({"repeated": True} if column.repeated else {})


def _step(name: str) -> str:
    """A member in a JSON path."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    return '"' + name.replace('"', '\\"') + '"'

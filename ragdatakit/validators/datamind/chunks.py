"""What both DataMind loaders make of one chunk, beyond its declaration. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.containers.strict_json import escape
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.datamind.images import ImageFolder
from ragdatakit.validators.excerpts import show

WINDOW_BYTES = 32_764
"""8,191 tokens, the window of common embedding models, at four bytes of UTF-8 a token."""

SHORT_CHARACTERS = 10
FORBIDDEN_KEYS = frozenset({"", "chroma:document"})
V1_KEYS = frozenset(
    {"source_file", "image_path", "modality", "image_description", "doc_id", "document_id", "ref_doc_id"}
)
FATAL_RULES = frozenset({"nested-metadata", "list-metadata", "mixed-list-metadata", "forbidden-metadata-key"})
"""Faults that stop v1's build, not only their line."""

_IMAGE_RULES = {"outside": "image-outside-profile", "missing": "missing-image", "not-image": "not-an-image"}
_PICTORIAL = ("image", "text_image")


def chunk_problems(value: Any, images: ImageFolder, for_v1: bool = True) -> Iterator[Problem]:
    """The faults of one chunk. ``for_v1``: v1 is among the loaders that count."""
    if not isinstance(value, dict):
        return
    text = value.get("text")
    if isinstance(text, str):
        yield from _text_problems(text, value, for_v1)
    if isinstance(value.get("metadata"), dict):
        yield from metadata_problems(value["metadata"])
    yield from _image_problems(value, images)
    yield from _source_problems(value)


def has_text(value: Any) -> bool:
    """Whether v2 keeps the chunk: its text has more than white space."""
    return isinstance(value, dict) and isinstance(value.get("text"), str) and bool(value["text"].strip())


def _text_problems(text: str, chunk: dict[str, Any], for_v1: bool) -> Iterator[Problem]:
    if not text:
        image_path = chunk.get("image_path")
        if isinstance(image_path, str) and image_path:
            yield Problem("image-only-chunk", "/text", text)
        elif not (for_v1 and _lacks_image(chunk)):
            yield Problem("empty-chunk", "/text", text)
        return
    stripped = text.strip()
    if not stripped:
        yield Problem("blank-text", "/text", text)
        return
    if len(stripped) != len(text):
        yield Problem("padded-text", "/text", text)
    if len(text) < SHORT_CHARACTERS:
        yield Problem("very-short-chunk", "/text", text, {"length": len(text)})
    elif len(text) * 4 > WINDOW_BYTES:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > WINDOW_BYTES:
            yield Problem("oversized-chunk", "/text", text, {"bytes": f"{size:,}"})


def _lacks_image(chunk: dict[str, Any]) -> bool:
    return chunk.get("modality") in _PICTORIAL and chunk.get("image_path") in (None, "")


def _image_problems(chunk: dict[str, Any], images: ImageFolder) -> Iterator[Problem]:
    if _lacks_image(chunk):
        yield Problem("modality-without-image", "/modality", chunk["modality"])
    image_path = chunk.get("image_path")
    if not isinstance(image_path, str) or not image_path:
        return
    fault = images.fault(image_path)
    if fault is not None:
        facts = {"found": fault.reason, "reason": fault.reason}
        yield Problem(_IMAGE_RULES[fault.kind], "/image_path", image_path, facts)
    if chunk.get("modality", "text") == "text":
        state = "text" if "modality" in chunk else "not given"
        yield Problem("image-with-text-modality", "/image_path", image_path, {"state": state})


def _source_problems(chunk: dict[str, Any]) -> Iterator[Problem]:
    source = chunk.get("source")
    if not source or isinstance(source, str) or not has_text(chunk):
        return
    unhashable = not chunk.get("id")
    if unhashable or isinstance(source, dict) or (isinstance(source, list) and not is_plain_list(source)):
        yield Problem("source-not-string", "/source", source)


def metadata_problems(metadata: dict[str, Any]) -> Iterator[Problem]:
    """Keys and values that the vector store refuses or changes."""
    for key, item in metadata.items():
        rules = ["forbidden-metadata-key"] if key in FORBIDDEN_KEYS else []
        if isinstance(item, dict):
            rules.append("nested-metadata")
        elif isinstance(item, list):
            rules.append("list-metadata" if is_plain_list(item) else "mixed-list-metadata")
        elif item is None or (isinstance(item, int) and not -(2**63) <= item < 2**63):
            rules.append("lossy-metadata-value")
        for rule in rules:  # of most members there is none
            yield Problem(rule, f"/metadata/{escape(key)}", item, {"key": show(key)})


def is_plain_list(items: list[Any]) -> bool:
    """Whether a list is one that Chroma stores: not empty, and all of one simple type."""
    return bool(items) and type(items[0]) in (str, int, float, bool) and all(type(i) is type(items[0]) for i in items)


def taken_keys(metadata: Any, source: Any, file_name: str) -> Iterator[tuple[str, str]]:
    """(rule, key) for metadata keys that a loader writes itself. ``source`` is the chunk's, at the top level."""
    if not isinstance(metadata, dict):
        return
    for key, item in metadata.items():
        if key in V1_KEYS or key.startswith("_node_"):
            yield "overwritten-metadata-key", key
        if key.startswith("_") or (key == "source" and item != (source or file_name)):
            yield "reserved-metadata-key", key


def v2_id(value: Any) -> str | None:
    """The id that v2 takes from a chunk, or None where it makes one of the text."""
    if not has_text(value) or not value.get("id"):
        return None
    try:
        return str(value["id"])
    except (ValueError, RecursionError):  # integers of more than 4,300 digits, deep lists
        return None


def v2_hash(value: Any, file_name: str) -> tuple[str, str] | None:
    """Source and text, of which v2 makes the id (None where there is one, or it makes none)."""
    if not has_text(value) or value.get("id"):
        return None
    source = value.get("source") or file_name
    return (source, value["text"].strip()) if isinstance(source, str) else None

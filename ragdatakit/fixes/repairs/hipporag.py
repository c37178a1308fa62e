"""Repairs of HippoRAG's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_values import drop_item, list_of_texts, to_text
from ragdatakit.fixes.records import drop_copy, keep_last
from ragdatakit.fixes.whole_files import array_or_list, array_or_syntax

REPAIRS: Mapping[str, Repair] = {
    "repeated-passage": drop_copy,
    "answer-not-text": to_text,
    "repeated-triple": drop_item,
    "repeated-answer": drop_item,
    "corpus-not-json": array_or_syntax,
    "corpus-not-list": array_or_list,
    "questions-not-json": array_or_syntax,
    "questions-not-list": array_or_list,
    "aliases-not-list": list_of_texts,
    "repeated-results": keep_last,
}

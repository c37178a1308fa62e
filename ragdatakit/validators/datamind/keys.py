"""The derived keys of DataMind chunks for blocks that were scanned: those of `DataMindChecks.derive`, as codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragdatakit.arrays.codes import are_one, mix
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.validators.coded_columns import ScannedCodes


def fill_keys(given: Mapping[str, ScannedCodes], batch: Any, file_name: str, all_texts: bool) -> None:
    """Fill a batch's key columns; each text has more than white space, and none at its ends.

    ``all_texts``: texts are compared whether a chunk has an id or not.
    """
    texts, ids = given["text"][0], given["id"][0]
    nothing, name = codes_of_texts(["", file_name])
    named = _filled(given["id"], nothing)
    hashes = texts  # none of them counts where all chunks have an id
    if not named.all():
        sources = np.where(_filled(given["source"], nothing), given["source"][0], name)
        hashes = mix(sources, texts)
    batch.columns |= {"@v2_id": ids, "@v2_hash": hashes, "@text": texts}
    batch.valid |= {"@v2_id": named, "@v2_hash": ~named, "@text": None if all_texts else named}


def _filled(codes: ScannedCodes, nothing: Any) -> Any:
    """Which of the texts are there and not empty."""
    filled = ~are_one(codes[0], nothing)
    return filled if codes[1] is None else filled & codes[1]

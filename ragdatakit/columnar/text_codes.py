"""Codes of Python texts: those that columns of the same texts have. The scanner makes them without Arrow or DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import library
from ragdatakit.schemas.texts import encodable


def codes_of_texts(texts: Sequence[str | None]) -> npt.NDArray[np.uint64]:
    """A code for each text (None gives some code: mask it). Half characters count as their escapes."""
    if library() is None:
        from ragdatakit.columnar.string_hash import hash_strings
        from ragdatakit.files.containers.arrow_columns import string_array

        return hash_strings(string_array([None if text is None else encodable(text) for text in texts]))
    from ragdatakit.scanner.blocks import text_codes

    data = [b"" if text is None else text.encode("utf-8", "backslashreplace") for text in texts]
    offsets = np.zeros(len(data) + 1, np.int32)
    np.cumsum([len(text) for text in data], out=offsets[1:])
    return text_codes(b"".join(data), offsets)

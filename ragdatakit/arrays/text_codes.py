"""Codes of Python texts: those that the scanner gives the same texts in the blocks it reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import library


def codes_of_texts(texts: Sequence[str | None]) -> npt.NDArray[np.uint64]:
    """A code for each text (None gives some code: mask it), another one in each process. Half characters count as
    their escapes."""
    if library() is None:
        codes = np.fromiter(map(hash, texts), np.int64, len(texts))
        return codes.view(np.uint64)
    from ragdatakit.scanner.blocks import text_codes

    data = [b"" if text is None else text.encode("utf-8", "backslashreplace") for text in texts]
    offsets = np.zeros(len(data) + 1, np.int32)
    np.cumsum([len(text) for text in data], out=offsets[1:])
    return text_codes(b"".join(data), offsets)

"""Codes of Python texts: those that the scanner gives the same texts in the blocks it reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ragdatakit.arrays.codes import Codes
from ragdatakit.scanner import library
from ragdatakit.scanner.views import WIDE

_Code, _Places = ctypes.c_uint64 * 2, ctypes.c_int32 * 2
_MOST = (1 << 31) - 1
"""Bytes of texts for which the library is asked together."""


def code_of_text(text: str) -> int:
    """The code that `codes_of_texts` gives, as one number; quicker for one text. There must be a scanner. Raises
    `ScannerError` for one of 2 GB."""
    data, code = text.encode("utf-8", "surrogatepass"), _Code()
    if len(data) > _MOST:
        raise library.ScannerError("a text of 2 GB")
    found, places = library.needed_library(), _Places(0, len(data))
    library.called(found.rd_hash(*library.code_seeds(), data, len(data), places, 1, code))
    return code[0] | code[1] << 64


def numbers_of(codes: Codes) -> list[int]:
    """Wide codes as such numbers."""
    return [
        first | second << 64 for first, second in zip(codes["first"].tolist(), codes["second"].tolist(), strict=True)
    ]


def codes_of_texts(texts: Sequence[str | None]) -> Codes:
    """A code for each text (None gives some code: mask it), another one in each process. Raises `ScannerError` for a
    text of 2 GB."""
    if library.library() is None:
        codes = np.empty(len(texts), WIDE)
        codes["first"] = np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64) & np.uint64(library.KEPT)
        longer = (f"{text}\0" for text in texts)  # their hashes are others, drawn from all that was read
        codes["second"] = np.fromiter(map(hash, longer), np.int64, len(texts)).view(np.uint64)
        return codes
    from ragdatakit.scanner.blocks import text_codes
    from ragdatakit.scanner.texts import joined

    # half characters have bytes that no text in UTF-8 has
    data = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    if len(data) > 1 and sum(map(len, data)) > _MOST:
        del data
        half = len(texts) // 2
        return np.concatenate((codes_of_texts(texts[:half]), codes_of_texts(texts[half:])))
    return text_codes(*joined(data))

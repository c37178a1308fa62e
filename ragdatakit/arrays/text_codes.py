"""Codes of Python texts: those that the scanner gives the same texts in the blocks it reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ragdatakit.arrays.codes import Codes
from ragdatakit.scanner import library
from ragdatakit.scanner.views import WIDE

_Code, _Places = ctypes.c_uint64 * 2, ctypes.c_int32 * 2


def code_of_text(text: str) -> int:
    """The code that `codes_of_texts` gives, as one number; quicker for one text. There must be a scanner."""
    data, code = text.encode("utf-8", "surrogatepass"), _Code()
    found, places = library.needed_library(), _Places(0, len(data))
    library.called(found.rd_hash(*library.code_seeds(), data, len(data), places, 1, code))
    return code[0] | code[1] << 64


def numbers_of(codes: Codes) -> list[int]:
    """Wide codes as such numbers."""
    return [
        first | second << 64 for first, second in zip(codes["first"].tolist(), codes["second"].tolist(), strict=True)
    ]


def codes_of_texts(texts: Sequence[str | None]) -> Codes:
    """A code for each text (None gives some code: mask it), another one in each process."""
    if library.library() is None:
        codes = np.empty(len(texts), WIDE)
        codes["first"] = np.fromiter(map(hash, texts), np.int64, len(texts)).view(np.uint64) & np.uint64(library.KEPT)
        longer = (f"{text}\0" for text in texts)  # their hashes are others, drawn from all that was read
        codes["second"] = np.fromiter(map(hash, longer), np.int64, len(texts)).view(np.uint64)
        return codes
    from ragdatakit.scanner.blocks import text_codes

    # half characters have bytes that no text in UTF-8 has
    data = [b"" if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(data) + 1, np.int32)
    np.cumsum([len(text) for text in data], out=offsets[1:])
    return text_codes(b"".join(data), offsets)

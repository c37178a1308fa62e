"""The passages of one data set, as codes: of MD5 in small sets, of the hash of all keys in large ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.hipporag.passages import passage_code


class KnownPassages:
    """Collects the passages of a corpus, and says of a code whether it is one of them."""

    def __init__(self) -> None:
        self._small: set[int] = set()
        self._arrays: list[Any] = []
        self._is_sorted = False

    def add(self, passages: list[str], as_codes: bool) -> None:
        """Passages of a small set, or of a large one (``as_codes``)."""
        if as_codes and passages:
            from ragdatakit.arrays.text_codes import codes_of_texts

            self.add_codes(codes_of_texts(passages))
        elif not as_codes:
            self._small.update(map(passage_code, passages))

    def add_codes(self, codes: Any) -> None:
        """Passages of a large set, as codes of texts."""
        self._arrays.append(codes)
        self._is_sorted = False

    def code(self, passage: str) -> int:
        """What stands for a passage here."""
        if not self._arrays:
            return passage_code(passage)
        from ragdatakit.arrays.text_codes import codes_of_texts

        return int(codes_of_texts([passage])[0])

    def codes(self) -> Any:
        """The codes of a large set, as a sorted array."""
        import numpy as np

        if not self._is_sorted:
            self._arrays = [np.unique(np.concatenate(self._arrays or [np.empty(0, np.uint64)]))]
            self._is_sorted = True
        return self._arrays[0]

    def __contains__(self, code: int) -> bool:
        if not self._arrays:
            return code in self._small
        codes = self.codes()
        place = int(codes.searchsorted(codes.dtype.type(code)))
        return place < len(codes) and int(codes[place]) == code

    def __len__(self) -> int:
        return len(self.codes()) if self._arrays else len(self._small)

    def __iter__(self) -> Iterator[int]:
        return iter(self.codes().tolist() if self._arrays else self._small)


def code_of(passage: str, known: KnownPassages | None) -> int:
    """What stands for a passage where these ones are known, or none are."""
    return passage_code(passage) if known is None else known.code(passage)

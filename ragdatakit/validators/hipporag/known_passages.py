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
        self._are_distinct = False
        self._sorted: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """As others get them: each once."""
        if self._arrays:
            self.codes()
        return {**vars(self), "_sorted": None}

    def add(self, passages: list[str], as_codes: bool) -> None:
        """Passages of a small set, or of a large one (``as_codes``)."""
        if as_codes and passages:
            from ragdatakit.arrays.text_codes import codes_of_texts

            self.add_codes(codes_of_texts(passages))
        elif not as_codes:
            self._small.update(map(passage_code, passages))

    def add_codes(self, codes: Any) -> None:
        """Passages of a large set, as codes of texts."""
        if not len(codes):
            return
        self._arrays.append(codes)
        self._are_distinct, self._sorted = False, None

    def code(self, passage: str) -> Any:
        """What stands for a passage here."""
        if not self._arrays:
            return passage_code(passage)
        from ragdatakit.arrays.text_codes import codes_of_texts

        first, second = codes_of_texts([passage])[0].tolist()
        return first, second

    def codes(self) -> Any:
        """The codes of a large set, as an array, each once."""
        import numpy as np

        from ragdatakit.arrays.codes import WIDE, first_of_each

        if not self._are_distinct:
            found = np.concatenate(self._arrays) if self._arrays else np.empty(0, WIDE)
            self._arrays, self._are_distinct = [found[first_of_each(found)[0]]], True
        return self._arrays[0]

    def __bool__(self) -> bool:
        return bool(self._small or any(map(len, self._arrays)))

    def __contains__(self, code: Any) -> bool:
        if not self._arrays:
            return code in self._small
        import numpy as np

        from ragdatakit.arrays.codes import SortedCodes

        codes = self.codes()
        if self._sorted is None:
            self._sorted = SortedCodes(codes)
        return bool(self._sorted.position(np.array(code, codes.dtype)) >= 0)

    def __len__(self) -> int:
        return len(self.codes()) if self._arrays else len(self._small)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.codes().tolist() if self._arrays else self._small)


def code_of(passage: str, known: KnownPassages | None) -> Any:
    """What stands for a passage where these ones are known, or none are."""
    return passage_code(passage) if known is None else known.code(passage)

"""Records of a second group of files whose ids the first has, too: they are given once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.files.paths.sql_text import hash_expression
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.parts.counting import Counting
from ragdatakit.reports.parts.key_files import KeyWriter, Partition

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

_PARTS = 32
"""Bits of the place of a row within its part."""


class MeansAnotherError(Exception):
    """An id means one thing in the first group and another in the second, so that readers rename it."""


@dataclass(frozen=True, slots=True)
class Overlaps:
    """``rows`` has, by table and part, the places of rows that are left out, as integers of 64 bits."""

    rows: Mapping[tuple[str, int], bytes] = field(default_factory=dict)

    def with_more(self, others: Mapping[tuple[str, int], bytes] | None) -> Overlaps:
        """Those of a further partition. Raises `MeansAnotherError` where it has an id that means two things."""
        if others is None:
            raise MeansAnotherError
        rows = dict(self.rows)
        for key, places in others.items():
            rows[key] = rows.get(key, b"") + places
        return Overlaps(rows)

    @staticmethod
    def places(rows: bytes) -> list[int]:
        """Places of rows."""
        found: list[int] = np.frombuffer(rows, np.int64).tolist()
        return found


def id_codes(database: DatasetDatabase, table: str, key: str, part: int, group: int, keys: KeyWriter) -> None:
    """The codes of the ids of a part, with those of the texts, and the places of the rows."""
    columns = f"{hash_expression(f'{key}')} as id, {hash_expression('text')} as text, rowid as place"
    found = database.load(table).execute(f'select {columns} from main."{table}" order by rowid').fetchnumpy()
    if len(found["id"]):
        places = np.asarray(found["place"]).astype(np.uint64) | np.uint64(part << _PARTS)
        ids, texts = (np.asarray(found[name]).astype(np.uint64) for name in ("id", "text"))
        keys.add((table, key, str(min(group, 1))), ids, texts, places)


def overlap(counting: Counting, number: int) -> Mapping[tuple[str, int], bytes] | None:
    """Of one partition, the rows of second groups whose ids the first has; None where one of them means another."""
    partition = Partition(counting.files, number, counting.partitions)
    found: dict[tuple[str, int], bytes] = {}
    for table, key in dict.fromkeys(role[:2] for role in partition.roles()):
        first, second = (partition.columns((table, key, group)) for group in ("0", "1"))
        if not first or not second:
            continue
        common, own, others = np.intersect1d(first[0], second[0], return_indices=True)
        if (first[1][own] != second[1][others]).any():
            return None
        places = second[2][np.isin(second[0], common)]
        parts = places >> np.uint64(_PARTS)
        for part in np.unique(parts).tolist():
            rows = (places[parts == part] & np.uint64((1 << _PARTS) - 1)).astype(np.int64)
            found[table, int(part)] = rows.tobytes()
    return found

"""What tests of the compiled scanner share: the skip where it is not built, and both ways of checking one block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ragdatakit.files.containers.record_forms import form_of
from ragdatakit.files.containers.sources import Block
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.scanner.blocks import BlockScanner, can_scan
from ragdatakit.scanner.library import library
from ragdatakit.scanner.predicates import Predicate, Spelled
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.declarations import File, Record
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks
from ragdatakit.validators.coded_columns import coded_scan, coded_values
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.reading.blocks import BlockChecker, CheckedBlock, ScannedChecker, Segment
from ragdatakit.validators.records import RecordChecker
from ragdatakit.validators.set_plan import key_columns

needs_scanner = pytest.mark.skipif(library() is None, reason="the compiled scanner is not built (make env, with cargo)")

KINDS = [
    pytest.param(file, id=f"{fmt.name} {file.kind}")
    for fmt in all_formats()
    for file in fmt.files
    if len(file.records) == 1 and file.container in ("ndjson", "json") and (library() is None or can_scan(file.records))
]


def keys_of(record: Record) -> list[str]:
    """The fields that may be keys: texts and integers, and lists of them."""
    simple = ("integer", "string")
    return [f.name for f in record.fields if f.type in simple or (f.type == "array" and f.items in simple)]


class BothWays:
    """One kind of record, checked line by line and by the scanner, in each way that the scanner has."""

    def __init__(
        self,
        kind: File,
        predicates: tuple[Predicate, ...] = (),
        extra: Callable[..., list[Problem]] | None = None,
        checks: FormatChecks | None = None,
    ) -> None:
        self.checks = checks if checks is not None else FormatChecks(Dataset(Path(), "", all_formats()[0], "", []), ())
        fmt = self.checks.dataset.format
        self._file = DataFile(Path("x"), "x", "x", kind.kind)
        self._scanning = scanning = self.checks.scanning(self._file)
        if (
            scanning.sees_next()
        ):  # the first records of a file, which are not scanned: here they are no part of the lines
            self.checks.start_file(self._file)
        while scanning.sees_next():
            list(self.checks.record(self._file, "0:x"))
        derived = [name for name in key_columns(fmt, kind.kind) if name.startswith("@")] if checks is not None else []
        spelled = [f for v in fmt.variants if v.kind == kind.kind for f in v.fields] if checks is not None else []
        plain = keys_of(kind.record) if len(kind.records) == 1 else []
        self.columns = KeyColumns(kind, (*plain, *derived), self.checks.derive, spelled)
        checker = RecordChecker(kind.records, extra, form_of(kind))
        self._plain = BlockChecker(checker)
        keys = self.columns.fields(scanning.as_text, scanning.made_of)
        assert keys is not None
        asked = (*predicates, *map(Spelled, spelled))
        cells = kind.columns if kind.container == "columns" else None
        known = scanning.known_codes()
        by_member = extra is not None and scanning.in_part is not None
        if extra is not None:
            checker.in_part = extra
        make = partial(BlockScanner, kind.record, keys, asked, cells=cells, known=known, by_member=by_member)
        self.scanners = [make(portable=p) for p in (False, True)]
        self._scanned = [
            ScannedChecker(checker, scanner, 0, scanning.counted, keeps=False) for scanner in self.scanners
        ]

    def differences(self, data: bytes) -> Iterator[str]:
        """What the scanner's way finds, or takes for a key, that line by line is another."""
        segments: list[Segment] = []
        plain = self._plain.check(Block(data, 0), segments.append)
        counted = self._counted()
        codes = as_lists(coded_values(self.columns, [value for segment in segments for value in segment.values]))
        for checker in self._scanned:
            found: list[Segment] = []
            other = checker.check(Block(data, 0), found.append)
            if (others := self._counted()) != counted:
                yield f"counts {others} instead of {counted}"
            if repr(reported(other)) != repr(reported(plain)):  # NaN is not equal to itself
                yield f"{reported(other)} instead of {reported(plain)}"
            batches = [self._coded(segment) for segment in found]
            if len(batches) == 1 and as_lists(batches[0]) != codes:
                yield f"keys {as_lists(batches[0])} instead of {codes}"

    def _coded(self, segment: Segment) -> Any:
        if segment.scanned is None:
            return coded_values(self.columns, segment.values)
        batch = coded_scan(self.columns, segment.scanned, segment.values, self._scanning.derive)
        for name in batch.columns.keys() - set(self.columns.names):  # for the checks alone
            del batch.columns[name]
        return batch

    def _counted(self) -> str:
        """What the checks say of the records seen since they were asked last."""
        return repr([*self.checks.finish_file(self._file, 0)])


def reported(block: CheckedBlock) -> tuple[Any, ...]:
    """All that a block's check says."""
    return block.faulty, block.excess, block.records, block.lines, block.ends


def as_lists(batch: Any) -> dict[str, Any]:
    """The keys of a batch, with the rows that have one."""
    found: dict[str, Any] = {}
    for name, codes in batch.columns.items():
        valid = batch.valid[name]
        found[name] = [c if valid is None or valid[i] else None for i, c in enumerate(codes.tolist())]
    for name, (codes, owners) in batch.lists.items():
        headed = batch.headed.get(name)
        found[name] = codes.tolist(), owners.tolist(), np.unique(owners if headed is None else headed).tolist()
    for name, codes in batch.spelled.items():
        found[f"{name} spelled"] = [c if found[name][i] is not None else None for i, c in enumerate(codes.tolist())]
    return found


def cut_anywhere(data: bytes, rng: Random) -> list[bytes]:
    """The same lines as blocks of whole lines, with borders anywhere."""
    lines = data.splitlines(keepends=True) if b"\r" not in data.replace(b"\r\n", b"") else [data]
    blocks: list[bytes] = []
    while lines:
        many = rng.randrange(1, len(lines) + 1)
        blocks.append(b"".join(lines[:many]))
        lines = lines[many:]
    return [b for b in blocks if b]

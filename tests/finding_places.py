"""The place of a finding is the same in every unit that readers count in."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from ragdatakit.schemas.findings import Finding


def content(finding: Finding) -> bytes:
    data = Path(finding.path).read_bytes()
    return zlib.decompressobj(wbits=-15).decompress(data[10:]) if data[:2] == b"\x1f\x8b" else data


def lines_of(data: bytes, with_mark: bool) -> list[bytes]:
    """A byte-order mark is before the first column, except where it is what is meant."""
    return (data if with_mark else data.removeprefix(b"\xef\xbb\xbf")).split(b"\n")


def assert_one_place(finding: Finding) -> bytes | None:
    """Span, lines, columns and byte columns mean the same part of the file."""
    if finding.span is None:
        assert (finding.end_line, finding.end_column, finding.byte_columns) == (None, None, None)
        return None
    data = content(finding)
    assert finding.line and finding.end_line and finding.end_column and finding.byte_columns
    meant = data[finding.span.start : finding.span.end]
    lines = lines_of(data, finding.span.start == 0)[finding.line - 1 : finding.end_line]
    in_bytes = list(lines)
    in_bytes[-1] = in_bytes[-1][: finding.byte_columns[1] - 1]
    in_bytes[0] = in_bytes[0][finding.byte_columns[0] - 1 :]
    assert b"\n".join(in_bytes) == meant, finding
    texts = [line.decode("utf-8", "replace") for line in lines]
    texts[-1] = texts[-1][: finding.end_column - 1]
    if finding.column is not None:
        texts[0] = texts[0][finding.column - 1 :]
        assert "\n".join(texts) == meant.decode("utf-8", "replace"), finding
    return meant


def assert_places(findings: Iterable[Finding]) -> None:
    """Each finding has one place and a fingerprint of its own; where an integer is meant, it is there."""
    findings = list(findings)
    assert all(finding.fingerprint for finding in findings)
    assert len({finding.fingerprint for finding in findings}) == len(findings)
    for finding in findings:
        meant = assert_one_place(finding)
        if meant is not None and finding.pointer and type(finding.value) is int and meant.isdigit():
            assert int(meant) == finding.value

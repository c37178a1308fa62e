"""Rows that are read from their source once and from a file of our own afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.reading import kept_rows
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.kept_rows import Columns, ColumnSource, ColumnsTogether, KeptRows, columns_of
from ragdatakit.schemas.canonical import Edge, Node
from ragdatakit.schemas.conversions import Losses

EDGES = [Edge(f"é{n}", "of", "b" * n, None if n % 2 else "{}", n / 3 if n % 3 else None) for n in range(300)]


class Source:
    """Gives rows, and counts how often it is asked for them."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows, self.asked = rows, 0

    def __call__(self) -> Iterator[Any]:
        """The rows."""
        self.asked += 1
        yield from self.rows


@pytest.mark.parametrize("together", [1, 1000, 1 << 20])
def test_rows_are_the_same_each_time(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "_TOGETHER", together)
    source = Source(EDGES)
    rows = KeptRows(source, Edge)

    assert next(rows()) == EDGES[0]
    assert [list(rows()) for _ in range(3)] == [EDGES] * 3

    assert source.asked == 2, "one that was begun, one that was read whole"
    assert {type(row) for row in rows()} == {Edge}
    first, second = rows(), rows()
    assert list(zip(first, second, strict=True)) == list(zip(EDGES, EDGES, strict=True))


@pytest.mark.parametrize("together", [1, 1 << 20])
def test_columns_are_kept_as_rows_are(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "_TOGETHER", together)
    source = Source([list(zip(*EDGES[first : first + 70], strict=True)) for first in range(0, 300, 70)])
    kept = KeptRows(ColumnSource(Edge, source), Edge)

    assert [list(kept()) for _ in range(2)] == [EDGES] * 2
    assert source.asked == 1
    for rows in (kept, KeptRows(Source(EDGES), Edge)):
        for _ in range(2):
            assert [Edge(*row) for columns in rows.columns() for row in zip(*columns, strict=True)] == EDGES
            list(rows())


def test_few_long_rows_make_a_block() -> None:
    rows = [Node(f"n{number}", "x" * (400_000 if number % 2 else 1)) for number in range(40)]
    blocks = list(columns_of(iter(rows)))
    assert max(sum(map(len, columns[1])) for columns in blocks) < 1_600_000
    assert [Node(*row) for columns in blocks for row in zip(*columns, strict=True)] == rows
    assert [len(columns[0]) for columns in columns_of(iter(EDGES))] == [64, 64, 64, 64, 44]


def test_rows_before_a_fault_are_a_block() -> None:
    def rows() -> Iterator[Node]:
        yield from (Node("a"), Node("b"))
        raise ValueError("cut off")

    blocks = columns_of(rows())
    assert next(blocks)[0] == ("a", "b")
    with pytest.raises(ValueError, match="cut off"):
        next(blocks)


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("odd", ["b", "\ud800"])
def test_tables_together(odd: str, keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads one of them has all of them kept, if that is possible."""
    monkeypatch.setattr(kept_rows, "_TOGETHER", 1000)
    edges, nodes = [*EDGES[:100], Edge(odd, "of", "b"), *EDGES[100:]], [Node("a"), Node("b", "c")]
    asked: list[list[int]] = []

    def blocks(wanted: Collection[int]) -> Iterator[tuple[Columns, Columns]]:
        asked.append(list(wanted))
        for first in range(0, len(edges), 70):
            rows = edges[first : first + 70]
            yield list(zip(*nodes, strict=True)) if not first else (), list(zip(*rows, strict=True))

    both = ColumnsTogether((Node, Edge), blocks)
    if keeps:
        both.keep()

    assert next(both.sources[1]()) == edges[0]
    assert [[list(source()) for source in both.sources] for _ in range(2)] == [[nodes, edges]] * 2

    every, alone = [[0, 1]], [[0], [1]]
    assert asked == (every * 2 + alone[1:] + alone if odd != "b" else every * 2) if keeps else [[1], *alone, *alone]


@pytest.mark.parametrize("odd", ["\ud800", "x" * 5000], ids=["half a character", "a long row"])
def test_what_cannot_be_kept_is_read_again(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rows, "_TOGETHER", 1000)
    monkeypatch.setattr(kept_rows, "_LONGEST", 2000)
    source = Source([*EDGES[:9], Edge(odd, "of", "b"), *EDGES[9:]])
    rows = KeptRows(source, Edge)

    assert [list(rows()) for _ in range(3)] == [source.rows] * 3
    assert source.asked == 3


def test_a_full_disk_only_means_reading_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(kept_rows, "_TOGETHER", 1000)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    source = Source(EDGES)
    rows = KeptRows(source, Edge)

    assert [list(rows()) for _ in range(2)] == [EDGES] * 2
    assert source.asked == 2


@pytest.mark.parametrize("count", [0, 1, 64, 70, 128])
def test_columns_have_what_was_read_before_a_failure(count: int) -> None:
    def rows() -> Iterator[Edge]:
        yield from EDGES[:count]
        raise OSError("gone")

    read: list[Edge] = []
    with pytest.raises(OSError, match="gone"):  # noqa: PT012 - up to there
        for block in kept_rows.columns_of(rows()):
            read += map(Edge._make, zip(*block, strict=True))

    assert read == EDGES[:count]


def test_losses_of_columns_are_counted_over_blocks() -> None:
    nodes = [
        Node(f"n{number}", ["p", "", None][number % 3], ["{}", None, '{"a":1}'][number % 3]) for number in range(30)
    ]
    blocks = [list(zip(*nodes[first : first + 7], strict=True)) for first in range(0, 30, 7)]
    sources: dict[str, Any] = {"by rows": lambda: iter(nodes), "by columns": ColumnSource(Node, lambda: iter(blocks))}
    expected = [
        ("lost", "nodes", "type", 10, ["n0: p", "n3: p", "n6: p"]),
        ("lost", "nodes", "attributes", 10, ['n2: {"a":1}', 'n5: {"a":1}', 'n8: {"a":1}']),
    ]
    for how, source in sources.items():
        for take in (CanonicalTables.take, CanonicalTables.take_columns):
            for covered, found in ((frozenset[str](), expected), (frozenset({"type"}), expected[1:])):
                tables = CanonicalTables("a", "datamind", {"nodes": source}, Losses())
                tables.covered["nodes"] = covered
                for _ in take(tables, "nodes", "name"):
                    pass
                those = [(loss.kind, loss.table, loss.column, loss.count, loss.examples) for loss in tables.losses]
                assert those == found, how
                assert tables.counts == {"nodes": 30}
                assert sum(1 for _ in take(tables, "nodes", "name")) > 0
                assert len(tables.losses) == len(found), "they are counted once"

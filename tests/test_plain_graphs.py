"""Nodes and edges of GraphML that are taken without the parser are what the parser makes of them, wherever they lie."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from ragdatakit.files.lightrag.graphml import GraphReader
from tests.broad import examples

_HEAD = (
    b"<?xml version='1.0' encoding='utf-8'?>\n"
    b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    b'<key id="d0" for="node" attr.name="description" attr.type="string"/>\n'
    b'<key id="d1" for="edge" attr.name="weight" attr.type="double"/>\n'
    b'<graph edgedefault="undirected">'
)
_ELEMENTS = b"".join(
    b'<node id="N%d">\n  <data key="d0">Joss &amp; Alder\xc3\xa9\n</data>\n</node>\n' % n for n in range(5)
) + b"".join(
    b'  <edge source="N%d" target="N%d">\n    <data key="d1">%d.5</data>\n  </edge>\n' % (n, n + 1, n) for n in range(4)
)
_WHOLE = _HEAD + _ELEMENTS + b"</graph></graphml>"
_ODD = (
    b"&amp;", b"&", b"&#65;", b"<", b">", b"]]>", b"\r", b"\n", b"\x01", b"\xff", b"\xef\xbf\xbe", b'"', b"</node>\n",
    b"<!-- ", b" -->", b"<![CDATA[", b"<x>", b"</x>", b' xmlns="u"', b"d1", b"</graph>", b"<graph>",
    b'<node id="x">\n</node>\n', b'<data key="d9"/>', b'<data key="d0" />', b'<data key="d1">x</data>',
    b'<!-- </node>\n <node id="q">\n</node>\n -->', b'<edge source="a" target="b" id="3">\n</edge>\n',
)  # fmt: skip


def _seen(data: bytes, size: int, plain: bool) -> tuple[list[str], bool]:
    reader = GraphReader(data[i : i + size] for i in range(0, len(data), size))
    if not plain:
        reader._plain_tags = False
    found: list[str] = []
    for items, faults in reader.batches():
        for item in items:
            shown = [repr(getattr(item, name)) for name in item.__slots__]
            found.append(f"{shown} {reader.raw(item)!r}")
        found += [repr(fault) for fault in faults]
    return sorted(found), reader.whole


def _damaged(number: int) -> Iterator[bytes]:
    chance = random.Random(number)
    for _ in range(examples(400)):
        data = bytearray(_WHOLE)
        for _ in range(chance.choice((1, 1, 2, 3))):
            places = [m.start() for m in re.finditer(rb'[<>"]', data)] or [0]
            at = chance.choice((chance.randrange(len(data) + 1), chance.choice(places)))
            if chance.random() < 0.7:
                data[at:at] = chance.choice(_ODD)
            else:
                del data[at : at + chance.choice((1, 5, 60, 1000))]
        yield bytes(data)


def test_plain_elements_are_taken_without_the_parser() -> None:
    reader = GraphReader([_WHOLE])
    reader._start_item = None  # type: ignore[method-assign, assignment]  # which only the first element may reach
    with pytest.raises(TypeError):
        list(reader.batches())
    first, *others = re.findall(rb" *<(?:node|edge).*?</(?:node|edge)>\n", _WHOLE, re.S)
    reader = GraphReader([_HEAD + first, b"".join(others), b"</graph></graphml>"])
    batches = reader.batches()
    next(batches)
    reader._start_item = None  # type: ignore[method-assign, assignment]

    items, faults = next(batches)

    assert len(items) == len(others) == 8
    assert not faults
    assert items[0].attributes == {"description": "Joss & Alderé\n"}


@pytest.mark.parametrize("number", range(2))
def test_damaged_graphs_are_read_as_the_parser_reads_them(number: int) -> None:
    for data in _damaged(number):
        expected = _seen(data, 1 << 20, plain=False)
        for size in (1 << 20, 333, 7):
            assert _seen(data, size, plain=True) == expected, data


@pytest.mark.parametrize("odd", [b"\f", b"\v"])
def test_form_feeds_are_no_blanks(odd: bytes) -> None:
    data = _WHOLE.replace(b'<node id="N2">', b'<node id="N2">' + odd)

    assert _seen(data, 1 << 20, plain=True) == _seen(data, 1 << 20, plain=False)
    assert not _seen(data, 1 << 20, plain=True)[1]


@pytest.mark.parametrize("encoding", [b"iso-8859-1", b"UTF-8", b"us-ascii", b"u-8", b"shift_jis"])
def test_encodings_are_those_of_the_file(encoding: bytes) -> None:
    data = _WHOLE.replace(b"'utf-8'", b"'%b'" % encoding)

    assert _seen(data, 1 << 20, plain=True) == _seen(data, 1 << 20, plain=False)
    assert _seen(data, 1 << 20, plain=True)[1] == (encoding in (b"iso-8859-1", b"UTF-8"))


def test_types_of_documents_turn_it_off() -> None:
    given = b'<!DOCTYPE graphml [<!ATTLIST node id CDATA "q"><!ATTLIST edge directed CDATA "true">]><graphml'
    data = _WHOLE.replace(b"<graphml", given, 1)

    assert _seen(data, 1 << 20, plain=True) == _seen(data, 1 << 20, plain=False)

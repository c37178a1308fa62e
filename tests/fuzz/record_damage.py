"""Damage to the bytes of a record, whatever it says: values, names, numbers, escapes, cells, tags, encodings, ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from tests.block_mutations import TOKENS
from tests.fuzz.mutations import ODD_CELLS, VALUES

Damage = Callable[[bytes, Random], bytes]

_TEXT = rb'"(?:[^"\\]|\\.)*+"?'  # one that is not closed is a text, too: else each quote mark in it is tried
_NUMBER = rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SCALAR = re.compile(_TEXT + rb"(?=\s*(:)?)|" + _NUMBER + rb"|true|false|null")
_MORE_NUMBERS = (
    *("1e999", "-1e999", "-0", "-0.0", "0.0", "1.0", "1e0", "1E+2", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e-400"),
    *("9007199254740993", "4.9e-324", "1.7976931348623157e308", "1.7976931348623159e308", "0.1e1", "12345678.9"),
    *("01", "1.", ".5", "+1", "0x1", "1_0", "NaN", "-NaN", "Infinity", "-Infinity", "nan", "inf", "None", "True", "１"),
)
_WORDS = (
    *('"1e999"', '"-0"', '"1.0"', '"9223372036854775808"', '"NaN"', '"None"', '"\\u0041"', '"\\u0000"', '"\\ud83d"'),
    *('"\\ud83d\\ude00"', '"\\ude00\\ud83d"', '"\\uD83D\\u0041"', '"\\ud83dx"', '"\\/"', '"\\u00e9"', '"e\\u0301"'),
    *('"\u2028"', '"\ufeff"', '"\u3000"', '"\x7f"', '"\x85"', '" a"', '"a "', '"\\n"', '"\\t"', '"A\u0301"', '"ﬁ"'),
    *('"\u212a"', '"ı"', '"ß"', '"\\"', '"\\x41"', '"\\u12"', '"a\tb"', '"\0"', "'a'", '"a" "b"', "\ufeff1", '"漢字"'),
)
_INSIDE = (
    *(b"\\u0000", b"\\ud83d", b"\\ud83d\\ude00", b"\\ude00", b"\\u00e9", b"\\u12", b"\\x41", b"\\", b"\\\\", b'\\"'),
    *(b'"', b"\\/", b"\\n", b"\\r\\n", b"\t", b"\0", b"\x1f", b"\x7f", b"\xff", b"\xc3", b"\xc3\xa9", b"\xe2\x80\xa8"),
    *(b"\xed\xa0\xbd", b"\xed\xa0\xbd\xed\xb8\x80", b"\xf0\x9f\x98\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x80"),
    *(b"\xef\xbb\xbf", b"\xc2\x85", b"\xc2\xa0", b"\xe3\x80\x80", b"\x0b", b"\x0c", b"\x1c", b" ", b"  ", b"\r", b"a"),
)
BLANKS = (b"", b" ", b"\t", b"  \t", b"\x0b", b"\x0c", b"\x1c", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"\0", b"\r")
ENDS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b\n", b"\x0c\n", b"\xc2\x85\n", b"\xe2\x80\xa8\n", b"\x1c", b"")


def _values(record: bytes, names: bool = False) -> list[re.Match[bytes]]:
    return [found for found in _SCALAR.finditer(record) if (found.group(1) is not None) == names]


def _put(record: bytes, start: int, end: int, new: bytes) -> bytes:
    return record[:start] + new + record[end:]


def another_value(record: bytes, rng: Random) -> bytes:
    """Any value in the place of a text, number or word."""
    places = _values(record)
    if not places:
        return any_bytes(record, rng)
    place = rng.choice(places)
    new = rng.choice(rng.choice((VALUES, _MORE_NUMBERS, _WORDS))).encode("utf-8", "surrogatepass")
    return _put(record, *place.span(), new)


def nested(record: bytes, rng: Random) -> bytes:
    """A value within lists or objects."""
    places = _values(record)
    if not places:
        return record
    place = rng.choice(places)
    deep = rng.choice((1, 1, 1, 2, 5, 33, 129, 1100))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[[],", b"]")))
    return _put(record, *place.span(), opening * deep + place.group() + closing * deep)


def values_swapped(record: bytes, rng: Random) -> bytes:
    """Two values of the record change places."""
    places = _values(record)
    if len(places) < 2:
        return record
    one, other = sorted(rng.sample(places, 2), key=lambda place: place.start())
    middle = record[one.end() : other.start()]
    return record[: one.start()] + other.group() + middle + one.group() + record[other.end() :]


def name_again(record: bytes, rng: Random) -> bytes:
    """A name once more in its object, with another value or an escape in it."""
    places = _values(record, names=True)
    if not places:
        return record
    place = rng.choice(places)
    name = place.group()
    if rng.random() < 0.4 and len(name) > 2:
        name = b'"\\u00%02x' % name[1] + name[2:] if name[1] < 0x80 and name[1] != 0x5C else name
    value = rng.choice(rng.choice((VALUES, _WORDS))).encode("utf-8", "surrogatepass")
    return _put(record, place.start(), place.start(), name + b": " + value + b", ")


def name_changed(record: bytes, rng: Random) -> bytes:
    """A name is another one, in capitals, or written with an escape."""
    places = _values(record, names=True)
    if not places:
        return record
    place = rng.choice(places)
    name = place.group()[1:-1]
    other = rng.choice(places).group()[1:-1]
    found = (
        name.upper(),
        name + b" ",
        b"",
        other,
        name[:-1],
        b"\\u0061",
        name.replace(b"e", b"\\u0065"),
        b"_id",
        b"a/b",
    )
    return _put(record, *place.span(), b'"' + rng.choice(found) + b'"')


def inside_text(record: bytes, rng: Random) -> bytes:
    """Something odd within a text."""
    places = [place for place in _values(record) if place.group().startswith(b'"')] or _values(record, names=True)
    if not places:
        return any_bytes(record, rng)
    place = rng.choice(places)
    at = rng.randrange(place.start() + 1, place.end() + 1)
    return _put(record, at, at, rng.choice(_INSIDE))


def number_changed(record: bytes, rng: Random) -> bytes:
    """A number written otherwise, or another one beside it."""
    places = [place for place in _values(record) if place.group()[:1] in b"-0123456789"]
    if not places:
        return another_value(record, rng)
    place = rng.choice(places)
    old = place.group()
    ways = (old + b".0", old + b"e0", b"0" + old, b"-" + old, b'"' + old + b'"', old + b"0" * 25, b"[" + old + b"]")
    return _put(record, *place.span(), rng.choice((*ways, rng.choice(_MORE_NUMBERS).encode())))


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def member_gone(record: bytes, rng: Random) -> bytes:
    """A member or element less, written anew."""
    try:
        value = json.loads(record)
    except (ValueError, RecursionError):
        return any_bytes(record, rng)
    home = value
    while (inside := [each for each in _inside(home) if isinstance(each, dict | list)]) and rng.random() < 0.6:
        home = rng.choice(inside)
    if isinstance(home, dict) and home:
        del home[rng.choice([*home])]
    elif isinstance(home, list) and home:
        home.pop(rng.randrange(len(home)))
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def spaced(record: bytes, rng: Random) -> bytes:
    """White space, of JSON or not, where a comma, colon or bracket is."""
    places = [i for i, byte in enumerate(record) if byte in b",:{}[]"]
    if not places:
        return record
    at = rng.choice(places) + rng.randrange(2)
    return _put(record, at, at, rng.choice((b" ", b"  ", b"\t", b"\n", b"\r", b"\r\n", b"\x0b", b"\xc2\xa0", b" \t ")))


def long_text(record: bytes, rng: Random) -> bytes:
    """A text of many letters."""
    places = [place for place in _values(record) if place.group().startswith(b'"')]
    if not places:
        return record
    piece = rng.choice((b"x", b"tide ", "é".encode(), "漢 ".encode(), b"\\n", b"\\u00e9", b'\\"'))
    times = rng.choice((40, 300, 5000)) if rng.random() < 0.97 else 300_000 // len(piece)
    at = rng.choice(places).start() + 1
    return _put(record, at, at, piece * times)


def any_bytes(record: bytes, rng: Random) -> bytes:
    """Bytes flipped, put in, gone, or repeated."""
    at = rng.randrange(len(record) + 1)
    how = rng.randrange(6)
    if how == 0 and at < len(record):
        return _put(record, at, at + 1, bytes([record[at] ^ 1 << rng.randrange(8)]))
    if how == 1:
        return _put(record, at, at, rng.choice((*TOKENS, *_INSIDE)))
    if how == 2:
        return _put(record, at, at + rng.randrange(4), rng.choice(TOKENS))
    if how == 3:
        return _put(record, at, at + rng.choice((1, 1, 2, 9, 60)), b"")
    if how == 4:
        return _put(record, at, at, record[at : at + rng.choice((1, 2, 9, 40))])
    return _put(record, at, at, bytes([rng.randrange(256)]))


def as_python(record: bytes, rng: Random) -> bytes:
    """As Python prints it."""
    try:
        return repr(json.loads(record)).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return record


def cut_short(record: bytes, rng: Random) -> bytes:
    """The beginning, or the end."""
    at = rng.randrange(len(record) + 1)
    return record[:at] if rng.random() < 0.7 else record[at:]


def comma_more(record: bytes, rng: Random) -> bytes:
    """A comma that nothing follows, or that nothing comes before."""
    places = [i for i, byte in enumerate(record) if byte in b"{}[]"]
    at = rng.choice(places) if places else len(record)
    return _put(record, at, at, b",")


def another_record(record: bytes, rng: Random) -> bytes:
    """Something else in its place."""
    found = (
        b"null",
        b"12",
        b'"x"',
        b"[]",
        b"{}",
        b"[{}]",
        b"true",
        b"NaN",
        b"{",
        b"}",
        b",",
        b'""',
        b"[" * 70,
        b"{}{}",
    )
    return rng.choice((*found, *BLANKS, record * 2, record + b" " + record, b"\xef\xbb\xbf" + record, record + b","))


VALUES_DAMAGED: tuple[Damage, ...] = (
    *(another_value, another_value, another_value, number_changed, number_changed, inside_text, inside_text),
    *(values_swapped, name_again, name_changed, member_gone, nested, spaced, long_text),
)
BYTES_DAMAGED: tuple[Damage, ...] = (any_bytes, any_bytes, any_bytes, as_python, cut_short, comma_more, another_record)


def damaged_json(record: bytes, rng: Random, bytes_share: float = 0.3) -> bytes:
    """A record of JSON with one to three faults, most of them in its values."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        record = rng.choice(BYTES_DAMAGED if rng.random() < bytes_share else VALUES_DAMAGED)(record, rng)
    return record


_CELLS = (
    *(cell.encode() for cell in (*ODD_CELLS, *_MORE_NUMBERS) if len(cell) < 500),
    *(b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1c", b"\r", b" \t", b"NA"),
    *(
        b'"x"',
        b'"x',
        b'x"',
        b'""x""',
        b'"a""b"',
        b'"a\r\nb"',
        b'" x "',
        b' "x"',
        b"'x'",
        b'"x"y',
        b"<NA>",
        b"n/a",
        b"#N/A",
    ),
    *(
        b"7 ",
        b" 7",
        b"+7",
        b"007",
        b"7e2",
        b"7.",
        b"1,5",
        b"inf",
        b"-Infinity",
        b"1e400",
        b"TRUE",
        b"False",
        b"x" * 3000,
    ),
)


def damaged_cells(line: bytes, separator: bytes, rng: Random) -> bytes:
    """A line of cells with one to three faults."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        cells = line.split(separator)
        at = rng.randrange(len(cells))
        how = rng.randrange(9)
        if how < 3:
            cells[at] = rng.choice(_CELLS)
        elif how == 3:
            cells[at] = b'"' + cells[at].replace(b'"', rng.choice((b'""', b'"'))) + rng.choice((b'"', b'"', b"", b'" '))
        elif how == 4:
            cells.insert(at, rng.choice((b"", b"x", *_CELLS)))
        elif how == 5:
            cells.pop(at)
        elif how == 6:
            other = rng.randrange(len(cells))
            cells[at], cells[other] = cells[other], cells[at]
        elif how == 7:
            place = rng.randrange(len(cells[at]) + 1)
            cells[at] = _put(
                cells[at], place, place, rng.choice((*_INSIDE, b'"', b'""', b",", b"\n", b"\r\n", b" ", b"\t"))
            )
        else:
            line = any_bytes(line, rng)
            continue
        line = rng.choice((separator,) * 12 + (separator * 2, b" ", b"\t", b",", b";")).join(cells)
    return line


_TAG = re.compile(rb"</?[^<>]*>")
_TAGS = (
    *(b"<DOC>", b"</DOC>", b"<doc>", b"</doc>", b"<Doc >", b"</DOC\t>", b"<DOCNO>", b"</docno>", b"<TEXT>", b"</text>"),
    *(b"<top>", b"</top>", b"<num>", b"</num>", b"<title>", b"<desc> Description:", b"<", b">", b"</", b"<>", b"</>"),
    *(b"<!-- x -->", b"<!--", b"<![CDATA[x]]>", b"<?xml version='1.0'?>", b"<DOC\n>", b'<DOC id="a>b">', b"<b/>"),
    *(b"&amp;", b"&lt;", b"&#0;", b"&#xD800;", b"&#x1F600;", b"&nope;", b"&", b"&#32;", b"&#x;", b"&amp", b"<docs>"),
)


def damaged_element(record: bytes, rng: Random) -> bytes:
    """An element of elements with one to three faults."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tags = [*_TAG.finditer(record)]
        place = rng.choice(tags) if tags else None
        how = rng.randrange(8) if place is not None else 7
        if place is None or how == 7:
            record = any_bytes(record, rng)
        elif how == 0:
            record = _put(record, *place.span(), b"")
        elif how == 1:
            record = _put(record, *place.span(), rng.choice((place.group().upper(), place.group().lower())))
        elif how == 2:
            record = _put(record, *place.span(), rng.choice(_TAGS))
        elif how == 3:
            record = _put(record, place.end(), place.end(), rng.choice((*_TAGS, *_INSIDE)))
        elif how == 4:
            record = _put(record, place.end(), place.end(), place.group())
        elif how == 5:
            record = _put(
                record, place.end() - 1, place.end() - 1, rng.choice((b" ", b"\n", b" a='b'", b"\x0b", b"\0", b"x"))
            )
        else:
            other = rng.choice(tags)
            record = _put(record, place.end(), place.end(), record[other.start() : other.end() + rng.randrange(20)])
    return record

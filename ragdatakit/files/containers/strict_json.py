"""One JSON value decoded as Python's ``json`` does it, remembering everything that other readers see differently."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]  # Python has it, its stubs do not
from json.scanner import make_scanner
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern

SURROGATE = late_pattern("[\ud800-\udfff]")


class _Repeated(dict[str, Any]):
    """An object that had keys twice; ``repeated`` names them."""

    repeated: tuple[str, ...] = ()


class _Constant(float):
    """NaN, Infinity or -Infinity as written."""


class _Overflow(float):
    """A decimal number beyond the range of a float; ``literal`` is its text."""

    literal: str = ""


NOTHING = "there is nothing in it"
LONG = 1 << 23
"""Bytes of a text from which on it is decoded part by part (`long_json`)."""


@dataclass(slots=True)
class Decoded:
    """What ``json.loads`` makes of a text, and the oddities in it.

    ``error`` and ``position`` (0-based character) say why it is not JSON, ``case`` which of a few reasons that is,
    where that matters; then ``value`` is None. The lists hold JSON
    Pointers with the key, the literal or the surrogate at fault.
    """

    value: Any = None
    error: str = ""
    position: int = 0
    case: str = ""
    repeated: list[tuple[str, str]] = field(default_factory=list)
    non_finite: list[tuple[str, str]] = field(default_factory=list)
    overflow: list[tuple[str, str]] = field(default_factory=list)
    surrogates: list[tuple[str, str]] = field(default_factory=list)
    large: list[tuple[str, int]] = field(default_factory=list)


def decode(text: str) -> Decoded:
    """Decode one JSON text; never raises."""
    try:
        return _decoded(text)
    except RecursionError:
        return _decoded_in_thread(text)


def _decoded_in_thread(text: str) -> Decoded:
    """The same in a thread of its own: how deep Python's reader goes depends on the calls that lead to it, of which
    there are none in a new thread; so a text is too deep wherever it is read, or nowhere."""
    from threading import Thread

    found = Decoded(error="nested too deeply for Python's reader")

    def decoded() -> None:
        nonlocal found
        with suppress(RecursionError):
            found = _decoded(text)

    thread = Thread(target=decoded)
    thread.start()
    thread.join()
    return found


def _decoded(text: str) -> Decoded:
    result, odd = Decoded(), _Odd()
    try:
        result.value = odd.decoder.decode(text)
    except json.JSONDecodeError as error:
        result.error, result.position = _reason(text, error)
    except ValueError:
        result.error = "a number with more digits than Python's reader takes"
    else:
        may_have_half = ("\\" in text and "\\u" in text) or _has_half(text)  # one character is found sooner than two
        if odd.found or may_have_half:
            _find_oddities(result, may_have_half)
    return result


def _reason(text: str, error: json.JSONDecodeError) -> tuple[str, int]:
    """Why a text is not JSON and where, in the same words on every version of Python."""
    before = text[: error.pos].rstrip()
    if not text.strip():
        return NOTHING, 0
    if text[error.pos : error.pos + 1] in ("}", "]") and before.endswith(","):
        return "a trailing comma", len(before) - 1
    if text[error.pos : error.pos + 1] == "," and "trailing comma" in error.msg:
        return "a trailing comma", error.pos
    return (error.msg[0].lower() + error.msg[1:]).removesuffix(" at").removesuffix(" starting"), error.pos


def _has_half(text: str) -> bool:
    """Whether half a character is in a text as it stands."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class _Odd:
    """Decodes one text, and says whether other readers may see something differently; what that is has yet to be found,
    and where."""

    def __init__(self) -> None:
        self.found = False
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._pairs,
            parse_constant=self._constant,
            parse_float=self._float,
            parse_int=self._integer,
        )

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        self.found = True
        seen: set[str] = set()
        repeated = _Repeated(plain)
        repeated.repeated = tuple(dict.fromkeys(k for k, _ in pairs if k in seen or seen.add(k)))  # type: ignore[func-returns-value]
        return repeated

    def _constant(self, literal: str) -> float:
        self.found = True
        return _Constant(literal)

    def _float(self, literal: str) -> float:
        value = float(literal)
        if math.isinf(value):
            self.found = True
            value = _Overflow(value)
            value.literal = literal
        return value

    def _integer(self, literal: str) -> int:
        if len(literal) > _SHORT_INTEGER:
            self.found = True
        return int(literal)


_SHORT_INTEGER = 15
"""Digits that every reader's integers have."""


_Path = tuple[Any, str | int] | None
"""What a value is in, and its name or number there."""

_MAY_BE_ODD = frozenset((dict, _Repeated, list, _Constant, _Overflow, int))


def _find_oddities(result: Decoded, may_have_half: bool) -> None:
    """No recursion, so any depth goes; pointers are made of what is odd, which is little."""
    kinds = _MAY_BE_ODD | {str} if may_have_half else _MAY_BE_ODD
    stack: list[tuple[_Path, Any]] = [(None, result.value)]
    while stack:
        path, value = stack.pop()
        kind = type(value)
        if kind is dict or kind is _Repeated:
            if kind is _Repeated:
                pointer = _pointer(path)
                result.repeated += [(f"{pointer}/{escape(k)}", k) for k in value.repeated]
            if may_have_half:
                result.surrogates += [(_pointer(path), half) for key in value if (half := _half(key))]
            stack.extend([((path, k), v) for k, v in reversed(value.items()) if type(v) in kinds])
        elif kind is list:
            places = range(len(value) - 1, -1, -1)
            stack.extend([((path, i), v) for i, v in zip(places, reversed(value), strict=True) if type(v) in kinds])
        elif kind is _Constant:
            result.non_finite.append((_pointer(path), constant_text(value)))
        elif kind is _Overflow:
            result.overflow.append((_pointer(path), value.literal))
        elif kind is int and abs(value) > 2**53:
            result.large.append((_pointer(path), value))
        elif kind is str and may_have_half and (half := _half(value)):
            result.surrogates.append((_pointer(path), half))


def _half(text: str) -> str:
    """The first half of a character in a text, as JSON writes it; empty where there is none."""
    found = SURROGATE.search(text)
    return f"\\u{ord(found.group()):04x}" if found else ""


def _pointer(path: _Path) -> str:
    """The JSON Pointer of a value."""
    names: list[str] = []
    while path is not None:
        path, name = path
        names.append(escape(name) if isinstance(name, str) else str(name))
    return "".join(f"/{name}" for name in reversed(names))


def constant_text(value: float) -> str:
    """NaN, Infinity or -Infinity, as JSON writers of the Python kind spell it."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def escape(key: str) -> str:
    """A key as a JSON Pointer token."""
    return key.replace("~", "~0").replace("/", "~1")


def resolve(value: Any, pointer: str | None) -> Any:
    """The value at a JSON Pointer, or None where there is none."""
    for token in (pointer or "").split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(token)] if isinstance(value, list) else value[token]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


MOST_LOCATED = 1 << 24
"""Characters of a record beyond which nobody looks for a column in it."""

_TOKEN = late_pattern(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++', re.S)


def locate(text: str, pointer: str) -> tuple[int, int] | None:
    """Where in a JSON text the value at ``pointer`` is: (first character, length); None if it is not found.

    The last of repeated keys is meant, as in ``json.loads``.
    """
    if len(text) >= MOST_LOCATED:
        return None
    known_text, known_pointer, span = _last_located[-1]
    if known_pointer == pointer and known_text == text:  # what words a finding asks what its repair has asked
        return span
    want = _names_in(pointer)
    try:
        span = _descend(text, want)
    except (ValueError, IndexError, RecursionError):
        span = _walk(text, want)
    if len(text) < _LONG:
        _last_located[0] = text, pointer, span
    return span


@lru_cache(256)
def _names_in(pointer: str) -> list[str]:
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


_last_located: list[tuple[str, str, tuple[int, int] | None]] = [("", "", None)]


_BLANKS = late_pattern(r"[ \t\n\r]*")
_NAME = late_pattern(r'"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:[ \t\n\r]*+')
_FOLLOWING = late_pattern(r"[ \t\n\r]*+,[ \t\n\r]*+")
_SCAN: Any = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]  # as the decoder itself does it


def _descend(text: str, want: list[str]) -> tuple[int, int] | None:
    """Down the path, with Python's own scanner to pass over what is next to it; raises where that stops."""
    begin = solid(text, 0)
    end = None
    for name in want:
        if text[begin] not in "{[":
            return None
        kept = _kept_parts(text, begin) if len(text) >= _LONG else None
        if kept is not None:
            span = kept.get(name)
        else:
            span = _member(text, begin, name) if text[begin] == "{" else _element(text, begin, name)
        if span is None:
            return None
        begin, end = span
    end = end_of(text, begin) if end is None else end
    return begin, end - begin


_LONG = 1 << 16
"""Characters of a text from which on it is remembered where the parts of it are."""
_MOST_KEPT = 100_000


class _Places:
    """Where the parts of the last long text are, by the place of the object or array that they are in: a record of
    megabytes may have hundreds of values to be found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: dict[int, dict[str, tuple[int, int]] | None] = {}


_last_text = [_Places("")]


def _kept_parts(text: str, begin: int) -> Mapping[str, tuple[int, int]] | None:
    """Where the members or elements of what begins there are; None where these are too many to be remembered."""
    places = _last_text[-1]
    if places.text != text:
        _last_text[:] = [places := _Places(text)]
    if begin in places.parts:
        return places.parts[begin]
    if sum(len(parts or ()) for parts in places.parts.values()) > _MOST_KEPT:
        _last_text[:] = [places := _Places(text)]
    parts = dict(islice(members(text, begin) if text[begin] == "{" else elements(text, begin), _MOST_KEPT + 1))
    found = places.parts[begin] = parts if len(parts) <= _MOST_KEPT else None
    return found


def end_of(text: str, begin: int) -> int:
    """Where the value that begins there ends; raises `ValueError` where there is none."""
    try:
        end: int = _SCAN(text, begin)[1]
    except StopIteration:
        raise ValueError from None
    return end


def solid(text: str, at: int) -> int:
    """The first place from here on that is not blank."""
    if text[at : at + 1] not in " \t\n\r":
        return at
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _member(text: str, begin: int, name: str) -> tuple[int, int] | None:
    """Where the last value of that name is in an object."""
    found = None
    is_plain, quoted = name.isidentifier(), f'"{name}"'
    at = text.find(quoted, begin) if is_plain else -1
    before = text[begin + 1 : at]
    is_within = at > 0 and not ("{" in before or "}" in before or before.endswith("\\"))
    if is_within and (only := _NAME.match(text, at)):
        start = only.end()
        end = end_of(text, start)
        if not _may_follow(text, end, quoted):
            return start, end
    for key, span in members(text, begin):
        if key == name:
            found = span
            if is_plain and not _may_follow(text, span[1], quoted):
                break
    return found


def _may_follow(text: str, at: int, quoted: str) -> bool:
    """Whether a name may come from a place on, as it is or with escapes."""
    behind = text[at:]
    return quoted in behind or "\\u" in behind


def members(text: str, begin: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in an object, and where their values are."""
    at = solid(text, begin + 1)
    named, following = _NAME.match, _FOLLOWING.match
    while text[at] != "}":
        if found := named(text, at):
            key, start = found[1], found.end()
        else:
            key, at = scanstring(text, at + 1)
            at = solid(text, at)
            if text[at] != ":":
                raise ValueError
            start = solid(text, at + 1)
        at = end_of(text, start)
        yield key, (start, at)
        comma = following(text, at)
        at = comma.end() if comma else _next(text, at, "}")


def _element(text: str, begin: int, name: str) -> tuple[int, int] | None:
    """Where the element of that number is in an array."""
    return next((span for number, span in elements(text, begin) if number == name), None)


def elements(text: str, begin: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The numbers of the elements of an array, and where they are."""
    at, number = solid(text, begin + 1), 0
    while text[at] != "]":
        start = at
        at = end_of(text, start)
        yield str(number), (start, at)
        number += 1
        at = _next(text, at, "]")


def _next(text: str, at: int, closing: str) -> int:
    """Where the next item begins, or the container ends."""
    at = solid(text, at)
    if text[at] == ",":
        return solid(text, at + 1)
    if text[at] != closing:
        raise ValueError
    return at


def _walk(text: str, want: list[str]) -> tuple[int, int] | None:
    """The same for any text: token by token."""
    path: list[Any] = []
    start: int | None = None
    depth_at_start = 0
    found: tuple[int, int] | None = None
    kinds: list[str] = []
    expect_key = False
    for token in _TOKEN.finditer(text):
        word = token.group()
        if word in "}]" and kinds:
            kinds.pop()
            path.pop()
            if start is not None and len(kinds) == depth_at_start:
                found, start = (start, token.end() - start), None
            expect_key = False
            continue
        if word == ",":
            if kinds and kinds[-1] == "[":
                path[-1] += 1
            expect_key = bool(kinds) and kinds[-1] == "{"
            continue
        if word == ":":
            expect_key = False
            continue
        if expect_key and word[0] == '"':
            path[-1] = _unquote(word)
            continue
        if start is None and len(path) == len(want) and [str(p) for p in path] == want:
            if word in "{[":
                start, depth_at_start = token.start(), len(kinds)
            else:
                found = (token.start(), len(word))
        if word in "{[":
            kinds.append(word)
            path.append(0 if word == "[" else None)
            expect_key = word == "{"
    return found


def _unquote(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word[1:-1]

"""The lines on which the keys and elements of a TOML document are, which its parser does not say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ragdatakit.late_patterns import late_pattern

Keys = tuple[str | int, ...]
"""The way to a value: names of keys, and numbers of elements from 0."""

_TOKEN = late_pattern(
    r'(?P<blank>[ \t\r]+|#[^\n]*)|(?P<line>\n)|(?P<text>"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')|(?P<mark>[][{}=,])|(?P<bare>[^][{}=,\s#"\']+)',
    re.DOTALL,
)
_SIMPLE = late_pattern(r"[A-Za-z0-9_-]+")


def lines_of(text: str) -> dict[Keys, int]:
    """The lines, from 1, by keys; of a text that is TOML."""
    return _Walk(text).lines


class _Walk:
    """One walk over the tokens; what is in brackets is nested no deeper than the parser went."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Keys, int] = {}
        self._line = 1
        self._tokens = self._all(text)
        self._kind, self._text = "line", "\n"
        self._numbers = Counter[Keys]()
        self._walk()

    def _all(self, text: str) -> Iterator[tuple[str, str]]:
        for match in _TOKEN.finditer(text):
            kind, found = match.lastgroup or "", match.group()
            if kind != "blank":
                yield kind, found
            self._line += found.count("\n")
        yield "end", ""

    def _next(self) -> None:
        self._kind, self._text = next(self._tokens)

    def _skip_lines(self) -> None:
        while self._kind == "line":
            self._next()

    def _walk(self) -> None:
        table: Keys = ()
        self._skip_lines()
        while self._kind != "end":
            if self._text == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip_lines()

    def _header(self) -> Keys:
        line, depth = self._line, 0
        while self._text == "[":
            depth += 1
            self._next()
        keys = self._absolute(self._key())
        while self._text == "]":
            self._next()
        if depth == 2:
            self._numbers[keys] += 1
            keys = (*keys, self._numbers[keys] - 1)
        self.lines.setdefault(keys, line)
        return keys

    def _absolute(self, keys: tuple[str, ...]) -> Keys:
        """The keys of a header, with the number of the table where one on the way is one of several."""
        found: Keys = ()
        for key in keys[:-1]:
            found = (*found, key)
            if self._numbers[found]:
                found = (*found, self._numbers[found] - 1)
        return (*found, keys[-1])

    def _key(self) -> tuple[str, ...]:
        """A dotted key, up to what follows it."""
        written = ""
        while self._kind in ("text", "bare"):
            written += self._text
            self._next()
        if _SIMPLE.fullmatch(written):
            return (written,)
        import tomllib

        found, names = tomllib.loads(f"{written} = 0"), []
        while isinstance(found, dict):
            (name,) = found
            names.append(name)
            found = found[name]
        return tuple(names)

    def _pair(self, table: Keys) -> None:
        line = self._line
        keys = table
        for name in self._key():
            keys = (*keys, name)
            self.lines.setdefault(keys, line)
        self._next()  # the equals sign
        self._value(keys)

    def _value(self, keys: Keys) -> None:
        self.lines.setdefault(keys, self._line)
        if self._text == "[" and self._kind == "mark":
            self._next()
            number = 0
            while self._more("]"):
                self._value((*keys, number))
                number += 1
        elif self._text == "{" and self._kind == "mark":
            self._next()
            while self._more("}"):
                self._pair(keys)
        else:
            while self._kind in ("text", "bare"):
                self._next()

    def _more(self, end: str) -> bool:
        """Whether another element follows; what is between two is passed over."""
        while self._kind == "line" or (self._kind == "mark" and self._text == ","):
            self._next()
        if self._kind == "mark" and self._text == end:
            self._next()
            return False
        return self._kind != "end"

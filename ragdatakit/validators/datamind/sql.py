"""A .sql file as DataMind cuts it up, and what is wrong with it before it is run. Pure functions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem

_TOKEN = re.compile(
    r"""(?P<string>'[^']*(?:''[^']*)*') | (?P<name>"[^"]*(?:""[^"]*)*" | `[^`]*(?:``[^`]*)*` | \[[^\]\n]*\])
    | (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)) | (?P<semicolon>;) | (?P<space>[\s\ufeff]+) | (?P<word>\w+)
    | (?P<other>[(),=+*.<>|&%~!?@$#^{}\\:]+|.)""",
    re.VERBOSE | re.DOTALL,
)
# What SQLAlchemy's text() takes for a bind parameter, and for an escaped colon.
_PARAMETER = re.compile(r"(?<![:\w$\\]):([\w$]+)(?![:\w$])")
_ESCAPED = re.compile(r"\\(:[\w$]*)(?![:\w$])")
_DESTRUCTIVE = frozenset({"DROP", "DELETE", "ATTACH", "DETACH", "VACUUM", "TRUNCATE"})
_PLACES = {"string": "string literal", "name": "quoted name", "comment": "comment", "semicolon": "trigger"}
_WORDS_KEPT = 8


@dataclass(slots=True)
class Statement:
    """One SQL statement as SQL itself cuts the file.

    ``start`` and ``end`` are 0-based character offsets in the file, ``first`` and ``last`` those of its first and last
    word; ``words`` holds its first words. ``inner`` are the semicolons inside it at which DataMind cuts it in two, with
    the place they are in. A comment that breaks in two is a statement without words.
    """

    start: int
    end: int = 0
    first: int = -1
    last: int = -1
    words: list[str] = field(default_factory=list)
    inner: list[tuple[int, str]] = field(default_factory=list)
    harmless: list[int] = field(default_factory=list)
    ending: tuple[str, str] = ("", "")

    @property
    def verb(self) -> str:
        """Its first word in capitals."""
        return self.words[0].upper() if self.words else ""

    def add(self, kind: str, text: str, start: int) -> None:
        """Take in one more token."""
        self.end = start + len(text)
        if kind == "comment":
            self._add_comment(text, start)
        elif kind != "space":
            self.first = start if self.first < 0 else self.first
            self.last = start
            self.ending = (self.ending[1], text.upper())
            if len(self.words) < _WORDS_KEPT:
                self.words.append(text)
            if kind in _PLACES and ";" in text:
                self.inner.append((start + text.index(";"), _PLACES[kind]))

    def _add_comment(self, text: str, start: int) -> None:
        if ";" in text:
            offset = start + text.index(";")
            if _breaks_comment(text):
                self.inner.append((offset, "comment"))
            else:
                self.harmless.append(offset)

    def goes_on(self) -> bool:
        """Whether a semicolon here is inside a trigger."""
        words = [w.upper() for w in self.words[:3]]
        return words[:1] == ["CREATE"] and "TRIGGER" in words[1:3] and self.ending[1] != "END"

    def close(self) -> Statement:
        """Settle which comments are inside the statement: there, any semicolon cuts it."""
        self.inner += [(o, "comment") for o in self.harmless if self.first <= o <= self.last]
        self.inner.sort()
        return self


class Lines:
    """Character offsets of a text as lines (1-based) and positions in them (0-based), by LF as Python reads it."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """(line, position in the line) of a character."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]


def read_sql(data: bytes) -> str:
    """The text as DataMind's text mode reads it: every line end is a LF."""
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def statements(sql: str) -> Iterator[Statement]:
    """The statements of a file, with triggers in one piece; comments alone are none, unless they break in two."""
    current = Statement(0)
    for match in _TOKEN.finditer(sql):
        kind, text = match.lastgroup or "other", match.group()
        if kind == "semicolon" and not current.goes_on():
            if current.words or current.inner:
                yield current.close()
            current = Statement(match.end())
        else:
            current.add(kind, text, match.start())
    if current.words or current.inner:
        yield current.close()


def _breaks_comment(comment: str) -> bool:
    """Whether something is left of a comment behind its semicolon that is then read as SQL."""
    if not comment.startswith("--"):
        return True
    pieces = (piece.strip() for piece in comment.split(";")[1:])
    return any(piece and not piece.startswith("--") for piece in pieces)


def file_problems(sql: str) -> Iterator[Problem]:
    """What is wrong with a file, whatever the database holds: cuts, parameters, backslashes, dangerous statements."""
    lines = Lines(sql)
    found = False
    for statement in statements(sql):
        if statement.words:
            found = True
        for offset, place in statement.inner[:1]:
            yield _at(lines, Problem("semicolon-in-statement", facts={"place": place}, length=1), offset)
        yield from _destructive(statement, lines)
    for match in _PARAMETER.finditer(sql):
        yield _at(
            lines, Problem("colon-read-as-parameter", value=match.group(), length=len(match.group())), match.start()
        )
    for match in _ESCAPED.finditer(sql):
        yield _at(lines, Problem("backslash-before-colon", length=2), match.start())
    if not found:
        yield Problem("no-statement")


def as_run(sql: str, statement: Statement) -> tuple[str, bool]:
    """A statement's text without the backslashes that SQLAlchemy removes; and whether it sees a parameter in it."""
    text = sql[statement.start : statement.end]
    return _ESCAPED.sub(r"\1", text), _PARAMETER.search(text) is not None


def _destructive(statement: Statement, lines: Lines) -> Iterator[Problem]:
    verb = statement.verb
    if verb not in _DESTRUCTIVE or (verb == "VACUUM" and "INTO" not in (w.upper() for w in statement.words)):
        return
    # DROP … IF EXISTS at the head of a dump only makes it repeatable.
    if verb == "DROP" and [w.upper() for w in statement.words[2:4]] == ["IF", "EXISTS"]:
        return
    yield _at(lines, Problem("destructive-statement", facts={"statement": verb}, length=len(verb)), statement.first)


def _at(lines: Lines, problem: Problem, offset: int) -> Problem:
    problem.line, problem.position = lines.place(offset)
    return problem

"""Which format converts to which, as a table for the terminal; and one pair in full, with its options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

_CORNER = "from ↓ to →"
_SIGNS = {"exact": "=", "lossy": "~", "": "·"}


class _Option(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def default(self) -> object: ...
    @property
    def choices(self) -> tuple[str, ...]: ...


class _Pair(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def mark(self) -> str: ...
    @property
    def kept(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def lost(self) -> Mapping[str, tuple[str, ...]]: ...
    @property
    def options(self) -> Sequence[_Option]: ...
    @property
    def profiles(self) -> tuple[str, ...]: ...
    @property
    def condition(self) -> str: ...


def matrix_lines(pairs: Sequence[_Pair]) -> Iterator[str]:
    """Sources down, targets across."""
    sources = list(dict.fromkeys(p.source for p in pairs))
    targets = list(dict.fromkeys(p.target for p in pairs))
    marks = {(p.source, p.target): _SIGNS[p.mark] for p in pairs}
    width = max(len(s) for s in (*sources, _CORNER))
    yield "  ".join([f"{_CORNER:{width}}", *targets])
    for source in sources:
        cells = [f"{marks[source, target]:^{len(target)}}" for target in targets]
        yield "  ".join([f"{source:{width}}", *cells]).rstrip()
    yield ""
    yield "=  exact: where nothing is lost, converting back gives the same records"
    yield "~  lossy: what the target has no place for is counted and shown; --sidecar keeps it"
    yield "·  nothing in common"
    yield "ragdata convert --list --from A --to B shows one pair and its options."


def pair_lines(pair: _Pair) -> Iterator[str]:
    """What one conversion keeps and loses, and which options it takes."""
    exact = "exact: where nothing is lost, converting back gives the same records"
    words = {"exact": exact, "lossy": "lossy", "": "nothing in common"}
    yield f"{pair.source} → {pair.target}: {words[pair.mark]}"
    if pair.condition:
        yield f"  {pair.condition}"
    yield from _columns("keeps", pair.kept)
    yield from _columns("has no place for", pair.lost)
    if pair.profiles:
        yield f"  --profile  {', '.join(pair.profiles)}"
    for option in pair.options:
        help_text = option.help
        if option.choices:
            help_text += f" ({', '.join(option.choices)})"
        if option.default is not None:
            help_text += f" [{str(option.default).lower() if isinstance(option.default, bool) else option.default}]"
        yield f"  --option {option.name}=…  {help_text}"


def _columns(label: str, tables: Mapping[str, Iterable[str]]) -> Iterator[str]:
    if tables:
        yield f"  {label}"
        for table, columns in tables.items():
            yield f"    {table}: {', '.join(columns)}"

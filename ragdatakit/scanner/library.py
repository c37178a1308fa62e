"""The compiled library: found next to this module, checked, and called through ctypes. Without it all works, in Python.

``RAGDATA_SCANNER=off`` in the environment leaves it out.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

ABI = 42
"""The number of the interface. The library must say the same: an editable installation may have an older one."""

_PATH = Path(__file__).with_name("compiled.so")
_POINTER, _LENGTH, _FLAG = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32


class View(ctypes.Structure):
    """Numbers of 64 bits in memory of the library."""

    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_uint64))


_NUMBER = ctypes.POINTER(ctypes.c_uint64)
_EDGES = (_POINTER, _POINTER, _POINTER, _LENGTH, _LENGTH)

# Data goes in as `c_char_p`: ctypes gives the address of the bytes, nothing is copied, and no NUL ends it, as the
# length goes along. What comes out are `View`s of memory that the library keeps, which Python copies at once.
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "rd_abi": (ctypes.c_uint32, ()),
    "rd_build": (ctypes.c_char_p, ()),
    "rd_plan_new": (_POINTER, (ctypes.c_char_p, _LENGTH)),
    "rd_plan_free": (None, (_POINTER,)),
    "rd_plan_known": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_plan_keep": (_FLAG, (_POINTER, _LENGTH)),
    "rd_kept": (_FLAG, (_POINTER, _LENGTH, ctypes.POINTER(View))),
    "rd_plan_facts": (_FLAG, (_POINTER, _LENGTH)),
    "rd_sample": (_FLAG, (_POINTER, _FLAG, _LENGTH, _LENGTH)),
    "rd_facts": (_FLAG, (_POINTER, ctypes.POINTER(View))),
    "rd_plan_items": (_POINTER, (_POINTER, ctypes.c_char_p, _LENGTH)),
    "rd_plan_list": (_FLAG, (_POINTER, _LENGTH)),
    "rd_items": (_POINTER, (_POINTER, ctypes.POINTER(View))),
    "rd_block_new": (_POINTER, ()),
    "rd_block_free": (None, (_POINTER,)),
    "rd_scan": (_FLAG, (_POINTER, _POINTER, ctypes.c_char_p, _LENGTH, _FLAG, ctypes.POINTER(View), _LENGTH)),
    "rd_scan_elements": (
        _FLAG,
        (_POINTER, _POINTER, ctypes.c_char_p, _LENGTH, _FLAG, _FLAG, ctypes.POINTER(View), _LENGTH, _NUMBER),
    ),
    "rd_scan_tagged": (
        _FLAG,
        (_POINTER, _POINTER, ctypes.c_char_p, _LENGTH, _FLAG, ctypes.POINTER(View), _LENGTH, _NUMBER),
    ),
    "rd_last_comma": (_FLAG, (ctypes.c_char_p, _LENGTH, _FLAG, _NUMBER, _NUMBER)),
    "rd_table_fill": (_FLAG, (_POINTER, ctypes.c_uint32, _POINTER, _LENGTH, _LENGTH, _LENGTH)),
    "rd_table_find": (
        _FLAG,
        (_POINTER, ctypes.c_uint32, _POINTER, _LENGTH, _LENGTH, _LENGTH, _POINTER, _LENGTH, _POINTER),
    ),
    "rd_mark": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_tally": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_rank_find": (_FLAG, (_POINTER, _LENGTH, _LENGTH, _POINTER, _LENGTH, _POINTER)),
    "rd_sieve": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH, _LENGTH)),
    "rd_sieved": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH, _LENGTH, _POINTER, _NUMBER)),
    "rd_pairs_new": (_POINTER, (_POINTER, _POINTER, _LENGTH, _LENGTH)),
    "rd_pairs_free": (None, (_POINTER,)),
    "rd_pairs_find": (_FLAG, (_POINTER, _POINTER, _POINTER, _LENGTH, _POINTER)),
    "rd_distinct_per_owner": (_FLAG, (_POINTER, _POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_mix": (_FLAG, (_POINTER, _LENGTH, _POINTER, _LENGTH, _LENGTH, _POINTER)),
    "rd_numbering_new": (_POINTER, ()),
    "rd_numbering_free": (None, (_POINTER,)),
    "rd_numbering_add": (_FLAG, (_POINTER, _POINTER, _LENGTH, _POINTER, _POINTER, _NUMBER)),
    "rd_firsts_new": (_POINTER, (_LENGTH, _LENGTH, ctypes.c_uint32)),
    "rd_firsts_free": (None, (_POINTER,)),
    "rd_firsts_add": (
        _FLAG,
        (
            *(_POINTER, ctypes.POINTER(_POINTER), ctypes.POINTER(_POINTER), _LENGTH, _LENGTH, _POINTER, _LENGTH),
            *(_POINTER, _POINTER, ctypes.POINTER(View)),
        ),
    ),
    "rd_firsts_find": (
        _FLAG,
        (_POINTER, ctypes.POINTER(_POINTER), ctypes.POINTER(_POINTER), _LENGTH, _LENGTH, _POINTER),
    ),
    "rd_sheet_new": (_POINTER, (ctypes.c_char_p, _LENGTH)),
    "rd_sheet_free": (None, (_POINTER,)),
    "rd_rows_new": (_POINTER, ()),
    "rd_rows_free": (None, (_POINTER,)),
    "rd_rows_cut": (_FLAG, (ctypes.c_char_p, _LENGTH, _LENGTH, _FLAG, _LENGTH, _LENGTH, _FLAG, _POINTER)),
    "rd_rows_scan": (_FLAG, (_POINTER, _POINTER, ctypes.c_char_p, _LENGTH, _FLAG, ctypes.POINTER(View), _LENGTH)),
    "rd_read_alike": (_FLAG, (ctypes.c_char_p, _LENGTH)),
    "rd_text_facts": (_FLAG, (_LENGTH, _LENGTH, _POINTER, _LENGTH, _POINTER, _LENGTH, _POINTER, _POINTER, _POINTER)),
    "rd_gather": (_FLAG, (_POINTER, _LENGTH, _POINTER, _POINTER, _POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_names_new": (_POINTER, ()),
    "rd_names_free": (None, (_POINTER,)),
    "rd_names_add": (_FLAG, (_POINTER, _POINTER, _LENGTH, _POINTER, _LENGTH, _POINTER, _NUMBER)),
    "rd_names_compact": (_FLAG, (_POINTER, ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH, _POINTER, _POINTER, _POINTER)),
    "rd_names_show": (_FLAG, (_POINTER, ctypes.POINTER(View))),
    "rd_numbers": (_FLAG, (ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH, _POINTER)),
    "rd_text_numbers": (
        _FLAG,
        (
            *(_POINTER, *(_LENGTH,) * 4, _POINTER, _LENGTH, _POINTER, *(_LENGTH,) * 4),
            *(_POINTER, _POINTER, _NUMBER, _NUMBER),
        ),
    ),
    "rd_text_words": (
        _FLAG,
        (
            *(_POINTER, _LENGTH, ctypes.c_char_p, _LENGTH, _LENGTH, _LENGTH),
            *(_POINTER, _LENGTH, _POINTER, _LENGTH),
            *(_POINTER, _LENGTH, _POINTER, _NUMBER, _NUMBER),
        ),
    ),
    "rd_finder_new": (_POINTER, (ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH)),
    "rd_finder_free": (None, (_POINTER,)),
    "rd_finder_find": (
        _FLAG,
        (
            *(_POINTER, _POINTER, _LENGTH, ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH),
            *(_POINTER, _LENGTH, _POINTER, _NUMBER, _NUMBER),
        ),
    ),
    "rd_listed_words": (
        _FLAG,
        (
            *(ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH, _POINTER, _LENGTH, _LENGTH),
            *(ctypes.c_char_p, _LENGTH, _POINTER, _LENGTH),
            *(_POINTER, _LENGTH, _POINTER, _POINTER, _NUMBER, _NUMBER),
        ),
    ),
    "rd_text_looks": (_FLAG, (ctypes.POINTER(View), _POINTER, _LENGTH, _POINTER, _LENGTH, _POINTER)),
    "rd_text_sketches": (
        _FLAG,
        (
            *(_POINTER, _LENGTH, ctypes.c_char_p, _LENGTH, _LENGTH, _LENGTH),
            *(_POINTER, _LENGTH, _LENGTH, _LENGTH, _LENGTH, _LENGTH),
            *(_POINTER, _LENGTH, _POINTER, _LENGTH),
            *(_POINTER, _POINTER, _POINTER, _POINTER),
            *(ctypes.POINTER(View), _LENGTH, _POINTER, _POINTER, _NUMBER, _NUMBER),
        ),
    ),
    "rd_copies_new": (_POINTER, (_LENGTH, _LENGTH)),
    "rd_copies_free": (None, (_POINTER,)),
    "rd_copies_add": (_FLAG, (_POINTER, _POINTER, _LENGTH, _POINTER, _LENGTH)),
    "rd_copies_compare": (_FLAG, (_POINTER, _POINTER, _LENGTH, _POINTER)),
    "rd_neighbours": (_FLAG, (_POINTER, _POINTER, _POINTER, _LENGTH, _POINTER, _LENGTH, _NUMBER)),
    "rd_ends_by_node": (_FLAG, (*_EDGES, _POINTER, _POINTER, _LENGTH)),
    "rd_parts": (_FLAG, (*_EDGES, _POINTER)),
    "rd_repeated_edges": (_FLAG, (*_EDGES, _POINTER, _LENGTH, _POINTER)),
    "rd_nodes_beside": (_FLAG, (*_EDGES, _POINTER, _POINTER)),
    "rd_edges_among": (_FLAG, (*_EDGES, _POINTER, _POINTER, _POINTER)),
    "rd_hash": (_FLAG, (_LENGTH, _LENGTH, _POINTER, _LENGTH, _POINTER, _LENGTH, _POINTER)),
}
"""Result and arguments of each function of the library."""


class ScannerError(Exception):
    """The library was not able to do what it was asked; the message says what."""


class Results:
    """What one thread has its results in: the place in the library, and views of what is there."""

    def __init__(self, new: Callable[[], int | None], free: Callable[[int], None], views: int) -> None:
        address = new()
        if not address:
            raise ScannerError("the scanner has no memory")
        self.address = address
        self.views = (View * views)()
        # not at the exit of the interpreter: a daemon thread may be in the library then; the system takes all memory
        weakref.finalize(self, free, self.address).atexit = False


class PerThread:
    """Results of each thread, made when it asks for them first, by ``new`` of the library; ``free`` gives them back.

    ctypes lets other threads run during a call, and a call overwrites the results of the one before: no two threads may
    have the same.
    """

    def __init__(self, new: Callable[[], int | None], free: Callable[[int], None], views: int) -> None:
        self._made_of = (new, free, views)
        self._local = threading.local()

    def mine(self) -> Results:
        """Those of this thread."""
        found: Results | None = getattr(self._local, "results", None)
        if found is None:
            found = self._local.results = Results(*self._made_of)
        return found


@functools.cache
def _loaded() -> tuple[ctypes.CDLL | None, str]:
    """The library, or why there is none."""
    if os.environ.get("RAGDATA_SCANNER", "").lower() == "off":
        return None, "switched off by RAGDATA_SCANNER=off"
    if not _PATH.is_file():
        return None, "this installation was built without cargo"
    try:
        found = ctypes.CDLL(str(_PATH))
        found.rd_abi.restype, found.rd_abi.argtypes = ctypes.c_uint32, ()
        if (number := found.rd_abi()) != ABI:
            return None, f"the one there was built for another version of ragdata, interface {number} instead of {ABI}"
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        return None, f"the one there cannot be loaded, {error}"
    return found, ""


def library() -> ctypes.CDLL | None:
    """The compiled library; None where Python does its work."""
    return _loaded()[0]


def needed_library() -> ctypes.CDLL:
    """The compiled library. Raises `ScannerError` where there is none."""
    found = library()
    if found is None:
        raise ScannerError("there is no compiled scanner")
    return found


def called(status: int) -> None:
    """Raise `ScannerError` where a call of the library failed."""
    if status:
        raise ScannerError(f"the scanner failed ({status})")


def engine_words() -> str:
    """Which engine reads big files, in a few words."""
    found, reason = _loaded()
    if found is None:
        return f"plain Python (no compiled scanner: {reason})"
    return f"compiled scanner {found.rd_build().decode()}"


def missing_reason() -> str:
    """Why there is no library; nothing where there is one, or where it was switched off."""
    return "" if os.environ.get("RAGDATA_SCANNER", "").lower() == "off" else _loaded()[1]


def run_seed() -> int:
    """What codes of texts are made with in this process: another number each time, so that no data can foresee it."""
    return _taken[0] if _taken else _DRAWN


_DRAWN = int.from_bytes(os.urandom(8), "little")  # not when it is asked for: two threads may ask at once
_taken: list[int] = []


def take_seeds(seeds: tuple[int, int]) -> None:
    """Make the codes that the process makes which works together with this one, before the first is made."""
    global KEPT
    _taken[:], KEPT = seeds[:1], seeds[1]


KEPT = 0xFFFFFFFFFFFFFFFF
"""The bits of the first half of a code that remain: all of them, except for tests of what equal halves lead to."""


def code_seeds() -> tuple[int, int]:
    """What the library makes codes with."""
    return run_seed(), KEPT

"""How memory is used: what one block has freed is kept for the next."""

from __future__ import annotations

import contextlib
import functools
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # as glibc's malloc.h has them


@functools.cache
def keep_freed_memory() -> None:
    """Tell glibc's allocator to reuse the memory of one block for the next (once; elsewhere nothing happens).

    First touch of fresh pages is what costs most on virtual machines. By default every allocation above 128 KB is
    mapped and unmapped again, so that each block of a file pays for page faults: measured, a quarter of the whole time.
    And each thread would have memory of its own: what one has freed no other would use (measured: 20 MB more).
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_M_MMAP_THRESHOLD, 32 << 20)
    mallopt(_M_TRIM_THRESHOLD, 128 << 20)
    mallopt(_M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Give freed memory back to the system: between two files that need it in other sizes."""
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)

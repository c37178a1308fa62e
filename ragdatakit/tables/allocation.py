"""Memory kept between blocks instead of given back: first touch of fresh pages is what costs most on virtual machines."""

from __future__ import annotations

import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_done = False


def keep_freed_memory() -> None:
    """Tell glibc's allocator to reuse the memory of one block for the next (once; elsewhere nothing happens).

    By default every allocation above 128 KB is mapped afresh and unmapped again, so that each block of a file pays for
    page faults anew; measured: a quarter of the whole time.
    """
    global _done
    if _done or not sys.platform.startswith("linux"):
        return
    _done = True
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_M_MMAP_THRESHOLD, 32 << 20)
    mallopt(_M_TRIM_THRESHOLD, 128 << 20)

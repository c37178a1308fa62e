"""The command `ragdata`, also as ``python -m ragdatakit``: sees to signals before anything else is imported."""

import _signal  # type: ignore[import-not-found] # the part of `signal` that is in C: there at once

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # no traceback while modules are imported

import gc
import os
import sys

from ragdatakit.late_modules import leave_out
from ragdatakit.own_modules import find_at_once
from ragdatakit.stopping import end, end_at_once

_NO_MATRICES = ("validate", "report", "query", "diff")
"""Commands that multiply no matrices: numpy starts threads for that, which wait busily."""


def main() -> None:
    """Run the command."""
    gc.set_threshold(200_000, 50, 100)  # millions of small records and hardly a cycle: collecting would be waste
    sys.setswitchinterval(0.0005)  # a thread that comes out of the scanner waits that long for one that words findings
    if sys.argv[1:2] and sys.argv[1] in _NO_MATRICES:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        leave_out("numpy._core._add_newdocs")  # the docstrings of numpy, which nobody reads here
    find_at_once()
    end_at_once()
    from ragdatakit.cli import main as command

    try:
        command()
    except SystemExit as stop:
        end(stop)


if __name__ == "__main__":
    main()

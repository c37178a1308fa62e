"""The linter of workflows, zizmor, asked about a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    """What it says of the workflows and actions there; the test is skipped where it is not installed."""
    linter = shutil.which("zizmor", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if linter is None:
        pytest.skip("zizmor is not installed")
    return subprocess.run(
        [linter, "--offline", "--no-progress", str(folder)], capture_output=True, text=True, timeout=60, check=False
    )

"""Builds the compiled scanner and puts it into the package: `python scanner/build.py`.

The build hook of the package (`hatch_build.py`) and the Makefile call it. Without cargo nothing is built and nothing
fails: ragdata then reads all files in Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CRATE = Path(__file__).resolve().parent
LIBRARY = Path("ragdatakit", "scanner", "compiled.so")
"""Where the library belongs, below the folder that holds the package; it has this name on every system."""
_OLDEST = (1, 85)
_BUILT = {"linux": "libragdata_scanner.so", "darwin": "libragdata_scanner.dylib", "win32": "ragdata_scanner.dll"}


def build(target: Path) -> str:
    """Build the library and put it at ``target``, in one step; why that failed, or an empty text."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return "cargo is not there"
    version = _version()
    if version < _OLDEST:
        return f"it needs Rust {'.'.join(map(str, _OLDEST))} or newer"
    environment = dict(os.environ)
    # the same bytes wherever the folder is
    environment["RUSTFLAGS"] = f"{environment.get('RUSTFLAGS', '')} --remap-path-prefix={CRATE}=.".strip()
    command = [cargo, "build", "--release", "--offline", "--locked", "--quiet", "--target-dir", str(CRATE / "target")]
    done = subprocess.run(command, cwd=CRATE, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"cargo failed: {done.stderr.strip()[-2000:]}"
    built = CRATE / "target" / "release" / _BUILT.get(sys.platform, _BUILT["linux"])
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(built, beside)
    beside.replace(target)  # a process that has the old one mapped keeps it
    return ""


def _version() -> tuple[int, int]:
    try:
        printed = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return 0, 0
    found = re.match(r"rustc (\d+)\.(\d+)", printed)
    return (int(found[1]), int(found[2])) if found else (0, 0)


if __name__ == "__main__":
    reason = build(CRATE.parent / LIBRARY)
    print(f"the scanner was not built: {reason}" if reason else f"built {LIBRARY}")

"""How a generated set is called, and where the sets lie. Needs nothing: the measuring process imports it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Set:
    """What a set holds: kind, size (1 is the documented one), planted faults or sound changes, compressed or not."""

    kind: str
    scale: float
    faults: int = 0
    gz: bool = False
    changes: int = 0

    @property
    def name(self) -> str:
        """The name of its folder."""
        planted = f"-faults-{self.faults}" * bool(self.faults) + f"-changes-{self.changes}" * bool(self.changes)
        return f"{self.kind}-{self.scale:g}{planted}" + "-gz" * self.gz


def default_folder() -> Path:
    """Where the sets lie: ``$RAGDATA_BENCH_DIR``, else the user's cache folder; never in the repository."""
    chosen = os.environ.get("RAGDATA_BENCH_DIR")
    return Path(chosen) if chosen else Path.home() / ".cache" / "ragdata-bench"

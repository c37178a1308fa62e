"""One case of the harness: all that it draws comes from its part, seed and number, or from a folder that was kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.fuzz.mutations import data_of, draw_base, mutate


@dataclass(slots=True)
class Case:
    """``folder`` is for the dataset, ``scratch`` for all else; ``note`` says where a case is, should it not come back.
    ``records`` is how many were tried, ``damaged`` how many of them on purpose, ``compared`` how many findings, where
    that is counted.

    ``given``: a dataset that is taken as it is, rather than made of a fixture; ``share``: how many of the records of a
    made one are damaged, else a share is drawn.
    """

    seed: int
    number: int
    place: Path
    note: Callable[[str], None] = lambda _: None
    given: Path | None = None
    share: float | None = None
    history: list[str] = field(default_factory=list)
    records: int = 0
    damaged: int = 0
    compared: int = 0
    data: Path = Path()
    rng: Random = field(default_factory=Random)

    def __post_init__(self) -> None:
        self.rng = Random(f"{self.seed}:{self.number}")
        for folder in (self.folder, self.scratch):
            shutil.rmtree(folder, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    @property
    def folder(self) -> Path:
        """Where the dataset is."""
        return self.place / "set"

    @property
    def scratch(self) -> Path:
        """Where all else is."""
        return self.place / "scratch"

    def build(self) -> None:
        """Make the dataset: a copy of a fixture with some damage."""
        if self.given is not None:
            shutil.copytree(self.given, self.folder, symlinks=True)
            self.data, self.history = self.folder, [str(self.given)]
            return
        base = draw_base(self.rng)
        self.data = data_of(base, self.folder)
        damaged = self.data if self.data.is_dir() else self.data.parent
        times = self.rng.choice((0, 1, 1, 1, 2, 2, 3, 5))
        self.history = ["/".join(base.parts[-3:]), *mutate(damaged, self.rng, times)]
        if not self.data.exists():
            self.data = self.folder

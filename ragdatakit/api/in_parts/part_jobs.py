"""What all workers are given to read parts of a dataset, and whether they can."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ragdatakit.converters.sources import ConversionSettings, Source
from ragdatakit.converters.table_parts import TablePart
from ragdatakit.engines import Engine
from ragdatakit.engines.same_everywhere import refuse_another_file, refuse_another_version
from ragdatakit.engines.sent_formats import send_by_name
from ragdatakit.files.containers.sources import file_state
from ragdatakit.files.reading.record_reading import LINE_OF_PART, RECORD_OF_PART
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import EngineError
from ragdatakit.version import __version__

send_by_name()


@dataclass(frozen=True, slots=True)
class PartJob:
    """A dataset as workers find it: its files at full paths, each in the state (by its path) in which it was cut.
    ``folder`` is where they write what they have for others (empty: it is sent)."""

    source: Source
    wanted: ConversionSettings
    states: dict[str, str]
    folder: str = ""
    memory_limit: int = 1 << 30
    version: str = __version__

    @classmethod
    def of(
        cls,
        source: Source,
        wanted: ConversionSettings,
        folder: Path | None,
        memory_limit: int,
        with_options: bool = True,
    ) -> PartJob:
        """The job of reading a dataset; without its options where parts have their own."""
        (dataset,) = source.parts
        states = {}
        for file in dataset.files:
            file.path = file.path.absolute()
            states[str(file.path)] = file_state(file.path.stat())
        options = {**dataset.options} if with_options else {}
        source = Source((replace(dataset, root=dataset.root.absolute(), options=options, _numbers={}),))
        plain = replace(wanted, progress=None, tell=None, below=None)
        return cls(source, plain, states, str(folder or ""), memory_limit)

    def reading(self, part: TablePart) -> Source:
        """What is to be read for a part. Raises `EngineError` where it cannot be read here as it was there."""
        refuse_another_version(self.version)
        for file in (*(file for file, _ in part.files), *part.along):
            refuse_another_file(file, self.states[str(file.path)])
        return part.source(self.source)


def scratch_folder(engine: Engine) -> ScratchFolder:
    """A folder for what those who work have for each other. Raises `EngineError`."""
    try:
        return ScratchFolder(engine.shared)
    except OSError as error:
        words = f"no folder for temporary files can be made ({error.strerror})"
        raise EngineError(f"{words}; set TMPDIR to one that can be written to") from None


_PLACE = re.compile(f"{LINE_OF_PART.format('([0-9]+)')}|{RECORD_OF_PART.format('([0-9]+)')}")


class Placed:
    """Losses of parts put together, in their order: numbers in a part become those of the file."""

    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self._before: dict[str, tuple[int, int]] = {}

    def take(self, losses: Losses, extents: Iterable[tuple[str, int, int]]) -> None:
        """Those of the next part; ``extents``: of each file the lines and records that it has of it."""
        for loss in losses:
            loss.places = [self._placed(place) for place in loss.places]
        self.losses.take(losses)
        for name, lines, records in extents:
            before = self._before.get(name, (0, 0))
            self._before[name] = before[0] + lines, before[1] + records

    def _placed(self, place: str) -> str:
        found = _PLACE.search(place)
        if found is None:
            return place
        name = place[: found.start()].removesuffix(":").removesuffix(" record ")
        lines, records = self._before.get(name, (0, 0))
        number = lines + int(found[1]) if found[1] else records + int(found[2])
        return place[: found.start()] + str(number) + place[found.end() :]

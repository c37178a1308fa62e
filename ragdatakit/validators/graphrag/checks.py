"""The checks of GraphRAG data that its declaration cannot say, and which module judges what."""

from __future__ import annotations

from collections.abc import Iterator

from typing import TYPE_CHECKING

from ragdatakit.validators.checks import FormatChecks

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed


class GraphRagChecks(FormatChecks):
    """One index, one folder of vectors, or of extractions."""

    def finish(self) -> Iterator[Placed]:
        """The tables, which the engine does not open."""
        yield from ()

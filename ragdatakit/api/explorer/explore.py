"""The Python interface of the explorer: what is there is opened, and served on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from html import escape
from pathlib import Path
from typing import Self

from ragdatakit.api.arguments import given_paths
from ragdatakit.api.explorer.explored import Explored
from ragdatakit.api.explorer.server import Server
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand
from ragdatakit.schemas.options import ExploreOptions, PathLike


class Explorer:
    """The result of `ragdatakit.explore`: pages at `url`, until `close`. Use it in a ``with`` block, or `wait`."""

    def __init__(self, options: ExploreOptions, paths: list[PathLike]) -> None:
        with ExitStack() as stack:
            here = stack.enter_context(at_hand(options, paths, options.source_format))
            explored = Explored(options, [Path(each) for each in here.paths])
            stack.callback(explored.close)
            server = Server(explored, options.port)
            stack.callback(server.close)
            self._stack = stack.pop_all()
        self.url = server.url
        """Where the pages are: on this machine only, and only for who has this address."""
        for work in (explored.load, server.serve):
            threading.Thread(target=work, daemon=True).start()

    def wait(self) -> None:
        """Serve until the process is stopped."""
        threading.Event().wait()

    def close(self) -> None:
        """Stop serving, and let go of what was read."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Explorer at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.url)}" target="_blank" rel="noopener">Open the explorer</a>'


@takes(ExploreOptions)
def explore(options: ExploreOptions, path: PathLike | Iterable[PathLike]) -> Explorer:
    """Serve pages on this machine by which one looks into the datasets at ``path`` (one path, or several).

    Records page by page, searched and sorted; what each names and is named by; what the reference retriever finds for a
    question, and at which rank its gold is; what validation finds, in the lines of the files. Nothing is changed; the
    index of the retriever is built in the user's cache when it is first asked for.
    Raises `RagdataError` where a path is missing or nothing is recognised there, `OSError` where the port is taken.
    """
    return Explorer(options, given_paths(path))

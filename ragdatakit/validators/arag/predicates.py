"""Which A-RAG chunks the rules may want to see, in words that the scanner understands.

Proved are strings with a number for their id and with a sentence; objects go to Python.
"""

from __future__ import annotations

from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import WHITE_SPACE, Beginning, Lacks, NoSentence, OpenIfBlank
from ragdatakit.scanner.relations import Cut
from ragdatakit.validators.arag.chunks import SENTENCE_CHARACTERS

ID, TEXT, NUMBER = "@id", "@text", "@number"
CHUNKS: tuple[Asked, ...] = (
    Cut(":", ID, TEXT, NUMBER),
    OpenIfBlank(TEXT),
    NoSentence(TEXT, SENTENCE_CHARACTERS),
    Lacks(TEXT, ".!?\n"),
    Beginning(TEXT, "#" + WHITE_SPACE),
)

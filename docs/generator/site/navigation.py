"""What the site lists beside each page, and in which order."""

from __future__ import annotations

import re
from fnmatch import fnmatch

NAVIGATION = {
    "Start": ("installation", "tutorial", "recipes/index"),
    "Check": (
        "configuration",
        "ci",
        "outputs",
        "baseline",
        "fixes",
        "own-rules",
        "plugins",
        "quality",
        "gates",
        "editors",
        "scale",
    ),
    "Look and measure": ("explorer", "reports", "query", "diff", "retrieval", "evaluation", "reference-results"),
    "Move": ("conversion", "export", "hub", "remote", "frames"),
    "Reference": ("formats/index", "rules/index", "cli", "python-api", "python-reference", "stability"),
    "Project": (
        "architecture",
        "adding-a-format",
        "adding-a-rule",
        "fault-score",
        "benchmarks/readme",
        "contributing",
        "changelog",
    ),
}
"""Heading to pages, as the start page has them."""

LISTS = {
    "recipes/index": ("recipes/*",),
    "formats/index": ("formats/*",),
    "rules/index": ("rules/*",),
    "benchmarks/readme": ("benchmarks/*",),
}
"""Pages below which others are listed, by pattern; those that were cut into parts list these."""


def is_rule(name: str) -> bool:
    """Whether it is the page of one rule: they are found by links and by the search, and listed nowhere."""
    return re.fullmatch(r"rules/[A-Z]{2}\d{3}(\.md)?", name) is not None


def listed_below(name: str, parts: list[str], names: list[str]) -> list[str]:
    """The pages that a page lists beside the text: the parts it was cut into, or those of its patterns."""
    wanted = parts or [n for pattern in LISTS.get(name, ()) for n in names if fnmatch(n, pattern) and n != name]
    return [n for n in wanted if not is_rule(n)]

"""What pandas takes for a missing value."""

from __future__ import annotations

MISSING = frozenset(
    "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null|".split("|")
)
"""Cells that pandas takes for missing, unless it is set to keep them."""

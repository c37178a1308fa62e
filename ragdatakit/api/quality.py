"""What puts the quality rules and the readers of datasets together: neither room knows the other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.quality.run import Quality
    from ragdatakit.validators.collector import Selection


def asks_for_quality(selection: Selection) -> bool:
    """Whether some of the rules that are selected, by name or code, are quality rules."""
    if not selection.select:
        return False
    from ragdatakit.schemas.quality_rules import LETTERS, RULES

    names = {rule.name for rule in RULES}
    return any(s in names or s[: len(LETTERS)].upper() == LETTERS for s in selection.select)


def checked_quality(
    selection: Selection, wanted: bool | Mapping[str, object], reading: Mapping[str, str] | None = None
) -> Quality | None:
    """The quality to check; None where it is not ``wanted`` (true, or thresholds by name) and no rule of it selected.

    ``reading`` are options of the format's reader. Raises `RagdataError` for a bad threshold, `UnknownNameError` for
    an unknown one, `MissingExtraError` where a library of the extra ``quality`` is missing.
    """
    if wanted is False and not asks_for_quality(selection):
        return None
    from ragdatakit.quality.checked_tables import checked_plain, checked_tables
    from ragdatakit.quality.options import QualityOptions
    from ragdatakit.quality.run import Quality, refuse_missing_libraries

    refuse_missing_libraries(selection)
    thresholds = QualityOptions.of_words(wanted) if isinstance(wanted, Mapping) else QualityOptions()
    return Quality(
        read=partial(checked_tables, values=reading),
        plain=partial(checked_plain, values=reading),
        options=thresholds,
    )

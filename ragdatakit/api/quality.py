"""What puts the quality rules and the readers of datasets together: neither room knows the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import option_words
from ragdatakit.schemas.options import ValidateOptions

if TYPE_CHECKING:
    from ragdatakit.quality.run import Quality
    from ragdatakit.validators.collector import Selection


def asks_for_quality(select: Iterable[str]) -> bool:
    """Whether some of the rules that are selected, by name or code, are quality rules."""
    from ragdatakit.schemas.rules.quality import LETTERS, RULES

    names = {rule.name for rule in RULES}
    return any(s in names or s[: len(LETTERS)].upper() == LETTERS for s in select)


def checked_thresholds(given: Mapping[str, str]) -> dict[str, object]:
    """Thresholds of the quality rules as the command line gives them, by their names with ``-``.

    Raises `RagdataError` for a bad value, `UnknownNameError` for an unknown name.
    """
    from ragdatakit.schemas.settings.thresholds import QualityOptions

    QualityOptions.of_words(given, "--quality-option")
    return {name.replace("_", "-"): value for name, value in given.items()}


def checked_quality(selection: Selection, options: ValidateOptions) -> Quality | None:
    """The quality to check; None where nobody asks for it and no rule of it is selected.

    Raises `RagdataError` for a bad threshold, `UnknownNameError` for an unknown one, `MissingExtraError` where a
    library of the extra ``quality`` is missing.
    """
    wanted = options.quality
    if wanted is False and not (selection.select and asks_for_quality(selection.select)):
        return None
    from ragdatakit.quality.checked_tables import checked_plain, checked_tables
    from ragdatakit.quality.run import Quality, refuse_missing_library
    from ragdatakit.schemas.settings.thresholds import QualityOptions

    refuse_missing_library(selection)
    given = {str(n).replace("_", "-"): v for n, v in wanted.items()} if isinstance(wanted, Mapping) else {}
    QualityOptions.of_words(given)
    words = option_words(options.options)
    return Quality(read=partial(checked_tables, values=words), plain=partial(checked_plain, values=words), given=given)

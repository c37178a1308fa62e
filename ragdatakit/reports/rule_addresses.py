"""Where the documentation on the web has a rule: a page of its own, whose address stays.

The site is where ``RAGDATA_DOCS_URL`` says, or where the metadata of the installed package say; released codes have the
same page in all versions. Without either there is no address, and findings link nowhere.
"""

from __future__ import annotations

import os
from functools import cache

VARIABLE = "RAGDATA_DOCS_URL"


def address_of(code: str) -> str:
    """The page of a rule; ``""`` where the site is not known, and for rules that are not ours."""
    site = _site()
    return f"{site}/rules/{code}.html" if site and code in _codes() else ""


def page_address(name: str) -> str:
    """A page of the documentation, such as ``retrieval``; ``""`` where the site is not known."""
    site = _site()
    return f"{site}/{name}.html" if site else ""


def _site() -> str:
    given = os.environ.get(VARIABLE, "").strip() or _documented()
    return given.rstrip("/") if given.startswith(("https://", "http://")) else ""


@cache
def _documented() -> str:
    """What the installed package calls its documentation; nothing where it is not installed, but only on the path."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("ragdatakit").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named: dict[str, str] = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Documentation", "")


@cache
def _codes() -> frozenset[str]:
    from ragdatakit.schemas import all_rules
    from ragdatakit.schemas.settings.plugins import PLUGGED

    return frozenset(rule.code for rule, fmt in all_rules() if fmt is None or fmt.name not in PLUGGED)

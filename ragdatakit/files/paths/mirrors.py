"""What files are called that were fetched: the URL that the user gave, never their place in the cache."""

from __future__ import annotations

_MIRRORED: dict[str, str] = {}


def mirror(folder: str, url: str) -> None:
    """What lies in ``folder`` is, for the rest of the process, called by ``url``."""
    _MIRRORED[folder] = url


def any_mirrored() -> bool:
    """Whether anything was fetched."""
    return bool(_MIRRORED)


def as_given(text: str) -> str:
    """A text with the URLs of fetched files in place of their paths."""
    for folder, url in _MIRRORED.items():
        if folder in text:
            text = text.replace(folder, url)
    return text

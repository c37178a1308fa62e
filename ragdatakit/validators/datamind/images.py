"""What is at an image_path of a DataMind profile, looked at without ever leaving the profile."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from ragdatakit.late_dataclasses import dataclass

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
_SEEN_AT_MOST = 100_000
_LISTED_AT_MOST = 200_000
_LFS_PREFIX = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class ImageFault:
    """What is wrong with an image: ``kind`` is "outside", "missing" or "not-image", ``reason`` completes a sentence."""

    kind: str
    reason: str


class ImageFolder:
    """The images of one profile.

    ``profile`` is the profile's folder, or None where it is not known: then only paths that leave any profile are
    found. Nothing outside of it is opened, and of a file inside only the first bytes.
    """

    def __init__(self, profile: Path | None) -> None:
        self._profile = None if profile is None else Path(os.path.realpath(profile))
        self._seen: dict[str, ImageFault | None] = {}
        self._unnamed: dict[str, Path] | None = None

    def fault(self, image_path: str) -> ImageFault | None:
        """What is wrong with the image that a record names; None if nothing is."""
        if self._unnamed:
            self._unnamed.pop(os.path.normpath(image_path), None)
        if image_path not in self._seen:
            if len(self._seen) >= _SEEN_AT_MOST:
                self._seen.clear()
            self._seen[image_path] = self._look(image_path)
        return self._seen[image_path]

    def list_unnamed(self) -> None:
        """Take note of every file in images/; `fault` strikes off what it is asked about."""
        self._unnamed = {}
        if self._profile is None:
            return
        for folder, folders, names in os.walk(self._profile / "images"):
            folders[:] = sorted(n for n in folders if not n.startswith("."))
            for name in sorted(names):
                if PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES and not name.startswith("."):
                    path = Path(folder, name)
                    self._unnamed[path.relative_to(self._profile).as_posix()] = path
            if len(self._unnamed) > _LISTED_AT_MOST:
                return

    def keep_unnamed(self, names: Iterable[str]) -> None:
        """Strike off all but these."""
        kept = set(names)
        self._unnamed = {name: path for name, path in (self._unnamed or {}).items() if name in kept}

    def unnamed(self) -> list[str]:
        """Names (relative to the profile) of the images that no record has named."""
        return list(self._unnamed or ())

    def _look(self, image_path: str) -> ImageFault | None:
        if PurePosixPath(image_path).is_absolute() or PureWindowsPath(image_path).is_absolute():
            return ImageFault("outside", "is absolute")
        if PurePosixPath(os.path.normpath(image_path)).parts[:1] == ("..",):
            return ImageFault("outside", "leaves the profile by ..")
        if self._profile is None:
            return None
        try:
            real = Path(os.path.realpath(self._profile / image_path))
            if not real.is_relative_to(self._profile):
                return ImageFault("outside", "leaves the profile by a symbolic link")
            mode = real.lstat().st_mode
        except (OSError, ValueError):
            return ImageFault("missing", "not there")
        if not stat.S_ISREG(mode):
            return ImageFault("missing", "a folder" if stat.S_ISDIR(mode) else "not a regular file")
        return _content_fault(real, PurePosixPath(image_path).suffix)


def _content_fault(path: Path, suffix: str) -> ImageFault | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            head = os.read(descriptor, 64)
        finally:
            os.close(descriptor)
    except OSError as error:
        return ImageFault("not-image", f"cannot be opened ({error.strerror})")
    if head.startswith(_LFS_PREFIX):
        return ImageFault("not-image", "is a Git LFS pointer, not the picture")
    if not is_image(head):
        return ImageFault("not-image", "is not a PNG, JPEG, GIF or WebP by its content")
    if suffix.lower() not in IMAGE_SUFFIXES:
        return ImageFault("not-image", "does not end in .png, .jpg, .jpeg, .gif or .webp")
    return None


def is_image(head: bytes) -> bool:
    """Whether a file that starts so is a PNG, JPEG, GIF or WebP."""
    if head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")):
        return True
    return head[:4] == b"RIFF" and head[8:12] == b"WEBP"

"""URLs of datasets: which store one names, and how it is printed."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from urllib.parse import urlsplit

from ragdatakit.remote.stores import Store, shown_url
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_AS_PATH = re.compile(r"(s3|gs|hf|https?):/(?=[^/])")
_SCHEMES = "s3://, gs://, hf://datasets/OWNER/NAME, https://"
_HUB_PAGE = re.compile(r"/datasets/([^/]+/[^/]+?)/?(?:/tree/(.+?))?/?")


def url_of(path: PathLike) -> str:
    """The URL that is meant by a path; empty where it is one of this machine."""
    text = os.fspath(path)
    if _URL.match(text):
        return text
    if isinstance(path, PurePath) and _AS_PATH.match(text) and not os.path.lexists(text):
        return _AS_PATH.sub(r"\1://", text, count=1)  # of two slashes a path keeps one
    return ""


def store_of(url: str) -> Store:
    """The store that a URL leads to. Raises `RagdataError` for one that names none, and `MissingExtraError`."""
    shown = shown_url(url)
    match = _URL.match(url)
    scheme = match.group(1).lower() if match else ""
    if scheme in ("s3", "s3a", "gs", "gcs"):
        from ragdatakit.remote.object_stores import ObjectStore

        return ObjectStore(scheme, url)
    if scheme == "hf":
        return _hub(url.split("://", 1)[1])
    if scheme in ("http", "https"):
        from ragdatakit.remote.web_files import WebFile

        page = _HUB_PAGE.fullmatch(urlsplit(url).path) if _is_hub(url) else None
        if page is not None:
            revision, _, folder = (page.group(2) or "").partition("/")
            below = f"@{revision}" * bool(revision) + f"/{folder}" * bool(folder)
            return _hub(f"datasets/{page.group(1)}{below}")
        return WebFile(url)
    raise RagdataError(f"{shown}: {scheme}:// is not read; expected {_SCHEMES}")


def _hub(path: str) -> Store:
    from ragdatakit.remote.hub_repositories import HubRepository

    return HubRepository(path)


def _is_hub(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("huggingface.co", "hf.co", urlsplit(os.environ.get("HF_ENDPOINT", "")).hostname)

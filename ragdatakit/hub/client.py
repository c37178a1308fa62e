"""The Hugging Face hub: how to reach it (huggingface_hub, an extra), and what its refusals mean in one line.

HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HF_HOME and so on are huggingface_hub's and hold here. A token is sent to the hub
and to nobody else; it is in no message and in no file.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

DATASET = "dataset"
_REPO_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)


def hub_api() -> HfApi:
    """The hub's client; raises `MissingExtraError` where its library is missing."""
    try:
        import httpx2  # noqa: F401 - versions of the library before 2 have another one
        from huggingface_hub import HfApi
    except ImportError:
        raise MissingExtraError("hub", "huggingface_hub 2 or newer") from None
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what matters is said by us, in one line
    return HfApi(library_name="ragdatakit", library_version=__version__)


def checked_repo(repo: str, needs_owner: bool = False) -> str:
    """``OWNER/NAME`` as it is; raises `RagdataError` where it could be no repository."""
    if not _REPO_ID.fullmatch(repo) or ".." in repo or "--" in repo or (needs_owner and "/" not in repo):
        raise RagdataError(f"{repo!r} is not the name of a repository, expected OWNER/NAME")
    return repo


def is_offline() -> bool:
    """Whether HF_HUB_OFFLINE forbids to ask the hub."""
    from huggingface_hub import is_offline_mode

    return is_offline_mode()


def endpoint() -> str:
    """The hub's address (HF_ENDPOINT), without a user or password that may be in it."""
    from huggingface_hub import constants

    parts = urlsplit(constants.ENDPOINT)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@contextmanager
def refusals(repo: str, revision: str | None = None) -> Iterator[None]:
    """Turn the library's exceptions into `RagdataError` of one line."""
    import httpx2
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except GatedRepoError:
        raise RagdataError(f"{repo} is gated: ask for access on {endpoint()}/datasets/{repo}; {_token()}") from None
    except RevisionNotFoundError:
        raise RagdataError(f"{repo} has no revision {revision!r}") from None
    except RemoteEntryNotFoundError as error:
        path = urlsplit(str(error.response.url)).path
        raise RagdataError(f"{endpoint()} does not have {path}, although it lists it") from None
    except RepositoryNotFoundError:
        raise RagdataError(f"{endpoint()} has no dataset {repo}, or it is private: {_token()}") from None
    except HfHubHTTPError as error:
        raise RagdataError(_answer(repo, error)) from None
    except LocalTokenNotFoundError:
        raise RagdataError(f"{endpoint()} asks for a token: {_token()}") from None
    except OfflineModeIsEnabled:
        raise RagdataError(f"{endpoint()} is not asked for {repo}: HF_HUB_OFFLINE is set") from None
    except HFValidationError as error:
        raise RagdataError(str(error).splitlines()[0]) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        what = str(error) or type(error).__name__
        raise RagdataError(f"the connection to {endpoint()} failed: {what}; run the command again to resume") from None
    except (json.JSONDecodeError, KeyError) as error:
        raise RagdataError(f"{endpoint()} does not answer as a hub does ({type(error).__name__}: {error})") from None


def _answer(repo: str, error: HfHubHTTPError) -> str:
    status = error.response.status_code
    if status in (401, 403):
        return f"{endpoint()} refuses {repo} ({status}): {_token()}"
    if status == 404:
        return f"{endpoint()} has no dataset {repo}, or it is private: {_token()}"
    said = " ".join((error.server_message or "").split())
    return f"{endpoint()} answered {status} for {repo}" + (f": {said}" if said else "")


def _token() -> str:
    from huggingface_hub import get_token

    if get_token() is None:
        return "no token is set (HF_TOKEN)"
    return f"the token {'in HF_TOKEN' if os.environ.get('HF_TOKEN') else 'of `hf auth login`'} does not allow it"


__all__ = ["DATASET", "checked_repo", "endpoint", "hub_api", "is_offline", "refusals"]

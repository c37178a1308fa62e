"""Embedders make vectors of texts, here or on a server. Vectors come back with length 1, and are kept on disk."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import orjson

from ragdatakit.retrieval.endpoint import Endpoint, EndpointError, EndpointFailure
from ragdatakit.retrieval.server_replies import one_line
from ragdatakit.retrieval.vectors.cache import Kept, VectorCache
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.schemas.options import SearchOptions

Kind = Literal["passage", "query"]
OPENAI = "https://api.openai.com/v1"
"""Where ``openai:MODEL`` is asked unless another address is given."""
BATCH_TEXTS, BATCH_CHARACTERS = 64, 100_000
"""What one request holds at most."""
LEAST_CHARACTERS = 1000
"""A text that a server refuses is cut in half until it is taken, but not below this length."""
_TOO_LARGE = frozenset((400, 413, 422))  # what servers say to a batch beyond their limit: it is halved
_LEAST_NORM = 1e-12
_EXAMPLES = "openai:text-embedding-3-small with --base-url URL, or sentence-transformers:all-MiniLM-L6-v2"


class EmbeddingError(RagdataError):
    """A text got no vector. ``position`` is its place among the texts of the call, where it is known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class Embedder(ABC):
    """Makes vectors of texts. ``dimensions`` is known after the first one.

    ``cache`` is the folder where vectors are kept (None: nowhere).
    """

    batch = BATCH_TEXTS
    piece = 1024
    """How many texts are best embedded in one call: many batches, and not too long a time."""

    def __init__(self, model: str, cache: Path | None) -> None:
        self.model = model
        self.dimensions: int | None = None
        self._folder = cache
        self._cache: VectorCache | None = None

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """All that decides about the vectors, as JSON values."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the user should know about what was done, as JSON values."""
        return {}

    @abstractmethod
    def _vectors(self, texts: Sequence[str], kind: Kind) -> Iterator[tuple[list[int], npt.NDArray[np.float32], bool]]:
        """Vectors of texts in pieces: their positions, the vectors (n, d) as they come, and whether they were cut."""

    def embed(
        self, texts: Sequence[str], kind: Kind = "passage", cut: list[int] | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of texts: float32 (n, d), each of length 1.

        ``cut`` gets the positions of texts of which the server took the beginning only. Raises `EmbeddingError`,
        `EndpointError`, `RagdataError`.
        """
        places: dict[bytes, list[int]] = {}
        for position, text in enumerate(texts):
            places.setdefault(VectorCache.key(kind, text), []).append(position)
        keys = list(places)
        kept = self._kept(keys)
        missing = [key for key in keys if key not in kept]
        firsts = [places[key][0] for key in missing]
        for positions, vectors, was_cut in self._vectors([texts[p] for p in firsts], kind):
            sound = self._checked(vectors, [firsts[p] for p in positions])
            new = {missing[p]: Kept(sound[i].tobytes(), was_cut) for i, p in enumerate(positions)}
            if self._folder is not None:
                self._open_cache().put(new)
            kept.update(new)
        left = [places[key][0] for key in keys if key not in kept]
        if left:
            raise EmbeddingError(f"{self.model} gave no vector for a text", left[0])
        found = np.zeros((len(texts), self.dimensions or 0), np.float32)
        for key, positions in places.items():
            found[positions] = np.frombuffer(kept[key].vector, "<f4")
            if cut is not None and kept[key].cut:
                cut.extend(positions)
        return found

    def _kept(self, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        if self._folder is None:
            return {}
        found = self._open_cache().get(keys)
        if found and self.dimensions is None:
            self.dimensions = len(next(iter(found.values())).vector) // 4
        return {key: kept for key, kept in found.items() if len(kept.vector) == 4 * (self.dimensions or 0)}

    def _open_cache(self) -> VectorCache:
        assert self._folder is not None
        if self._cache is None:
            digest = hashlib.sha256(orjson.dumps(dict(self.settings), option=orjson.OPT_SORT_KEYS)).hexdigest()
            self._cache = VectorCache(self._folder / f"{digest[:32]}.sqlite")
        return self._cache

    def _checked(self, vectors: npt.NDArray[np.float32], positions: Sequence[int]) -> npt.NDArray[np.float32]:
        """The vectors with length 1; raises `EmbeddingError` where that cannot be, or the dimension is another."""
        if self.dimensions is None:
            self.dimensions = vectors.shape[1]
        if vectors.shape[1] != self.dimensions or not self.dimensions:
            fault = f"{vectors.shape[1]} dimensions, and {self.dimensions} before"
            raise EmbeddingError(f"{self.model} gave a vector with {fault}", positions[0])
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        for bad, fault in ((~np.isfinite(norms), "with NaN or infinity"), (norms < _LEAST_NORM, "of zeros")):
            if bad.any():
                raise EmbeddingError(f"{self.model} gave a vector {fault}", positions[int(bad.argmax())])
        sound: npt.NDArray[np.float32] = (vectors / norms[:, None]).astype("<f4")
        return sound


class OpenAIEmbedder(Embedder):
    """A model on an OpenAI-compatible server.

    Where the server refuses a batch, halves of it are asked for; where it refuses a single text, its first half, and
    so on: the server's limits are nowhere to be read.
    """

    def __init__(self, model: str, endpoint: Endpoint, cache: Path | None = None) -> None:
        super().__init__(model, cache)
        self.endpoint = endpoint

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model and the server."""
        return {"embedder": "openai", "model": self.model, "base_url": self.endpoint.base_url}

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was asked of the server."""
        counts = self.endpoint.counts
        return {"requests": counts.requests, "retries": counts.retries, "tokens": counts.prompt_tokens}

    def _vectors(self, texts: Sequence[str], kind: Kind) -> Iterator[tuple[list[int], npt.NDArray[np.float32], bool]]:
        batches = list(_batches(texts, self.batch))
        failed: RagdataError | None = None

        def payloads() -> Iterator[dict[str, Any]]:
            for batch in batches:
                if failed is not None:
                    return
                yield self._payload([texts[p] for p in batch])

        for batch, reply in zip(batches, self.endpoint.map("embeddings", payloads()), strict=False):
            if failed is not None and isinstance(reply, EndpointFailure):
                continue
            try:
                pieces = list(self._pieces(texts, batch, reply))
            except RagdataError as error:  # what was under way at the same time is kept first
                failed = failed or error
            else:
                yield from pieces
        if failed is not None:
            raise failed

    def _pieces(
        self, texts: Sequence[str], batch: list[int], reply: dict[str, Any] | EndpointFailure
    ) -> Iterator[tuple[list[int], npt.NDArray[np.float32], bool]]:
        if not isinstance(reply, EndpointFailure):
            yield batch, vectors_of(reply, len(batch), self.model), False
        elif reply.status in _TOO_LARGE:
            yield from self._smaller(texts, batch, reply.message)
        else:
            raise EndpointError(reply.message, reply.status, reply.attempts)

    def _smaller(
        self, texts: Sequence[str], batch: list[int], refusal: str
    ) -> Iterator[tuple[list[int], npt.NDArray[np.float32], bool]]:
        if len(batch) == 1:
            yield batch, self._cut(texts[batch[0]], batch[0], refusal), True
            return
        self.batch = max(1, min(self.batch, len(batch) // 2))
        middle = len(batch) // 2
        for half in (batch[:middle], batch[middle:]):
            try:
                yield half, self._asked([texts[p] for p in half]), False
            except EndpointError as error:
                if error.status not in _TOO_LARGE:
                    raise
                yield from self._smaller(texts, half, str(error))

    def _cut(self, text: str, position: int, refusal: str) -> npt.NDArray[np.float32]:
        length = len(text) // 2
        while length >= LEAST_CHARACTERS:
            try:
                return self._asked([text[:length]])
            except EndpointError as error:
                if error.status not in _TOO_LARGE:
                    raise
                length //= 2
        raise EmbeddingError(refusal, position)

    def _asked(self, texts: list[str]) -> npt.NDArray[np.float32]:
        reply = self.endpoint.post("embeddings", self._payload(texts))
        return vectors_of(reply, len(texts), self.model)

    def _payload(self, texts: list[str]) -> dict[str, Any]:
        return {"model": self.model, "input": texts, "encoding_format": "float"}


def _batches(texts: Sequence[str], most: int) -> Iterator[list[int]]:
    batch: list[int] = []
    characters = 0
    for position, text in enumerate(texts):
        if batch and (len(batch) >= most or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(position)
        characters += len(text)
    if batch:
        yield batch


def vectors_of(reply: Mapping[str, Any], count: int, model: str) -> npt.NDArray[np.float32]:
    """The vectors of a reply, (count, d), in the order of the texts. Raises `EmbeddingError` for another shape."""
    data = reply.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) and "embedding" in item for item in data):
        raise EmbeddingError(f"the reply of {model} has no embeddings ({one_line(str(sorted(reply)), 100)})")
    if len(data) != count:
        raise EmbeddingError(f"{model} gave {len(data):,} vectors for {count:,} texts")
    if any("index" in item for item in data):
        if sorted(_index(item) for item in data) != list(range(count)):
            raise EmbeddingError(f"the vectors of {model} have indexes that are not those of the texts")
        data = sorted(data, key=_index)
    rows = [_row(item["embedding"], model) for item in data]
    sizes = {len(row) for row in rows}
    if len(sizes) > 1 or 0 in sizes:
        raise EmbeddingError(f"{model} gave vectors of {' and '.join(str(s) for s in sorted(sizes))} dimensions")
    return np.stack(rows)


def _index(item: Mapping[str, Any]) -> int:
    index = item.get("index")
    return index if isinstance(index, int) else -1


def _row(value: Any, model: str) -> npt.NDArray[np.float32]:
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
        if isinstance(value, list):
            with np.errstate(over="ignore"):
                row = np.asarray(value, np.float64).astype(np.float32)
            if row.ndim == 1:
                return row
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass
    raise EmbeddingError(f"{model} gave an embedding that is not a list of numbers")


class LocalEmbedder(Embedder):
    """A sentence-transformers model on this machine; its prompts for questions and passages are used where it has
    them. Texts beyond what the model takes are cut by it."""

    batch = 32
    piece = 256

    def __init__(self, model: str, cache: Path | None = None) -> None:
        super().__init__(model, cache)
        self._loaded: Any = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model and the version of the library."""
        name = str(Path(self.model).resolve()) if Path(self.model).is_dir() else self.model
        return {"embedder": "sentence-transformers", "model": name, "library": _library_version()}

    @property
    def facts(self) -> Mapping[str, Any]:
        """How many tokens of a text the model takes."""
        most = getattr(self._loaded, "max_seq_length", None)
        return {"most_tokens": most} if isinstance(most, int) else {}

    def _vectors(self, texts: Sequence[str], kind: Kind) -> Iterator[tuple[list[int], npt.NDArray[np.float32], bool]]:
        if not texts:
            return
        model = self._model()
        encode = model.encode_query if kind == "query" else model.encode_document
        by_length = sorted(range(len(texts)), key=lambda p: (len(texts[p]), p))
        for start in range(0, len(texts), 8 * self.batch):
            positions = by_length[start : start + 8 * self.batch]
            clean = [texts[p].encode("utf-8", "replace").decode() for p in positions]
            found = encode(clean, batch_size=self.batch, show_progress_bar=False, convert_to_numpy=True)
            vectors = np.asarray(found, np.float32)
            if vectors.ndim != 2 or len(vectors) != len(positions):
                raise EmbeddingError(f"{self.model} gave an array of the shape {vectors.shape}", positions[0])
            yield positions, vectors, False

    def _model(self) -> Any:
        if self._loaded is None:
            library = _library()
            try:
                with _no_bars():
                    self._loaded = library.SentenceTransformer(self.model, trust_remote_code=False)
            except Exception as error:
                reason = one_line(str(error)) or type(error).__name__
                raise RagdataError(f"the model {self.model} cannot be loaded: {reason}") from error
        return self._loaded


@contextmanager
def _no_bars() -> Iterator[None]:
    """No progress bars of the library below while a model is loaded."""
    try:
        logging = import_module("transformers.utils.logging")
    except ImportError:
        yield
        return
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _library() -> Any:
    try:
        import sentence_transformers
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "sentence-transformers") from error
    return sentence_transformers


def _library_version() -> str:
    try:
        return version("sentence-transformers")
    except PackageNotFoundError:
        return str(getattr(_library(), "__version__", ""))


def make_embedder(options: SearchOptions, cache: Path | None = None) -> Embedder:
    """The embedder that the options name, ``openai:MODEL`` or ``sentence-transformers:MODEL``.

    ``cache`` is the folder in which vectors are kept. Raises `RagdataError` for another name, and where OpenAI itself
    is asked without a key; `MissingExtraError` is raised when a local model is first used.
    """
    scheme, _, model = options.embedder.partition(":")
    model = model.strip()
    if scheme == "openai" and model:
        key = os.environ.get(options.api_key_env)
        url = options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        if not key and url.startswith(OPENAI):
            raise RagdataError(
                f"{OPENAI} asks for a key: put it in {options.api_key_env}, or name another server with --base-url"
            )
        return OpenAIEmbedder(model, Endpoint(url, key), cache)
    if scheme == "sentence-transformers" and model:
        return LocalEmbedder(model, cache)
    given = one_line(options.embedder, 60)
    raise RagdataError(f"{given!r} is not an embedder; it is KIND:MODEL, such as {_EXAMPLES}")

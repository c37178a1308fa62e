"""What is at a URL as files on this machine: the listing first, then how files begin, then those that are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ragdatakit.files.paths.folders import SHOWN_HIDDEN, SKIPPED
from ragdatakit.files.paths.mirrors import mirror
from ragdatakit.files.paths.own_files import MANIFEST, SIDECAR
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import is_safe_name
from ragdatakit.remote.cache import Cache, fetching_words, put, put_beginning
from ragdatakit.remote.loading import Loading
from ragdatakit.remote.stores import Listing, Store, StoredFile
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import Progress, Tell
from ragdatakit.schemas.results import RemoteSource
from ragdatakit.schemas.texts import many, size

Needs = Callable[[Path], Iterable[Path] | None]
"""Which files at a path are needed, of which the beginnings are there; None: all."""

_HEAD = (1 << 16) + 2
_LONG_HEAD = (1 << 20) + 2
"""What detection looks at, of a file of JSON and of others (`files/detection/sniffing.py`)."""
_JSON = (".json", ".jsonl", ".ndjson")
_MEDIA = frozenset(
    ".png .jpg .jpeg .gif .webp .bmp .tif .tiff .svg .pdf .mp3 .mp4 .wav .flac .ogg .zip .tar .7z .rar .bz2 .xz .zst"
    " .safetensors .pt .pth .bin .onnx .gguf .ckpt .h5 .npy .npz .faiss .arrow .parquet .exe .so .whl".split()
)
"""Files that nothing is recognised by: of those that are not needed nothing is fetched."""
_WORTH_TELLING = 1 << 20
_MOST_FILES = 100_000


@dataclass(slots=True)
class Fetched:
    """``path`` is where the files lie that ``url`` names; ``origin`` says what they are, for reports and manifests."""

    path: Path
    url: str
    origin: RemoteSource


def fetched(
    store: Store, cache: Cache, needs: Needs, progress: Progress | None = None, tell: Tell | None = None
) -> Fetched:
    """Fetch what is needed of the files at a URL. Raises `RagdataError` where there are none, the store refuses or
    fails, a file changes meanwhile, or there is no room."""
    listing = store.listed()
    files = _wanted(store.shown, listing)
    place = _place(store)
    path = cache.tree(store.shown, listing).joinpath(*place)
    # the folders above are as in the store, too: some formats are known by their names
    mirror(str(path), store.shown)
    loading = Loading(store, cache, progress)
    places = {file.name: path / file.name if file.name else path for file in files}
    for file in files:
        if not file.version and file.copy is None:  # what was fetched before may be anything else
            cache.forget(store.shown, file)
    absent = [file for file in files if not cache.file(store.shown, file).is_file() and file.copy is None]
    for file in files:
        places[file.name].parent.mkdir(parents=True, exist_ok=True)
    heads = [file for file in absent if _head(file)]
    size_of_heads = sum(_head(file) for file in heads if loading.have(file) < _head(file))
    if size_of_heads > _WORTH_TELLING and tell is not None:
        tell(f"fetching how {many(len(heads), 'file')} of {store.shown} begin, {size(size_of_heads)}")
    cache.make_room(size_of_heads, store.shown)
    loading.load([(file, _head(file)) for file in heads])
    for file in files:
        _lay(cache, store.shown, file, places[file.name])
    needed = needs(path)
    wanted = files if needed is None else _those(files, places, needed)
    missing = [file for file in wanted if not cache.file(store.shown, file).is_file()]
    rest = sum(file.bytes - loading.have(file) for file in missing if file.copy is None)
    if missing:
        if tell is not None:
            tell(fetching_words(missing, len(files), rest, store.shown))
        cache.make_room(sum(file.bytes - loading.have(file) for file in missing), store.shown)
        loading.load([(file, file.bytes) for file in missing])
        for file in missing:
            _lay_whole(cache, store.shown, file, places[file.name])
    return Fetched(path, store.shown, _origin(store.shown, listing, wanted))


def _place(store: Store) -> tuple[str, ...]:
    """The place of a store as folders of this machine. Raises `RagdataError` where they would lead anywhere else."""
    parts = tuple(re.sub(r'[<>:"|?*]', "_", part) for part in store.place)
    for part in parts:
        if not is_safe_name(part):
            raise RagdataError(f"{store.shown}: {part!r} is not a file name that can be written")
    return parts


def _wanted(url: str, listing: Listing) -> list[StoredFile]:
    """The files that a command would look at. Raises `RagdataError` for names that no disk has, and too many."""
    kept = [file for file in listing.files if not any(map(_is_hidden, file.name.split("/")))]
    if len(kept) > _MOST_FILES:
        raise RagdataError(f"{url} has {len(kept):,} files, more than {_MOST_FILES:,}; name a folder below it")
    for file in kept:
        if file.name and not is_safe_name(file.name):
            raise RagdataError(f"{url}: {file.name!r} is not a file name that can be written")
    folders = {
        "/".join(parts[:end]) for file in kept for parts in [file.name.split("/")] for end in range(1, len(parts))
    }
    for file in kept:
        if file.name and file.name in folders:
            raise RagdataError(f"{url}: {file.name} is a file and a folder, which no disk has; name what is meant")
    return kept


def _is_hidden(part: str) -> bool:
    return part in SKIPPED or (part.startswith(".") and part not in (*SHOWN_HIDDEN, MANIFEST, SIDECAR))


def _head(file: StoredFile) -> int:
    """How many of the first bytes say what a file is."""
    name = file.name or file.key
    suffixes = [f".{suffix}".lower() for suffix in name.rpartition("/")[2].split(".")[1:]]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in _MEDIA:
        return 0
    return min(file.bytes, _LONG_HEAD if not suffixes or suffixes[-1] in _JSON else _HEAD)


def _lay(cache: Cache, url: str, file: StoredFile, place: Path) -> None:
    whole = cache.file(url, file)
    if not whole.is_file():
        put_beginning(whole.with_suffix(".part"), place, file.bytes)
    elif not place.is_file() or not place.samefile(whole):
        put(whole, place)


def _lay_whole(cache: Cache, url: str, file: StoredFile, place: Path) -> None:
    try:
        put(cache.file(url, file), place)
    except FileNotFoundError:
        name = f"{url}/{file.name}".rstrip("/")
        raise RagdataError(
            f"{name}: another run removed it from the cache to make room; run the command again"
        ) from None


def _those(files: Iterable[StoredFile], places: dict[str, Path], needed: Iterable[Path]) -> list[StoredFile]:
    known = set(needed)
    return [file for file in files if places[file.name] in known]


def _origin(url: str, listing: Listing, files: Iterable[StoredFile]) -> RemoteSource:
    versions = {file.name: file.version for file in files}
    return {"url": url, "revision": listing.revision or None, "files": versions}

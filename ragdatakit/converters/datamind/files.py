"""The files of a DataMind repository that are no records: raw documents, images, SQL, other files."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, object_text, string_of
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import listed_file, read_listed, real_path
from ragdatakit.files.paths.folders import Tree, is_regular
from ragdatakit.files.reading.noted_rows import FileRows
from ragdatakit.files.texts.titles import heading, telling_name
from ragdatakit.outputs.written_files import safe_part
from ragdatakit.schemas.canonical import Asset, Document
from ragdatakit.schemas.texts import encodable

if TYPE_CHECKING:
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

ASSET_COLUMNS = ("path", "content", "kind")
LOADED_FOLDERS = frozenset({"chunks", "triplets", "tables", "images"})
"""The folders of a profile that hold no raw documents."""
_DATABASE = "storage/demo.db"
"""Where a profile's database is among the assets, whatever the profile is called."""
_TEXTS = (".md", ".txt", ".markdown")
_SIGNS = LOADED_FOLDERS | {"bench", "profiles"}


def raw_files(dataset: Dataset) -> Iterator[DataFile]:
    """The files of a profile that both loaders take for raw documents, as far as they can read them; no links out."""
    tree = Tree(dataset.root, dataset.boundary)
    asked = {file.path for file in dataset.of_kind("bench")}  # questions in the profile's own bench/
    for folder in tree.folders():
        below = folder.relative_to(dataset.root)
        if below.parts[:1] and (below.parts[0] in LOADED_FOLDERS or any(p.startswith(".") for p in below.parts)):
            continue
        for name in tree.names(folder)[0]:
            path = folder / name
            if not name.startswith(".") and path not in asked and is_regular(path, dataset.boundary):
                called = encodable((below / name).as_posix())
                yield DataFile(path, str(path), called, "documents", boundary=dataset.boundary)


def is_text(file: DataFile) -> bool:
    """Whether both loaders read a raw document as plain text."""
    return file.name.lower().endswith(_TEXTS)


def stands_alone(asset: Asset) -> bool:
    """Whether a file is worth a repository where there is nothing else: images and unread files are not."""
    return asset.kind in ("sql", "skill") or (asset.kind == "file" and asset.path.lower().endswith(_TEXTS))


def document_rows(files: list[DataFile], records: RecordReader) -> Iterator[Document]:
    """Raw documents; the folder is their category."""
    for file in files:
        text = _text_of(file, records)
        if text is not None:
            category = PurePosixPath(file.name).parent.as_posix()
            metadata = None if category == "." else object_text({"category": Raw(dumps(category))})
            yield Document(file.name, text, None, metadata)


def _text_of(file: DataFile, records: RecordReader) -> str | None:
    """The text of a raw document; None where it is not UTF-8, of which v2 would make another text."""
    content = records.content(file)
    if content is None:
        return None
    data, marked = content
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        records.leave_out(file, 0, "not UTF-8", f"{file.name}: byte {error.start:,}")
        return None
    if marked:
        records.tell_once("coerced", file.kind, "text", "the byte-order mark is left out", file, 0, file.name)
    return text


def image_rows(dataset: Dataset) -> Iterator[Asset]:
    """The images of a profile."""
    tree = Tree(dataset.root, dataset.boundary)
    for folder in tree.folders():
        below = folder.relative_to(dataset.root)
        if below.parts[:1] == ("images",):
            for name in tree.names(folder)[0]:
                path = folder / name
                if not name.startswith(".") and is_regular(path, dataset.boundary):
                    yield Asset(encodable((below / name).as_posix()), listed_file(path), "image")


def database_rows(dataset: Dataset) -> Iterator[Asset]:
    """The database of a profile: v1 makes it of the SQL files where it is not shipped, and v2 reads nothing else."""
    profile = real_path(dataset.root)
    if profile.parent.name == "profiles" and profile.parent.parent.name == "data":
        path = profile.parents[2] / "storage" / profile.name / "demo.db"
        if is_regular(path, dataset.boundary.with_root(profile.parents[2])):
            yield Asset(_DATABASE, listed_file(path), "file")


class Names:
    """Gives out names of files below the target folder, each once, whatever the case of its letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._folders: set[str] = set()
        self._numbers: dict[tuple[str, str, int], int] = {}

    def give(self, folder: str, wanted: str) -> str:
        """A path in ``folder`` like the one that is wanted (relative, with ``/``)."""
        parts = [p for p in wanted.replace("\\", "/").split("/") if p not in ("", ".", "..")] or ["unnamed"]
        *parents, last = parts
        stem, dot, suffix = last.rpartition(".")
        if not dot or not suffix.isalnum() or len(suffix) > 8:
            stem, suffix = last, ""
        path = folder
        for parent in parents:
            path = self._free(f"{path}/{safe_part(parent)}", "", self._taken)
            self._folders.add(path.lower())
        name = self._free(f"{path}/{safe_part(stem)}", f".{suffix}" if suffix else "", self._taken, self._folders)
        self._taken.add(name.lower())
        return name

    def _free(self, stem: str, ending: str, *taken: set[str]) -> str:
        wanted = (stem, ending, len(taken))
        count = self._numbers.get(wanted, 1)
        name = f"{stem}-{count}{ending}" if count > 1 else f"{stem}{ending}"
        while any(name.lower() in names for names in taken):
            count += 1
            name = f"{stem}-{count}{ending}"
        self._numbers[wanted] = count
        return name


class FileWriting:
    """Writes what goes along into a profile's folder."""

    def __init__(self, tables: CanonicalTables, out: Output, profile: str) -> None:
        self._tables, self._out, self._profile = tables, out, profile
        self._names = Names()

    def name(self, wanted: str) -> str:
        """A name in the profile's folder that no other file has."""
        return self._names.give(self._profile, wanted)

    def assets(self, refusal: Callable[[Asset], str]) -> tuple[dict[str, str], list[Asset]]:
        """Write images, SQL and other files; (image to its path in the profile, skills, which are not written yet).

        ``refusal`` says why a file is left out (empty: it is not).
        """
        images: dict[str, str] = {}
        skills: list[Asset] = []
        for asset in self._tables.take("assets", *ASSET_COLUMNS):
            if asset.kind == "skill":
                skills.append(asset)
                continue
            if asset.path == _DATABASE and self._tables.format == "datamind":
                self._database(asset)
                continue
            why = refusal(asset)
            if why:
                self._tables.drop("assets", asset, why)
                continue
            name = self.name(_place(asset))
            self._out.write(name, asset.content)
            inside = name[len(self._profile) + 1 :]
            if asset.kind == "image":
                images[asset.path] = inside
            if inside != asset.path:
                self._tables.losses.add(
                    "coerced", "assets", "path", f"it became a path in {_folder(inside)}/", asset.path
                )
        return images, skills

    def _database(self, asset: Asset) -> None:
        path = f"storage/{PurePosixPath(self._profile).name}/demo.db"
        if path in self._out.files:
            self._tables.drop("assets", asset, "the tables of --option tables are in a database of this name")
        else:
            self._out.write(path, asset.content)

    def documents(self) -> None:
        """Write each document as a file, in a folder named by its category; one that was a file is copied."""
        given = self._tables.given.get("documents")
        files = given.files if isinstance(given, FileRows) else {}
        for document in self._tables.take("documents", "doc_id", "text", "title", "metadata"):
            if not document.text or document.text.isspace():
                self._tables.drop("documents", document, "a document without text is not indexed")
                continue
            original = _original(document, files.get(document.doc_id))
            if original is not None:
                path = self.name(_document_path(document, ""))
                self._out.write(path, original)
            else:
                path = self._write_document(document)
            doc_id = path[len(self._profile) + 1 :]
            if doc_id != document.doc_id:
                self._out.renamed("passage", doc_id, document.doc_id)

    def _write_document(self, document: Document) -> str:
        category, others = _category(document.metadata)
        path = self.name(_document_path(document, category))
        text = document.text
        if document.title is not None and not self._is_in_text(document, path):
            text = f"# {document.title}\n\n{text}"
            why = "the title is a heading before the text"
            self._tables.losses.add("coerced", "documents", "title", why, document.title)
        for name in others:
            why = "raw documents have no metadata but their folder"
            self._tables.losses.add("lost", "documents", "metadata", why, name)
        self._out.write(path, text)
        return path

    def _is_in_text(self, document: Document, path: str) -> bool:
        """Whether the title is the first heading of the text already, or a plain text's, taken from the file's name."""
        first = heading(document.text) if not path.lower().endswith(".txt") else None
        if first is None and self._tables.format == "text":
            first = telling_name(document.doc_id)
        return document.title == first


def _original(document: Document, path: Path | None) -> bytes | None:
    """The file that a document was read from, where the loaders find its text in it as it stands there."""
    if path is None:
        return None
    try:
        data = read_listed(listed_file(path))
        return data if not data.startswith(codecs.BOM_UTF8) and data.decode().endswith(document.text) else None
    except (OSError, UnicodeDecodeError):
        return None


def _place(asset: Asset) -> str:
    """Where an asset goes: images and SQL have their folders, and nothing else may be in those of the loaders."""
    top, _, rest = asset.path.partition("/")
    if asset.kind == "sql":
        return f"tables/{PurePosixPath(asset.path).stem}.sql"  # only files directly in it are run
    if asset.kind == "image":
        return asset.path if rest and top == "images" else f"images/{asset.path}"
    # A folder of these names would be taken for a profile's, however deep it lies.
    path = "/".join(f"{p}-files" if safe_part(p).lower() in _SIGNS else p for p in asset.path.split("/"))
    return path if rest and safe_part(top) == top and path.startswith(f"{top}/") else f"files/{path}"


def _folder(path: str) -> str:
    return path.split("/", 1)[0]


def _category(metadata: str | None) -> tuple[str, list[str]]:
    fields: Mapping[str, Raw] = fields_of(metadata) if metadata else {}
    category = string_of(fields.get("category"))
    return category or "", [n for n in fields if n != "category" or category is None]


def _document_path(document: Document, category: str) -> str:
    name = document.doc_id.removeprefix(f"{category}/") if category else document.doc_id
    name = name.replace("/", "-") if category else name
    if not name.lower().endswith(_TEXTS):
        name += ".md"
    inside = f"{category}/{name}" if category else name
    parts = [p for p in inside.replace("\\", "/").split("/") if p not in ("", ".", "..")]
    # Folders of these names hold something else for the loaders.
    return f"documents/{inside}" if len(parts) > 1 and safe_part(parts[0]).lower() in LOADED_FOLDERS else inside


def read_asset(asset: Asset) -> bytes:
    """The content of a small asset."""
    return read_listed(asset.content) if isinstance(asset.content, Path) else asset.content

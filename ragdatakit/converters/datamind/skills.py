"""Skills of DataMind: v1 indexes Markdown files as they are, v2 reads a front matter block with a parser of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.datamind.files import Names, read_asset
from ragdatakit.converters.datamind.refused import is_wanted
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.containers.json_text import loads
from ragdatakit.files.paths.boundary import listed_file
from ragdatakit.files.paths.folders import Tree, is_regular
from ragdatakit.files.texts.front_matter import split_front_matter
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import safe_part
from ragdatakit.schemas.canonical import Asset
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import encodable

if TYPE_CHECKING:
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

_V1, _V2 = "data/skills", ".claude/skills"
_BLOCK = re.compile(r"\A---\s*\n(.*?)\n---\s*\n?", re.DOTALL)
_BLOCK_SIGNS = re.compile(r"[>|][+-]?[1-9]?[+-]?")
_DESCRIPTION_CHARACTERS = 200
_READ = ("description", "keywords")


@dataclass(slots=True)
class _Skill:
    """A skill as each loader has it, where it does; ``names`` gives out those of the files next to SKILL.md."""

    given: str
    name: str
    v1: str | None = None
    v2: str | None = None
    names: Names = field(default_factory=Names)

    @property
    def text(self) -> str:
        """What v2 is to read."""
        return self.v2 if self.v2 is not None else self.v1 or ""


def skill_rows(dataset: Dataset, records: RecordReader) -> Iterator[Asset]:
    """The skills of a data folder (v1), or of a repository with all that lies next to each SKILL.md (v2)."""
    for file in dataset.of_kind("skills"):
        if is_wanted(file, records):
            yield Asset(file.name, listed_file(file.path), "skill")
    for file in dataset.of_kind("claude-skills"):
        if not is_wanted(file, records):
            continue
        folder = file.path.parent
        tree = Tree(folder, dataset.boundary)
        for below in tree.folders():
            for name in tree.names(below)[0]:
                path = below / name
                if is_regular(path, dataset.boundary):
                    inside = encodable(path.relative_to(folder).as_posix())
                    yield Asset((PurePosixPath(file.name).parent / inside).as_posix(), listed_file(path), "skill")


def skills_of_folder(folder: Path) -> Iterator[Asset]:
    """The skills in a folder that the user names: ``*.md``, and folders with a SKILL.md."""
    if not folder.is_dir():
        raise RagdataError(f"--option skills={folder}: no such folder")
    tree = Tree(folder)
    for below in tree.folders():
        inside = below.relative_to(folder)
        files, _ = tree.names(below)
        if not inside.parts or "SKILL.md" in files or len(inside.parts) > 1:
            for name in files:
                path = below / name
                if (
                    is_regular(path, tree.boundary)
                    and (inside.parts or name.endswith(".md"))
                    and not name.startswith(".")
                ):
                    start = f"{_V2}/" if inside.parts else "skills/"
                    yield Asset(encodable(f"{start}{(inside / name).as_posix()}"), listed_file(path), "skill")


def write_skills(tables: CanonicalTables, out: Output, skills: list[Asset], *, as_given: bool) -> None:
    """Each skill for both loaders, which do not see each other's; ``as_given``: only for those that have it."""
    found = _Found(tables)
    for asset in skills:
        found.add(asset)
    for skill in found.skills:
        skill.names.give(f"{_V2}/{skill.name}", "SKILL.md")
    for skill, asset, inside in found.beside():
        out.write(skill.names.give(f"{_V2}/{skill.name}", inside), read_asset(asset))
    for skill in found.skills:
        if skill.v1 is not None or not as_given:
            out.write(f"{_V1}/{skill.name}.md", skill.v1 if skill.v1 is not None else skill.v2 or "")
    for_v2 = [s for s in found.skills if s.v2 is not None or not as_given]
    called: set[str] = set()
    free = FreeNames(called)
    # A name that a skill has already is not given to another.
    kept = [_is_kept(skill, called) for skill in for_v2]
    for skill, as_it_is in zip(for_v2, kept, strict=True):
        text = skill.text if as_it_is else _with_header(skill.text, free(skill.name))
        if skill.v2 is not None and text != skill.v2:
            tables.losses.add("coerced", "assets", "content", "a front matter that the loader can read", skill.name)
        out.write(f"{_V2}/{skill.name}/SKILL.md", text)


class _Found:
    """The skills among assets, each with a name of its own; what is no skill is dropped."""

    def __init__(self, tables: CanonicalTables) -> None:
        self.skills: list[_Skill] = []
        self._tables = tables
        self._by_folder: dict[str, _Skill] = {}
        self._beside: list[Asset] = []
        self._free = FreeNames(folded=str.lower)

    def add(self, asset: Asset) -> None:
        """Sort in one file."""
        parts = PurePosixPath(asset.path).parts
        in_v2 = parts[:2] == (".claude", "skills")
        if ".." in parts or asset.path.startswith("/"):
            self._tables.drop("assets", asset, "its path leads out of the folder of skills")
        elif parts[-1:] == ("SKILL.md",) and (len(parts) == 4 if in_v2 else len(parts) > 1):
            text = self._text(asset)
            if text is not None:
                skill = self._place(parts[-2], "v2")
                skill.v2 = text
                self._by_folder["/".join(parts[:-1])] = skill
        elif in_v2 and len(parts) > 3:
            self._beside.append(asset)
        elif asset.path.lower().endswith(".md"):
            text = self._text(asset)
            if text is not None:
                self._place(PurePosixPath(asset.path).stem, "v1").v1 = text
        else:
            self._tables.drop("assets", asset, "the loaders index Markdown files for skills, and no others")

    def beside(self) -> Iterator[tuple[_Skill, Asset, str]]:
        """The files beside a SKILL.md: (its skill, the file, its path in the folder)."""
        for asset in self._beside:
            parts = PurePosixPath(asset.path).parts
            skill = self._by_folder.get("/".join(parts[:3]))
            if skill is None:
                self._tables.drop("assets", asset, "there is no SKILL.md above it that could be written")
            else:
                yield skill, asset, "/".join(parts[3:])

    def _place(self, given: str, loader: str) -> _Skill:
        """The skill of that name that this loader does not have yet."""
        for skill in self.skills:
            if skill.given == safe_part(given) and getattr(skill, loader) is None:
                break
        else:
            wanted = safe_part(given)
            skill = _Skill(wanted, self._free(wanted))
            self.skills.append(skill)
        if skill.name != given:
            why = "a name that a folder can have, and no other has"
            self._tables.losses.add("coerced", "assets", "path", why, f"{given} became {skill.name}")
        return skill

    def _text(self, asset: Asset) -> str | None:
        data = read_asset(asset)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._tables.drop("assets", asset, f"not UTF-8, from byte {error.start:,} on")
            return None
        if data.startswith(b"\xef\xbb\xbf"):
            why = "the byte-order mark is left out"
            self._tables.losses.add("coerced", "assets", "content", why, asset.path)
        return text


def _is_kept(skill: _Skill, called: set[str]) -> bool:
    """Whether the loader reads a skill right as it is, and under a name that no other has."""
    block = _block(_plain(skill.text))
    if block is None or not _is_readable(block.group(1)):
        return False
    own = _unquoted(_keys(block.group(1)).get("name", "")).strip() or skill.name
    if own in called:
        return False
    called.add(own)
    return True


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _block(text: str) -> re.Match[str] | None:
    # Without a line that could end it, the pattern would try all ways to begin.
    return _BLOCK.match(text) if "\n---" in text else None


def _with_header(text: str, name: str) -> str:
    """The text of a SKILL.md with a new front matter."""
    text = _plain(text)
    block = _block(text)
    body = text[block.end() :] if block else text
    given = _parsed(block.group(1)) if block else {}
    description = _words(given.get("description"))
    description = description or next((s for s in body.split("\n") if s.strip("#- \t")), name)
    description = " ".join(description.split()).lstrip("# ")[:_DESCRIPTION_CHARACTERS]
    header = [f"name: {name}", f'description: "{description or name}"']
    keywords = given.get("keywords")
    if isinstance(keywords, list):
        words = [" ".join(_words(k).replace(",", " ").split()) for k in keywords]
        if any(words):
            header.append(f"keywords: [{', '.join(filter(None, words))}]")
    start = "\n" if body and not body.startswith("\n") else ""
    return "---\n" + "\n".join(header) + f"\n---\n{start}{body}"


def _words(value: object) -> str:
    """A text or a number as text; empty for what is neither."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _keys(header: str) -> dict[str, str]:
    lines = (line.rstrip() for line in header.split("\n"))
    parts = (line.partition(":") for line in lines if line and not line.startswith("#") and ":" in line)
    return {key.strip(): value.strip() for key, _, value in parts}


def _is_readable(header: str) -> bool:
    """Whether the loader's parser, which takes each line alone, gets what was meant."""
    lines = header.split("\n")
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in ("name", "description", "keywords"):
            continue
        value = value.strip()
        following = lines[number + 1].lstrip() if number + 1 < len(lines) else ""
        if _BLOCK_SIGNS.fullmatch(value) or (not value and following.startswith("- ")):
            return False
        if value.startswith("[") and not value.endswith("]"):
            return False
    return bool(header.strip())


def _parsed(header: str) -> dict[str, Any]:
    """What the front matter says to a YAML parser; nothing where it is such that none should read it."""
    found = split_front_matter(f"---\n{header}\n---\n")
    return {name: loads(raw) for name, raw in found[0].items() if name in _READ} if found is not None else {}


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"" else value

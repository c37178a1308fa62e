"""What holds for a path: the settings of the nearest file, of those that it extends, and of the sections that fit."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.configuration.sources import SettingsFile, named_file, nearest_file
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError

if TYPE_CHECKING:
    from ragdatakit.files.configuration.plugins import Plugin
    from ragdatakit.files.configuration.reading import Given, Name, Section
    from ragdatakit.schemas.settings.declared import Setting

_MOST_EXTENDED = 32


@dataclass(frozen=True)
class Configuration:
    """The settings that hold for a path: ``values`` of the top level, and the sections, those of extended files first.

    ``files`` are those that they come from, the nearest last; none where there is no configuration. ``plugins`` are
    those that it names, loaded.
    """

    files: tuple[SettingsFile, ...] = ()
    values: dict[Name, Given] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    plugins: tuple[Plugin, ...] = ()

    @property
    def file(self) -> SettingsFile | None:
        """The nearest file."""
        return self.files[-1] if self.files else None

    def value(self, *name: str) -> Any:
        """A value of the top level; None where it is not set."""
        given = self.values.get(name)
        return given.value if given is not None else None

    def path(self, name: str) -> Path | None:
        """The path that a setting of the top level names."""
        given = self.values.get((name,))
        return given.file.folder / given.value if given is not None else None

    def of_kind(self, kind: str) -> list[Section]:
        """The sections of one kind, in order."""
        return [section for section in self.sections if section.kind == kind]

    @property
    def unloaded(self) -> tuple[str, ...]:
        """The plug-ins that it names where none may be loaded."""
        given = self.values.get(("plugins",))
        if given is None:
            return ()
        from ragdatakit.files.configuration.plugins import are_forbidden

        return given.value if are_forbidden() else ()

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of the formats of its plug-ins."""
        return tuple(name for plugin in self.plugins for name in plugin.formats)

    def own_names(self) -> list[tuple[str, str]]:
        """Codes and names of the rules that it declares, and of those of its plug-ins."""
        declared = [(one.values["code",].value, one.values["name",].value) for one in self.of_kind("rule")]
        return declared + [(rule.code, rule.name) for plugin in self.plugins for rule in plugin.rules]

    def at(self, place: Path) -> dict[Name, Given]:
        """What holds for the dataset at a place: its sections before the top level."""
        if not self.files:
            return {}
        from ragdatakit.schemas.settings.declared import FOR_DATASETS

        found = {name: given for name, given in self.values.items() if name[0] in FOR_DATASETS}
        for section in self.of_kind("dataset"):
            if is_at(section, place):
                found |= section.values
        found.pop(("path",), None)
        return found

    def excludes(self, path: Path) -> bool:
        """Whether a file or folder is passed over."""
        given = self.values.get(("exclude",))
        return given is not None and any(_covers(given.file, glob, path) for glob in given.value)

    def is_from(self, path: Path) -> bool:
        """Whether a file is one of those that it comes from."""
        return any(file.path == Path(os.path.abspath(path)) for file in self.files)  # noqa: PTH100

    def ignored_in(self, path: Path) -> tuple[str, ...]:
        """The rules that are ignored in one file."""
        return tuple(
            rule
            for name, given in self.values.items()
            if name[0] == "per-path-ignores" and _covers(given.file, name[1], path)
            for rule in given.value
        )


def _covers(file: SettingsFile, glob: str, path: Path) -> bool:
    """Whether a pattern of a file with settings is that of a path."""
    from ragdatakit.files.configuration.patterns import covers

    return covers(file.folder, glob, path)


NONE = Configuration()


def is_at(section: Section, place: Path) -> bool:
    """Whether the path of a section is that of a file or folder, or of one that it is in."""
    return any(_covers(section.file, glob, place) for glob in section.values["path",].value)


def begins_in(section: Section, folder: Path) -> bool:
    """Whether all that a section is of lies in a folder."""
    from ragdatakit.files.configuration.patterns import fixed_part

    globs = section.values["path",].value
    return all(fixed_part(section.file.folder, glob).is_relative_to(os.path.abspath(folder)) for glob in globs)  # noqa: PTH100


class Configurations:
    """The configurations of the paths of one run: each file is read once.

    ``config`` is a file that holds for all paths; True: the nearest upwards from each; False: none.
    """

    def __init__(self, config: Path | bool) -> None:
        self._config = config
        self._known: dict[Path, Configuration] = {}
        self._of_folder: dict[Path, Configuration] = {}
        if isinstance(config, Path):
            self._only: Configuration | None = self._of_file(named_file(config, "--config"))
        else:
            self._only = None if config else NONE

    def of(self, path: Path) -> Configuration:
        """That of a folder or file. Raises `RagdataError` where one is wrong."""
        if self._only is not None:
            return self._only
        folder = path if path.is_dir() else path.parent
        if folder not in self._of_folder:
            file = nearest_file(folder)
            self._of_folder[folder] = self._of_file(file) if file is not None else NONE
        return self._of_folder[folder]

    def _of_file(self, file: SettingsFile) -> Configuration:
        if file.path not in self._known:
            self._known[file.path] = _joined(_extended(file))
        return self._known[file.path]


def _extended(file: SettingsFile) -> list[tuple[SettingsFile, dict[Name, Given], list[Section]]]:
    """The file and those that it extends, the outermost first."""
    from ragdatakit.files.configuration.reading import values_of

    found: list[tuple[SettingsFile, dict[Name, Given], list[Section]]] = []
    seen: set[Path] = set()
    while True:
        real = file.path.resolve()
        if real in seen:
            names = " -> ".join(str(each.path) for each, _, _ in reversed(found))
            raise RagdataError(f"{found[0][0].display}: files extend each other in a circle: {names} -> {file.path}")
        if len(found) == _MOST_EXTENDED:
            raise RagdataError(f"{file.display}: more than {_MOST_EXTENDED} files extend one another")
        seen.add(real)
        values, sections = values_of(file)
        found.insert(0, (file, values, sections))
        parent = values.pop(("extend",), None)
        if parent is None:
            return found
        file = named_file(file.folder / parent.value, f"{parent.place}: extend")


def _joined(parts: Iterable[tuple[SettingsFile, dict[Name, Given], list[Section]]]) -> Configuration:
    found = Configuration()
    for file, values, sections in parts:
        found = Configuration((*found.files, file), {**found.values, **values}, (*found.sections, *sections))
    found = replace(found, plugins=_plugins(found))
    _refuse_unknown_formats(found)
    if not found.unloaded:  # else a rule may be one of theirs
        _refuse_unknown_rules(found)
    return found


def _plugins(configuration: Configuration) -> tuple[Plugin, ...]:
    from ragdatakit.files.configuration.plugins import are_forbidden, load_plugin
    from ragdatakit.schemas.settings.plugins import PluginError

    given = configuration.values.get(("plugins",))
    if given is None or are_forbidden():
        return ()
    try:
        return tuple(load_plugin(name) for name in dict.fromkeys(given.value))
    except PluginError as error:
        raise PluginError(f"{given.place}: {error}") from None


def _refuse_unknown_formats(configuration: Configuration) -> None:
    from ragdatakit.files.detection.plain_names import PLAIN_NAMES
    from ragdatakit.schemas import FORMATS
    from ragdatakit.schemas.settings.plugins import PLUGGED

    formats = [name for name in FORMATS if name not in PLUGGED or name in configuration.formats]
    known = [*formats, *PLAIN_NAMES]
    for section in configuration.sections:
        given = section.values.get(("format",))
        if given is not None and given.value not in known:
            off = configuration.unloaded
            hint = "it may be one of a plug-in, and plug-ins are not loaded (--no-plugins)" if off else ""
            raise UnknownNameError("format", given.value, known, hint=hint, place=given.place)


def _refuse_unknown_rules(configuration: Configuration) -> None:
    """Raise `UnknownNameError` for a selector of no rule; those of all files are known in each."""
    from ragdatakit.files.configuration.reading import refuse_unknown_rule
    from ragdatakit.schemas.settings.declared import TOP

    for setting, values in [
        (TOP, configuration.values),
        *((_declared(each.kind), each.values) for each in configuration.sections),
    ]:
        for name, given in values.items():
            declared = setting.named(name[0])
            if declared is None or declared.kind not in ("rules", "severities", "budgets", "ignores"):
                continue
            rules = given.value if declared.kind in ("rules", "ignores") else (name[1],)
            for number, rule in enumerate(rules):
                refuse_unknown_rule(rule, given.file.place((*given.keys, number)), configuration.own_names())


def _declared(kind: str) -> Setting:
    from ragdatakit.schemas.settings.declared import TOP

    found = TOP.named(kind)
    assert found is not None
    return found

"""Plug-ins that a configuration names: found among what is installed, loaded, and looked at.

Nothing of a plug-in is imported unless a configuration names it, and nothing that lies in the current folder is taken
for one: what may be run is decided by whoever installs it, what is run by whoever writes the configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.bounds import OWN_CODE
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.settings.plugins import (
    API,
    PLUGGED,
    FormatPlugin,
    PluginError,
    RulePlugin,
    import_path,
    imported,
    plug_in,
    reason_of,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NO_PLUGINS = "RAGDATA_NO_PLUGINS"
"""The variable that forbids plug-ins, whatever a configuration names."""
_RULES, _FORMATS, _MODELS = "ragdatakit.rules", "ragdatakit.formats", "ragdatakit.models"
_NAME = late_pattern("[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed distribution: its rules, the names of its formats, the modules in which its models are."""

    name: str
    version: str
    rules: tuple[RulePlugin, ...] = ()
    formats: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def are_forbidden() -> bool:
    """Whether nothing is loaded, whatever is named."""
    return os.environ.get(NO_PLUGINS, "").lower() not in ("", "0", "false")


def not_loaded(names: Iterable[str]) -> str:
    """That plug-ins which are named were not loaded."""
    return f"plug-ins are not loaded (--no-plugins): {', '.join(names)}"


def load_plugin(name: str) -> Plugin:
    """The plug-in of that name, with its formats made known. Raises `PluginError`."""
    if not _NAME.fullmatch(name):
        raise PluginError(f"{name!r} is not the name of an installed package; plug-ins are never named by a path")
    return _loaded(name)


@lru_cache(maxsize=64)
def _loaded(name: str) -> Plugin:
    from importlib import metadata

    found = next(iter(metadata.Distribution.discover(name=name, path=import_path())), None)
    if found is None:
        raise PluginError(
            f"the plug-in {name} is not installed; install it beside ragdata if you trust it, or pass --no-plugins"
        )
    plugin = Plugin(found.metadata["Name"] or name, found.version)
    points = [point for point in found.entry_points if point.group in (_RULES, _FORMATS, _MODELS)]
    if not points:
        groups = f"{_RULES}, {_FORMATS} or {_MODELS}"
        raise PluginError(f"{plugin} is installed, but is not a plug-in: it has no entry point {groups}")
    rules: list[RulePlugin] = []
    formats: dict[str, tuple[str, str]] = {}
    for point in points:
        if point.group == _MODELS:
            continue  # imported when a rule names one of them
        what = f"the plug-in {plugin}: {point.name} ({point.value})"
        value = _value(what, point)
        if point.group == _RULES:
            rules += _rules(what, value)
        else:
            formats[_format(what, value).name] = (point.module, point.attr)
    for known, place in formats.items():
        if PLUGGED.get(known, place) != place:
            raise PluginError(f"the plug-in {plugin}: its format {known} is one of another plug-in, too")
        plug_in(known, *place)
    models = tuple(point.module for point in points if point.group == _MODELS)
    return Plugin(plugin.name, plugin.version, tuple(rules), tuple(formats), models)


def _value(what: str, point: EntryPoint) -> Any:
    try:
        value: Any = imported(point.module)
        for name in filter(None, (point.attr or "").split(".")):
            value = getattr(value, name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever foreign code raises
        raise PluginError(f"{what} cannot be loaded: {reason_of(error)}") from None
    return value


def _rules(what: str, value: Any) -> Iterable[RulePlugin]:
    found = list(value) if isinstance(value, list | tuple) else [value]
    for one in found:
        if not isinstance(one, RulePlugin):
            raise PluginError(f"{what} is {type(one).__name__}, expected ragdatakit.RulePlugin or a list of them")
        _refuse_other_api(what, one.api)
        if fault := one.fault():
            raise PluginError(f"{what}: the rule {one.code}: {fault}")
    return found


def _format(what: str, value: Any) -> Format:
    if not isinstance(value, FormatPlugin):
        raise PluginError(f"{what} is {type(value).__name__}, expected ragdatakit.FormatPlugin")
    _refuse_other_api(what, value.api)
    refuse_removed(what, value.checks)
    found = value.format
    if not isinstance(found, Format):
        raise PluginError(f"{what}: its format is {type(found).__name__}, expected a declared Format")
    if found.name in FORMATS and found.name not in PLUGGED:
        raise PluginError(f"{what}: the format {found.name} is one of ragdata's own; call it otherwise")
    for rule in found.rules:
        if not re.fullmatch(OWN_CODE, rule.code):
            expected = "expected three capital letters or more, and digits"
            raise PluginError(f"{what}: the code of the rule {rule.name} is {rule.code!r}, {expected}")
    return found


_REMOVED = {
    **dict.fromkeys(("predicates", "derive_scanned", "known_codes", "sees_next"), "scanning"),
    **dict.fromkeys(("texts_of_fields", "fields_of_derived"), "scanning"),
    **dict.fromkeys(("in_ranges", "accepts"), "needs"),
}
"""Methods of `FormatChecks` that nothing calls any more, with those that give what they gave."""


def refuse_removed(what: str, checks: type[Any] | None) -> None:
    """Raise `PluginError` where checks would be passed over in silence."""
    for name, other in _REMOVED.items():
        if hasattr(checks, name):
            raise PluginError(f"{what}: {name} of its checks is not called any more; {other} gives what it gave")


def _refuse_other_api(what: str, api: object) -> None:
    if api != API:
        newer = isinstance(api, int) and api > API
        remedy = "upgrade ragdatakit" if newer else "get a newer version of the plug-in"
        raise PluginError(f"{what} is for version {api!r} of the plug-in interface, this ragdata has {API}; {remedy}")

"""The explicit lists (formats, checks, commands) say what the folders hold, no more and no less."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from inspect import isfunction
from pathlib import Path

import ragdatakit
from ragdatakit import validators
from ragdatakit.cli.commands import COMMANDS
from ragdatakit.schemas import FORMATS, all_formats, all_rules
from ragdatakit.schemas.declarations import Format
from ragdatakit.validators.checks import FormatChecks

PACKAGE = Path(ragdatakit.__file__).parent


def modules(room: str) -> list[str]:
    files = sorted((PACKAGE / room).rglob("[!_]*.py"))
    return [".".join(("ragdatakit", *p.relative_to(PACKAGE).with_suffix("").parts)) for p in files]


def test_formats_are_the_modules_that_declare_one() -> None:
    declared = {
        (name, attribute)
        for name in modules("schemas")
        for attribute, value in vars(importlib.import_module(name)).items()
        if isinstance(value, Format)
    }

    assert set(FORMATS.values()) == declared
    assert [f.name for f in all_formats()] == list(FORMATS)


def test_checks_are_the_classes_of_the_folder() -> None:
    found = {
        (name, attribute)
        for name in modules("validators")
        for attribute, value in vars(importlib.import_module(name)).items()
        if isinstance(value, type) and issubclass(value, FormatChecks) and value is not FormatChecks
        if value.__module__ == name and not attribute.startswith("_")
    }
    homes = {home for home, _ in validators.CHECKS.values()}
    folders = {home.rpartition(".")[0] for home in homes}
    parts = {(name, a) for name, a in found if name not in homes and name.rpartition(".")[0] in folders}

    assert set(validators.CHECKS.values()) == found - parts
    assert validators.CHECKS.keys() <= FORMATS.keys()


def test_a_format_may_add_twelve_methods_at_most() -> None:
    """What is said of a kind of file is a field of `Needs` or `Scanning`."""
    methods = [name for name, value in vars(FormatChecks).items() if isfunction(value) and not name.startswith("_")]

    assert len(methods) <= 12, methods


def test_one_word_for_a_format_in_every_room() -> None:
    for name, (module, _) in FORMATS.items():
        word = name.replace("-", "_")
        checks = f"ragdatakit.validators.{word}.checks"
        assert module == f"ragdatakit.schemas.{word}.format"
        assert validators.CHECKS.get(name, (checks, ""))[0] == checks


def test_files_know_no_format() -> None:
    """What a format's files are is in its declaration; what only one format has is in a module that is called so."""
    words = [name.replace("-", "[-_ ]?") for name in FORMATS]
    named = re.compile(rf"(?<![a-z])({'|'.join(words)})(?![a-z])", re.IGNORECASE)
    found = [
        f"{place}:{number}"
        for path in sorted((PACKAGE / "files").rglob("*.py"))
        if not named.search(place := path.relative_to(PACKAGE).as_posix())
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if named.search(line)
    ]

    assert found == []


def test_no_room_is_wider_than_25_modules() -> None:
    counts = Counter(path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")

    assert {folder.relative_to(PACKAGE).as_posix() for folder, number in counts.items() if number > 25} == set()


def test_readers_of_configuration_files_are_there() -> None:
    for fmt in all_formats():
        if fmt.config is not None:
            module, _, name = fmt.config.reader.partition(":")
            assert callable(getattr(importlib.import_module(module), name))


def test_codes_are_the_formats_letters_and_unique() -> None:
    seen: set[str] = set()
    for fmt in all_formats():
        for rule in fmt.rules:
            assert rule.code[:2] == fmt.letters
            assert rule.code not in seen
            seen.add(rule.code)


def test_commands_are_the_modules_that_define_one() -> None:
    found = {name.partition(".cli.")[2] for name in modules("cli") if hasattr(importlib.import_module(name), "command")}
    named = [place.partition(":") for place, _ in COMMANDS.values()]

    assert {module for module, _, _ in named} == found
    for module, _, second in named:
        assert not second or hasattr(importlib.import_module(f"ragdatakit.cli.{module}"), second)


def test_rules_say_since_when_they_exist_and_what_replaces_them() -> None:
    rules = {rule.code: rule for rule, _ in all_rules()}
    for rule in rules.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since), rule.code
        assert not rule.replaced_by or (rule.status == "deprecated" and rule.replaced_by in rules), rule.code

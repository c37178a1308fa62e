"""What ``settings.yaml`` says of the tables and of the release. Nothing else in it is kept: it may hold keys.

The text is read event by event: references to other parts are not followed, nothing is built of it.
"""

from __future__ import annotations

from dataclasses import field

from ragdatakit.late_dataclasses import dataclass

_LARGEST = 1 << 20
_DEEPEST = 40
_MOST_EVENTS = 100_000
_PLACES = {("storage", "base_dir"), ("output", "base_dir"), ("output_storage", "base_dir")}
_SIGNS = {
    "3.0": {"completion_models", "embedding_models", "chunking", "input_storage", "output_storage"},
    "2.0": {"models", "output", "extract_graph", "embed_graph", "umap"},
    "0.1": {"llm", "parallelization", "encoding_model", "entity_extraction", "claim_extraction", "storage"},
}
"""Top-level keys that one generation of settings has, and the others have not."""


class SettingsError(Exception):
    """Settings that cannot be read, with the reason; ``line`` is 1-based, where it is known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(slots=True)
class Settings:
    """``base_dir`` is the folder of the tables, with its ``line``; ``release`` what the keys speak for: 3.0, 2.0 or 0.1
    (which stands for all before 2.0); each empty where nothing shows. ``keys`` are the lines of the top-level keys."""

    base_dir: str = ""
    line: int | None = None
    release: str = ""
    keys: dict[str, int] = field(default_factory=dict)


def read_settings(data: bytes) -> Settings:
    """The settings in a file. Raises `SettingsError`."""
    import yaml

    if len(data) > _LARGEST:
        raise SettingsError(f"larger than {_LARGEST >> 20} MiB")
    try:
        return _read(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SettingsError("not UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise SettingsError(f"not YAML: {error.problem or error.context or 'broken'}", line) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SettingsError(f"not YAML: {str(error).splitlines()[0][:120] if str(error) else 'broken'}") from None


def _read(text: str) -> Settings:
    import yaml

    found = Settings()
    path: list[str | None] = []  # the key of each open mapping; None: its next scalar is a key, or a list
    is_mapping: list[bool] = []
    for number, event in enumerate(yaml.parse(text, yaml.SafeLoader)):
        if number > _MOST_EVENTS:
            raise SettingsError(f"more than {_MOST_EVENTS:,} values")
        line = event.start_mark.line + 1 if event.start_mark is not None else 0
        if isinstance(event, yaml.CollectionStartEvent):
            if len(path) >= _DEEPEST:
                raise SettingsError(f"nested more than {_DEEPEST} levels deep", line)
            if not path and not isinstance(event, yaml.MappingStartEvent):
                raise SettingsError("no mapping of keys to values", line)
            path.append(None)
            is_mapping.append(isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            path.pop()
            is_mapping.pop()
            _value_ends(path)
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            value = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if not path:
                raise SettingsError("no mapping of keys to values", line)
            if is_mapping[-1] and path[-1] is None:
                path[-1] = value
                if len(path) == 1:
                    found.keys.setdefault(value, line)
                continue
            if tuple(path) in _PLACES and value:
                found.base_dir, found.line = value, line
            _value_ends(path)
    votes = {release: len(signs & found.keys.keys()) for release, signs in _SIGNS.items()}
    found.release = max(votes, key=lambda release: votes[release]) if any(votes.values()) else ""
    return found


def _value_ends(path: list[str | None]) -> None:
    """What follows in the open mapping is a key."""
    if path:
        path[-1] = None

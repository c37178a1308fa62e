"""The names of what ragdata itself puts next to a dataset; looking for datasets passes over them."""

from __future__ import annotations

from ragdatakit.schemas.baselines import BASELINE_NAME
from ragdatakit.schemas.fixes import REMOVED

MANIFEST = "ragdata.json"
"""Where the folder comes from, how it was made, the digest of each file."""
RENAMED_IDS = "ragdata.ids.ndjson"
"""The ids that were renamed, with their old names."""
SIDECAR = "ragdata.sidecar"
"""The folder with what the format has no place for."""
DESCRIPTIONS = ("croissant.json", "datapackage.json")
"""Descriptions of the dataset in the standards of others."""
PYPROJECT = "pyproject.toml"
SETTINGS_FILES = (".ragdata.toml", "ragdata.toml", PYPROJECT)
"""What files with settings are called, the one that counts first."""
OWN = frozenset({MANIFEST, RENAMED_IDS, SIDECAR, BASELINE_NAME, REMOVED, *DESCRIPTIONS})


def is_own(name: str) -> bool:
    """Whether a path below a dataset's folder is of ragdata itself."""
    return name.split("/", 1)[0] in OWN

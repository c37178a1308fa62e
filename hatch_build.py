"""Build hook of the package: compiles the scanner where there is cargo, and tags the wheel for its platform."""

from __future__ import annotations

import importlib.util
import platform
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    """The wheel holds the scanner; an editable installation finds it in the package's folder."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is put together; ``version`` is ``standard`` or ``editable``."""
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        scanner = _builder(root)
        if version == "editable":
            reason = scanner.build(root / scanner.LIBRARY)
        else:
            self._scratch = tempfile.TemporaryDirectory()
            library = Path(self._scratch.name, scanner.LIBRARY.name)
            reason = scanner.build(library)
            if not reason:
                build_data["force_include"][str(library)] = scanner.LIBRARY.as_posix()
                build_data["pure_python"] = False
                # Python for macOS may say that it runs on both kinds of processors; the scanner is for this one.
                system = sysconfig.get_platform().replace("universal2", platform.machine())
                build_data["tag"] = f"py3-none-{system.replace('-', '_').replace('.', '_')}"
        if reason:
            self.app.display_warning(f"the package comes without its scanner, so big files take longer: {reason}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is written."""
        if scratch := getattr(self, "_scratch", None):
            scratch.cleanup()


def _builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("scanner_build", root / "scanner" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

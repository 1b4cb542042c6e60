"""Puts what the larger views are drawn with into a wheel; where it cannot be fetched, the wheel is built without."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "kiwiresearch/web/desk/static/vendor"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Fetches the packages that package-lock.json pins, for wheels alone: a checkout has `make vendor`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._fetched = tempfile.TemporaryDirectory()
        folder = Path(self._fetched.name)
        script = Path(self.root, "tools", "fetch_packages.py")
        done = subprocess.run(  # noqa: S603
            [sys.executable, str(script), "--needed", str(folder)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.app.display_warning(done.stderr.strip())
            return
        for file in sorted(folder.glob("[!.]*")):
            build_data["force_include"][str(file)] = f"{PLACE}/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if version != "editable":
            self._fetched.cleanup()

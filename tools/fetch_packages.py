"""Download the JavaScript packages that draw the larger views, as package-lock.json pins them, into a folder.

npm checks the checksum of each package and runs none of its scripts. It works in a temporary folder, so that nothing
of Node stays behind. The packages are optional: without them, the web interface shows pictures that the server draws.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PINNED = ("package.json", "package-lock.json", ".npmrc")
FILES = {
    "cytoscape.js": "cytoscape/dist/cytoscape.esm.min.mjs",
    "cytoscape-LICENSE.txt": "cytoscape/LICENSE",
}
"""The files that are taken from the packages, by the names that they get."""

STAMP = ".fetched"
TIMEOUT_S = 300
CONSEQUENCE = "so the graph of a run is a picture that cannot be moved"


def main(arguments: list[str]) -> int:
    """Download into a folder and print any problem. A problem is a failure only in CI or with `--needed`."""
    needed = "--needed" in arguments or os.environ.get("CI") == "true"
    folders = [argument for argument in arguments if argument != "--needed"]
    if len(folders) != 1:
        print("usage: python tools/fetch_packages.py [--needed] FOLDER", file=sys.stderr)
        return 2
    problem = fetch(Path(folders[0]))
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem and needed else 0


def fetch(folder: Path) -> str:
    """Put the files into the folder unless it has those of the pinned packages, and return the problem, if any."""
    lock = (ROOT / "package-lock.json").read_bytes()
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_bytes() == lock and all((folder / name).is_file() for name in FILES):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return f"npm is not installed, {CONSEQUENCE}. On Debian: apt install npm"
    with tempfile.TemporaryDirectory() as temporary:
        for name in PINNED:
            shutil.copy(ROOT / name, temporary)
        problem = _install(npm, Path(temporary))
        if not problem:
            _copy(Path(temporary) / "node_modules", folder)
            stamp.write_bytes(lock)
    return problem


def _install(npm: str, folder: Path) -> str:
    command = [npm, "ci", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1", "--loglevel=error"]
    try:
        completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"npm did not work, {CONSEQUENCE}: {problem}"
    if completed.returncode:
        message = completed.stderr.strip()
        return f"npm could not fetch the packages, {CONSEQUENCE}. Try again with a network. It said:\n{message}"
    return ""


def _copy(packages: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        shutil.copyfile(packages / source, folder / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

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
"""What is taken from the packages, and by which name."""

STAMP = ".fetched"
LONGEST_S = 300
WITHOUT = "so the graph of a run is a picture that cannot be moved"


def main(arguments: list[str]) -> int:
    """Download into a folder and print what is missing; that is a failure only in CI, or if the caller asks for it."""
    needed = "--needed" in arguments or os.environ.get("CI") == "true"
    folders = [one for one in arguments if one != "--needed"]
    if len(folders) != 1:
        print("usage: python tools/fetch_packages.py [--needed] FOLDER", file=sys.stderr)
        return 2
    problem = fetch(Path(folders[0]))
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem and needed else 0


def fetch(folder: Path) -> str:
    """Put the files into the folder unless it has those of the pinned packages; returns the error, if any."""
    pinned = (ROOT / "package-lock.json").read_bytes()
    stamp = folder / STAMP
    if stamp.is_file() and stamp.read_bytes() == pinned and all((folder / name).is_file() for name in FILES):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return f"npm is not installed, {WITHOUT}. On Debian: apt install npm"
    with tempfile.TemporaryDirectory() as place:
        for name in PINNED:
            shutil.copy(ROOT / name, place)
        problem = _installed(npm, Path(place))
        if not problem:
            _copy(Path(place) / "node_modules", folder)
            stamp.write_bytes(pinned)
    return problem


def _installed(npm: str, place: Path) -> str:
    command = [npm, "ci", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1", "--loglevel=error"]
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=LONGEST_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"npm did not work, {WITHOUT}: {problem}"
    if done.returncode:
        return f"npm could not fetch the packages, {WITHOUT}. Try again with a network. It said:\n{done.stderr.strip()}"
    return ""


def _copy(packages: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in FILES.items():
        shutil.copyfile(packages / source, folder / name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The package that draws the larger view: pinned, fetched by npm without running anything, and never needed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tools" / "fetch_packages.py"
FAKE_NPM = f"""#!{sys.executable}
import pathlib, sys
pathlib.Path({{log!r}}).write_text(" ".join(sys.argv[1:]))
if {{fails}}:
    sys.exit("npm error network down")
package = pathlib.Path("node_modules/cytoscape/dist")
package.mkdir(parents=True)
(package / "cytoscape.esm.min.mjs").write_text("export default 1;")
(package.parent / "LICENSE").write_text("a licence")
"""


def fetched(folder: Path, programs: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script where only these programs are found."""
    known = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        [sys.executable, str(SCRIPT), *options, str(folder)],
        capture_output=True, text=True, check=False, env=known | {"PATH": str(programs)} | environment,
    )  # fmt: skip


def an_npm(folder: Path, *, fails: bool = False) -> Path:
    """A folder of programs in which there is an npm that needs no network."""
    programs = folder / "bin"
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(FAKE_NPM.format(log=str(folder / "asked"), fails=fails), encoding="utf-8")
    npm.chmod(0o755)
    return programs


def test_packages_are_pinned() -> None:
    """Each has one version and a sum, the lock file agrees with the list, and neither names a server to ask."""
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    assert wanted["private"] is True
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted["dependencies"].values())
    assert lock["packages"][""]["dependencies"] == wanted["dependencies"]
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert {name.removeprefix("node_modules/") for name in packages} == set(wanted["dependencies"])
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert "resolved" not in json.dumps(lock)
    assert "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text(encoding="utf-8")


def test_a_package_to_build_from_has_all_that_building_needs() -> None:
    """What the wheel is built with is in the archive of sources, and what is fetched never gets into the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["hatch"]["build"]["targets"]
    needed = {"hatch_build.py", "tools/fetch_packages.py", "package.json", "package-lock.json", ".npmrc"}
    assert needed <= set(targets["sdist"]["include"])
    assert targets["wheel"]["hooks"]["custom"]["path"] == "hatch_build.py"
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/src/kiwiresearch/web/desk/static/vendor/", "/node_modules/"} <= set(ignored)


def test_fetched_packages_are_ready_to_serve(tmp_path: Path) -> None:
    """The script and its licence have the names that the web interface uses; npm runs no script of a package."""
    programs = an_npm(tmp_path)
    done = fetched(tmp_path / "vendor", programs)
    assert (done.returncode, done.stderr) == (0, "")
    names = sorted(file.name for file in (tmp_path / "vendor").glob("[!.]*"))
    assert names == ["cytoscape-LICENSE.txt", "cytoscape.js"]
    assert {"ci", "--ignore-scripts"} <= set((tmp_path / "asked").read_text(encoding="utf-8").split())


def test_existing_packages_are_not_fetched_again(tmp_path: Path) -> None:
    """A second time nothing is requested until other packages are pinned or a file is gone."""
    programs = an_npm(tmp_path)
    fetched(tmp_path / "vendor", programs)
    (tmp_path / "asked").unlink()
    assert fetched(tmp_path / "vendor", tmp_path).stderr == ""
    (tmp_path / "vendor" / "cytoscape.js").unlink()
    fetched(tmp_path / "vendor", programs)
    assert (tmp_path / "vendor" / "cytoscape.js").is_file()


@pytest.mark.parametrize(("has_npm", "expected"), [(False, "apt install npm"), (True, "Try again with a network")])
def test_packages_that_cannot_be_fetched_are_reported(tmp_path: Path, has_npm: bool, expected: str) -> None:
    """That is not a failure, except in CI and if the caller asks for it."""
    programs = an_npm(tmp_path, fails=True) if has_npm else tmp_path
    done = fetched(tmp_path / "vendor", programs)
    assert done.returncode == 0
    assert expected in done.stderr
    assert not (tmp_path / "vendor" / "cytoscape.js").exists()
    assert fetched(tmp_path / "vendor", programs, CI="true").returncode == 1
    assert fetched(tmp_path / "vendor", programs, "--needed").returncode == 1


STAND_IN = """
class BuildHookInterface:
    def __init__(self, root):
        self.root, self.app, self.warned = root, self, []

    def display_warning(self, words):
        self.warned.append(words)
"""
BUILD = """
import json, pathlib, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from hatch_build import CustomBuildHook
hook, data = CustomBuildHook(sys.argv[2]), {"force_include": {}}
hook.initialize(sys.argv[3], data)
there = {to: pathlib.Path(file).is_file() for file, to in data["force_include"].items()}
hook.finalize(sys.argv[3], data, "")
left = [file for file in data["force_include"] if pathlib.Path(file).exists()]
print(json.dumps({"there": there, "left": left, "warned": hook.warned}))
"""
VENDOR = "kiwiresearch/web/desk/static/vendor/"


@pytest.mark.parametrize(
    ("version", "has_npm", "names", "warned"),
    [
        ("standard", True, ["cytoscape-LICENSE.txt", "cytoscape.js"], False),
        ("standard", False, [], True),
        ("editable", True, [], False),
        ("editable", False, [], False),
    ],
)
def test_a_wheel_has_the_package_where_it_can(
    tmp_path: Path, version: str, has_npm: bool, names: list[str], warned: bool
) -> None:
    """A wheel is built with it, or without it and says so; an editable one asks for nothing; nothing is left behind."""
    interface = tmp_path / "hatchling" / "builders" / "hooks" / "plugin" / "interface.py"
    interface.parent.mkdir(parents=True)
    interface.write_text(STAND_IN, encoding="utf-8")
    programs = an_npm(tmp_path) if has_npm else tmp_path
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path), str(ROOT), version],
        capture_output=True, text=True, check=True, env={**os.environ, "PATH": str(programs)},
    )  # fmt: skip
    data = json.loads(done.stdout)
    assert data["there"] == {VENDOR + name: True for name in names}
    assert data["left"] == []
    assert bool(data["warned"]) is warned

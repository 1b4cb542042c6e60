"""What an operator is given: containers, a service of the system, and shortcuts."""

from __future__ import annotations

import os
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.deploy.nginx_server import DEPLOY, needs_curl
from tests.llm.servers import Talk, serving

from kiwiresearch.workspace.settings import defaults, environment_variable

SHORTCUTS = ("up", "down", "logs", "restart", "health", "ollama-check", "serve", "build-title-index", "fetch-model")
DOCKER = ("up", "down", "logs", "restart", "fetch-model")


def composed() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    with (DEPLOY / "compose.yaml").open(encoding="utf-8") as file:
        read: dict[str, Any] = yaml.safe_load(file)
    return read


def mounts(service: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Source, target and mode of each mount; where a variable is not set, its default counts."""
    found = []
    for volume in service.get("volumes", []):
        source, target, *mode = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", volume).split(":")
        found.append((source, target, mode[0] if mode else "rw"))
    return found


def make(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], **environment}
    command = [shutil.which("make") or "make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True)


def test_every_folder_and_file_that_is_mounted_is_there() -> None:
    """`docker compose up` on a fresh clone mounts nothing that is missing, which it would make as root."""
    read = composed()
    for service in read["services"].values():
        for source, _, _ in mounts(service):
            assert source in read["volumes"] or (DEPLOY / source).exists(), source
    build = read["services"]["kiwiresearch"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


def test_code_is_mounted_and_books_and_models_cannot_be_written() -> None:
    """Code of the clone runs in the container; books and models are read-only, and nothing is fetched (R246, R264)."""
    services = composed()["services"]
    desk = {target: (source, mode) for source, target, mode in mounts(services["kiwiresearch"])}
    assert desk["/app/src"] == ("../src", "ro")
    assert (desk["/books"][1], desk["/models"][1]) == ("ro", "ro")
    assert [mode for _, _, mode in mounts(services["ollama"]) + mounts(services["kiwix-serve"])] == ["ro", "ro"]
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert "HF_HUB_OFFLINE=1" in image
    assert "TRANSFORMERS_OFFLINE=1" in image
    assert re.search(r"^WORKDIR /app$.*^RUN pip install .*--editable", image, re.MULTILINE | re.DOTALL)


def test_only_nginx_is_reached_from_outside() -> None:
    """The programs have a network without a way out, and only nginx has ports, on loopback by default."""
    read = composed()
    assert read["networks"]["inside"] == {"internal": True}
    running = {name: service for name, service in read["services"].items() if "profiles" not in service}
    assert sorted(running) == ["kiwiresearch", "kiwix-serve", "nginx", "ollama"]
    assert [name for name, service in running.items() if "ports" in service] == ["nginx"]
    assert {name for name, service in running.items() if service["networks"] != ["inside"]} == {"nginx"}
    assert all(port.startswith("${DESK_LISTEN:-127.0.0.1}:") for port in running["nginx"]["ports"])


def test_nginx_gets_every_name_of_its_configuration() -> None:
    """Each name in braces of nginx.conf is given a value by compose.yaml and explained at the top of the file."""
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    names = {found["braced"] for found in string.Template.pattern.finditer(text) if found["braced"]}
    assert names == set(composed()["services"]["nginx"]["environment"])
    assert names <= set(re.findall(r"[A-Z_]+", text.partition("\n\n")[0]))


def test_the_example_of_settings_names_real_ones() -> None:
    """Every variable in the example is a setting of the program, or is used by compose.yaml."""
    text = (DEPLOY / "kiwiresearch.env.example").read_text(encoding="utf-8")
    names = set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE))
    used = set(re.findall(r"\$\{(\w+):-", (DEPLOY / "compose.yaml").read_text(encoding="utf-8")))
    assert used <= names
    assert names - used <= {environment_variable(key) for key in defaults()}


def test_settings_are_made_once_with_a_token_of_their_own(tmp_path: Path) -> None:
    """The first `make up` makes a long token that nobody else can read, and later ones leave it alone."""
    files = [tmp_path / "one.env", tmp_path / "two.env"]
    for file in files:
        subprocess.run([DEPLOY / "make-env", file], check=True, capture_output=True)
    tokens = [
        re.findall(r"^KIWIRESEARCH_SERVE_TOKEN=([0-9a-f]{48})$", file.read_text(), re.MULTILINE) for file in files
    ]
    assert [len(found) for found in tokens] == [1, 1]
    assert tokens[0] != tokens[1]
    assert files[0].stat().st_mode & 0o077 == 0
    before = files[0].read_text()
    subprocess.run([DEPLOY / "make-env", files[0]], check=True)
    assert files[0].read_text() == before


def test_the_container_serves_what_lies_in_its_folder(tmp_path: Path, sample_zim: Path) -> None:
    """The shelf is the folder of books: what was there before is forgotten, and a bad file does not stop the good."""
    books, home = tmp_path / "books", tmp_path / "home"
    books.mkdir()
    home.mkdir()
    shutil.copy(sample_zim, books / "good.zim")
    (books / "bad.zim").write_bytes(b"no book at all")
    (home / "shelf.json").write_text("left behind by another version")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    known = {"PATH": path, "KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_PORT": "0"}
    known["KIWIRESEARCH_ASK_READER"] = "false"  # to load the reading model takes longer than all else
    command = [str(DEPLOY / "start"), str(books)]
    with subprocess.Popen(command, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            reports = []
            for line in process.stderr:
                reports.append(line)
                if "is running at" in line:
                    break
            assert "is running at" in reports[-1], reports
            assert any("bad.zim" in line for line in reports)
            assert "good.zim" in (home / "shelf.json").read_text()
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _analyze(*words: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run([program, *words], capture_output=True, text=True)


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    """The unit is verified as it is, with the program where it is here, and is shut in well."""
    unit = tmp_path / "kiwiresearch.service"
    text = (DEPLOY / "kiwiresearch.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/kiwiresearch/start", str(DEPLOY / "start")))
    verified = _analyze("verify", "--man=no", str(unit))
    assert (verified.returncode, "kiwiresearch.service" in verified.stderr) == (0, False), verified.stderr
    weighed = _analyze("security", "--offline=yes", "--threshold=20", str(unit))
    assert weighed.returncode == 0, weighed.stdout


def test_the_unit_speaks_only_to_this_machine() -> None:
    """The service can only connect to this machine, as the program promises."""
    lines = (DEPLOY / "kiwiresearch.service").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("IPAddress")] == ["IPAddressDeny=any", "IPAddressAllow=localhost"]
    assert {"DynamicUser=yes", "ProtectSystem=strict", "PrivateTmp=yes", "NoNewPrivileges=yes"} <= set(lines)


def test_help_lists_every_target() -> None:
    """`make help` has a line for each thing make can do, the operator's shortcuts among them (R263)."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {name for line in re.findall(r"^\.PHONY:(.*)$", makefile, re.MULTILINE) for name in line.split()}
    listed = re.findall(r"^make (\S+) +\S", make("help").stdout, re.MULTILINE)
    assert set(listed) == targets
    assert set(SHORTCUTS) <= targets


@pytest.mark.parametrize("target", SHORTCUTS)
def test_a_shortcut_is_one_that_make_understands(target: str) -> None:
    """What each shortcut would do can be shown without doing it."""
    done = make("--dry-run", target, "MODEL=tiny")
    assert done.returncode == 0, done.stderr


def test_a_restart_recreates_containers_without_building() -> None:
    """`make restart` recreates by force, so that mounted code is picked up, and builds no image (R264)."""
    assert "up --detach --force-recreate --no-build" in make("--dry-run", "restart").stdout


@pytest.mark.parametrize("target", [*DOCKER, "health", "ollama-check"])
def test_a_shortcut_says_what_is_missing(target: str, tmp_path: Path) -> None:
    """Without docker or curl, one line says what to do, and nothing has been written."""
    before = sorted(DEPLOY.iterdir())
    done = make(target, PATH=str(tmp_path))
    assert done.returncode == 2
    assert re.match(rf"make {target} needs (Docker|curl).*(make serve|apt install)", done.stderr)
    assert sorted(DEPLOY.iterdir()) == before


@needs_curl
@pytest.mark.parametrize(
    ("models", "code", "expected"),
    [
        ([{"name": "tiny:1b"}, {"name": "small:4b"}], 0, "  tiny:1b\n  small:4b\n"),
        ([], 2, "has no model. Fetch one: ollama pull"),
    ],
)
def test_ollama_is_looked_at(models: list[dict[str, str]], code: int, expected: str) -> None:
    """`make ollama-check` says which models there are, or how to get one (R263)."""
    with serving(Talk.hang, {"/api/tags": {"models": models}}) as ollama:
        done = make("ollama-check", f"OLLAMA={ollama.address}")
    assert done.returncode == code
    assert expected in done.stdout + done.stderr


@needs_curl
@pytest.mark.parametrize(("target", "name"), [("health", "URL"), ("ollama-check", "OLLAMA")])
def test_a_server_that_is_away_is_reported(target: str, name: str) -> None:
    """If nobody answers, the shortcut says how to start it (R263)."""
    done = make(target, f"{name}=http://127.0.0.1:1")
    assert done.returncode == 2
    assert re.search(r"(No healthy server|not responding) at http://127\.0\.0\.1:1\. Start ", done.stderr)

"""`kiwiresearch sign`: a run is signed with a key of its author, and verified with the public one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.verify.verified_runs import a_finished_run, write_manifest

from kiwiresearch.runs.store_copy import remove_run_files

RunCommand = Callable[..., tuple[int, str, str]]
SIGNATURE = "manifest.json.sig"
needs_openssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed (on Debian: apt install openssh-client)"
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_finished_run(tmp_path_factory.mktemp("sign"))


@pytest.fixture
def run(finished: Path, home: Path, tmp_path: Path) -> Path:
    """A finished run; its book is beside it."""
    shutil.copytree(finished.parent, tmp_path / "place", ignore=shutil.ignore_patterns("state", "home"))
    return tmp_path / "place" / "run"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys of two people, as ssh-keygen makes them."""
    folder = tmp_path_factory.mktemp("keys")
    for name, comment in (("anna", "anna@desk"), ("ben", "Ben, *")):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(folder / name)]
        subprocess.run(command, check=True, timeout=60)
    return folder


def verify(kiwi: RunCommand, run: Path, *words: object) -> tuple[int, str, str]:
    return kiwi("verify", run, "--book", run.parent / "road.zim", *words)


@needs_openssh
def test_a_signed_run_says_whose_it_is(kiwi: RunCommand, run: Path, keys: Path) -> None:
    """Who has the author's public key sees who made the run, and the run itself stays as it was."""
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    code, out, err = kiwi("sign", run, "--key", keys / "anna")
    assert (code, out) == (0, f"Signed: {run / SIGNATURE}\n")
    assert "others need your public key" in err
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.name != SIGNATURE} == before
    code, out, err = verify(kiwi, run, "--signer", keys / "anna.pub")
    assert (code, err) == (0, "")
    signed = next(line for line in out.splitlines() if line.startswith("Signed"))
    assert re.fullmatch(r"Signed by anna@desk, with the key SHA256:[\w+/]{43}\.", signed)
    found = json.loads(verify(kiwi, run, "--signer", keys / "anna.pub", "--json")[1])
    assert found["signature"]["signer"] == "anna@desk"


@needs_openssh
def test_a_list_of_signers_names_them(kiwi: RunCommand, run: Path, keys: Path, tmp_path: Path) -> None:
    """Several public keys, or a list of allowed signers as Git and OpenSSH use it, will do; each has its name."""
    public = {name: (keys / f"{name}.pub").read_text() for name in ("anna", "ben")}
    kind, key, _ = public["ben"].split(" ", 2)
    (tmp_path / "keys").write_text(public["anna"] + public["ben"])
    (tmp_path / "allowed").write_text(f'# our team\nben@team.example namespaces="kiwiresearch-run" {kind} {key}\n')
    (tmp_path / "expired").write_text(f'ben@team.example valid-before="20200101" {kind} {key}\n')
    assert kiwi("sign", run, "--key", keys / "ben")[0] == 0
    assert "Signed by Ben---, " in verify(kiwi, run, "--signer", tmp_path / "keys")[1]
    assert "Signed by ben@team.example, " in verify(kiwi, run, "--signer", tmp_path / "allowed")[1]
    code, out, _ = verify(kiwi, run, "--signer", tmp_path / "expired")
    assert code == 1
    assert "which is not a valid key of" in out


@needs_openssh
def test_a_missing_or_wrong_signature_is_a_failure(kiwi: RunCommand, run: Path, keys: Path) -> None:
    """No signature, another's key, another manifest, or a damaged signature: each is said, and the exit code is 1."""
    anna = ("--signer", keys / "anna.pub")
    code, out, _ = verify(kiwi, run, *anna)
    assert (code, out.splitlines()[0]) == (
        1, f"✗ {SIGNATURE}: the run is not signed. Ask its author for the signature."
    )  # fmt: skip
    assert "Proved by repeating the research" in out
    kiwi("sign", run, "--key", keys / "ben")
    code, out, _ = verify(kiwi, run, *anna)
    assert code == 1
    assert re.match(rf"✗ {SIGNATURE}: it was made with the key SHA256:\S+, which is not a valid key of ", out)
    kiwi("sign", run, "--key", keys / "anna")
    assert verify(kiwi, run, *anna)[0] == 0
    write_manifest(run, topic="Another road")
    wrong = f"✗ {SIGNATURE}: it is not a signature of this manifest.json.\n"
    code, out, _ = verify(kiwi, run, *anna)
    assert code == 1
    assert wrong in out
    (run / SIGNATURE).write_text("-----BEGIN SSH SIGNATURE-----\n")
    assert wrong in verify(kiwi, run, *anna)[1]


@needs_openssh
def test_a_signature_for_something_else_does_not_count(kiwi: RunCommand, run: Path, keys: Path) -> None:
    """A signature that the same key made of the same file, but for another purpose, is refused."""
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(keys / "anna"), "-n", "file", str(run / "manifest.json")]
    subprocess.run(command, check=True, timeout=60)
    code, out, _ = verify(kiwi, run, "--signer", keys / "anna.pub")
    assert code == 1
    assert "it is not a signature of this manifest.json" in out


@needs_openssh
def test_a_signature_that_was_not_checked_is_mentioned(kiwi: RunCommand, run: Path, keys: Path) -> None:
    """A signature beside a run proves nothing by itself: without a signer's key, the result says so."""
    kiwi("sign", run, "--key", keys / "anna")
    code, out, err = verify(kiwi, run)
    assert code == 0
    assert "Signed" not in out
    assert f"{SIGNATURE} was not checked." in err


@needs_openssh
def test_a_signed_run_can_be_deleted(kiwi: RunCommand, run: Path, keys: Path) -> None:
    """The signature goes with the run."""
    kiwi("sign", run, "--key", keys / "anna")
    remove_run_files(run)
    assert not run.exists()


@needs_openssh
def test_what_cannot_be_signed(kiwi: RunCommand, run: Path, keys: Path, tmp_path: Path) -> None:
    """A changed run, a folder without one, and a file that is no key are refused with what to do."""
    assert kiwi("sign", tmp_path, "--key", keys / "anna")[0] == 1
    assert "does not contain a run" in kiwi("sign", tmp_path, "--key", keys / "anna")[2]
    assert "Enter the file of an SSH key" in kiwi("sign", run, "--key", tmp_path / "nothing")[2]
    code, _, err = kiwi("sign", run, "--key", run / "report.md")
    assert code == 2
    assert "Use a private SSH key, or the public key of one that your SSH agent has." in err
    (run / "run.log").write_text("nothing happened\n")
    code, _, err = kiwi("sign", run, "--key", keys / "anna")
    assert code == 1
    assert "The run was not signed: 'run.log' is missing, or was changed." in err
    assert not (run / SIGNATURE).exists()


def test_without_openssh_signing_says_what_to_install(
    kiwi: RunCommand, run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where ssh-keygen is missing, that is said; verifying without a signer needs no other program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").write_text("a key")
    code, _, err = kiwi("sign", run, "--key", tmp_path / "key")
    assert code == 1
    assert "Signatures need 'ssh-keygen', which was not found. Install OpenSSH." in err
    assert verify(kiwi, run)[0] == 0

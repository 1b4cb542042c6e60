"""Signatures of runs: a key of a person says that a run is theirs. OpenSSH's ssh-keygen makes and checks them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kiwiresearch.errors import BadUsage, ProgramMissing, RunDamaged
from kiwiresearch.runs import MANIFEST, SIGNATURE, file_content, read_manifest, reporting_write_errors
from kiwiresearch.system import write_atomically
from kiwiresearch.verify.ledger import Ledger, Signature

PROGRAM = "ssh-keygen"
NAMESPACE = "kiwiresearch-run"
"""What a signature is for: one that a key made for something else is not accepted."""
MAX_SIGNERS_BYTES = 2**20
# "ssh-ed25519" and "sk-ssh-ed25519@openssh.com" begin a public key; "ann@example.org" begins a line of allowed signers.
KEY_TYPE = re.compile(r"(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+")
NOT_IN_NAME = re.compile(r"[^\w.@+-]")
"""Includes wildcard characters, because ssh-keygen treats signer names as patterns."""
# Of the output 'Good "kiwiresearch-run" signature with ED25519 key SHA256:…'.
GOOD = re.compile(r"\bkey (?P<key>SHA256:\S+)")


def sign_run(folder: Path, key: Path) -> Path:
    """Sign the manifest of a finished run, which has the hashes of its files; returns the signature's file."""
    if damaged := read_manifest(folder).damaged_outputs(folder):
        raise RunDamaged(
            f"The run was not signed: {', '.join(map(repr, damaged))} is missing, or was changed.",
            remedy="To see what is wrong, run 'kiwiresearch verify'.",
        )
    _require_file(key, "Enter the file of an SSH key, such as ~/.ssh/id_ed25519. To make one: ssh-keygen -t ed25519")
    done = _ssh_keygen(["sign", "-q", "-f", str(key.absolute()), "-n", NAMESPACE], file_content(folder / MANIFEST))
    if done.returncode or not done.stdout:
        *_, why = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()] or [""]
        raise BadUsage(
            f"The run was not signed with {str(key)!r}: {why.rstrip('.')}.",
            remedy="Use a private SSH key, or the public key of one that your SSH agent has.",
        )
    with reporting_write_errors(folder):
        write_atomically(folder / SIGNATURE, done.stdout)
    return folder / SIGNATURE


def check_signature(folder: Path, signers: Path, ledger: Ledger) -> Signature | None:
    """Who of these signers signed a run; None, and a failure, if nobody did.

    The file is a public key, several of them, or a list of allowed signers as `ssh-keygen` has it.
    """
    _require_file(signers, "Enter a file with the signer's public key, such as id_ed25519.pub.")
    if not (folder / SIGNATURE).is_file():
        ledger.fail(SIGNATURE, "the run is not signed", remedy="Ask its author for the signature.")
        return None
    manifest, signature = file_content(folder / MANIFEST), file_content(folder / SIGNATURE)
    with TemporaryDirectory(prefix="kiwiresearch-") as temporary:
        allowed, made = Path(temporary) / "signers", Path(temporary) / SIGNATURE
        allowed.write_text(_allowed_signers(_text_of(signers)), encoding="utf-8")
        made.write_bytes(signature)
        verify_options = ["-n", NAMESPACE, "-s", str(made)]
        unverified = _ssh_keygen(["check-novalidate", *verify_options], manifest)
        found = GOOD.search(unverified.stdout.decode(errors="replace"))
        if unverified.returncode or found is None:
            ledger.fail(SIGNATURE, "it is not a signature of this manifest.json")
            return None
        # This lists everyone with that key; only `verify` checks from when to when, and for what, their key is allowed.
        names = _ssh_keygen(["find-principals", "-s", str(made), "-f", str(allowed)], b"")
        for name in names.stdout.decode(errors="replace").splitlines():
            if not _ssh_keygen(["verify", *verify_options, "-f", str(allowed), "-I", name], manifest).returncode:
                return Signature(name, found["key"])
        ledger.fail(SIGNATURE, f"it was made with the key {found['key']}, which is not a valid key of {str(signers)!r}")
        return None


def _allowed_signers(text: str) -> str:
    """A list of allowed signers, in which a public key has its comment as its owner's name."""
    return "".join(f"{_allowed_signer(line)}\n" for line in text.splitlines())


def _allowed_signer(line: str) -> str:
    kind, _, rest = line.strip().partition(" ")
    if not KEY_TYPE.fullmatch(kind):
        return line
    key, _, comment = rest.strip().partition(" ")
    return f"{NOT_IN_NAME.sub('-', comment.strip()) or 'signer'} {kind} {key}"


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_SIGNERS_BYTES).decode(errors="replace")
    except OSError as problem:
        raise BadUsage(f"The file {str(file)!r} cannot be read: {problem.strerror}.") from problem


def _require_file(file: Path, remedy: str) -> None:
    if not file.is_file():
        raise BadUsage(f"The file {str(file)!r} was not found.", remedy=remedy)


def _ssh_keygen(words: Sequence[str], data: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run a command on signatures; it asks for a passphrase on the terminal itself."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise ProgramMissing(
            f"Signatures need {PROGRAM!r}, which was not found.",
            remedy="Install OpenSSH. On Debian: apt install openssh-client",
        )
    return subprocess.run([program, "-Y", *words], input=data, capture_output=True, check=False)  # noqa: S603

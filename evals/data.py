"""The folder of shared data. Books and sets of others cannot be in the repository, so the folder is next to it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHARED_DATA = Path(os.environ.get("KIWIRESEARCH_SHARED_DATA", ROOT.parent / "shared" / "data"))


def digest_of(*files: Path) -> str:
    """A short hash of the files that figures were measured on."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]

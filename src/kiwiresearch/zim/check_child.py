"""The child process that opens and checks an unknown ZIM file."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from kiwiresearch.ids import canonical_json
from kiwiresearch.zim.integrity import Verdicts, probe_here


def main(arguments: list[str]) -> None:
    task, path, last = arguments
    if task == "probe":
        verdict = probe_here(Path(path), check=last == "check")
        print(canonical_json({"state": verdict.state, "reason": verdict.reason}))
    elif task == "check":
        with contextlib.suppress(AttributeError, OSError):
            os.nice(10)
        Verdicts(Path(last)).run_check(Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m fuzz` fuzzes all readers of untrusted content; `python -m fuzz NAME …` only those with these names.

FUZZ_MINUTES is the time for each. Content that breaks a reader is made as small as possible, saved in the folder
fuzz-findings and reported, and the exit code is 1.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.altered import altered_examples
from fuzz.targets import NAMES, Target, open_target

FINDINGS = Path("fuzz-findings")
TIMEOUT_S = 30
"""A reader that takes longer for one example counts as hanging."""
BATCH_EXAMPLES = 100
"""How many examples are tried before the time is checked again."""


class Hang(Exception):
    """A reader took too long."""


def main(names: list[str]) -> int:
    """Fuzz the targets one after another."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"There is no target {unknown[0]!r}. Choose from: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    budget_s = 60 * float(os.environ.get("FUZZ_MINUTES", "20"))
    broken = [name for name in names or NAMES if not _fuzz(name, budget_s)]
    return 1 if broken else 0


def _fuzz(name: str, budget_s: float) -> bool:
    """Fuzz a target until its time is up; returns whether nothing was found."""
    count, end, batch = 0, time.monotonic() + budget_s, 0
    last_content: list[bytes] = [b""]
    with open_target(name) as target:

        def check(content: bytes) -> None:
            nonlocal count
            count += 1
            last_content[0] = content
            _read_in_time(target, content)

        while time.monotonic() < end:
            batch += 1
            try:
                _run_batch(target, check, batch)
            except Exception as problem:
                FINDINGS.mkdir(exist_ok=True)
                file = FINDINGS / f"{name}-{batch}"
                file.write_bytes(last_content[0])
                print(f"{name}: {type(problem).__name__}: {problem} after {count} examples; see {file}", flush=True)
                return False
    print(f"{name}: {count} examples, nothing found", flush=True)
    return True


def _run_batch(target: Target, check: object, number: int) -> None:
    profile = settings(
        max_examples=BATCH_EXAMPLES,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    seed(number)(profile(given(altered_examples(target.examples, target.words))(check)))()  # type: ignore[arg-type]


def _read_in_time(target: Target, content: bytes) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"it took longer than {TIMEOUT_S} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIMEOUT_S)
    try:
        target.read(content)
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

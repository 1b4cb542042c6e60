"""`python -m fuzz` fuzzes every reader of untrusted content; with names, those. FUZZ_MINUTES is the time for each.

What breaks a reader is made as small as possible, saved under fuzz-findings, and reported; the exit code is then 1.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.altered import altered
from fuzz.targets import NAMES, Target, open_target

FINDINGS = Path("fuzz-findings")
SLOW_S = 30
"""A reader that takes longer than this for one example hangs."""
EXAMPLES = 100
"""How many examples are tried between two looks at the clock."""


class Hang(Exception):
    """A reader took too long."""


def main(names: list[str]) -> int:
    """Fuzz the targets one after the other."""
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"Unknown: {', '.join(unknown)}. Choose from: {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    budget_s = 60 * float(os.environ.get("FUZZ_MINUTES", "20"))
    broken = [name for name in names or NAMES if not _fuzz(name, budget_s)]
    return 1 if broken else 0


def _fuzz(name: str, budget_s: float) -> bool:
    """Whether a target survived its time."""
    tried, end, batch = 0, time.monotonic() + budget_s, 0
    smallest: list[bytes] = [b""]
    with open_target(name) as target:

        def check(content: bytes) -> None:
            nonlocal tried
            tried += 1
            smallest[0] = content
            _within_time(target, content)

        while time.monotonic() < end:
            batch += 1
            try:
                _batch(target, check, batch)
            except Exception as problem:
                FINDINGS.mkdir(exist_ok=True)
                file = FINDINGS / f"{name}-{batch}"
                file.write_bytes(smallest[0])
                print(f"{name}: {type(problem).__name__}: {problem} after {tried} examples; see {file}", flush=True)
                return False
    print(f"{name}: {tried} examples, nothing found", flush=True)
    return True


def _batch(target: Target, check: object, number: int) -> None:
    profile = settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    seed(number)(profile(given(altered(target.examples, target.words))(check)))()  # type: ignore[arg-type]


def _within_time(target: Target, content: bytes) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang(f"it took longer than {SLOW_S} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SLOW_S)
    try:
        target.read(content)
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

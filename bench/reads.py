"""Reading pages at random, as a crawl does: our cluster cache against libzim's default."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from evals.data import SHARED_DATA

CHILD = """
import json, sys, time
import libzim.reader
from libzim.reader import Archive
file, cache, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if cache:
    libzim.reader.set_cluster_cache_max_size(cache)
archive = Archive(file)
count = archive.entry_count
state = 20261115
spent = []
for _ in range(rounds):
    before = time.process_time()
    for _ in range(100):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        len(archive._get_entry_by_id((state >> 33) % count).get_item().content)
    spent.append(time.process_time() - before)
rss = 0
try:
    rss = int(open("/proc/self/statm").read().split()[1]) * 4096
except OSError:
    pass
print(json.dumps({"spent": spent, "rss": rss}))
"""
ROUNDS = 6


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES

    default = _measure(str(file), 0)
    ours = _measure(str(file), CLUSTER_CACHE_BYTES)
    lines = [
        f"100 pages at random, {ROUNDS} times over; cache {CLUSTER_CACHE_BYTES // 2**20} MiB against libzim's 16 MiB"
    ]
    for number, (one, other) in enumerate(zip(default.spent, ours.spent, strict=True), 1):
        times = f"default {one * 10:6.3f} ms a page, ours {other * 10:6.3f} ms"
        lines.append(f"round {number}: {times}: {one / other:5.1f} times faster")
    lines.append(f"memory of the process: default {default.rss_mib:.0f} MiB, ours {ours.rss_mib:.0f} MiB")
    return lines


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds for each hundred pages, and the memory of the process at the end."""

    spent: list[float]
    rss_mib: float


def _measure(file: str, cache: int) -> Measured:
    command = [sys.executable, "-c", CHILD, file, str(cache), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    row = json.loads(done.stdout.strip().splitlines()[-1])
    return Measured(row["spent"], row["rss"] / 2**20)

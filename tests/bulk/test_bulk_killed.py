from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.bulk.bulk_book import TABLES, tables_here

from kiwiresearch.bulk.run import BulkProgress

SCRIPT = """
import multiprocessing, sys
from pathlib import Path
from kiwiresearch.bulk.run import write_book

told = []

def tell(progress):
    told.append(progress)
    if len(told) == 2:
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        sys.stdin.read()

if __name__ == "__main__":
    file, out, what = sys.argv[1:]
    write_book(Path(file), what.split(","), Path(out), version="1", workers=2, batch=3, tell=tell)
"""
TIMEOUT_S = 60


def test_after_kill_nine_the_same_command_goes_on(harrow: Path, tmp_path: Path) -> None:
    """What was finished is kept, at most the batches under way are repeated, and the rows are those of one go."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(harrow), str(tmp_path / "out"), ",".join(TABLES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(workers) == 2
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out" / "pages").glob("*.parquet")}
    assert len(kept) == 2
    assert not (tmp_path / "out" / "manifest.json").exists()
    for pid in workers:
        assert ends(pid), f"the worker {pid} outlived the process it worked for"
    reports: list[BulkProgress] = []
    again = tables_here(harrow, TABLES, tmp_path / "out", version="1", tell=reports.append)
    whole = tables_here(harrow, TABLES, tmp_path / "whole", version="1")
    assert reports[0].resumed == 6
    assert {name: table.digest for name, table in again.tables.items()} == {
        name: table.digest for name, table in whole.tables.items()
    }
    assert all(file.stat().st_mtime_ns == when for file, when in kept.items())


def ends(pid: int) -> bool:
    """Whether a process is gone, or waits only for somebody to notice, before patience is."""
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False

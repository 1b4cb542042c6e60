"""`python -m soak` loads a server for SOAK_MINUTES, kills a worker each minute, and restarts it every ten.

SOAK_STORE is the address of a PostgreSQL database; without it, the server has its own SQLite files. At the end every
finished run and every family is verified, and what the server uses is compared with what it used at the start.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2

from soak.load import TIMEOUT_S, Load
from soak.verifier import Verifier

KILL_EVERY_S, RESTART_EVERY_S = 60.0, 600.0
START_TIMEOUT_S = 600.0
"""How long a start may take on a busy machine; a server that ends is noticed at once."""
WARM_UP_S = 60.0
"""What the server uses is first measured after this time, when books and indexes are open."""
CHILD = b"kiwiresearch.jobs.child"
LOG = "server.log"


@dataclass(frozen=True, slots=True)
class Use:
    """What a server uses."""

    memory_mb: int
    handles: int
    temporary_files: int
    disk_mb: int

    @classmethod
    def of(cls, process: int, home: Path, temporary: Path) -> Use:
        """Measured from the outside; the disk is what runs and families need, so it grows with them."""
        proc = Path("/proc") / str(process)
        status = dict(line.split(":", 1) for line in (proc / "status").read_text(encoding="utf-8").splitlines())
        return cls(
            memory_mb=int(status["VmRSS"].split()[0]) // 1024,
            handles=len(list((proc / "fd").iterdir())),
            temporary_files=sum(1 for _ in temporary.rglob("*")),
            disk_mb=sum(file.stat().st_size for file in home.rglob("*") if file.is_file()) // 2**20,
        )

    def __str__(self) -> str:
        return (
            f"{self.memory_mb} MB of memory, {self.handles} handles, {self.temporary_files} temporary files, "
            f"{self.disk_mb} MB on disk"
        )


class Server:
    """A server of the sample book that can be killed and started again at the same address."""

    def __init__(self, home: Path, temporary: Path, store: str) -> None:
        self.environment = os.environ | {
            "KIWIRESEARCH_HOME": str(home),
            "TMPDIR": str(temporary),
            "KIWIRESEARCH_SERVE_REQUESTS_A_MINUTE": "1000000",  # all users come from one address
            "KIWIRESEARCH_SERVE_FAMILY_OWNER": "true",  # only owners upload families
        }
        if store:
            self.environment["KIWIRESEARCH_STORE"] = store
        self._log = (home / LOG).open("ab")
        self._log_file = home / LOG
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def restart(self, *, is_killed: bool) -> None:
        """End the process, kindly or not, and start another."""
        self.stop(is_killed=is_killed)
        self._start()

    def stop(self, *, is_killed: bool = False) -> None:
        self._process.send_signal(signal.SIGKILL if is_killed else signal.SIGTERM)
        self._process.wait(TIMEOUT_S)

    def kill_a_worker(self) -> bool:
        """Kill one of the processes that do its jobs; False if there is none."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                if parent == str(self.pid) and CHILD in (folder / "cmdline").read_bytes():
                    os.kill(int(folder.name), signal.SIGKILL)
                    return True
            except OSError:  # it has ended
                continue
        return False

    def _start(self) -> None:
        command = [sys.executable, "-m", "kiwiresearch", "serve", "--port", str(self.port)]
        self._process = subprocess.Popen(command, env=self.environment, stdout=self._log, stderr=self._log)
        end = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                httpx2.get(f"{self.address}/api/health", trust_env=False, timeout=5)
            except httpx2.TransportError:
                time.sleep(0.2)
            else:
                return
        raise RuntimeError(f"The server did not start: {_log_text(self._log_file)[-1_000:]}")


def main() -> int:
    """Run the soak, and say what it showed."""
    minutes = float(os.environ.get("SOAK_MINUTES", "120"))
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        home, temporary = Path(folder) / "home", Path(folder) / "tmp"
        home.mkdir()
        temporary.mkdir()
        server = Server(home, temporary, os.environ.get("SOAK_STORE", ""))
        try:
            load, verifier = Load(server.address), Verifier(server.address, server.environment, Path(folder))
            load.start()
            verifier.start()
            killed, restarts = _disturb(server, load, 60 * minutes, home, temporary)
            load.stop()
            print(f"{dict(load.done)}; {killed} workers killed, {restarts} restarts", flush=True)
            print(f"at the end: {Use.of(server.pid, home, temporary)}", flush=True)
            faults = [*load.faults, *verifier.finish()]
            print(verifier.summary, flush=True)
        finally:
            server.stop()
        logged = _log_text(home / LOG).count("Traceback")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(faults)} faults, {logged} errors in the server's log", flush=True)
    return 1 if faults or logged else 0


def _log_text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _disturb(server: Server, load: Load, duration_s: float, home: Path, temporary: Path) -> tuple[int, int]:
    """Kill workers and restart the server until the time is over; how often each was done."""
    begin = time.monotonic()
    killed = restarts = 0
    has_measured = False
    next_kill, next_restart = begin + KILL_EVERY_S, begin + RESTART_EVERY_S
    while (now := time.monotonic()) < begin + duration_s:
        if not has_measured and now > begin + min(WARM_UP_S, duration_s / 2):
            has_measured = True
            print(f"at the start: {Use.of(server.pid, home, temporary)}", flush=True)
        if now > next_kill:
            killed += server.kill_a_worker()
            next_kill = now + KILL_EVERY_S
        if now > next_restart:
            restarts += 1
            load.away.set()
            load.restarts += 1
            server.restart(is_killed=restarts % 2 == 0)
            load.away.clear()
            next_restart = time.monotonic() + RESTART_EVERY_S
        time.sleep(1)
    return killed, restarts


if __name__ == "__main__":
    sys.exit(main())

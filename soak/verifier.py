"""What a loaded server has stored is verified: runs while the load goes on, jobs and families when it has ended."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from soak.load import TIMEOUT_S

PAGE = 100
"""Rows requested at a time."""
PAUSE_S = 20.0


@dataclass(slots=True)
class Verifier:
    """A thread that fetches finished runs and verifies each as a user would, with the command."""

    address: str
    environment: Mapping[str, str]
    folder: Path
    summary: str = ""
    _faults: dict[str, str] = field(default_factory=dict)
    """For each run that was verified what is wrong with it, or nothing."""
    _end: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def finish(self) -> list[str]:
        """Verify what is left; everything that is wrong."""
        self._end.set()
        if self._thread:
            self._thread.join()
        with self._client() as client:
            self._verify_new(client)
            jobs, cases = list(_rows(client, "/api/research", "jobs")), list(_rows(client, "/api/family", "cases"))
            faults = [f"job {job['id']} failed: {job['problem']}" for job in jobs if job["state"] == "failed"]
            for case in cases:
                proof = client.get(f"{case['url']}/verify").json()
                faults += [f"{case['url']}: {failure}" for failure in proof.get("failures", [str(proof)])]
        states = Counter(job["state"] for job in jobs)
        self.summary = f"{len(self._faults)} runs and {len(cases)} families verified; jobs: {dict(states)}"
        return [*faults, *filter(None, self._faults.values())]

    def _repeat(self) -> None:
        while not self._end.wait(PAUSE_S):
            try:
                with self._client() as client:
                    self._verify_new(client)
            except (httpx2.TransportError, KeyError):  # the server restarts; the next round tries again
                continue

    def _client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, trust_env=False, timeout=TIMEOUT_S)

    def _verify_new(self, client: httpx2.Client) -> None:
        for run in [run["id"] for run in _rows(client, "/api/runs", "runs")]:
            if run not in self._faults:
                self._faults[run] = self._verify(client, run)

    def _verify(self, client: httpx2.Client, run: str) -> str:
        folder = self.folder / "fetched" / run
        folder.mkdir(parents=True, exist_ok=True)
        for name in client.get(f"/api/runs/{run}").json()["files"]:
            (folder / name).write_bytes(client.get(f"/api/runs/{run}/files/{name}").content)
        command = [sys.executable, "-m", "kiwiresearch", "verify", str(folder)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        shutil.rmtree(folder)
        return f"verify {run}: {(done.stdout + done.stderr)[-300:]}" if done.returncode else ""


def _rows(client: httpx2.Client, path: str, name: str) -> Iterator[dict[str, Any]]:
    """All rows of a list that is sent in pages."""
    offset = 0
    while rows := client.get(path, params={"limit": PAGE, "offset": offset}).json()[name]:
        yield from rows
        offset += len(rows)

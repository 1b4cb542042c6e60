"""A real Open WebUI on loopback, which may not use the internet."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.conftest import free_port

START_S = 300.0
"""It makes its database first, and loads hundreds of packages."""
ANSWER_S = 60.0


@dataclass(frozen=True, slots=True)
class OpenWebUI:
    """A running Open WebUI, as its only user."""

    address: str
    http: httpx2.Client

    def models(self) -> set[str]:
        """The models it offers its user, without its own."""
        rows = self.http.get("/api/models").raise_for_status().json()["data"]
        return {row["id"] for row in rows if row["owned_by"] != "arena"}

    def chat(self, *messages: tuple[str, str]) -> list[dict[str, Any]]:
        """The events with which it answers a conversation, given as roles and texts."""
        body = {
            "model": "kiwiresearch",
            "stream": True,
            "messages": [{"role": role, "content": text} for role, text in messages],
        }
        with self.http.stream("POST", "/api/chat/completions", json=body) as reply:
            reply.raise_for_status()
            data = [line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data: {")]
        return [json.loads(line) for line in data]

    def search_with(self, **settings: str) -> None:
        """Set how it searches."""
        self.http.post("/api/v1/retrieval/config/update", json={"web": self._web() | settings}).raise_for_status()

    def _web(self) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get("/api/v1/retrieval/config").raise_for_status().json()["web"]
        return found

    def search(self, query: str) -> list[dict[str, str]]:
        """What its search for a chat finds."""
        found = self.http.post("/api/v1/retrieval/process/web/search", json={"queries": [query]}).raise_for_status()
        items: list[dict[str, str]] = found.json()["items"]
        return items


@contextlib.contextmanager
def running_open_webui(programs: Path, folder: Path, server: str, token: str) -> Iterator[OpenWebUI]:
    """Open WebUI with a server of ours as its model and its search."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [str(programs / "open-webui"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "open-webui.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=_environment(folder, server, token)
        ) as process,
        httpx2.Client(base_url=address, trust_env=False, timeout=ANSWER_S) as http,
    ):
        try:
            _wait(http, process, log)
            user = http.post("/api/v1/auths/signin", json={"email": "", "password": ""}).raise_for_status().json()
            http.headers["authorization"] = f"Bearer {user['token']}"
            yield OpenWebUI(address, http)
        finally:
            process.terminate()


def _wait(http: httpx2.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with contextlib.suppress(httpx2.TransportError):
            if http.get("/health").status_code == 200:
                return
        assert process.poll() is None, log.read_text(errors="replace")[-2_000:]
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-2_000:]
        time.sleep(1)


def _environment(folder: Path, server: str, token: str) -> dict[str, str]:
    """Its settings: no account, no internet, no models of its own, and our server for everything."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "DATA_DIR": str(folder / "data"),
        "WEBUI_SECRET_KEY": "test",
        "WEBUI_AUTH": "false",
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "DO_NOT_TRACK": "true",
        "ANONYMIZED_TELEMETRY": "false",
        "SCARF_NO_ANALYTICS": "true",
        "ENABLE_OLLAMA_API": "false",
        "OPENAI_API_BASE_URL": f"{server}/v1",
        "OPENAI_API_KEY": token,
        "RAG_EMBEDDING_ENGINE": "openai",  # or it loads a model from the internet
        "ENABLE_WEB_SEARCH": "true",
        "WEB_SEARCH_ENGINE": "external",
        "EXTERNAL_WEB_SEARCH_URL": f"{server}/owui/search",
        "EXTERNAL_WEB_SEARCH_API_KEY": token,
        "BYPASS_WEB_SEARCH_WEB_LOADER": "true",
        "BYPASS_WEB_SEARCH_EMBEDDING_AND_RETRIEVAL": "true",
    }

"""A real `kiwiresearch serve` behind a real nginx with the project's own configuration, all on loopback."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.conftest import ROOT, free_port

DEPLOY = ROOT / "deploy"
TOKEN = "long-and-secret"
BEARER = {"Authorization": f"Bearer {TOKEN}"}

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

MAIN = """\
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr error;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {more}
    include site.conf;
}}
"""

ALONE = "proxy_ignore_headers X-Accel-Buffering;"
"""Makes nginx deaf to the program's wish not to be buffered, so that only its own configuration counts."""


def nginx_program() -> str:
    """Where nginx is; not everybody's search path has the folder."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("nginx is missing: tools/install-programs should have installed it")
        pytest.skip("nginx is not installed (on Debian: apt install nginx-light)")
    return found


@dataclass(frozen=True, slots=True)
class Proxied:
    """Where readers reach the program and kiwix-serve."""

    desk: str
    kiwix: str

    def client(self, address: str = "127.0.0.1") -> httpx2.Client:
        """A client at an address of this machine that shows the token."""
        transport = httpx2.HTTPTransport(local_address=address)
        return httpx2.Client(base_url=self.desk, transport=transport, trust_env=False, timeout=20, headers=BEARER)


@contextlib.contextmanager
def server(home: Path, port: int, environment: Mapping[str, str]) -> Iterator[None]:
    """The program as its user starts it, with the sample book; it ends with the block."""
    command = [sys.executable, "-m", "kiwiresearch", "serve", "--port", str(port), "--book", "sample"]
    known = os.environ | {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_TOKEN": TOKEN, **environment}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=known) as process:
        try:
            assert process.stderr
            text = process.stderr.readline().decode()
            assert "kiwiresearch is running at" in text, text + process.stderr.read().decode()
            yield
        finally:
            process.terminate()
            process.communicate(timeout=30)


@contextlib.contextmanager
def nginx(desk: str, kiwix: str, more: str = "") -> Iterator[Proxied]:
    """The proxy for programs at these places, with nothing of the system's own nginx."""
    program = nginx_program()
    with tempfile.TemporaryDirectory(prefix="nginx-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # where the tests are root's, nginx works as nobody
        with _started(program, folder, desk, kiwix, more) as (process, ports):
            yield Proxied(*(f"http://127.0.0.1:{port}" for port in ports))
            assert process.poll() is None, process.stderr and process.stderr.read().decode()


@contextlib.contextmanager
def _started(
    program: str, folder: Path, desk: str, kiwix: str, more: str
) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """The process and its ports.

    It gets listeners that are open already, as one gets that takes over from another: nobody has to
    wait until it listens, and nobody else can have taken the port.
    """
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        listeners = (first, second)
        ports = [int(listener.getsockname()[1]) for listener in listeners]
        site = string.Template((DEPLOY / "nginx.conf").read_text(encoding="utf-8")).safe_substitute(
            LISTEN_DESK=f"127.0.0.1:{ports[0]}",
            LISTEN_KIWIX=f"127.0.0.1:{ports[1]}",
            KIWIRESEARCH_AT=desk,
            KIWIX_AT=kiwix,
            KIWIX_PORT=str(ports[1]),
            RESOLVER="127.0.0.1",
        )
        (folder / "site.conf").write_text(site, encoding="utf-8")
        (folder / "nginx.conf").write_text(MAIN.format(more=more), encoding="utf-8")
        fds = [listener.fileno() for listener in listeners]
        process = subprocess.Popen(
            [program, "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"],
            env={"NGINX": "".join(f"{fd};" for fd in fds), "PATH": os.environ.get("PATH", "")},
            pass_fds=fds,
            stderr=subprocess.PIPE,
        )
    with process:
        try:
            yield process, ports
        finally:
            process.terminate()
            process.communicate(timeout=30)


@contextlib.contextmanager
def proxied(home: Path, *, kiwix: str = "127.0.0.1:1", more: str = "", **environment: str) -> Iterator[Proxied]:
    """The program and nginx in front of it."""
    port = free_port()
    with nginx(f"127.0.0.1:{port}", kiwix, more) as front:
        public = {"KIWIRESEARCH_SERVE_PUBLIC_URL": front.desk}
        with server(home, port, public | environment):
            yield front

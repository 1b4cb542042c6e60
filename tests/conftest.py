"""Books and servers for the tests: real ZIM files built here, a real kiwix-serve on loopback."""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx2
import pytest
from hypothesis import HealthCheck, settings
from tests.postgres import postgres_server

from kiwiresearch.cli.start import run
from kiwiresearch.jobs.process import PROCESS_POOL
from kiwiresearch.system import write_atomically
from kiwiresearch.zim import book_writer, integrity
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, build_sample, write_book
from kiwiresearch.zim.integrity import FileCheck

__all__ = ["postgres_server"]

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")

ROOT = Path(__file__).parent.parent
SLOW_FOLDERS = (
    "hosts",
    "browser",
    "deploy",
    "bulk",
    "mcp",
    "llm",
    "web",
    "cli",
    "jobs",
    "store",
    "kin",
    "atlas",
    "zim",
)
"""The folders whose tests start browsers, servers and processes, those that wait longest first."""
SMALL_BYTES = 8 * 2**20
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""How many new objects trigger a garbage collection; a test makes far fewer that could be freed."""
# Loading the reading model takes longer than most tests; those that are about it switch it on.
os.environ.setdefault("KIWIRESEARCH_ASK_READER", "false")
# Starting a job process takes longer than most jobs, so tests share those of their worker.
PROCESS_POOL.idle_s = 300.0
SHARED_DATA = Path(os.environ.get("KIWIRESEARCH_SHARED_DATA", ROOT.parent / "shared" / "data"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Freeze all objects after collection, so that garbage collection does not visit thousands of tests again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose tests wait most, and leave tests of a folder together.

    A worker without tests takes some from the end of another's queue: quick ones come last, so no worker waits long
    for the others, and the browser and most servers are started by one worker and not by each.
    """
    turns = {folder: turn for turn, folder in enumerate(SLOW_FOLDERS)}
    items.sort(key=lambda item: turns.get(item.nodeid.split("/")[1], len(SLOW_FOLDERS)))  # tests/FOLDER/…


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real ZIM files and gold sets, which are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def _built_sample(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """The sample book, built by the first test that needs it and shared with all others."""

    @functools.cache
    def built() -> Path:
        target = tmp_path_factory.mktemp("sample") / "sample.zim"
        build_sample(target)
        return target

    return built


@pytest.fixture(scope="session")
def sample_zim(_built_sample: Callable[[], Path]) -> Path:
    """The sample book, built once for all tests."""
    return _built_sample()


@pytest.fixture(scope="session", autouse=True)
def _sample_for_every_home(_built_sample: Callable[[], Path]) -> Iterator[None]:
    """Homes get a copy of the sample book: it has the same bytes whenever it is built, and building takes a second."""

    def copied(target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{threading.get_ident()}")
        try:
            shutil.copyfile(_built_sample(), part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(book_writer, "build_sample", copied)
        yield


@pytest.fixture(scope="session", autouse=True)
def _same_bytes_checked_once() -> Iterator[None]:
    """Check the bytes of a small book in a process once for all tests, and not again for every new home.

    Only files that were found sound are remembered.
    """
    probe_in_process = integrity.probe
    sound: set[bytes] = set()

    def probe(path: Path, *, check: bool, timeout_s: float | None = integrity.PROBE_TIMEOUT_S) -> FileCheck:
        digest = b""
        is_plain = path.suffix == ".zim" and str(path).isprintable()  # libzim cannot open a name that is not text
        if check and is_plain and path.stat().st_size <= SMALL_BYTES:
            digest = hashlib.sha256(path.read_bytes()).digest()
        if digest in sound:
            return FileCheck("sound")
        verdict = probe_in_process(path, check=check, timeout_s=timeout_s)
        if digest and verdict == FileCheck("sound"):
            sound.add(digest)
        return verdict

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integrity, "probe", probe)
        yield


BookMaker = Callable[..., Path]


@pytest.fixture
def a_book(tmp_path: Path) -> BookMaker:
    """Builds a ZIM file from path and HTML."""
    return book_maker(tmp_path)


def book_maker(folder: Path) -> BookMaker:
    """Builds ZIM files in a folder, for fixtures that several tests share."""

    def make(
        pages: Mapping[str, str],
        redirects: Mapping[str, str] | None = None,
        *,
        name: str = "test.zim",
        main_path: str = "",
        index: bool = True,
        titles: Mapping[str, str] | None = None,
        **metadata: str,
    ) -> Path:
        known = {
            "Name": "test_en",
            "Title": "Test book",
            "Description": "A book for tests",
            "Language": "eng",
            "Creator": "tests",
            "Publisher": "tests",
            "Date": "2026-01-01",
        } | metadata
        named = titles or {}
        target = folder / name
        content = _book_bytes(
            tuple((p, named.get(p, p.replace("_", " ")), html) for p, html in pages.items()),
            tuple((redirects or {}).items()),
            tuple(known.items()),
            main_path,
            index,
        )
        write_atomically(target, content)  # a book of that name may be open
        return target

    return make


@functools.lru_cache(maxsize=64)
def _book_bytes(
    pages: tuple[tuple[str, str, str], ...],
    redirects: tuple[tuple[str, str], ...],
    metadata: tuple[tuple[str, str], ...],
    main_path: str,
    index: bool,
) -> bytes:
    """A book, built once for all tests of the same pages: its bytes are the same whenever it is built."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "book.zim")
        write_book(
            target,
            [NewPage(path, title, html.encode()) for path, title, html in pages],
            [NewRedirect(path, path.replace("_", " "), to) for path, to in redirects],
            metadata=dict(metadata),
            main_path=main_path,
            index=index,
        )
        return target.read_bytes()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user who has never run the program before."""
    folder = tmp_path / "home"
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return folder


RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kiwi(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    """Runs a command; returns its exit code, standard output and standard error."""

    def start(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return start


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def kiwix_serve() -> Iterator[Callable[..., str]]:
    """Starts Debian's kiwix-serve with some files and returns its address."""
    program = shutil.which("kiwix-serve")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("kiwix-serve is missing: tools/install-programs should have installed it")
        pytest.skip("kiwix-serve is not installed (on Debian: apt install kiwix-tools)")
    running: list[subprocess.Popen[bytes]] = []

    def start(*files: Path) -> str:
        port = free_port()
        command = [program, "-i", "127.0.0.1", "-p", str(port), "-t", "2", *map(str, files)]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        address = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                httpx2.get(f"{address}/catalog/v2/root.xml", trust_env=False, verify=False)
            except httpx2.TransportError:
                time.sleep(0.05)
            else:
                return address
        pytest.fail("kiwix-serve did not start")

    yield start
    for process in running:
        process.terminate()
        process.wait()

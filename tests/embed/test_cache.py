"""The cache of vectors: it never changes a result, and nothing that happens to its file is an error."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwiresearch.embed.embedder import EMBED_LRU_SIZE, CachedEmbedder, Vectors, unit_rows
from kiwiresearch.embed.static import StaticEmbedder
from kiwiresearch.errors import EmbedderError

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Letters:
    """An embedder that counts letters, and the texts it is given."""

    def __init__(self, name: str = "letters", size: int = len(LETTERS)) -> None:
        self.id = name
        self.dimensions = size
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        counts = [[text.count(letter) for letter in LETTERS[: self.dimensions]] for text in texts]
        return unit_rows(np.array(counts, np.float64).reshape(len(texts), self.dimensions))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


def _asked(file: Path | None, *calls: Sequence[str], lru_size: int = 0, max_vectors: int = 100) -> list[str]:
    """The texts that had to be embedded when a new process makes these calls."""
    letters = Letters()
    cached = CachedEmbedder(letters, file, lru_size=lru_size, max_vectors=max_vectors)
    for texts in calls:
        assert (cached.embed(texts) == Letters().embed(texts)).all()
    cached.close()
    return letters.asked


def test_a_text_is_embedded_once(file: Path) -> None:
    """What was embedded once comes from the file in the next process."""
    assert _asked(file, ["one", "two", "one"]) == ["one", "two"]
    assert _asked(file, ["two", "three", "one"]) == ["three"]


def test_leads_are_kept_in_memory_only_by_default() -> None:
    """Without a file nothing is written, and the last 64 vectors are still at hand (R223, R258)."""
    assert EMBED_LRU_SIZE == 64
    texts = [f"lead {number}" for number in range(65)]
    letters = Letters()
    cached = CachedEmbedder(letters)
    cached.embed(texts)
    cached.embed(texts[1:])
    assert len(letters.asked) == 65
    cached.embed(texts[:1])
    assert letters.asked[65:] == texts[:1]


def test_recently_used_vectors_stay_in_memory() -> None:
    """The vector that goes is the one not used for the longest time (R223)."""
    assert _asked(None, ["a"], ["b"], ["a"], ["c"], ["a"], ["b"], lru_size=2) == ["a", "b", "c", "b"]


@settings(max_examples=30)
@given(st.lists(st.lists(st.text("ab", max_size=3), max_size=5), max_size=6), st.integers(0, 4), st.integers(1, 6))
def test_the_cache_changes_no_bit(calls: list[list[str]], lru_size: int, max_vectors: int) -> None:
    """Whatever is asked in whatever order, the vectors are those of the embedder itself."""
    with tempfile.TemporaryDirectory() as folder:
        _asked(Path(folder) / "v", *calls, lru_size=lru_size, max_vectors=max_vectors)
        _asked(Path(folder) / "v", *calls, lru_size=lru_size, max_vectors=max_vectors)


def test_the_cache_changes_no_bit_of_the_default(file: Path) -> None:
    """The vectors of the default embedder survive the file bit for bit."""
    texts = ["Paris", "", "The quick brown fox", "naïve café", "Paris"]
    for _ in range(2):
        cached = CachedEmbedder(StaticEmbedder(), file)
        assert cached.embed(texts).tobytes() == StaticEmbedder().embed(texts).tobytes()
        cached.close()


def test_vectors_of_two_models_never_mix(file: Path) -> None:
    """Two embedders share a file, and each gets its own vectors."""
    for size in (5, 9, 5, 9):
        letters = Letters(f"letters-{size}", size)
        cached = CachedEmbedder(letters, file)
        assert cached.embed(["a bad cafe"]).shape == (1, size)
        cached.close()
    assert letters.asked == []


def test_a_model_that_changed_under_its_name_is_asked_again(file: Path) -> None:
    """Kept vectors of another length are not used, even when the name is the same."""
    for size in (5, 9):
        cached = CachedEmbedder(Letters("same", size), file)
        assert cached.embed(["a", "b"]).shape == (2, size)
        cached.close()


def test_the_file_is_bounded(file: Path) -> None:
    """When the file is full, the vectors not used for the longest time go."""
    _asked(file, ["a"], ["b"], ["c"], ["d"], max_vectors=4)
    _asked(file, ["a"], ["e"], max_vectors=4)
    assert _asked(file, ["a", "c", "d", "e"], max_vectors=4) == []
    assert _asked(file, ["b"], max_vectors=4) == ["b"]


def test_the_file_stays_small(file: Path) -> None:
    """A thousand texts through a file for fifty leave fifty."""
    for start in range(0, 1000, 50):
        _asked(file, [f"{number}" for number in range(start, start + 50)], max_vectors=50)
    base = sqlite3.connect(file)
    assert base.execute("SELECT count(*) FROM vectors").fetchone() == (50,)
    base.close()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def _noise(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[100:] = bytes(value ^ 0x5A for value in content[100:])
    file.write_bytes(content)


def _other_version(file: Path) -> None:
    base = sqlite3.connect(file)
    base.execute("PRAGMA user_version = 99")
    base.execute("ALTER TABLE vectors RENAME TO something")
    base.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "another kind of file": lambda file: file.write_bytes(b"these are no vectors " * 500),
    "cut short": _cut,
    "noise": _noise,
    "empty": lambda file: file.write_bytes(b""),
    "another version": _other_version,
    "gone": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_replaced(damage: Callable[[Path], object], file: Path) -> None:
    """A file that was spoilt costs the time to embed again, and works again afterwards."""
    texts = [f"text {number}" for number in range(60)]
    _asked(file, texts)
    damage(file)
    _asked(file, texts)
    assert _asked(file, texts) == []


def test_a_file_spoilt_while_open_is_replaced(file: Path) -> None:
    """The same while a process has it open."""
    texts = [f"text {number}" for number in range(60)]
    _asked(file, texts)
    cached = CachedEmbedder(Letters(), file, lru_size=0)
    _noise(file)
    for _ in range(3):
        assert (cached.embed(texts) == Letters().embed(texts)).all()
    cached.close()
    _asked(file, texts)
    assert _asked(file, texts) == []


def test_a_spoilt_vector_is_not_used(file: Path) -> None:
    """Bytes that changed in an otherwise sound file are noticed by their sum."""
    _asked(file, ["abc"])
    base = sqlite3.connect(file)
    base.execute("UPDATE vectors SET vector = zeroblob(length(vector))")
    base.commit()
    base.close()
    assert _asked(file, ["abc"]) == ["abc"]
    assert _asked(file, ["abc"]) == []


@pytest.mark.parametrize("place", ["a file/vectors", "a folder", "nul\0byte", "n" * 300])
def test_a_folder_that_cannot_be_used_is_not_an_error(place: str, tmp_path: Path) -> None:
    """If no file can be, vectors are kept in memory."""
    (tmp_path / "a file").write_text("")
    (tmp_path / "a folder").mkdir()
    assert _asked(tmp_path / place, ["one"], ["one"], lru_size=9) == ["one"]
    assert (tmp_path / "a file").read_text() == ""


@contextlib.contextmanager
def _unwritable(folder: Path) -> Iterator[None]:
    """The folder as someone sees it who may only read; a superuser becomes someone else for that."""
    modes = {path: path.stat().st_mode for path in (folder, *folder.iterdir())}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    superuser = hasattr(os, "geteuid") and os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.skipif(sys.platform == "win32", reason="folders have other permissions there")
def test_a_folder_that_cannot_be_written_is_read() -> None:
    """Vectors on a read-only disk are used; new ones are kept in memory."""
    folder = Path(tempfile.mkdtemp())
    try:
        _asked(folder / "v", ["one", "two"])
        with _unwritable(folder):
            assert _asked(folder / "v", ["one", "three"], ["three", "two"], lru_size=9) == ["three"]
        assert _asked(folder / "v", ["three"]) == ["three"]
    finally:
        shutil.rmtree(folder)


def test_several_processes_at_once(file: Path) -> None:
    """Processes that fill one new file at the same time all get the right vectors, and leave it sound."""
    code = (
        "import sys; from pathlib import Path; from tests.embed.test_cache import Letters, CachedEmbedder\n"
        "cached = CachedEmbedder(Letters(), Path(sys.argv[1]), lru_size=0)\n"
        "for start in range(0, 200, 10):\n"
        "    texts = [f'{number}' for number in range(start, start + 30)]\n"
        "    assert (cached.embed(texts) == Letters().embed(texts)).all()\n"
    )
    root = Path(__file__).parent.parent.parent
    command = [sys.executable, "-c", code, str(file)]
    running = [subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[1] for process in running] == ["", "", ""]
    base = sqlite3.connect(file)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    base.close()
    assert _asked(file, [f"{number}" for number in range(200)], max_vectors=1000) == []


def test_a_busy_file_is_not_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process locks the file, vectors are made again without waiting."""
    monkeypatch.setattr("kiwiresearch.embed.embedder.BUSY_S", 0.01)
    _asked(file, ["one"])
    base = sqlite3.connect(file, isolation_level=None)
    base.execute("BEGIN EXCLUSIVE")
    _asked(file, ["one", "two"])
    base.execute("ROLLBACK")
    base.close()


def test_several_threads_at_once(file: Path) -> None:
    """Threads of one process may share a cache."""
    cached = CachedEmbedder(Letters(), file, lru_size=5)
    wrong: list[str] = []

    def work(start: int) -> None:
        for number in range(start, start + 40):
            texts = [f"{number}", f"{number % 7}"]
            if not (cached.embed(texts) == Letters().embed(texts)).all():
                wrong.extend(texts)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 20, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cached.close()
    assert wrong == []


def test_an_error_of_the_embedder_is_passed_on(file: Path) -> None:
    """A failing embedder leaves no half-made vectors behind."""

    class Failing(Letters):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise EmbedderError("The embedder is ill.")

    cached = CachedEmbedder(Failing(), file)
    with pytest.raises(EmbedderError, match="ill"):
        cached.embed(["one"])
    cached.close()
    assert _asked(file, ["one"]) == ["one"]


def test_nothing_asked_is_nothing_given(file: Path) -> None:
    """No texts give no rows, in the right shape."""
    cached = CachedEmbedder(Letters(), file)
    assert cached.embed([]).shape == (0, len(LETTERS))
    cached.close()

"""What a model said is kept for a while: by key, by the clock, once for all who ask together."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.search.model_phrases import TTL_S, PhraseCache


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Oracle:
    """Says the next of its answers and counts how often it was asked."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self) -> tuple[str, ...]:
        self.asked += 1
        return self.answers.pop(0)


def unreachable() -> tuple[str, ...]:
    raise ModelUnreachable("It is asleep.")


def test_the_same_key_is_asked_once() -> None:
    """A second request for the same thing is answered from the cache (R196)."""
    cache, oracle = PhraseCache(Clock()), Oracle(("mercury", "mercury planet"))
    assert cache.get("k", oracle) == cache.get("k", oracle) == ("mercury", "mercury planet")
    assert oracle.asked == 1


def test_other_keys_are_asked_for_themselves() -> None:
    """What is kept for one term is not given for another."""
    cache = PhraseCache(Clock())
    cache.get("disambig_candidates:mercury", Oracle(("mercury",)))
    assert cache.get("disambig_candidates:galaxy", Oracle(("galaxy",))) == ("galaxy",)


@pytest.mark.parametrize(
    ("later", "kept"),
    [(0.0, True), (3_599.9, True), (3_600.0, False), (86_400.0, False), (-1.0, False)],
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_kept_answer_is_valid_for_an_hour(tmp_path: Path, later: float, kept: bool, on_disk: bool) -> None:
    """An answer is used until its time is over, and not when the clock was set back (R200)."""
    clock, oracle = Clock(), Oracle(("old",), ("new",))
    folder = tmp_path if on_disk else None
    cache = PhraseCache(clock, folder)
    cache.get("k", oracle)
    clock.now += later
    fresh = PhraseCache(clock, folder) if on_disk else cache
    assert fresh.get("k", oracle) == (("old",) if kept else ("new",))
    assert TTL_S == 3_600


def test_the_time_can_be_set() -> None:
    """A user's own time to live counts; none at all asks every time (R200)."""
    clock = Clock()
    short, oracle = PhraseCache(clock, ttl_s=10), Oracle(("a",), ("b",))
    short.get("k", oracle)
    clock.now += 10
    assert short.get("k", oracle) == ("b",)
    none, oracle = PhraseCache(clock, ttl_s=0), Oracle(("a",), ("b",))
    none.get("k", oracle)
    assert none.get("k", oracle) == ("b",)


def test_a_failure_is_passed_on_and_not_kept(tmp_path: Path) -> None:
    """After a failure the next request asks again, in this process and in the next (R198)."""
    cache = PhraseCache(Clock(), tmp_path)
    with pytest.raises(ModelUnreachable):
        cache.get("k", unreachable)
    assert list(tmp_path.iterdir()) == []
    assert cache.get("k", Oracle(("a",))) == ("a",)


def test_another_process_finds_what_was_kept(tmp_path: Path) -> None:
    """What is kept in a folder outlives the process, and the file says under which key (R195)."""
    key = "disambig_candidates:mercury"
    PhraseCache(Clock(5.0), tmp_path).get(key, Oracle(("mercury", "mercury planet")))
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text()) == {"key": key, "at": 5.0, "phrases": ["mercury", "mercury planet"]}
    assert PhraseCache(Clock(6.0), tmp_path).get(key, unreachable) == ("mercury", "mercury planet")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"key": "k"}', b'{"key":"k","at":"x","phrases":["a"]}',
        b'{"key":"k","at":NaN,"phrases":["a"]}', b'{"key":"k","at":5,"phrases":7}', b'{"key":"k","at":5,"phrases":[]}',
        b'{"key":"other","at":5,"phrases":["a"]}',
    ],
)  # fmt: skip
def test_a_damaged_cache_file_is_ignored(tmp_path: Path, content: bytes) -> None:
    """A kept file that is damaged or of another key is not believed, and is written again."""
    cache = PhraseCache(Clock(5.0), tmp_path)
    cache.get("k", Oracle(("a",)))
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert PhraseCache(Clock(5.0), tmp_path).get("k", Oracle(("b",))) == ("b",)
    assert json.loads(file.read_text())["phrases"] == ["b"]


def test_a_folder_that_cannot_be_written_costs_only_the_file(tmp_path: Path) -> None:
    """If a file is in the folder's place, answers are still given and kept in memory."""
    place = tmp_path / "routing"
    place.write_text("no folder")
    cache, oracle = PhraseCache(Clock(), place), Oracle(("a",))
    assert cache.get("k", oracle) == cache.get("k", oracle) == ("a",)


def test_equal_requests_at_once_are_one_call() -> None:
    """Threads that want the same thing while it is being asked wait for the one answer (R196)."""
    cache = PhraseCache(Clock())
    asking, released = threading.Event(), threading.Event()
    asked: list[int] = []

    def slow() -> tuple[str, ...]:
        asked.append(1)
        asking.set()
        assert released.wait(60)
        return ("mercury",)

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(cache.get, "k", slow)
        assert asking.wait(60)
        started = threading.Barrier(8)

        def follow() -> tuple[str, ...]:
            started.wait(60)
            return cache.get("k", slow)

        others = [pool.submit(follow) for _ in range(7)]
        started.wait(60)
        released.set()
        assert {one.result(60) for one in (first, *others)} == {("mercury",)}
    assert len(asked) == 1


def test_a_slow_call_delays_no_other() -> None:
    """While one key is being asked, another is answered."""
    cache = PhraseCache(Clock())
    asking, released = threading.Event(), threading.Event()

    def slow() -> tuple[str, ...]:
        asking.set()
        assert released.wait(60)
        return ("slow",)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache.get, "slow", slow)
        assert asking.wait(60)
        assert cache.get("quick", Oracle(("quick",))) == ("quick",)
        released.set()
        assert waiting.result(60) == ("slow",)


def test_threads_that_waited_for_a_failure_ask_themselves() -> None:
    """A thread that waited for a question that failed asks its own (R198)."""
    cache = PhraseCache(Clock())
    asking, released = threading.Event(), threading.Event()

    def failing() -> tuple[str, ...]:
        asking.set()
        assert released.wait(60)
        return unreachable()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "k", failing)
        assert asking.wait(60)
        second = pool.submit(cache.get, "k", Oracle(("a",)))
        released.set()
        assert isinstance(first.exception(60), ModelUnreachable)
        assert second.result(60) == ("a",)

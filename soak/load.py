"""What users do to a server at once: ask, search, read, research, cancel, keep families, and upload them."""

from __future__ import annotations

import contextlib
import random  # noqa: TID251 (what users do is by chance, from a fixed seed)
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

TOPICS = ("Bronze Age collapse", "Sunset", "Rayleigh scattering", "Ugarit", "Alexander Hamilton", "Abigail Adams")
QUESTIONS = (
    "Why is the sky blue?",
    "When was Ugarit destroyed?",
    "Who was Ramesses III?",
    "What is the capital of Mars?",
)
PEOPLE = ("Alexander Hamilton", "Abigail Adams", "John Adams")
MAX_FAMILIES = 8
"""Families that are kept; later uploads go into one of them."""
MAX_UPLOADED = 200
"""How many people an uploaded family has at most."""
MAX_WAITING = 6
"""Research jobs that may wait; more are not requested."""
PAUSE_S = 2.0
RESEARCH_PAUSE_S = 20.0
"""Longer, because every run is verified too, which takes as long as the run."""
TIMEOUT_S = 300.0
IMPORT = "/api/family/import"
A_FILE = {"Content-Type": "application/octet-stream"}
BAD_FILE = 400
"""What a server answers to a file whose beginning is not that of a family file."""
REFUSED = (409, 429, 503)
"""What a server may answer that is busy, or has just ended what somebody wants to cancel."""


@dataclass(slots=True)
class Load:
    """Threads that use a server, and what they got."""

    address: str
    seed: int = 0
    done: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    away: threading.Event = field(default_factory=threading.Event)
    """Set while the server restarts."""
    restarts: int = 0
    """How often the server was restarted."""
    _end: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Start two threads of each kind of user."""
        kinds: tuple[Callable[[httpx2.Client, random.Random], None], ...] = (ask, read, research, keep_family, upload)
        for number, use in enumerate(kinds * 2):
            thread = threading.Thread(target=self._repeat, args=(use, random.Random(self.seed + number)), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Let every thread finish what it does."""
        self._end.set()
        for thread in self._threads:
            thread.join(TIMEOUT_S)

    def _repeat(self, use: Callable[[httpx2.Client, random.Random], None], chance: random.Random) -> None:
        with httpx2.Client(base_url=self.address, trust_env=False, timeout=TIMEOUT_S) as client:
            while not self._end.is_set():
                was_away, restarts = self.away.is_set(), self.restarts
                try:
                    use(client, chance)
                    self.done[use.__name__] += 1
                except (httpx2.TransportError, Fault) as problem:
                    # A restart breaks connections; nothing else may.
                    if not was_away and restarts == self.restarts:
                        self.faults.append(f"{use.__name__}: {type(problem).__name__}: {problem}")
                self._end.wait(chance.uniform(0, PAUSE_S))


class Fault(Exception):
    """The server gave an answer that it must not give."""


def ask(client: httpx2.Client, chance: random.Random) -> None:
    """A question has citations first and an answer, or an honest refusal."""
    answer = _json(client.post("/api/ask", json={"question": chance.choice(QUESTIONS)}))
    if answer and "answer" not in answer:
        raise Fault(f"an answer without its field: {sorted(answer)}")


def read(client: httpx2.Client, chance: random.Random) -> None:
    """Search, open the page that is found, and look at its claims."""
    found = _json(client.get("/api/search", params={"q": chance.choice(TOPICS)}))
    for result in (found or {}).get("results", [])[:1]:
        _json(client.get("/api/claims", params={"title": result["title"]}))
    for path in ("/", "/books", "/research", "/family"):
        _check(client.get(path))


def research(client: httpx2.Client, chance: random.Random) -> None:
    """Request research; one job in four is cancelled, and half of these are continued."""
    time.sleep(chance.uniform(0, RESEARCH_PAUSE_S))
    jobs = _json(client.get("/api/research"))
    if jobs is None or sum(job["state"] in ("queued", "running") for job in jobs["jobs"]) >= MAX_WAITING:
        return
    job = _json(client.post("/api/research", json={"topic": chance.choice(TOPICS), "max_pages": chance.randint(3, 12)}))
    if job and chance.random() < 1 / 4:
        time.sleep(chance.uniform(0, PAUSE_S))
        _check(client.post(f"{job['url']}/cancel"))
        if chance.random() < 1 / 2:
            _check(client.post(f"{job['url']}/resume"))


def keep_family(client: httpx2.Client, chance: random.Random) -> None:
    """Start a family, or look at one and export it."""
    cases = _json(client.get("/api/family"))
    if cases is None:
        return
    if len(cases["cases"]) < len(PEOPLE) and chance.random() < 1 / 4:
        _json(client.post("/api/family", json={"names": [chance.choice(PEOPLE)], "max_steps": 3}))
    for case in cases["cases"][:1]:
        for part in ("tree", "timeline", "export/gedcom"):
            _check(client.get(f"{case['url']}/{part}"))


def upload(client: httpx2.Client, chance: random.Random) -> None:
    """Upload the file of a family, whole or damaged, as a new family or into one that is kept."""
    cases = _json(client.get("/api/family"))
    if cases is None:
        return
    people = chance.randint(2, MAX_UPLOADED)
    content = _family_file(people)
    if chance.random() < 1 / 4:
        content = content[: chance.randrange(len(content))]
    into = f"{chance.choice(cases['cases'])['url']}/import" if len(cases["cases"]) >= MAX_FAMILIES else IMPORT
    response = client.post(into, params={"name": f"uploaded-{people}.ged"}, content=content, headers=A_FILE)
    if response.status_code != BAD_FILE:
        _json(response)


def _family_file(people: int) -> bytes:
    """A line of descent as GEDCOM: each person is the child of the one before."""
    lines = ["0 HEAD", "1 GEDC", "2 VERS 5.5.1", "1 CHAR UTF-8"]
    for number in range(people):
        lines += [f"0 @I{number}@ INDI", f"1 NAME Person{number} /Lee/", "1 BIRT", f"2 DATE {1000 + number}"]
        lines += [f"1 FAMC @F{number - 1}@"] if number else []
        lines += [f"0 @F{number}@ FAM", f"1 HUSB @I{number}@"]
        lines += [f"1 CHIL @I{number + 1}@"] if number + 1 < people else []
    return "\n".join([*lines, "0 TRLR", ""]).encode()


def _check(response: httpx2.Response) -> bool:
    """Whether the server did what was requested; it may be busy, but must not fail."""
    if response.status_code >= 400 and response.status_code not in REFUSED:
        raise Fault(f"{response.request.url} answered {response.status_code}: {response.text[:200]}")
    return response.is_success


def _json(response: httpx2.Response) -> dict[str, Any] | None:
    """The reply, or None if the server refused."""
    with contextlib.suppress(ValueError):
        if _check(response):
            found: dict[str, Any] = response.json()
            return found
    return None

"""Write the examples of docs/API.md: commands and their output from a real server with the sample book.

Run it after a change of the server: python tools/make_api_docs.py

The generated parts of the page are between <!-- made: NAME --> and <!-- end -->.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "API.md"
SHOWN_ADDRESS = "http://127.0.0.1:8321"
"""The address of the server on the page; the real one listens on any free port."""
SAMPLE = "e6d1ee30-ad6e-83c3-53cc-fdb07fd7b7ac"
RUN = "bronze-age-collapse-1"
CASE = "07f6105641cd"
PERSON = "cbf5920c-582b-59b5-89ac-2545082feab3"
"""Alexander Hamilton; the case starts with him."""
START = "from kiwiresearch.cli.server import serve; serve(port=0, book=['sample'])"
MARKED = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
STATUS = "\n%{http_code}"
TIMEOUT_S = 60
MAX_LINE_CHARS = 110
"""Longer texts are cut, and values are written in one line if it is not longer."""
MAX_LINES = 16


@dataclass(frozen=True, slots=True)
class Example:
    """A request as a reader would type it, and the status of its response."""

    path: str
    body: dict[str, Any] | None = None
    status: int = 200
    options: str = ""
    only: tuple[str, ...] = ()
    """The fields or headers to show, if all would be too many."""
    rows: tuple[str, ...] = ()
    """The fields to show of rows in lists."""
    at_end: tuple[str, ...] = ()
    """The fields to show of the last event of a stream."""
    items: int = 1
    """How many rows of a list to show."""

    def command(self) -> str:
        words = ["curl -s", *([self.options] if self.options else []), shlex.quote(SHOWN_ADDRESS + self.path)]
        line = " ".join(words)
        if self.body is None:
            return line
        body = json.dumps(self.body, ensure_ascii=False)
        return f"{line} \\\n  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}"


SUNSET = "Why is the sky orange at sunset?"
EINSTEIN = "When was Einstein born?"
TURN = {"question": EINSTEIN, "subject": "Albert Einstein", "answer": "14 March 1879"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "ask", "arguments": {"question": EINSTEIN}},
}

ANSWER_FIELDS = ("question", "route", "grounded", "answer", "short", "sure")
JOB_FIELDS = ("id", "state", "pages", "story", "run")
CLAIM_FIELDS = ("claim", "claim_type", "confidence", "subject", "spans", "support_snippets")

EXAMPLES = {
    "health": Example("/api/health"),
    "ask": Example("/api/ask", {"question": EINSTEIN}),
    "ask-address": Example("/api/ask?q=When+was+Einstein+born%3F&k=2", only=ANSWER_FIELDS),
    "follow-up": Example(
        "/api/ask",
        {"question": "And where?", "turns": [TURN]},
        only=("question", "asked", "subject", "grounded", "answer"),
    ),
    "refusal": Example(
        "/api/ask",
        {"question": "Who won the zorbing cup of Xqzzl?"},
        only=("question", "route", "why", "grounded", "answer", "citations"),
    ),
    "chat": Example("/api/chat", {"question": SUNSET, "k": 6, "mode": "default"}, options="-N", at_end=ANSWER_FIELDS),
    "one-page": Example(
        "/api/answer_from_page",
        {"path": "Sunset", "question": "Why is it orange?"},
        options="-N",
        only=("route", "why", "grounded", "citations", "text", "answer"),
        rows=("id", "title", "url", "section"),
        at_end=ANSWER_FIELDS,
    ),
    "search": Example("/api/search?q=mercury&limit=3"),
    "suggest": Example("/api/suggest?q=suns&limit=3", items=3),
    "books": Example("/api/books"),
    "page": Example(
        "/api/page?title=Hattusa",
        only=("id", "book", "path", "title", "url", "lead", "sections", "links", "infoboxes", "categories", "signals"),
    ),
    "section": Example(
        "/api/page?title=Hattusa&section=The+end+of+the+city", only=("title", "url", "sections"), items=3
    ),
    "claims": Example("/api/claims?title=Ugarit&type=timeline", rows=CLAIM_FIELDS),
    "claims-text": Example(
        "/api/claims",
        {"text": "Hattusa was burned about 1180 BC. It may have been abandoned before.", "title": "Hattusa"},
        only=("title", "hedges", "claims"),
        rows=CLAIM_FIELDS,
    ),
    "not-found": Example("/api/page?title=Hatusa", status=404),
    "not-valid": Example("/api/ask", {"question": EINSTEIN, "k": 100}, status=422),
    "research": Example(
        "/api/research",
        {"topic": "Bronze Age collapse", "max_pages": 5},
        status=202,
        only=("id", "topic", "max_pages", "asked_at", "url", "events"),
    ),
    "research-events": Example(f"/api/research/{RUN}/events", options="-N", at_end=JOB_FIELDS),
    "research-job": Example(f"/api/research/{RUN}", only=JOB_FIELDS),
    "run": Example(f"/api/runs/{RUN}"),
    "run-file": Example(f"/api/runs/{RUN}/files/report.md"),
    "run-claims": Example(f"/api/runs/{RUN}/claims?type=timeline&min_confidence=0.7&limit=1", rows=CLAIM_FIELDS),
    "family": Example(
        "/api/family",
        {"names": ["Alexander Hamilton"]},
        status=201,
        only=("id", "title", "seeds", "people", "privacy", "owner", "url"),
    ),
    "family-run": Example(f"/api/family/{CASE}/run", {"steps": 3}, status=202, only=("id", "case", "url", "events")),
    "family-events": Example(
        "/api/research/family-1/events",
        options="-N",
        only=("event", "stage", "order", "what", "words"),
        at_end=("id", "state", "pages", "case"),
    ),
    "family-person": Example(
        f"/api/family/{CASE}/people/{PERSON}",
        only=("name", "birth", "living", "parents", "facts"),
        rows=("name", "field", "value", "status", "confidence", "evidence"),
    ),
    "family-forbidden": Example(f"/api/family/{CASE}/people?privacy=owner", status=403),
    "models": Example("/v1/models", items=5),
    "completion": Example(
        "/v1/chat/completions", {"model": "kiwiresearch", "messages": [{"role": "user", "content": EINSTEIN}]}
    ),
    "searxng": Example("/search?q=sunset&format=json"),
    "external-search": Example("/owui/search", {"query": "sunset", "count": 2}, items=2),
    "mcp": Example("/mcp", CALL, options="-H 'Accept: application/json, text/event-stream'"),
    "read": Example(f"/read/{SAMPLE}/Sunset?mark=0-6", options="-I", only=("content-type", "content-security-policy")),
}
"""The examples in the order in which they are run, since some need the results of others."""

TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
COMPLETION = re.compile(r"chatcmpl-[0-9a-f]+")
MASKS = {"created": 1767225600, "fingerprint": "sha256:…"}


def generate(work: Path) -> dict[Path, str]:
    """Generate the page; returns its text by its path."""
    with serving(work) as address:
        blocks = {name: format_block(example, address) for name, example in EXAMPLES.items()}
    page = PAGE.read_text(encoding="utf-8")
    return {PAGE: MARKED.sub(lambda found: f"{found[1]}{blocks[found[2]]}{found[3]}", page)}


@contextlib.contextmanager
def serving(work: Path) -> Iterator[str]:
    """Start a server that has only the sample book; yields its address."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KIWIRESEARCH_")}
    environment = inherited | {"KIWIRESEARCH_HOME": str(work / "home")}
    command = [sys.executable, "-c", START]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)  # noqa: S603 (our own)
    try:
        yield _address_of(server)
    finally:
        server.terminate()
        server.communicate(timeout=TIMEOUT_S)


def _address_of(server: subprocess.Popen[str]) -> str:
    lines = []
    for line in server.stderr or ():
        lines.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise SystemExit(f"the server does not start: {''.join(lines)}")


def format_block(example: Example, address: str) -> str:
    """Run a command, and return it and its output as the page shows them."""
    status, text = run_command(example, address)
    if status != example.status:
        raise SystemExit(f"{example.path} returned status {status}, not {example.status}: {text[:400]}")
    status_line = f"HTTP {status}\n" if status >= 400 else ""
    output = format_output(text.replace(address, SHOWN_ADDRESS), example)
    return f"```\n$ {example.command()}\n{status_line}{output}\n```\n"


def run_command(example: Example, address: str) -> tuple[int, str]:
    """Run the command against the server; returns the status and the body of the response."""
    words = shlex.split(example.command().replace("\\\n", " ").replace(SHOWN_ADDRESS, address))
    command = [*words, "--noproxy", "*", "--max-time", str(TIMEOUT_S), "-w", STATUS]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 (as the page says)
    text, _, status = completed.stdout.rpartition("\n")
    return int(status), text.replace("\r\n", "\n")


def format_output(text: str, example: Example) -> str:
    """The output as the page shows it: shortened, and with fixed values instead of those that change."""
    text = COMPLETION.sub("chatcmpl-…", TIMES.sub("2026-01-31T12:00:00+00:00", text))
    if "-I" in example.options:
        return "\n".join(line for line in text.split("\n") if line.lower().startswith(example.only))
    if text.startswith(("event:", "id:")):
        return _format_stream(text, example)
    try:
        record = json.loads(text)
    except ValueError:
        lines = [_cut(line) for line in text.split("\n")]
        return "\n".join([*lines[:MAX_LINES], *(["…"] if len(lines) > MAX_LINES else [])])
    return format_json(_shorten(_choose_fields(record, example.only, example.rows), example.items))


def _choose_fields(record: Any, only: tuple[str, ...], rows: tuple[str, ...]) -> Any:
    """The fields to show of a record and of the rows in it."""
    if not isinstance(record, dict):
        return record
    chosen = {name: record[name] for name in only if name in record} if only else dict(record)
    if rows:
        for name, value in chosen.items():
            if isinstance(value, list):
                chosen[name] = [_choose_fields(row, rows, ()) for row in value]
    return chosen


def _format_stream(text: str, example: Example) -> str:
    """The events of a stream; of successive events of one kind, only the first."""
    events: list[str] = []
    last_kind = ""
    parts = [part for part in text.strip().split("\n\n") if "data: " in part]  # a ping has no data
    for number, part in enumerate(parts, start=1):
        head, _, data = part.partition("data: ")
        record = json.loads(data)
        kind = f"{head.partition('event: ')[2]} {record.get('event', '')}"
        if kind == last_kind:
            events += [] if events[-1] == "…" else ["…"]
            continue
        last_kind = kind
        only = example.at_end if number == len(parts) and example.at_end else example.only
        events.append(f"{head}data: {format_json(_shorten(_choose_fields(record, only, example.rows), example.items))}")
    return "\n\n".join(events)


def _shorten(value: Any, items: int) -> Any:
    if isinstance(value, dict):
        return {key: MASKS.get(key, _shorten(inner, items)) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shorten(inner, items) for inner in value[:items]] + (["…"] if len(value) > items else [])
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARS else text[:MAX_LINE_CHARS].rstrip() + "…"


def format_json(value: Any, indent: str = "") -> str:
    """JSON for people: short values in one line, others in several lines."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= MAX_LINE_CHARS or not isinstance(value, dict | list):
        return line
    inner_indent = indent + "  "
    if isinstance(value, dict):
        rows = [f"{inner_indent}{json.dumps(key)}: {format_json(inner, inner_indent)}" for key, inner in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner_indent + format_json(inner, inner_indent) for inner in value) + f"\n{indent}]"


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        pages = generate(Path(work))
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT), file=sys.stderr)


if __name__ == "__main__":
    main()

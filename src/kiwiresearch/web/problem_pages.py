"""Errors as pages: what happened and what to do, in the reader's language, when a browser asked for a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from kiwiresearch.web.desk.pages import POLICY, Pages
from kiwiresearch.web.desk.problem_words import kind_of
from kiwiresearch.web.desk.words import Words, words_for
from kiwiresearch.web.guard.audience import is_for_people, is_of_a_book
from kiwiresearch.web.problems import Problem, Teller, log

OPENED = frozenset({"document", "iframe", "frame"})
"""What a browser says of a request whose answer somebody will look at."""

FRAMED_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

FAULTS = (
    ("required", re.compile(r"Field required")),
    ("too_long", re.compile(r"String should have at most (?P<most>[0-9]+) characters?")),
    ("too_short", re.compile(r"String should have at least (?P<least>[0-9]+) characters?")),
    ("too_large", re.compile(r"Input should be less than or equal to (?P<most>[0-9.]+)")),
    ("too_small", re.compile(r"Input should be greater than or equal to (?P<least>[0-9.]+)")),
    ("too_many", re.compile(r"List should have at most (?P<most>[0-9]+) items? .*")),
    ("no_number", re.compile(r"Input should be a (?:valid )?(?:integer|number|finite number)\b.*")),
    ("no_choice", re.compile(r"Input should be (?P<choices>'.+)")),
    ("not_so", re.compile(r"(?:String should match pattern|Input should be a valid) .*")),
)
"""What is wrong with a field, as pydantic words it, by the name under which the catalogue has it."""

RUN = re.compile(r"/runs/[^/]+")
WITHIN_A_RUN = frozenset({"not-in-this-run", "run-not-usable", "cannot-write", "bad-request"})
"""Problems with a part of a run, whose other parts can be read."""

FAMILY = re.compile(r"(?P<case>/family(?:/[0-9a-f]+(?=/))?)(?:/|$)")
"""Addresses of families, and the case where they are of one."""
NOT_THERE = frozenset({"not-found", "nothing-found"})
"""Problems with what such an address names; a book or a page of one that is gone has words of its own."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one field of a form or an address; words without a translation are English."""

    field: str
    words: str
    is_english: bool = False


def teller(pages: Pages) -> Teller:
    """Tells problems as pages where a person is to read them, and as JSON everywhere else."""

    def tell(problem: Problem, scope: Scope) -> Response:
        if not wants_page(scope):
            return problem.response(scope["path"])
        try:
            return problem_page(pages, problem, Request(scope))
        except Exception:  # whatever is wrong with our page, the reader hears what was wrong before
            log.exception("A page that tells of a problem could not be drawn.")
            return problem.response(scope["path"])

    return tell


def wants_page(scope: Scope) -> bool:
    """Whether a browser opens a page of ours, or of a book, and no script of it asks."""
    headers = Headers(scope=scope)
    is_opened = headers.get("sec-fetch-dest", "document") in OPENED
    return is_for_people(scope) and is_opened and "text/html" in headers.get("accept", "")


def problem_page(pages: Pages, problem: Problem, request: Request) -> Response:
    """The problem as a page; in place of a page of a book it is one that fits into a frame."""
    is_framed = is_of_a_book(request.scope)
    words = words_for(request)
    family = FAMILY.match(request.url.path)
    is_gone = family is not None and problem.kind in NOT_THERE
    if is_gone:
        problem = replace(problem, title="Not in this family")
    headers = dict(problem.headers) | ({"Content-Security-Policy": FRAMED_POLICY} if is_framed else {})
    return pages.show(
        request,
        "problem_framed.html" if is_framed else "problem.html",
        status=problem.status,
        headers=headers,
        problem=problem,
        kind=kind_of(problem, words),
        faults=list(_faults(problem, words)),
        id=str(dict(problem.more).get("id", "")),
        above="/family" if is_gone else family["case"] if family else _run_of(problem, request),
    )


def _run_of(problem: Problem, request: Request) -> str:
    """Where the run is in which something was not found, or could not be done; empty of other problems."""
    run = RUN.match(request.url.path)
    return run[0] if run and run[0] != request.url.path and problem.kind in WITHIN_A_RUN else ""


def _faults(problem: Problem, words: Words) -> Iterator[Fault]:
    rows = dict(problem.more).get("errors") or ()
    for row in rows if isinstance(rows, list) else ():
        steps = [step for step in row["where"].split(".")[1:] if not step.isdigit()]
        field = words.named("problems.fields", steps[0]) if steps else ""
        yield _fault(field, str(row["message"]), words)


def _fault(field: str, message: str, words: Words) -> Fault:
    for name, form in FAULTS:
        if found := form.fullmatch(message):
            return Fault(field, words(f"problems.faults.{name}", **found.groupdict()))
    return Fault(field, message, is_english=True)

"""What a request did, as the audit calls it: an action, and what it was done to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, unquote

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import QueryParams
from starlette.types import Scope

from kiwiresearch.text.plain import printable
from kiwiresearch.web.bodies import has_words
from kiwiresearch.web.guard.audience import SAFE
from kiwiresearch.web.guard.bodies import FORM
from kiwiresearch.web.guard.roles import CLOSED, Rule, rule_for
from kiwiresearch.web.guard.token import LOGIN

MCP = "/mcp"
LOGGED_IN = "login"
REFUSED = "refused"
ASK = "ask"
TOOLS = frozenset({ASK, "research"})
"""Tools of models whose use is noted as that of our own routes is."""
BEGINNING = frozenset({"research", "case"})
BY_ID = ("job_id", "run_id", "case")
"""Parts of addresses that name what something was done to."""
WORDS = ("question", "q", "topic", "query")
"""Fields that hold what somebody wants to know."""
LONGEST = 500
MOST_FIELDS = 1_000
ASK_PAGE = "/ask"
ASKED = "q"
"""The field in which an address asks; other fields of WORDS mean nothing there."""
SWITCH = TypeAdapter(bool)


def template_of(scope: Scope) -> str:
    """The address as its route writes it; what no route has taken is told by nothing but that."""
    return getattr(scope.get("route"), "path", "") or (MCP if scope["path"] == MCP else "")


def rule_of(scope: Scope) -> Rule:
    template = template_of(scope)
    return rule_for(scope["method"], template) if template else CLOSED


def action_of(scope: Scope, body: bytes) -> str:
    """The name of what a request did; empty where nobody notes it."""
    if scope["path"] == LOGIN and scope["method"] == "POST":
        return LOGGED_IN
    if scope["path"] == MCP:
        return next(tools_in(body), "")
    action = rule_of(scope).action if template_of(scope) else ""
    return "" if action == ASK and scope["method"] in SAFE and not _asks(scope) else action


def _asks(scope: Scope) -> bool:
    """Whether an address asks something: not the empty page, nor the one whose script is about to ask."""
    asked = str(_fields(scope, b"").get(ASKED, ""))
    is_script_to_ask = template_of(scope) == ASK_PAGE and has_words(asked) and _is_live(scope)
    return bool(asked.strip()) and not is_script_to_ask


def _is_live(scope: Scope) -> bool:
    """Whether the page leaves the question to its script, read as the page reads it."""
    try:
        return SWITCH.validate_python(_fields(scope, b"").get("live", False))
    except ValidationError:
        return False


def tools_in(body: bytes) -> Iterator[str]:
    """The tools that a client of MCP calls, of those that are noted."""
    called = _json(body)
    for call in called if isinstance(called, list) else [called]:
        if isinstance(call, Mapping) and call.get("method") == "tools/call":
            params = call.get("params")
            name, given = (params.get("name"), params.get("arguments")) if isinstance(params, Mapping) else (None, None)
            # Research without a topic only looks at a run that is there.
            is_look = name == "research" and isinstance(given, Mapping) and not given.get("topic")
            if isinstance(name, str) and name in TOOLS and not is_look:
                yield name


def thing_of(scope: Scope, action: str, location: str) -> str:
    """The run or the family that something was done to, by its id; of one that was begun just now, by its address."""
    named = scope.get("path_params", {})
    found = next((str(named[name]) for name in BY_ID if name in named), "")
    begun = unquote(location.partition("?")[0].rpartition("/")[2]) if action in BEGINNING else ""
    return _kept(found or begun)


def words_of(scope: Scope, body: bytes) -> str:
    """What somebody wanted to know, in their words."""
    fields = _fields(scope, body)
    found = next((fields[name] for name in WORDS if isinstance(fields.get(name), str) and fields[name]), "")
    return _kept(str(found))


def _kept(words: str) -> str:
    """Words as the audit keeps them: whatever is in them, they are no way to be left out of it."""
    return " ".join(printable(words[:LONGEST]).split()).encode("utf-8", "replace").decode("utf-8")


def _fields(scope: Scope, body: bytes) -> Mapping[str, Any]:
    sent = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
    if not body:
        return dict(QueryParams(scope["query_string"]))  # of several, the last, as the routes take it
    if sent.startswith(FORM):
        return _form(body)
    read = _json(body)
    if not isinstance(read, Mapping):
        return {}
    params = read.get("params")
    given = params.get("arguments") if isinstance(params, Mapping) else None
    turns = read.get("messages")
    last = turns[-1] if isinstance(turns, list) and turns else None
    said = {"question": last.get("content")} if isinstance(last, Mapping) else {}
    return given if isinstance(given, Mapping) else said or read


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:  # no form of ours has so many, and no route takes it
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None

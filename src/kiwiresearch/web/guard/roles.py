"""Which role each address needs at least, and what the audit calls its use: a table, and no rules beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kiwiresearch.store.users import Role

RequiredRole = Role | Literal["stranger"]
"""'stranger' is for what everybody may see: that the server is up, and the page that asks for a token."""


@dataclass(frozen=True, slots=True)
class RoleRule:
    """Who may use an address, and under which name the audit notes it; without a name it is not noted."""

    role: RequiredRole
    action: str = ""


ROLE_TABLE = """
stranger  -         GET  /api/health
stranger  -         GET  /static/{mark}/{name:path}
stranger  -         POST /language
stranger  -         GET  /login
stranger  -         POST /login

reader    -         GET  /openapi.json
reader    -         GET  /
reader    -         GET  /go
reader    -         POST /go
reader    -         POST /logout
reader    -         POST /questions/forget
reader    -         GET  /find
reader    -         GET  /find/results
reader    -         GET  /page/{book}/{path:path}
reader    -         GET  /read/{book}/{path:path}
reader    -         GET  /profile
reader    -         GET  /api/me
reader    -         GET  /api/profile
reader    -         GET  /api/search
reader    -         GET  /api/suggest
reader    -         GET  /api/books
reader    -         GET  /api/page
reader    -         GET  /api/claims
reader    -         POST /api/claims
reader    -         GET  /search
reader    -         POST /owui/search
reader    -         GET  /v1/models
reader    -         GET  /v1/models/{model}
reader    -         ANY  /mcp

reader    ask       GET  /ask
reader    ask       POST /ask/stream
reader    ask       POST /api/ask
reader    ask       GET  /api/ask
reader    ask       POST /api/chat
reader    ask       POST /api/answer_from_page
reader    ask       POST /v1/chat/completions

reader    -         GET  /research
reader    -         GET  /research/{job_id}
reader    -         GET  /research/{job_id}/news
reader    -         GET  /api/research
reader    -         GET  /api/research/{job_id}
reader    -         GET  /api/research/{job_id}/events
researcher research POST /research
researcher stop     POST /research/{job_id}/stop
researcher resume   POST /research/{job_id}/resume
researcher remove   POST /research/{job_id}/remove
researcher research POST /api/research
researcher stop     POST /api/research/{job_id}/cancel
researcher resume   POST /api/research/{job_id}/resume
researcher research POST /api/jobs
reader    -         GET  /api/jobs/{job_id}/answers

reader    -         GET  /runs/{run_id}
reader    -         GET  /runs/{run_id}/pages
reader    -         GET  /runs/{run_id}/pictures/{sha256}
reader    -         GET  /runs/{run_id}/claims
reader    -         GET  /runs/{run_id}/claims/{claim_id}
reader    -         GET  /runs/{run_id}/timeline
reader    -         GET  /runs/{run_id}/numbers
reader    -         GET  /runs/{run_id}/graph
reader    -         GET  /runs/{run_id}/graph/links
reader    -         GET  /runs/{run_id}/notes
reader    -         GET  /runs/{run_id}/export
reader    export    GET  /runs/{run_id}/export/{form}
reader    -         GET  /atlas
reader    -         GET  /atlas/{book}
reader    -         GET  /atlas/{book}/contradictions
reader    -         GET  /atlas/{book}/kin
reader    -         GET  /atlas/{book}/ranks
reader    -         GET  /atlas/{book}/regions
reader    -         GET  /atlas/{book}/timeline
reader    -         GET  /api/atlas
reader    -         GET  /api/atlas/{book}
reader    -         GET  /api/atlas/{book}/contradictions
reader    -         GET  /api/atlas/{book}/families
reader    -         GET  /api/atlas/{book}/people
reader    -         GET  /api/atlas/{book}/ranks
reader    -         GET  /api/atlas/{book}/regions
reader    -         GET  /api/atlas/{book}/relation
reader    -         GET  /api/atlas/{book}/relatives
reader    -         GET  /api/atlas/{book}/timeline

reader    -         GET  /compare
reader    -         GET  /api/compare
reader    -         GET  /api/runs
reader    -         GET  /api/runs/{run_id}
reader    export    GET  /api/runs/{run_id}/files/{name}
reader    -         GET  /api/runs/{run_id}/claims
reader    -         GET  /api/runs/{run_id}/notes
reader    -         GET  /api/runs/{run_id}/export
reader    export    GET  /api/runs/{run_id}/export/{form}
researcher note     POST /runs/{run_id}/notes
researcher note     POST /runs/{run_id}/notes/{note_id}
researcher note     POST /runs/{run_id}/notes/{note_id}/remove
researcher note     POST /runs/{run_id}/notes/{note_id}/restore
researcher note     POST /api/runs/{run_id}/notes
researcher note     PUT  /api/runs/{run_id}/notes/{note_id}
researcher note     DELETE /api/runs/{run_id}/notes/{note_id}
researcher note     POST /api/runs/{run_id}/notes/{note_id}/restore

reader    -         GET  /family
reader    -         GET  /family/{case}
reader    -         GET  /family/{case}/timeline
reader    -         GET  /family/{case}/log
reader    -         GET  /family/{case}/tree
reader    -         GET  /family/{case}/people
reader    -         GET  /family/{case}/relation
reader    -         GET  /family/{case}/people/{person}
reader    -         GET  /family/{case}/evidence
reader    -         GET  /family/{case}/audit
reader    -         GET  /family/{case}/conflicts
reader    -         GET  /family/{case}/merges
reader    -         GET  /family/{case}/sources
reader    -         GET  /family/{case}/export
reader    export    GET  /family/{case}/file
reader    -         GET  /api/family
reader    -         GET  /api/family/{case}
reader    -         GET  /api/family/{case}/people
reader    -         GET  /api/family/{case}/people/{person}
reader    -         GET  /api/family/{case}/people/{person}/line
reader    -         GET  /api/family/{case}/people/{person}/picture
reader    -         GET  /api/family/{case}/tree
reader    -         GET  /api/family/{case}/relation
reader    -         GET  /api/family/{case}/timeline
reader    -         GET  /api/family/{case}/conflicts
reader    -         GET  /api/family/{case}/log
reader    -         GET  /api/family/{case}/merges
reader    -         GET  /api/family/{case}/plugins
reader    -         GET  /api/family/{case}/verify
reader    export    GET  /api/family/{case}/export/{form}
researcher case     POST /family
researcher case     GET  /family/import
researcher case     POST /family/import
researcher case     GET  /family/{case}/import
researcher case     POST /family/{case}/import
researcher case     POST /family/{case}/run
researcher case     POST /family/{case}/people/{person}/living
researcher case     POST /family/{case}/merges/{merge}/accept
researcher case     POST /family/{case}/merges/{merge}/reject
researcher case     POST /family/{case}/merges/{merge}/take-back
researcher case     POST /family/{case}/merges/{merge}/undo
researcher case     POST /family/{case}/sources/{plugin}
researcher case     POST /api/family
researcher case     POST /api/family/import
researcher case     POST /api/family/{case}/import
researcher case     POST /api/family/{case}/run
researcher case     PUT  /api/family/{case}/people/{person}/living
researcher case     POST /api/family/{case}/merges/{merge}/accept
researcher case     POST /api/family/{case}/merges/{merge}/reject
researcher case     POST /api/family/{case}/merges/{merge}/take-back
researcher case     POST /api/family/{case}/merges/{merge}/undo
researcher case     PUT  /api/family/{case}/plugins/{plugin}

owner     -         GET  /people
owner     -         POST /people
owner     -         GET  /people/{name}
owner     -         POST /people/{name}
owner     -         POST /people/{name}/tokens
owner     -         POST /people/{name}/tokens/{token_id}/revoke
owner     -         POST /people/{name}/remove
owner     audit     GET  /audit
owner     -         GET  /api/users
owner     -         POST /api/users
owner     -         GET  /api/users/{name}
owner     -         PUT  /api/users/{name}
owner     -         DELETE /api/users/{name}
owner     -         POST /api/users/{name}/tokens
owner     -         DELETE /api/users/{name}/tokens/{token_id}
owner     audit     GET  /api/audit
owner     audit     GET  /api/audit/check
"""
"""A line for each address: the least role, the name in the audit ('-' for none), the method, and the address.

Families: reading shows what may be published. Who sees the living, and decides what could uncover somebody,
is told by `family_owner` besides: an owner alone.
"""

METHODS = ("GET", "POST", "PUT", "DELETE")
OWNER_ONLY = RoleRule("owner", "unplaced")
"""An address that has no line is the owner's, until somebody has thought about it."""


def _rules() -> Iterator[tuple[tuple[str, str], RoleRule]]:
    for line in filter(None, ROLE_TABLE.splitlines()):
        role, action, method, path = line.split()
        rule = RoleRule(role, "" if action == "-" else action)  # type: ignore[arg-type]
        for one in METHODS if method == "ANY" else (method,):
            yield (one, path), rule


ROLE_RULES: Mapping[tuple[str, str], RoleRule] = MappingProxyType(dict(_rules()))


def rule_for(method: str, path: str) -> RoleRule:
    """The rule of an address as its route writes it; what is asked with HEAD is what GET gives."""
    return ROLE_RULES.get(("GET" if method == "HEAD" else method, path), OWNER_ONLY)

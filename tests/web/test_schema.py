"""Requests made up from the OpenAPI: none breaks the server, and what comes back is what the OpenAPI says."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

EXAMPLES = 4
FEW = 2
"""For the many routes of one case, which read their addresses in the same way."""
STARTS_WORK = {"POST /api/research", "POST /api/jobs"}
"""A valid request starts a process that reads the whole book: it is not made, and if it happens, taken back."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture
def operations(server: str, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """All that the running server says it can do."""
    monkeypatch.setenv("NO_PROXY", "*")
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    schema.config.update(base_url=server)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries that make up the requests
        yield [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_request_breaks_the_server(operations: list[Any], mode: GenerationMode, client: httpx2.Client) -> None:
    """Requests as the OpenAPI describes them, and such as it forbids, never end in a fault of the server's.

    What comes back has a status, a content type and fields that the OpenAPI names.
    """
    assert len(operations) >= 10
    for operation in operations:
        if not (mode is GenerationMode.POSITIVE and operation.label in STARTS_WORK):
            _try(operation, mode, client)


def _try(operation: Any, mode: GenerationMode, client: httpx2.Client) -> None:
    @settings(
        max_examples=FEW if "/api/family/{case}/" in operation.label else EXAMPLES,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: Any) -> None:
        reply = case.call(timeout=30)
        if reply.status_code == 202 and operation.label in STARTS_WORK:
            client.post(f"{reply.json()['url']}/cancel")
        case.validate_response(reply, checks=CHECKS if _is_described(operation, reply) else CHECKS[:-1])

    with contextlib.suppress(Unsatisfiable):  # where there is nothing to say, nothing can be said wrong
        one()


def _is_described(operation: Any, reply: Any) -> bool:
    """Whether the fields are known: those of a stream's events are where the OpenAPI describes them one by one."""
    is_stream = reply.headers.get("content-type", [""])[0].startswith("text/event-stream")
    return not is_stream or "itemSchema" in json.dumps(operation.definition.raw, default=str)

"""The language model that a user has set."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kiwiresearch.workspace.models import chat_model, model_is_local, model_timeouts
from kiwiresearch.workspace.settings import Settings


def test_the_model_is_the_one_that_was_named() -> None:
    """`model_name` says which model is asked (R20)."""
    chosen = replace(Settings(), model_url="http://127.0.0.1:9", model_name="small-and-patient")
    with chat_model(chosen) as model:
        assert model.name == "small-and-patient"


@pytest.mark.parametrize(("total", "silent"), [(600, 120), (60, 120), (1800, 360)])
def test_a_slow_model_may_be_silent_for_longer(total: float, silent: float) -> None:
    """A timeout of half an hour is not cut short by the limit for reading a long prompt."""
    patience = model_timeouts(replace(Settings(), model_timeout_s=total))
    assert (patience.total_s, patience.read_s) == (total, silent)


@pytest.mark.parametrize(
    ("address", "is_local"),
    [
        ("http://127.0.0.1:11434", True),
        ("http://localhost:1234/v1", True),
        ("LOCALHOST:1234", True),
        ("http://[::1]:8080", True),
        ("http://127.9.9.9:1, http://localhost:2", True),
        ("http://127.0.0.1:1, http://192.168.0.7:2", False),
        ("http://192.168.0.7:11434", False),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1@example.org/", False),
        ("http://0.0.0.0:8080", False),
        ("https://api.example.org", False),
        ("", False),
    ],
)
def test_a_model_is_local_if_all_its_addresses_are_of_this_machine(address: str, *, is_local: bool) -> None:
    """Only what is sent to loopback stays on this machine, whatever an address looks like."""
    assert model_is_local(replace(Settings(), model_url=address)) is is_local

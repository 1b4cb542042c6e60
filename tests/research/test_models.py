"""The language model that a user has set."""

from __future__ import annotations

from dataclasses import replace

from kiwiresearch.research.models import chat_model
from kiwiresearch.research.settings import Settings


def test_the_model_is_the_one_that_was_named() -> None:
    """`model_name` says which model is asked (R20)."""
    chosen = replace(Settings(), model_url="http://127.0.0.1:9", model_name="small-and-patient")
    with chat_model(chosen) as model:
        assert model.name == "small-and-patient"

"""Replies of a given shape: asked for by schema, checked, mended where that is safe, asked for once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kiwiresearch.errors import BadReply, PromptTooLong
from kiwiresearch.llm.model import Message, Model, Options, Reply, Schema
from kiwiresearch.llm.repair import candidates

Shape = TypeVar("Shape", bound=BaseModel)

PLAIN = Options()
MAX_PROBLEMS = 4
MAX_ECHO = 2_000
"""How much of a bad reply the model is shown again."""


def ask(model: Model, messages: Sequence[Message], shape: type[Shape], options: Options = PLAIN) -> Shape:
    """A reply of this shape; BadReply if two attempts do not give one.

    A model that cannot be reached is told as such, and nothing is asked a second time then.
    """
    wanted = replace(options, schema=Schema.of(shape.__name__, shape.model_json_schema()))
    reply = model.chat(messages, wanted)
    found, problem = _read(reply, shape)
    if found is not None:
        return found
    again = (*messages, *_correction(reply, problem))
    try:
        found, problem = _read(model.chat(again, wanted), shape)
    except PromptTooLong:
        found = None
    if found is None:
        raise BadReply(
            f"The model {model.name!r} gave no {shape.__name__!r} when asked twice: {problem}.",
            remedy="Try another model, or go without one.",
        )
    return found


def _read(reply: Reply, shape: type[Shape]) -> tuple[Shape | None, str]:
    """The value in a reply, or what is wrong with the best candidate for it."""
    problem = ""
    for candidate in candidates(reply.text):
        try:
            return shape.model_validate_json(candidate), ""
        except ValidationError as found:
            problem = _problem(found) or problem
    if problem:
        return None, problem
    if reply.finish == "repeated":
        return None, "it repeats itself"
    if not reply.text:
        return None, "it is empty"
    return None, "it was cut off" if reply.finish == "length" else "it is no JSON object"


def _problem(found: ValidationError) -> str:
    """What is wrong with an object, by its fields; nothing if it is not even JSON."""
    rows = [row for row in found.errors(include_url=False, include_context=False) if row["type"] != "json_invalid"]
    return "; ".join(f"{'.'.join(map(str, row['loc'])) or 'it'}: {row['msg']}" for row in rows[:MAX_PROBLEMS])


def _correction(reply: Reply, problem: str) -> tuple[Message, Message]:
    return (
        Message("assistant", reply.text[:MAX_ECHO] or "{}"),
        Message("user", f"That cannot be used: {problem}. Answer again, with the right JSON object only."),
    )

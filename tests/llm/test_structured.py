"""A reply of the right shape, or a clean error."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel, Field
from tests.llm.scripted import ScriptedModel

from kiwiresearch.errors import BadReply, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.model import ChatMessage, Options, Reply
from kiwiresearch.llm.structured import structured_reply


class Senses(BaseModel):
    """What is asked for."""

    phrases: list[str] = Field(min_length=2)


GOOD = '{"phrases": ["mercury planet", "mercury metal"]}'
FOUND = ["mercury planet", "mercury metal"]
ASKED = (ChatMessage("user", "Which senses?"),)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure, here you are:\n{GOOD}\nAnything else?",
        GOOD.replace("]", ",]"),
        f"<think>planets, {{gods}}, metals</think>{GOOD}",
        GOOD[:-1],
        GOOD.replace("]}", ', "mercury rec'),
    ],
    ids=["plain", "fence", "prose", "comma", "thinking", "no end", "cut off"],
)
def test_a_reply_is_read_at_the_first_attempt(reply: str) -> None:
    """What can be repaired safely needs no second request."""
    model = ScriptedModel(reply)
    assert structured_reply(model, ASKED, Senses).phrases == FOUND
    assert len(model.asked) == 1


def test_the_form_is_asked_for_by_schema() -> None:
    """The model gets the shape, and the other options stay as they were."""
    model = ScriptedModel(GOOD)
    structured_reply(model, ASKED, Senses, Options(temperature=0.2, max_tokens=99))
    options = model.asked[0].options
    assert options.schema
    assert json.loads(options.schema.text) == Senses.model_json_schema()
    assert (options.temperature, options.max_tokens) == (0.2, 99)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"phrases": ["one"]}', "phrases: List should have at least 2 items"),
        ('{"words": []}', "phrases: Field required"),
        ("I do not know.", "it is not a JSON object"),
        ("", "it is empty"),
        (Reply('{"phrases": ["mer', "length"), "cut off"),
        (Reply("bla bla", "repeated"), "repeats itself"),
    ],
)
def test_a_bad_reply_is_asked_again_with_what_was_wrong(reply: str | Reply, expected: str) -> None:
    """The second question shows the model its reply and says what was wrong with it."""
    model = ScriptedModel(reply, GOOD)
    assert structured_reply(model, ASKED, Senses).phrases == FOUND
    first, second = model.asked
    assert [message.role for message in second.messages] == ["user", "assistant", "user"]
    assert second.messages[0] == first.messages[0]
    assert expected in second.messages[-1].text


def test_two_bad_replies_are_enough() -> None:
    """After two attempts there is an error that names the model and the fault, and no third question."""
    model = ScriptedModel("no", '{"phrases": 7}', GOOD, name="tiny")
    with pytest.raises(
        BadReply, match=r"'tiny' did not answer in the required form.*phrases: Input should be a valid array"
    ) as caught:
        structured_reply(model, ASKED, Senses)
    assert caught.value.remedy
    assert len(model.asked) == 2


def test_a_model_that_cannot_be_reached_is_reported_as_that() -> None:
    """A dead server is not a bad reply, and is not asked a second time."""
    model = ScriptedModel(ModelUnreachable("gone"), GOOD)
    with pytest.raises(ModelUnreachable):
        structured_reply(model, ASKED, Senses)
    assert len(model.asked) == 1


def test_a_prompt_too_long_is_reported_at_once_but_not_for_the_repair() -> None:
    """The user's prompt may be too long; ours, which only corrects, may not be the reason for that error."""
    with pytest.raises(PromptTooLong):
        structured_reply(ScriptedModel(GOOD, context_tokens=100), ASKED, Senses)
    long_winded = ScriptedModel(" ".join(map(str, range(400))), GOOD, context_tokens=700)
    with pytest.raises(BadReply, match="it is not a JSON object"):
        structured_reply(long_winded, ASKED, Senses)


class Loose(BaseModel):
    """A shape that almost anything fits."""

    title: str = ""
    inner: dict[str, str] = Field(default_factory=dict)


def test_a_part_of_the_object_is_never_taken_for_it() -> None:
    """A shape without required fields must not be filled from an object inside a broken one."""
    model = ScriptedModel('{"title": oops, "inner": {"title": "wrong"}}', '{"title": "right"}')
    assert structured_reply(model, ASKED, Loose).title == "right"

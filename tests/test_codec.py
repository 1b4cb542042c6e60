"""Values become JSON by one rule, and the OpenAPI is made of the same classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import TypeAdapter

from kiwiresearch.codec import OMIT_DEFAULT, Record, extend, plain


@dataclass(frozen=True, slots=True)
class Part:
    """A value that nobody made for JSON."""

    points: float


@dataclass(frozen=True, slots=True)
class JsonRecord(Record):
    """A value for JSON."""

    class_: str
    """What kind it is."""
    parts: tuple[Part, ...] = ()
    note: str | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class LinkedRecord(JsonRecord):
    """The same, and where it is read."""

    url: str = ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (JsonRecord("a"), {"class": "a", "parts": []}),
        (JsonRecord("a", note=""), {"class": "a", "parts": [], "note": ""}),
        (JsonRecord("\ud800", (Part(3),)), {"class": "\ud800", "parts": [{"points": 3}]}),
        ({"rows": [Part(0.5)]}, {"rows": [{"points": 0.5}]}),
        (
            extend(LinkedRecord, JsonRecord("a"), url="/a", note="n"),
            {"class": "a", "parts": [], "note": "n", "url": "/a"},
        ),
    ],
)
def test_a_value_is_the_object_of_its_fields(value: Any, expected: Any) -> None:
    """Keys may be left out or be words of Python's own; numbers and broken letters stay as they are."""
    assert plain(value) == expected
    assert repr(plain(value)) == repr(expected), "3 is not 3.0"


def test_values_without_a_json_form_are_refused() -> None:
    """A mistake is an error where it is made, and is not sent as Python's own representation."""
    with pytest.raises(TypeError, match="object has no form in JSON"):
        plain({"rows": [object()]})


def test_the_schema_has_the_keys_and_the_words_of_the_class_and_its_parents() -> None:
    """The description of a field is the same whichever class declares it; optional fields are not required."""
    schema = TypeAdapter(LinkedRecord).json_schema(mode="serialization")
    assert schema["required"] == ["class"]
    assert schema["properties"]["class"]["description"] == "What kind it is."
    assert set(schema["properties"]) == {"class", "parts", "note", "url"}

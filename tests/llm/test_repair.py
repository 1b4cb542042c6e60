"""JSON is repaired where that is safe: the object's own words are never changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.llm.structured import json_candidates


def first_object(text: str) -> Any:
    """The first candidate that is a JSON object."""
    for candidate in json_candidates(text):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure! Here it is:\n\n{"a": {"b": 2}}\n\nHope that helps {really}.', {"a": {"b": 2}}),
        ('Use {braces} like this: {"a": 1}', {"a": 1}),
        ('An open { and then {"a": 1}', {"a": 1}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('{"a": "x, ]", "b": "y,}",}', {"a": "x, ]", "b": "y,}"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": "x", "b": ["y", "z', {"a": "x", "b": ["y"]}),
        ('{"a": "x", "b": "y"', {"a": "x", "b": "y"}),
        ('{"a": "x", "b": tru', {"a": "x"}),
        ('{"a": "x", "b": null', {"a": "x", "b": None}),
        ('{"a": [{"b": "c"}, {"b": "d', {"a": [{"b": "c"}]}),
        ('{"a": 12', None),
        ('{"a": "cut', None),
        ("no object", None),
        ("", None),
        ("{", None),
        ('{"a": [1}', None),
        ('{"a": "broken \\\n escape"}', None),
        ("{" * 20_000, None),
        ('{"a":' * 20_000, None),
        ('{"outer": {"inner": 1}', {"outer": {"inner": 1}}),
    ],
)
def test_objects_are_found_and_repaired(text: str, found: Any) -> None:
    """Fences, prose, trailing commas, raw line breaks and a missing end are repaired; the rest is refused."""
    assert first_object(text) == found


def test_an_inner_object_is_never_taken_for_the_outer_one() -> None:
    """If an object cannot be repaired, no part of it is taken for the whole."""
    assert first_object('{"a": oops, "inner": {"b": 1}}') is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)
PROSE = st.text(st.characters(exclude_characters='{}"', exclude_categories=["Cs"]), max_size=40)


@given(OBJECTS, PROSE, PROSE, st.sampled_from([None, 2]), st.booleans())
def test_whatever_is_around_it_the_object_is_found_as_it_is(
    value: dict[str, Any], before: str, after: str, indent: int | None, ascii_only: bool
) -> None:
    """Prose before and after changes nothing in the object, down to the last letter of its strings."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert first_object(f"{before}{text}{after}") == value


def strings_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [s for key, inner in value.items() for s in (key, *strings_in(inner))]
    if isinstance(value, list):
        return [s for inner in value for s in strings_in(inner)]
    return [value] if isinstance(value, str) else []


@given(OBJECTS, st.integers(0, 400))
def test_a_missing_end_never_changes_a_string(value: dict[str, Any], size: int) -> None:
    """An object cut off anywhere gives whole strings or none: half a quote is not a quote."""
    found = first_object(json.dumps(value)[:size])
    assert set(strings_in(found)) <= set(strings_in(value))


@given(st.text(alphabet='{}[]",:\\ \nab1', max_size=200))
def test_any_text_is_read_without_harm(text: str) -> None:
    """No text makes the search for an object fail or run away."""
    assert len(list(json_candidates(text))) <= 9

"""Sentences for readers: every kind is in every language, and a record from elsewhere does no harm."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import pytest

import kiwiresearch
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in
from kiwiresearch.messages.message import Message, message_fields, message_from_record, message_in, render

SOURCES = sorted(Path(kiwiresearch.__file__).parent.rglob("*.py"))
PREFIX = "kinds."
OF_THE_RENDERER = {"quoted", "and", "semicolon"} | {f"links_away.{n}" for n in ("start", "one", "two", "three", "more")}
LINKED = Message(
    "'Tin' links to it under 'Ore': 'Tin is <b>.'",
    "crawl.linked_saying",
    page="Tin",
    where=Message("under 'Ore'", "crawl.under", section="Ore"),
    sentence="Tin is <b>.",
)


class Made(NamedTuple):
    """A place in the sources where a message is made."""

    where: str
    kind: str
    names: frozenset[str]


def made() -> Iterator[Made]:
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        # There are messages to models too, which are another class.
        if not re.search(r"^ *from kiwiresearch\.messages(\.message)? import", source, re.MULTILINE):
            continue
        for call in ast.walk(ast.parse(source)):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Message"):
                continue
            names = frozenset(one.arg or "**" for one in call.keywords)
            if len(call.args) > 1 and names != {"**"}:  # what is read from a file has any kind
                kind = call.args[1]
                assert isinstance(kind, ast.Constant), f"{path.name}:{call.lineno} has a kind that cannot be looked up"
                yield Made(f"{path.name}:{call.lineno}", str(kind.value), names)


@cache
def all_made() -> list[Made]:
    """All places, found by the first test that needs them."""
    found = sorted(made())
    assert len(found) > 100, "the sources make messages in a way that this does not see"
    return found


def values_named(language: str, kind: str) -> set[str]:
    entry = catalogue_in(language).entry(PREFIX + kind)
    forms = [entry] if isinstance(entry, str) else list(entry.values())
    return {name for form in forms for _, name, _, _ in Formatter().parse(form) if name} | (
        set() if isinstance(entry, str) else {"n"}
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_message_is_in_every_language(language: str) -> None:
    """Each catalogue has each kind that the program makes, and names just the values that it is made with."""
    words = catalogue_in(language)
    assert [one for one in all_made() if not words.has(PREFIX + one.kind)] == []
    assert [one for one in all_made() if values_named(language, one.kind) != one.names] == []


def test_no_message_of_a_catalogue_is_unused() -> None:
    """A kind that nothing makes any more is deleted from the catalogues."""
    known = {key.removeprefix(PREFIX) for key in sorted(catalogue_in("en").keys()) if key.startswith(PREFIX)}
    assert sorted(known - {one.kind for one in all_made()} - OF_THE_RENDERER) == []


def test_a_message_is_its_english_text() -> None:
    """Files and logs have the English; the kind and the values are beside it, and survive a copy."""
    assert f"Chosen: {LINKED}" == "Chosen: 'Tin' links to it under 'Ore': 'Tin is <b>.'"
    from_file = message_in(message_fields("why", LINKED), "why")
    for again in (copy.deepcopy(LINKED), from_file):
        assert (again, again.kind) == (LINKED, LINKED.kind)
        assert render(again, catalogue_in("fr")) == render(LINKED, catalogue_in("fr"))


def test_a_message_is_written_in_the_language_of_the_reader() -> None:
    """The catalogue says where quotes are, how a list ends and how numbers are written."""
    assert render(LINKED, catalogue_in("es")) == "«Tin» enlaza con ella en «Ore»: «Tin is <b>.»"
    assert render(LINKED, catalogue_in("en"), str.upper) == "“TIN” links to it under “ORE”: “TIN IS <B>.”"
    seeds = tuple(Message("", "story.seed", title=one, why=Message("", "seed.best")) for one in "ABC")
    result = render(Message("", "story.began", n=12_000, seeds=seeds), catalogue_in("en"))
    best = "(it matches the topic best)"
    assert (
        result == f"Search found 12,000 pages about the topic. Research started with A {best}, B {best} and C {best}."
    )
    assert render(Message("", "ended.full", n=1), catalogue_in("en")) == "the limit of 1 page was reached"


def nested(depth: int) -> dict[str, Any]:
    return {"kind": "crawl.seed", "values": {"why": nested(depth - 1) if depth else "x"}}


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        "crawl.found",
        {},
        {"kind": "crawl.found"},
        {"kind": 1, "values": {}},
        {"kind": "crawl.found", "values": []},
        {"kind": "crawl.none", "values": {}},
        {"kind": "crawl.seed", "values": {}},
        {"kind": "crawl.seed", "values": {"why": None}},
        {"kind": "crawl.seed", "values": {"why": {"kind": "none", "values": {}}}},
        {"kind": "ended.full", "values": {}},
        {"kind": "crawl.seed", "values": {"why": "x" * 9_000}},
        nested(9),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_record_that_is_not_a_message_leaves_the_english_text(record: object) -> None:
    """A run that came from somebody else may have anything beside its sentences."""
    read = message_from_record("found by search", record)
    assert read == "found by search"
    assert render(read, catalogue_in("fr")) is None

"""Sentences of the resolver: what suggests that two records are the same person, or two people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kiwiresearch.kin.resolve.profile import LOWERCASE_NAME_WORDS
from kiwiresearch.messages import Message

NO_REASON = Message("")

ROLES = {
    "father": Message("fathers", "same.roles.father"),
    "mother": Message("mothers", "same.roles.mother"),
    "parent": Message("parents", "same.roles.parent"),
    "sibling": Message("siblings", "same.roles.sibling"),
    "spouse": Message("spouses", "same.roles.spouse"),
    "child": Message("children", "same.roles.child"),
}


def together(reasons: Iterable[Message]) -> Message:
    """Several reasons from the same kind of evidence."""
    parts = tuple(reason for reason in reasons if reason)
    if len(parts) < 2:
        return parts[0] if parts else NO_REASON
    return Message(", ".join(parts), "same.parts", parts=parts)


def sentence(reasons: Iterable[Message]) -> Message:
    """All reasons for or against a merge."""
    parts = tuple(dict.fromkeys(reason for reason in reasons if reason))
    text = "; ".join(parts)
    return Message(f"{text[:1].upper()}{text[1:]}.", "same.reasons", reasons=parts) if parts else NO_REASON


def _written(words: str) -> str:
    """A folded name as it is written: 'Duke of York'."""
    return " ".join(word if word in LOWERCASE_NAME_WORDS else word.capitalize() for word in words.split())


def same_first_name(name: str) -> Message:
    name = _written(name)
    return Message(f"the same first name “{name}”", "same.first_name", name=name)


def first_names_match(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    return Message(f"first names match (“{one}” and “{other}”)", "same.first_names_match", one=one, other=other)


def first_names_alike(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    return Message(f"first names are similar (“{one}” and “{other}”)", "same.first_names_alike", one=one, other=other)


def first_names_forms(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    text = f"“{one}” and “{other}” are forms of the same first name"
    return Message(text, "same.first_names_forms", one=one, other=other)


def first_names_differ(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    return Message(f"first names differ (“{one}” and “{other}”)", "same.first_names_differ", one=one, other=other)


def only_surname(name: str) -> Message:
    name = _written(name)
    return Message(f"only the surname “{name}” is known of one", "same.only_surname", name=name)


def one_of_names(name: str) -> Message:
    name = _written(name)
    return Message(f"“{name}” is one of the other’s names", "same.one_of_names", name=name)


def both_called(names: Sequence[str]) -> Message:
    names = tuple(map(_written, names))
    return Message(f"both are called {_quoted(names)}", "same.called", names=names)


def names_differ(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    return Message(f"other names differ (“{one}” and “{other}”)", "same.names_differ", one=one, other=other)


def same_title(titles: Sequence[str]) -> Message:
    titles = tuple(map(_written, titles))
    return Message(f"both have the title {_quoted(titles)}", "same.title", titles=titles)


def titles_differ(one: str, other: str) -> Message:
    one, other = _written(one), _written(other)
    return Message(f"titles differ (“{one}” and “{other}”)", "same.titles_differ", one=one, other=other)


def called_by_husband(name: str, husband: str) -> Message:
    name, husband = _written(name), _written(husband)
    text = f"one is called “{name}” after her husband, and the other’s husband is “{husband}”"
    return Message(text, "same.called_by_husband", name=name, husband=husband)


def other_husband(name: str, husband: str) -> Message:
    name, husband = _written(name), _written(husband)
    text = f"one is called “{name}” after her husband, but the other’s husband is “{husband}”"
    return Message(text, "same.other_husband", name=name, husband=husband)


def maybe_by_husband(name: str) -> Message:
    name = _written(name)
    text = f"one is only called “{name}” after her husband, and the other’s husband is not known"
    return Message(text, "same.maybe_by_husband", name=name)


def same_number(number: str) -> Message:
    return Message(f"both are number {number}", "same.number", number=number)


def on_same_day(*, is_birth: bool, year: int) -> Message:
    if is_birth:
        return Message(f"born on the same day in {year}", "same.born.day", year=year)
    return Message(f"died on the same day in {year}", "same.died.day", year=year)


def in_same_month(*, is_birth: bool, year: int) -> Message:
    if is_birth:
        return Message(f"born in the same month of {year}", "same.born.month", year=year)
    return Message(f"died in the same month of {year}", "same.died.month", year=year)


def on_other_days(*, is_birth: bool, year: int) -> Message:
    if is_birth:
        return Message(f"born in {year}, but on different days", "same.born.days", year=year)
    return Message(f"died in {year}, but on different days", "same.died.days", year=year)


def at_same_time(one: int, other: int, *, is_birth: bool) -> Message:
    if one == other:
        if is_birth:
            return Message(f"both born in about {one}", "same.born.year", year=one)
        return Message(f"both died in about {one}", "same.died.year", year=one)
    if is_birth:
        return Message(f"born in about {one} and {other}, which agree", "same.born.time", one=one, other=other)
    return Message(f"died in about {one} and {other}, which agree", "same.died.time", one=one, other=other)


def years_apart(n: int, one: int, other: int, *, is_birth: bool) -> Message:
    years = f"{n} {'year' if n == 1 else 'years'} apart ({one} and {other})"
    if is_birth:
        return Message(f"born {years}", "same.born.apart", n=n, one=one, other=other)
    return Message(f"died {years}", "same.died.apart", n=n, one=one, other=other)


def families_apart(n: int) -> Message:
    return Message(f"their families lived at least {n} {'year' if n == 1 else 'years'} apart", "same.eras_apart", n=n)


FAMILIES_TOGETHER = Message("their families lived at the same time", "same.eras")


def same_place(place: str, *, is_birth: bool) -> Message:
    if is_birth:
        return Message(f"both born in “{place}”", "same.born.place", place=place)
    return Message(f"both died in “{place}”", "same.died.place", place=place)


def place_within(one: str, other: str, *, is_birth: bool) -> Message:
    if is_birth:
        return Message(f"born in “{one}” and “{other}”, one in the other", "same.born.within", one=one, other=other)
    return Message(f"died in “{one}” and “{other}”, one in the other", "same.died.within", one=one, other=other)


def parts_of_place(place: str, one: str, other: str, *, is_birth: bool) -> Message:
    parts = f"in “{place}”, but in different parts (“{one}” and “{other}”)"
    if is_birth:
        return Message(f"both born {parts}", "same.born.parts", place=place, one=one, other=other)
    return Message(f"both died {parts}", "same.died.parts", place=place, one=one, other=other)


def other_place(one: str, other: str, *, is_birth: bool) -> Message:
    if is_birth:
        return Message(f"born in “{one}” and “{other}”", "same.born.places", one=one, other=other)
    return Message(f"died in “{one}” and “{other}”", "same.died.places", one=one, other=other)


def shared_relatives(role: str, names: Sequence[str]) -> Message:
    """Relatives who are the same, or probably the same, person."""
    text, names = f"both have the {role} {_quoted(names)}", tuple(names)
    match role:
        case "father":
            return Message(text, "same.shared.father", names=names)
        case "mother":
            return Message(text, "same.shared.mother", names=names)
        case "parent":
            return Message(text, "same.shared.parent", names=names)
        case "sibling":
            return Message(text, "same.shared.sibling", names=names)
        case "spouse":
            return Message(text, "same.shared.spouse", names=names)
        case _:
            return Message(text, "same.shared.child", names=names)


def no_match_among(roles: Iterable[str]) -> Message:
    found = tuple(ROLES[role] for role in sorted(set(roles)))
    return Message(f"no match among their {' and '.join(found)}", "same.no_match", roles=found)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)

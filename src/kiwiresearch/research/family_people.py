"""Whom of a family a user means."""

from __future__ import annotations

from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin.report.words import lifespan
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.text.fold import fold

LEAST_OF_ID = 4
MOST_LISTED = 8


def person_called(words: str, tree: Tree, *, by_name: bool = True) -> PersonId:
    """The person by name, by title, or by the beginning of the id; where several fit they are listed."""
    people, wanted = tree.persons, fold(words)
    if not wanted:
        raise BadUsage("The name is empty.", remedy="See who is here: kiwiresearch kin show")
    first = [one for one, person in people.items() if fold(person.name) == wanted]
    named = [one for one, person in people.items() if wanted in map(fold, person.names)]
    begun = [one for one in people if len(words) >= LEAST_OF_ID and one.startswith(words.lower())]
    partly = [
        one for one, person in people.items() if any(wanted in fold(name) for name in (person.name, *person.names))
    ]
    found = next((some for some in (first, named, begun, partly) if some), [])
    if len(found) == 1:
        return found[0]
    if not found:
        raise NothingFound(f"Nobody in this case is called {words!r}.", remedy="See who is: kiwiresearch kin show")
    several = "; ".join(f"{one[:8]} {_who(tree, one)}" if by_name else one[:8] for one in sorted(found)[:MOST_LISTED])
    more = f"; and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    raise BadUsage(f"{words!r} may be {len(found)} people: {several}{more}.", remedy="Give the beginning of the id.")


def _who(tree: Tree, one: PersonId) -> str:
    lived = lifespan(tree, one)
    return f"{tree.persons[one].name} ({lived})" if lived else tree.persons[one].name

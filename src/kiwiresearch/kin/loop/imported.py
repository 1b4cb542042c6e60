"""People who came with a family file: looked for in the sources, those nearest to the file's home person first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.loop.following import Origin, Standing, is_full, item_for, relative_items, scope_of
from kiwiresearch.kin.loop.keeping import Relative
from kiwiresearch.kin.loop.novelty import Asked, asked
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store.items import FrontierItem
from kiwiresearch.kin.tree import PersonId, Tree


def imported_items(
    tree: Tree,
    homes: Sequence[PersonId],
    settings: CaseSettings,
    known: Sequence[Asked],
    taken: Collection[PersonId],
    age: float = 0.0,
) -> list[FrontierItem]:
    """Queries for everybody within reach of the home persons who has no page yet; `taken` were asked for before."""
    found: list[FrontierItem] = []

    def is_wanted(person: PersonId) -> bool:
        return person not in taken and "record" not in tree.persons[person].external

    for home in filter(is_wanted, homes):
        name = tree.persons[home].name
        if not is_full(name):
            continue
        whom = Relative(home, "name", name, "")
        found.append(item_for(whom, Origin("", "", Standing(), age=age), Standing(), asked(name, scope_of(home))))
    for origin, relatives in _outwards(tree, homes, settings):
        wanted = [one for one in relatives if is_wanted(one.person)]
        found += relative_items(wanted, Origin(*origin, age=age), settings, known)
    return found


def _outwards(
    tree: Tree, homes: Sequence[PersonId], settings: CaseSettings
) -> Iterator[tuple[tuple[PersonId, str, Standing], list[Relative]]]:
    """Everybody within reach, each with those relatives whom nobody nearer has named."""
    ways: tuple[tuple[FieldName, Callable[[PersonId], Sequence[PersonId]]], ...] = (
        ("parent", tree.parents),
        ("child", tree.children),
        ("spouse", tree.spouses),
        ("sibling", tree.siblings),
    )
    places = {home: Standing() for home in homes}
    queue = deque(places)
    while queue:
        person = queue.popleft()
        relatives: list[Relative] = []
        for field, others in ways:
            place = places[person].of(field)
            if not place.is_within(settings):
                continue
            for other in others(person):
                if other not in places and other in tree.persons:
                    places[other] = place
                    queue.append(other)
                    relatives.append(Relative(other, field, tree.persons[other].name, ""))
        yield (person, tree.persons[person].name, places[person]), relatives

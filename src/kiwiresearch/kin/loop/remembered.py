"""What a case remembers of its queries: all that was asked, what found nothing, and what was known then."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from kiwiresearch.kin.loop.following import SUGGESTED, scope_of
from kiwiresearch.kin.loop.looking import Looked
from kiwiresearch.kin.loop.novelty import Asked, asked
from kiwiresearch.kin.loop.revisiting import Known, Negative, known_of
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.items import FrontierItem
from kiwiresearch.kin.tree import PersonId


def all_asked(store: CaseStore, settings: CaseSettings) -> list[Asked]:
    """All that was asked, or waits to be."""
    found = [asked(name, SUGGESTED) for name in settings.seeds]
    for item in frontier(store):
        name, of = str(item.context.get("name", "")), str(item.context.get("of", ""))
        is_address = "://" in item.query_string
        found.append(asked("", item.query_string) if is_address else asked(name, scope_of(of)))
        found.append(asked(name, SUGGESTED))
    return found


def query_words(query: str) -> str:
    """What was looked for, as a reader says it: of an address in a book, the page."""
    if not query.startswith("zim://"):
        return query
    path = query.removeprefix("zim://").partition("/")[2]
    return unquote(path.removeprefix("A/")).removesuffix(".html").rpartition("/")[2].replace("_", " ")


def frontier(store: CaseStore) -> list[FrontierItem]:
    """All items of the frontier, those that are done as well."""
    return [item for item in store.items("frontier") if isinstance(item, FrontierItem)]


def note_nothing(store: CaseStore, item: FrontierItem, looked: Looked, at: str) -> None:
    """Keep what was known when nothing was found; it is compared with what is known later."""
    key = _key(item)
    earlier = store.state(key) or {}
    if looked.record or not looked.searched or "://" in item.query_string:
        if earlier:
            store.set_state(key, None)
        return
    target = store.canonical(item.target_entity_id) if item.target_entity_id else ""
    known = known_of(store.tree(), target, disputed(store).get(target, ()))
    sources = tuple(dict.fromkeys((*earlier.get("sources", ()), *looked.searched)))
    store.set_state(key, Negative(item, sources, at, known).record())


def negatives(store: CaseStore) -> list[Negative]:
    """Searches that found nothing so far."""
    return [found for item in frontier(store) if (found := _negative(store, item))]


def _negative(store: CaseStore, item: FrontierItem) -> Negative | None:
    note = store.state(_key(item)) if item.status == "done" and "://" not in item.query_string else None
    return Negative(item, tuple(note["sources"]), note["at"], Known.from_record(note["known"])) if note else None


def was_in_vain(store: CaseStore, item: FrontierItem) -> bool:
    """Whether the same person was searched for by the same name, with no fewer relatives to know them by."""
    if "://" in item.query_string or not item.target_entity_id or item.context.get("field") == "clue":
        return False
    words, target = asked(str(item.context["name"]), "").words, store.canonical(item.target_entity_id)
    for other in frontier(store):
        if other.id == item.id or asked(str(other.context.get("name", "")), "").words != words:
            continue
        negative = _negative(store, other)
        if negative and store.canonical(other.target_entity_id) == target:
            known = {store.canonical(one) for one in negative.known.relatives}
            return set(known_of(store.tree(), target).relatives) <= known
    return False


def disputed(store: CaseStore) -> Mapping[PersonId, list[str]]:
    """The fields of each person on which sources disagree."""
    found: dict[PersonId, list[str]] = {}
    for row in store.conflicts():
        found.setdefault(row.entity_id, []).append(row.field)
    return found


def _key(item: FrontierItem) -> str:
    return f"nothing/{item.id}"

"""Which pages of a book matter most: by the links to them, by who links to them, and by the references they give."""

from __future__ import annotations

from typing import Literal, get_args

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.part import Condition, Part, Window, part, words_of

By = Literal["authority", "linked", "references"]
BYS: tuple[By, ...] = get_args(By)
ORDERS: dict[By, str] = {
    "authority": "rank DESC, linked DESC, id",
    "linked": "linked DESC, rank DESC, id",
    "references": '"references" DESC, rank DESC, id',
}
COLUMNS = ("path", "title", "kind", "words", "references", "linked", "linking", "rank")


def ranks(atlas: Atlas, by: By, words: str, window: Window) -> Part:
    """The pages whose title has all of some words, the most authoritative, most linked or best referenced first."""
    chosen: list[Condition] = [("kind <> 'redirect'", ())]
    chosen += [("contains(lower(title), lower(?))", [word]) for word in words_of(words)]
    with atlas.database(files=atlas.files(GRAPH)) as database:
        return part(database, "graph", chosen, ORDERS[by], window, COLUMNS)

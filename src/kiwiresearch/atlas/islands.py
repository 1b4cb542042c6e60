"""Pages that hang together: whoever can be reached by links in either direction is of one group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from kiwiresearch.atlas.edges import Edges, Numbers

    Chosen = np.ndarray[Any, np.dtype[np.bool_]]


def groups(edges: Edges, among: Chosen | None = None) -> Numbers:
    """For each page the first page of its group; with `among`, only those pages and the links between them count.

    A page that is not among them is a group of its own. In each round the groups that a link joins become one,
    named by the lower of their first pages; few rounds are needed, however long the chains of links are.
    """
    import numpy as np

    first: Numbers = np.arange(edges.pages, dtype=np.int32)
    while True:
        before = first.copy()
        for sources, targets in edges.parts():
            if among is not None:
                inside = among[sources] & among[targets]
                sources, targets = sources[inside], targets[inside]
            one, other = first[sources], first[targets]
            lower = np.minimum(one, other)
            np.minimum.at(first, one, lower)
            np.minimum.at(first, other, lower)
        while not np.array_equal(first, shorter := first[first]):
            first = shorter
        if np.array_equal(first, before):
            return first

"""Tables of a whole book as a job: a batch of articles is a step, and none that was kept is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kiwiresearch import __version__
from kiwiresearch.errors import NotOffered
from kiwiresearch.research.job import BulkWish

if TYPE_CHECKING:
    from kiwiresearch.bulk.run import Progress
    from kiwiresearch.research.job_order import Order
    from kiwiresearch.research.job_work import Tell

PROCESSES = 1
"""A job has the share of a machine that one job has; a worker does several at once."""


def write_tables(order: Order, wish: BulkWish, tell: Tell) -> dict[str, Any]:
    """Fill the folder of the job, or what is left to fill of it."""
    from kiwiresearch.bulk.run import write_book
    from kiwiresearch.research.job_work import tell_store

    book = order.books[0]
    if book.source.is_served:
        raise NotOffered(
            f"The book {book.title or book.name!r} is on a server, which does not list its articles.",
            remedy="Put the ZIM file itself on the shelf of a worker.",
        )
    order.desk().opener.open(book.source).close()
    kept = 0

    def step(progress: Progress) -> None:
        nonlocal kept
        kept = progress.kept
        tell_store(order, {"pages": progress.done})  # who has lost the job writes no more of it
        tell(event="batch", order=progress.done, of=progress.total, errors=progress.errors)

    tell(event="stage", stage="writing")
    written = write_book(book.source.path, wish.what, order.out, version=__version__, workers=PROCESSES, tell=step)
    rows = ", ".join(f"{table.rows:,} {name}" for name, table in sorted(written.manifest.tables.items()))
    return {"kept": kept, "story": f"{book.title or book.name}: {rows}."}

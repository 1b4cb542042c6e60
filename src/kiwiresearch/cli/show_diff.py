"""What people see of two snapshots: what became of the pages and claims in numbers, then the changes that tell most."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from kiwiresearch.cli.show import line, safe, write
from kiwiresearch.research.book_pairs import BookSeen
from kiwiresearch.research.snapshots_change import Change, Doubt, PageChange
from kiwiresearch.research.snapshots_told import MOST_TITLES, Tally, ranked
from kiwiresearch.text.differing import Run, marked
from kiwiresearch.text.plain import printable

HEADINGS = {"added": "New pages", "removed": "Pages that are gone", "renamed": "Pages of another name",
            "unreadable": "Pages that cannot be read"}  # fmt: skip


def books(old: BookSeen, new: BookSeen) -> None:
    """Which two snapshots these are."""
    titles = dict.fromkeys(printable(book.title or book.name or book.id) for book in (old, new))
    dates = " and ".join(printable(book.date) or "a day that is not told" for book in (old, new))
    line(f"Book: {' and '.join(titles)}, snapshots of {dates}")


def summary(found: Tally, notes: Sequence[str], *, with_pages: bool) -> None:
    """The pages and the claims in numbers, and the pages by name that came, went or moved."""
    pages, claims = found.pages, found.claims
    line(
        f"Pages: {pages['both']:,} in both ({pages['same']:,} with the same text), {pages['added']:,} new, "
        f"{pages['removed']:,} gone, {pages['renamed']:,} renamed"
        + (f", {pages['unreadable']:,} that cannot be read" if pages["unreadable"] else "")
    )
    line(
        f"Claims of pages in both: {claims['changed']:,} changed ({claims['numbers']:,} with other numbers), "
        f"{claims['added']:,} added, {claims['withdrawn']:,} withdrawn, {claims['disputed']:,} newly disputed"
    )
    if pages["added"] or pages["removed"]:
        line(
            f"Claims of new pages: {claims['on added pages']:,}; of pages that are gone: {claims['on removed pages']:,}"
        )
    for note in notes:
        line(note)
    for what, heading in HEADINGS.items() if with_pages else ():
        _names(heading, found.named(what), pages[what])


def _names(heading: str, names: Sequence[str], count: int) -> None:
    if names:
        line("")
        line(f"{heading} ({count:,})")
    for name in names:
        line(f"  {printable(name)}")
    if count > MOST_TITLES:
        line(f"  … and {count - len(names):,} more")


def changes(found: Tally) -> None:
    """The changes that tell most, page by page."""
    told = found.telling()
    for telling in told:
        line("")
        line(_title(telling.page))
        for change in telling.changes:
            _change(change)
        if telling.more:
            line(f"  … and {telling.more:,} more on this page")
    left = found.wanted - sum(len(telling.changes) + telling.more for telling in told)
    if left:
        line("")
        line(f"{left:,} more on other pages: '--limit N' shows more, and '--out FILE.jsonl' has all.")


def page(found: PageChange, kinds: Sequence[str]) -> None:
    """All that became of one page."""
    line(_title(found))
    told = {
        "added": "Only the new snapshot has this page.",
        "removed": "Only the old snapshot has this page.",
        "unreadable": f"This page cannot be read. {printable(found.problem)}",
        "leads elsewhere": "This page only leads to another.",
    }
    if found.state in told:
        line(told[found.state])
    if found.is_same:
        line("Its text is the same in both snapshots.")
    wanted = ranked([change for change in found.changes if change.is_of(kinds)])
    for change in wanted:
        _change(change)
    if found.state == "both" and not found.is_same:
        line("")
        line(f"Claims: {len(wanted):,} of these kinds, {found.same:,} the same.")


def _title(found: PageChange) -> str:
    title = printable(found.page.title)
    if found.is_renamed and found.old:
        return f"{title} (was {printable(found.old.title)})"
    return title


LABELS = {"added": "added", "withdrawn": "withdrawn", "changed": "other words", "disputed": "disputed now"}


def _change(change: Change) -> None:
    label = "other numbers" if change.numbers else "held back otherwise" if change.hedging else LABELS[change.kind]
    where = printable(change.claim.section) or "Introduction"
    line(f"  {label} · {where}")
    if change.kind == "changed" and change.old and change.new:
        left, right = marked(printable(change.old.text), printable(change.new.text))
        _runs("-", left)
        _runs("+", right)
    else:
        sign = {"added": "+", "withdrawn": "-", "disputed": "="}[change.kind]
        line(f"    {sign} {printable(change.claim.text)}")
    for doubt in change.doubts:
        _doubt(doubt)


def _runs(sign: str, runs: Sequence[Run]) -> None:
    """A claim with the words that the other side does not have in bold, where a terminal shows that."""
    text = Text(f"    {sign} ")
    for run in runs:
        text.append(safe(run.text), style="bold" if run.differs else "")
    write(text)


def _doubt(doubt: Doubt) -> None:
    if doubt.against is None:
        line(f"    ! {printable(doubt.why)}")
    else:
        where = printable(doubt.against.section) or "Introduction"
        line(f"    ! Contradicts: {printable(doubt.against.text)} ({printable(doubt.against.page_title)}, {where})")

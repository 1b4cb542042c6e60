"""The atlas, and two snapshots of a book compared, printed for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from kiwiresearch.atlas import EdgeKind, ResultSlice
from kiwiresearch.cli.output import line, safe, write
from kiwiresearch.diff import MAX_TITLES, ClaimChange, ClaimDoubt, DiffTally, PageChange, ranked_changes
from kiwiresearch.runs import BookEdition
from kiwiresearch.text import TextRun, count_of, marked_differences, printable
from kiwiresearch.zim import HiddenPages

MAX_QUOTE = 300
PREHISTORY = 20_000


def print_overview(record: Mapping[str, Any]) -> None:
    book = record["book"]
    line(" · ".join(filter(None, (printable(book["title"] or book["name"]), book["date"], book["language"]))))
    if "pages" in record:
        pages = record["pages"]
        kinds = _counts(pages, articles="article", lists="list", disambiguations="disambiguation")
        line(f"Pages: {kinds}; {_counts(pages, words='word', references='reference', stubs='stub')}")
    if "links" in record:
        links = record["links"]
        line(f"Links: {links['links']:,}; {_counts(links, orphans='orphan', wanted='missing page')}")
        line(f"Most important pages: {', '.join(printable(link['title']) for link in links['first'])}")
        _hidden(links["hidden"], "page")
    if "claims" in record:
        claims = record["claims"]
        line(f"Claims: {claims['claims']:,}; {claims['numbers']:,} with numbers, {claims['dates']:,} with dates")
        if claims["earliest"] is not None:
            line(f"Time: from {year(claims['earliest'])} to {year(claims['latest'])}")
    if "contradictions" in record:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in record["contradictions"].items()) or "none found"
        line(f"Contradictions: {kinds}")
    if "people" in record:
        line(f"People: {record['people']['people']:,} with pages of their own")
    lacking = {"titles", "pages", "links", "claims", "people"} - record["tables"].keys()
    if lacking:
        line(f"Not in this folder: {', '.join(sorted(lacking))}.")


def year(number: int) -> str:
    """A year for people; for prehistory, how long ago it was."""
    # -65,000,000 is "65 million years ago", -30,000 "30,000 years ago", and -1,200 "1,200 BC".
    for size, word in ((10**9, " billion"), (10**6, " million"), (1, "")):
        if number <= -max(size, PREHISTORY):
            return f"{round(-number / size, 1 if word else -3):,g}{word} years ago"
    return f"{-number:,} BC" if number < 0 else str(number)


def print_contradictions(found: ResultSlice) -> None:
    kind = ""
    for number, row in enumerate(found.rows, found.offset + 1):
        if row["kind"] != kind:
            kind = row["kind"]
            line(f"{kind.capitalize()}")
        attribute = f", {row['attribute']}" if row["attribute"] else ""
        line(f"{number:3}. {printable(row['title'])}{printable(attribute)}")
        line(f"     {printable(row['why'])}")
        for side in row["sides"]:
            line(f"     - {_short(side['text'])}")
            section = f" § {printable(side['section'])}" if side["section"] else ""
            line(f"       {printable(side['title'] or side['path'])}{section}")
    _footer(found, "No contradictions found.")


def print_ranks(found: ResultSlice) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        line(
            f"{number:3}. {printable(row['title'])}  authority {row['rank']:.2f}, linked from {row['linked']:,}, "
            f"{count_of(row['references'], 'reference')}"
        )
    _footer(found, "No page with these words in its title.")


def print_regions(of: EdgeKind, found: ResultSlice) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        if of == "orphans":
            line(f"{number:3}. {printable(row['title'])}  {count_of(row['words'], 'word')}")
        elif of == "wanted":
            line(f"{number:3}. {printable(row['title'])}  linked from {count_of(row['pages'], 'page')}")
        else:
            named = ", ".join(printable(item["title"]) for item in row["named"])
            hub = row.get("hub")
            around = f", around {printable(hub['title'])}" if hub else ""
            line(f"{number:3}. {count_of(row['pages'], 'page')}, {count_of(row['words'], 'word')}{around}: {named}")
    _footer(found, f"No {NONE_OF[of]} found.")


NONE_OF: dict[EdgeKind, str] = {
    "orphans": "orphans", "islands": "islands", "stubs": "groups of stubs", "wanted": "missing pages",
}  # fmt: skip


def print_timeline(found: ResultSlice) -> None:
    for row in found.rows:
        line(f"{printable(row['when'])}: {_short(row['claim'])} ({printable(row['title'])})")
    _footer(found, "No matching claim has a date.")


def print_families(found: ResultSlice) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        named = "; ".join(map(_called, row["named"]))
        line(f"{number:3}. {row['people']:,} people, {row['pages']:,} with pages: {named or 'names hidden'}")
    _footer(found, "No page of this book mentions relatives.")


def print_relatives(record: Mapping[str, Any]) -> None:
    line(_person(record["person"]))
    for row in record["relatives"]:
        line(f"  {row['kinship']}: {_person(row)}")
        if row["quote"]:
            line(f"    {_short(row['quote'])}")
    _hidden(record["hidden"], "relative")
    if record["total"] or not record["hidden"]:
        _footer(ResultSlice(tuple(record["relatives"]), record["total"], record["offset"]), "  No relatives found.")


def print_relation(record: Mapping[str, Any]) -> None:
    line(f"How {_person(record['second'])} is related to {_person(record['first'])}: {record['kinship']}")
    for step in record["way"]:
        line(f"  {step['kind'] + ': ' if step['kind'] else ''}{_person(step)}")


def _person(row: Mapping[str, Any]) -> str:
    dates = [row[name]["words"] for name in ("birth", "death") if row[name]]
    if row["birth"] and row["death"]:
        years = f" ({dates[0]} – {dates[1]})"
    else:
        years = f" ({'born' if row['birth'] else 'died'} {dates[0]})" if dates else ""
    return f"{printable(row['name'])}{years}"


def _counts(record: Mapping[str, int], **names: str) -> str:
    return ", ".join(count_of(record[key], name) for key, name in names.items())


def _short(text: str) -> str:
    plain = printable(text)
    return plain if len(plain) <= MAX_QUOTE else f"{plain[:MAX_QUOTE]}…"


def _hidden(count: int, what: str) -> None:
    if count:
        line(HiddenPages(count, "this server's policy").sentence(what))


def _called(person: Mapping[str, Any]) -> str:
    """The title of a person's page, which commands accept; the name if the title is only a path."""
    title = person["title"] if person["title"] != person["path"] else ""
    return printable(title or person["name"])


def _footer(found: ResultSlice, none: str) -> None:
    _hidden(found.hidden, "row")
    asked = len(found.rows) + found.hidden
    if not found.total:
        line(none)
    elif not asked:
        line(f"There are only {found.total:,} rows. Use a lower --offset.")
    elif found.offset + asked < found.total:
        shown = f"{found.offset + 1:,} to {found.offset + asked:,} of {found.total:,}"
        line(f"{shown}. For more: --offset {found.offset + asked}")


PAGE_HEADINGS = {
    "added": "New pages", "removed": "Removed pages", "renamed": "Renamed pages",
    "unreadable": "Pages that cannot be read",
}  # fmt: skip


def print_books(old: BookEdition, new: BookEdition) -> None:
    """The two snapshots by title and date."""
    titles = dict.fromkeys(printable(book.title or book.name or book.id) for book in (old, new))
    dates = " and ".join(printable(book.date) or "an unknown date" for book in (old, new))
    line(f"Book: {' and '.join(titles)}, editions of {dates}")


def print_summary(found: DiffTally, notes: Sequence[str], *, with_pages: bool) -> None:
    """Pages and claims in numbers, and the names of pages that were added, removed or renamed."""
    pages, claims = found.pages, found.claims
    line(
        f"Pages: {pages['both']:,} in both ({pages['same']:,} with the same text), {pages['added']:,} new, "
        f"{pages['removed']:,} removed, {pages['renamed']:,} renamed"
        + (f", {pages['unreadable']:,} that cannot be read" if pages["unreadable"] else "")
    )
    line(
        f"Claims on pages in both: {claims['changed']:,} changed ({claims['numbers']:,} with different numbers), "
        f"{claims['added']:,} added, {claims['withdrawn']:,} withdrawn, {claims['disputed']:,} newly disputed"
    )
    if pages["added"] or pages["removed"]:
        line(f"Claims on new pages: {claims['on added pages']:,}; on removed pages: {claims['on removed pages']:,}")
    for note in notes:
        line(note)
    for what, heading in PAGE_HEADINGS.items() if with_pages else ():
        _names(heading, found.named(what), pages[what])


def _names(heading: str, names: Sequence[str], count: int) -> None:
    if names:
        line("")
        line(f"{heading} ({count:,})")
    for name in names:
        line(f"  {printable(name)}")
    if count > MAX_TITLES:
        line(f"  … and {count - len(names):,} more")


def print_changes(found: DiffTally) -> None:
    """The most important changes, page by page."""
    highlights = found.highlights()
    for highlight in highlights:
        line("")
        line(_title(highlight.page))
        for change in highlight.changes:
            _change(change)
        if highlight.more:
            line(f"  … and {highlight.more:,} more on this page")
    left = found.wanted - sum(len(highlight.changes) + highlight.more for highlight in highlights)
    if left:
        line("")
        line(f"{left:,} more on other pages. Use --limit N to show more, or --out FILE.jsonl to save all.")


def print_page(found: PageChange, kinds: Sequence[str]) -> None:
    """All changes of one page."""
    line(_title(found))
    messages = {
        "added": "Only the new edition has this page.",
        "removed": "Only the old edition has this page.",
        "unreadable": f"This page cannot be read. {printable(found.problem)}",
        "leads elsewhere": "This page only redirects to another.",
    }
    if found.state in messages:
        line(messages[found.state])
    if found.is_same:
        line("Its text is the same in both editions.")
    wanted = ranked_changes([change for change in found.changes if change.is_of(kinds)])
    for change in wanted:
        _change(change)
    if found.state == "both" and not found.is_same:
        line("")
        line(f"Claims: {len(wanted):,} shown, {found.same:,} the same in both.")


def _title(found: PageChange) -> str:
    title = printable(found.page.title)
    if found.is_renamed and found.old:
        return f"{title} (was {printable(found.old.title)})"
    return title


LABELS = {"added": "added", "withdrawn": "withdrawn", "changed": "reworded", "disputed": "newly disputed"}


def _change(change: ClaimChange) -> None:
    label = "different numbers" if change.numbers else "hedged differently" if change.hedging else LABELS[change.kind]
    where = printable(change.claim.section) or "Introduction"
    line(f"  {label} · {where}")
    if change.kind == "changed" and change.old and change.new:
        left, right = marked_differences(printable(change.old.text), printable(change.new.text))
        _runs("-", left)
        _runs("+", right)
    else:
        sign = {"added": "+", "withdrawn": "-", "disputed": "="}[change.kind]
        line(f"    {sign} {printable(change.claim.text)}")
    for doubt in change.doubts:
        _doubt(doubt)


def _runs(sign: str, runs: Sequence[TextRun]) -> None:
    """A claim in styled pieces; words that the other side lacks are bold on a terminal."""
    text = Text(f"    {sign} ")
    for run in runs:
        text.append(safe(run.text), style="bold" if run.differs else "")
    write(text)


def _doubt(doubt: ClaimDoubt) -> None:
    if doubt.against is None:
        line(f"    ! {printable(doubt.why)}")
    else:
        where = printable(doubt.against.section) or "Introduction"
        line(f"    ! Contradicts: {printable(doubt.against.text)} ({printable(doubt.against.page_title)}, {where})")

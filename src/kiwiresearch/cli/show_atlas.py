"""What people see of the atlas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kiwiresearch.atlas.part import Part
from kiwiresearch.atlas.regions import Of
from kiwiresearch.cli.show import line
from kiwiresearch.text.plain import printable
from kiwiresearch.text.plural import counted
from kiwiresearch.zim.policy import Hidden

LONGEST = 300
PREHISTORY = 20_000


def overview(told: Mapping[str, Any]) -> None:
    book = told["book"]
    line(" · ".join(filter(None, (printable(book["title"] or book["name"]), book["date"], book["language"]))))
    if "pages" in told:
        pages = told["pages"]
        kinds = _counts(pages, articles="article", lists="list", disambiguations="disambiguation")
        line(f"Pages: {kinds}; {_counts(pages, words='word', references='reference', stubs='stub')}")
    if "links" in told:
        links = told["links"]
        line(f"Links: {links['links']:,}; {_counts(links, orphans='orphan', wanted='wanted page')}")
        line(f"First by authority: {', '.join(printable(one['title']) for one in links['first'])}")
        _hidden(links["hidden"], "page")
    if "claims" in told:
        claims = told["claims"]
        line(f"Claims: {claims['claims']:,}; {claims['numbers']:,} with numbers, {claims['dates']:,} with dates")
        if claims["earliest"] is not None:
            line(f"Time: from {year(claims['earliest'])} to {year(claims['latest'])}")
    if "contradictions" in told:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in told["contradictions"].items()) or "none found"
        line(f"Contradictions: {kinds}")
    if "people" in told:
        line(f"People: {told['people']['people']:,} with pages of their own")
    lacking = {"titles", "pages", "links", "claims", "people"} - told["tables"].keys()
    if lacking:
        line(f"Not in this folder: {', '.join(sorted(lacking))}.")


def year(number: int) -> str:
    """A year as people say it; so far back that no calendar counts, how long ago it was."""
    for size, word in ((10**9, " billion"), (10**6, " million"), (1, "")):
        if number <= -max(size, PREHISTORY):
            return f"{round(-number / size, 1 if word else -3):,g}{word} years ago"
    return f"{-number:,} BC" if number < 0 else str(number)


def contradictions(found: Part) -> None:
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
    _footer(found, "No such contradictions were found.")


def ranks(found: Part) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        line(
            f"{number:3}. {printable(row['title'])}  authority {row['rank']:.2f}, linked from {row['linked']:,}, "
            f"{row['references']:,} references"
        )
    _footer(found, "No page has these words in its title.")


def regions(of: Of, found: Part) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        if of == "orphans":
            line(f"{number:3}. {printable(row['title'])}  {row['words']:,} words")
        elif of == "wanted":
            line(f"{number:3}. {printable(row['title'])}  named by {row['pages']:,} pages")
        else:
            named = ", ".join(printable(one["title"]) for one in row["named"])
            hub = row.get("hub")
            beside = f", around {printable(hub['title'])}" if hub else ""
            line(f"{number:3}. {row['pages']:,} pages, {row['words']:,} words{beside}: {named}")
    _footer(found, f"There are no {NONE_OF[of]}.")


NONE_OF: dict[Of, str] = {
    "orphans": "orphans", "islands": "islands", "stubs": "regions of stubs", "wanted": "wanted pages",
}  # fmt: skip


def timeline(found: Part) -> None:
    for row in found.rows:
        line(f"{printable(row['when'])}: {_short(row['claim'])} ({printable(row['title'])})")
    _footer(found, "No claim that fits has a date.")


def families(found: Part) -> None:
    for number, row in enumerate(found.rows, found.offset + 1):
        named = "; ".join(map(_called, row["named"]))
        line(f"{number:3}. {row['people']:,} people, {row['pages']:,} with pages: {named or 'none that may be named'}")
    _footer(found, "No page of this book tells of relatives.")


def relatives(told: Mapping[str, Any]) -> None:
    line(_person(told["person"]))
    for row in told["relatives"]:
        line(f"  {row['kinship']}: {_person(row)}")
        if row["quote"]:
            line(f"    {_short(row['quote'])}")
    _hidden(told["hidden"], "relative")
    if told["total"] or not told["hidden"]:
        _footer(Part(tuple(told["relatives"]), told["total"], told["offset"]), "  No relatives are told of.")


def relation(told: Mapping[str, Any]) -> None:
    line(f"{_person(told['second'])} is to {_person(told['first'])}: {told['kinship']}")
    for step in told["way"]:
        line(f"  {step['kind'] + ': ' if step['kind'] else ''}{_person(step)}")


def _person(row: Mapping[str, Any]) -> str:
    dates = [row[name]["words"] for name in ("birth", "death") if row[name]]
    if row["birth"] and row["death"]:
        years = f" ({dates[0]} – {dates[1]})"
    else:
        years = f" ({'born' if row['birth'] else 'died'} {dates[0]})" if dates else ""
    return f"{printable(row['name'])}{years}"


def _counts(told: Mapping[str, int], **names: str) -> str:
    return ", ".join(counted(told[key], name) for key, name in names.items())


def _short(text: str) -> str:
    plain = printable(text)
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"


def _hidden(count: int, what: str) -> None:
    if count:
        line(Hidden(count, "the policy of this desk").sentence(what))


def _called(person: Mapping[str, Any]) -> str:
    """Somebody by the title of their page, by which they can be asked for; by name where the title is only a path."""
    title = person["title"] if person["title"] != person["path"] else ""
    return printable(title or person["name"])


def _footer(found: Part, none: str) -> None:
    _hidden(found.hidden, "row")
    asked = len(found.rows) + found.hidden
    if not found.total:
        line(none)
    elif not asked:
        line(f"There are {found.total:,} in all; begin with a lower --offset.")
    elif found.offset + asked < found.total:
        shown = f"{found.offset + 1:,} to {found.offset + asked:,} of {found.total:,}"
        line(f"{shown}. The next: --offset {found.offset + asked}")

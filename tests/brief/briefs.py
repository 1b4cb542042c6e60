"""Briefs made by hand: one about the Bronze Age collapse, one that is empty, and one of hostile words."""

from __future__ import annotations

from typing import Any, cast

from kiwiresearch.brief.brief import (
    Brief,
    BriefSource,
    BriefSources,
    Dispute,
    DisputeView,
    Figure,
    Gap,
    QuoteContext,
    SourceBook,
    Statement,
    StatementGroup,
    SupportLevel,
    TimelineMoment,
    ValueDifference,
)
from kiwiresearch.claims.claim import Claim, ClaimSignals, ClaimType, Measure
from kiwiresearch.evidence import recorded_quote
from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message
from kiwiresearch.search.query import Score, ScoreTerm
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.quantity_mentions import quantities_in
from kiwiresearch.zim.archive import EntryRef

TOP = "Late Bronze Age collapse"
BOOK = BookId("11111111-2222-3333-4444-555555555555")
SETTINGS = (("max_pages", "24"), ("max_depth", "2"), ("crawl strategy", "priority"), ("kiwiresearch", "1.2.3"))
PAGES = (
    ("Late Bronze Age collapse", 0), ("Sea Peoples", 1), ("Ugarit", 1), ("Hittite Empire", 1), ("Mycenaean Greece", 1),
    ("Bronze", 1), ("Drought", 1), ("Systems collapse", 1), ("Hattusa", 2), ("Ramesses III", 2),
    ("Medinet Habu", 2), ("Tin trade in the ancient world", 2), ("Palace economy", 2), ("Troy", 2), ("Pylos", 2),
)  # fmt: skip
LINKS = (
    (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (1, 9), (1, 10), (2, 3), (3, 8), (4, 12), (4, 14), (5, 11),
    (3, 13), (9, 10), (4, 13), (2, 0), (8, 3),
)  # fmt: skip


AROUND = QuoteContext("It was the end of an age. ", " Trade came to a halt.")


def entry(title: str) -> EntryRef:
    return EntryRef(BOOK, title.replace(" ", "_"))


def url_of(ref: EntryRef, start: str = "zim:/") -> str:
    return f"{start}/{ref.book}/{ref.path}"


def a_claim(
    page: str, text: str, section: str = "Theories", kind: ClaimType = "causal", quote: str = "", **more: Any
) -> Claim:
    """A claim in the words of a page, its hedges, dates and numbers read from them."""
    result = quote or text
    dates = dates_in(text)
    numbers = quantities_in(text, not_in=[(one.start, one.end) for one in dates])
    known: dict[str, Any] = {
        "text": text,
        "type": kind,
        "subject": page,
        "scope": page,
        "quotes": (recorded_quote(entry(page), 100, 100 + len(result), result),),
        "page_title": page,
        "section": section,
        "anchor": section.replace(" ", "_"),
        "book_name": "sample_en",
        "tags": ("collapse",),
        "hedges": hedges_in(text),
        "signals": ClaimSignals(references=2, section_references=5, page_references=40),
        "measures": tuple(Measure(one, "people", page, dates[0].when if dates else None) for one in numbers),
        "dates": tuple(dates),
        "names": (page,),
        "score": Score((ScoreTerm("references in the sentence", 1.2), ScoreTerm("hedged", -0.4))),
    }
    return Claim(**(known | more))


class Making:
    """A brief in the making: statements bring their claims along."""

    def __init__(self) -> None:
        self.claims: dict[Any, Claim] = {}

    def said(self, text: str, *claims: Claim, sureness: str = "supported") -> Statement:
        self.claims |= {claim.id: claim for claim in claims}
        pages = len({claim.ref for claim in claims})
        return Statement(text, tuple(claim.id for claim in claims), cast("SupportLevel", sureness), pages)

    def one(self, page: str, text: str, section: str = "", sureness: str = "one source") -> Statement:
        """A statement that one page makes in just these words."""
        return self.said(text, a_claim(page, text, section), sureness=sureness)


def some_sources(start: str = "zim:/") -> BriefSources:
    pages = []
    for number, (title, depth) in enumerate(PAGES):
        why = Message(
            "its title matches the topic" if depth == 0 else "linked from the introduction of a relevant page"
        )
        ref = entry(title)
        pages.append(
            BriefSource(ref, title, url_of(ref, start), depth, 60.0 - 3.25 * number, why, f"{title} is a page.")
        )
    story = (
        "Search found 31 pages about the topic. Research started with Late Bronze Age collapse.",
        "From there, kiwiresearch followed links, each time reading the best remaining page.",
    )
    note = SourceBook(BOOK, "The sample book", "sample_en", "2026-01-01", "maxi", "eng", 120)
    return BriefSources((note,), tuple(pages), LINKS, tuple(map(Message, story)), SETTINGS)


def jdn(year: int) -> int:
    """About the first day of a year; years BC are negative."""
    return 1721060 + round((year + 1 if year < 0 else year) * 365.25)


def bronze_age(start: str = "zim:/") -> Brief:
    """A brief with something in every part."""
    make = Making()
    summary = _summary(make)
    return Brief(
        topic=TOP,
        sources=some_sources(start),
        head=TOP,
        aspect="",
        senses=(),
        summary=summary,
        body=_body(make),
        definitions=_definitions(make),
        timeline=_timeline(make),
        mechanisms=_mechanisms(make),
        actors=_actors(make),
        disputes=_disputes(make),
        numbers=_numbers(make),
        gaps=_gaps(summary[3]),
        claims=make.claims,
        notes=(Message("The book holds introductions only for some pages."),),
        context={summary[0].claims[0]: AROUND},
    )


def _summary(make: Making) -> tuple[Statement, ...]:
    fell = "Within about fifty years most palaces of the eastern Mediterranean were abandoned."
    places = [(TOP, ""), ("Ugarit", "End"), ("Hittite Empire", "Fall"), ("Pylos", ""), ("Troy", "VIIa")]
    dry = "A dry spell of some centuries may have ruined harvests from Greece to Syria."
    return (
        make.said(fell, *(a_claim(page, fell, section) for page, section in places), sureness="well supported"),
        make.one(TOP, "The collapse ended the trade that had joined the great kingdoms.", "Effects", "supported"),
        make.one("Ugarit", "Ugarit was burnt and never settled again.", "End", "supported"),
        make.one("Drought", dry, "Past", "hedged"),
        make.one("Sea Peoples", "Egypt drove raiders from the sea back at its own coast.", "Raids", "supported"),
        make.one("Hittite Empire", "The Hittite capital was left before it burnt.", "Fall", "disputed"),
    )


def _body(make: Making) -> tuple[StatementGroup, ...]:
    traded = make.one(TOP, "Copper came from Cyprus and tin from far in the east.", "Background")
    letters = make.one(TOP, "Letters on clay tell of gifts between the courts.", "Background")
    fell = make.one("Ugarit", "The last letters of Ugarit speak of ships on the horizon.", "End")
    return StatementGroup("Background", (traded, letters)), StatementGroup("Ugarit", (fell,))


def _definitions(make: Making) -> tuple[StatementGroup, ...]:
    tin = a_claim("Bronze", "Bronze needs tin.", "Making", quote="needs tin , which came from far away")
    alloy = make.one("Bronze", "Bronze is an alloy of copper with some tin.")
    court = "A palace economy gathers goods at a court, which hands them out again."
    scribes = "Egyptian scribes wrote of several peoples who came by sea."
    together = "In a systems collapse, parts that depend on each other fail together."
    return (
        StatementGroup("Bronze", (alloy, make.said("It needs tin, which came from far away.", tin))),
        StatementGroup("Palace economy", (make.one("Palace economy", court),)),
        StatementGroup("Sea Peoples", (make.one("Sea Peoples", scribes, "Names"),)),
        StatementGroup("Systems collapse", (make.one("Systems collapse", together, "Idea"),)),
    )


HAPPENED = (
    (-1274, -1274, "1274 BC", "Egypt and the Hittites met in battle at Kadesh.", "Hittite Empire"),
    (-1250, -1100, "1250–1100 BC", "A dry spell lay over the region.", "Drought"),
    (-1230, -1190, "late 13th century BC", "Walls were built at Mycenae and Tiryns.", "Mycenaean Greece"),
    (-1208, -1208, "c. 1208 BC", "Merneptah fought Libyans and their allies from the sea.", "Sea Peoples"),
    (-1190, -1180, "c. 1190–1180 BC", "Ugarit was burnt.", "Ugarit"),
    (-1180, -1180, "c. 1180 BC", "The palace of Pylos burnt, and its clay tablets were baked.", "Pylos"),
    (-1178, -1174, "c. 1177 BC", "Ramesses III told of a victory on the walls of his temple.", "Ramesses III"),
    (-1180, -1050, "12th century BC", "Writing was forgotten in Greece.", "Mycenaean Greece"),
    (1870, 1870, "1870", "Digging began at Troy.", "Troy"),
    (1906, 1907, "1906–1907", "Clay tablets named Hattusa as the Hittite capital.", "Hattusa"),
    (1939, 1939, "1939", "Tablets with Linear B were found at Pylos.", "Pylos"),
)


def _timeline(make: Making) -> tuple[TimelineMoment, ...]:
    return tuple(
        TimelineMoment(when, jdn(first), jdn(last) + 364, make.one(page, text))
        for first, last, when, text, page in HAPPENED
    )


def _mechanisms(make: Making) -> tuple[StatementGroup, ...]:
    stores = "Failed harvests emptied the stores from which palaces fed their workers."
    fleets = "Coastal towns fell when fleets came while their own ships were away."
    courts = "When trade stopped, courts that lived on it could not pay those who kept them in power."
    letters = make.one(TOP, "Letters ask for grain as a matter of life and death.", "Theories", "supported")
    return (
        StatementGroup("Drought and famine", (make.one("Drought", stores, "Effects"), letters)),
        StatementGroup("Raiders from the sea", (make.one("Sea Peoples", fleets, "Raids"),)),
        StatementGroup("Systems collapse", (make.one("Systems collapse", courts, "Cases"),)),
    )


def _actors(make: Making) -> tuple[StatementGroup, ...]:
    carved = "Ramesses III had his victory carved at Medinet Habu."
    return (
        StatementGroup("Ramesses III", (make.one("Ramesses III", carved, "War"),)),
        StatementGroup("Ammurapi", (make.one("Ugarit", "The last king of Ugarit wrote for help.", "End"),)),
    )


def _disputes(make: Making) -> tuple[Dispute, ...]:
    uprooted = "Others hold that they were uprooted people of the region itself, though this is debated."
    west = a_claim("Sea Peoples", "Some scholars argue that they came from the Aegean.", "Origins", "disputed")
    local = a_claim(TOP, uprooted, "Theories", "disputed")
    early = a_claim("Ugarit", "Ugarit fell about 1190 BC.", "End", "timeline")
    late = a_claim(TOP, "Ugarit fell in 1175 BC.", "Course", "timeline")
    shaken = make.one(TOP, "A row of earthquakes may have struck one city after another.", "Theories", "hedged")
    aegean = DisputeView("some scholars", make.said(west.text, west, sureness="disputed"), ("some", "argue"))
    region = DisputeView("", make.said(local.text, local, sureness="disputed"), ("debated",))
    one = DisputeView("", make.said(early.text, early, sureness="disputed"))
    other = DisputeView("", make.said(late.text, late, sureness="disputed"), ("disputed tag",))
    return (
        Dispute("Where the Sea Peoples came from", (aegean, region)),
        Dispute(
            "When Ugarit fell", (one, other), ValueDifference("contradiction", Message("the dates are 15 years apart"))
        ),
        Dispute("Whether an earthquake storm came first", (DisputeView("one geologist", shaken, ("may",)),)),
    )


def _numbers(make: Making) -> tuple[Figure, ...]:
    many = make.one("Ugarit", "About 7,000 to 8,000 people lived in Ugarit.", "City")
    fewer = make.one(TOP, "Ugarit had 6,000 inhabitants.", "Effects")
    tin = make.one("Bronze", "Bronze holds about 12 % tin.", "Making")
    return (
        Figure("7,000–8,000", "inhabitants", "Ugarit", "c. 1200 BC", many),
        Figure(
            "6,000",
            "inhabitants",
            "Ugarit",
            "c. 1200 BC",
            fewer,
            ValueDifference("estimate range", Message("both are estimates")),
        ),
        Figure("12 %", "tin", "Bronze", "", tin),
    )


def _gaps(hedged: Statement) -> tuple[Gap, ...]:
    return (
        Gap("missing page", Message("The page “Ahhiyawa” is linked from 3 of the pages, and is not in the book.")),
        Gap("concept", Message("“Tin trade” is linked from 5 of the pages, and 1 claim was found about it.")),
        Gap("hedged", Message("Of 9 claims about the drought 7 are hedged, and 2 have a reference."), hedged.claims),
        Gap("introductions only", Message("The page “Troy” has only its introduction in this book.")),
    )


def nothing() -> Brief:
    """A brief of which every part is empty."""
    sources = BriefSources((), (), (), (), ())
    return Brief("Nothing", sources, "Nothing", "", (), (), (), (), (), (), (), (), (), ())


def of_words(text: str, url: str = "") -> Brief:
    """A brief in which every field that a book can fill has the same words."""
    make = Making()
    ref = EntryRef(BOOK, text or "x")
    score = Score((ScoreTerm(text, 1.0), ScoreTerm(text, -1.0)))
    claim = a_claim(
        text, f"{text} is so", text, "quote", quotes=(recorded_quote(ref, 0, max(len(text), 1), text),), subject=text,
        scope=text, anchor=text, book_name=text, tags=(text,), names=(text,), score=score,
    )  # fmt: skip
    output = make.said(text, claim)
    page = BriefSource(ref, text, url or f"zim://{BOOK}/{text}", 0, 1.5, Message(text), text)
    other = BriefSource(EntryRef(BOOK, f"{text}/other"), text, url, 1, 1.0, Message(text), text)
    sources = BriefSources(
        (SourceBook(BOOK, text, text, text, text, "eng", 3),),
        (page, other),
        ((0, 1),),
        (Message(text),),
        ((text, text),),
    )
    group = StatementGroup(text, (output,))
    view = DisputeView(text, output, (text,))
    differing = ValueDifference.from_text(text or "x")
    moments = (TimelineMoment(text, 2_000_000, 2_000_400, output), TimelineMoment(text, 2_100_000, 2_200_000, output))
    return Brief(
        text, sources, text, text, (text,), (output,), (group,), (group,), moments,
        (group, StatementGroup(text, (output, output))),
        (group,),
        (Dispute(text, (view, view)), Dispute(text, (view,)), Dispute(text, (view, view), differing)),
        (Figure(text, text, text, text, output, ValueDifference.from_text(text)),),
        (Gap("concept", Message(text), output.claims), Gap("missing page", Message(text))),
        make.claims, (Message(text),), {claim.id: QuoteContext(text, text)},
    )  # fmt: skip

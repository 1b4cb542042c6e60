"""Answers, claims, verifications and compared runs, printed for people."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.text import Text

from kiwiresearch.ask import Answer, AnswerText, CitationLink, Done, Event, EvidenceFound, Preview, Thought
from kiwiresearch.ask import presentation as parts
from kiwiresearch.claims import Claim, PageClaims
from kiwiresearch.cli.output import line, safe, unbroken_line, write
from kiwiresearch.diff import DIFFERENCE_KINDS, BookPair, Comparison, RunDifference, difference_counts, differences
from kiwiresearch.runs import RunContradiction
from kiwiresearch.text import count_of, printable
from kiwiresearch.verify import Verification

SNIPPET_CHARS = 300
INSTEAD = "The model's answer was not used. Here is what the pages say, with new source numbers:"


def show_answer(events: Iterator[Event], link: CitationLink, *, explain: bool = False) -> Answer:
    """Print an answer as it arrives, and return it."""
    shown = False
    answer: Answer | None = None
    for event in events:
        if isinstance(event, EvidenceFound):
            _citations(event.answer, link)
            answer = event.answer
        elif isinstance(event, Preview | Thought):
            continue
        elif isinstance(event, AnswerText):
            # Only a model's words are shown as they come; sentences of pages follow once the answer is complete.
            if answer is None or event.text != answer.text or not answer.lines:
                sys.stdout.write(safe(event.text))
                sys.stdout.flush()
                shown = True
        elif isinstance(event, Done):
            if event.answer.lines and not event.answer.model:
                _own_words(event.answer, answer, link)
            answer = event.answer
    if answer is None:
        raise TypeError("events end with Done")
    if shown and answer.model:
        sys.stdout.write("\n")
    for part in parts.footer_parts(answer):
        for words in _shown(part):
            line(words)
    if explain:
        _explained(answer)
    return answer


def _own_words(answer: Answer, found: Answer | None, link: CitationLink) -> None:
    """The page's own sentences. If a model failed to word them, their citations differ from those already printed."""
    if found is not None and found.citations != answer.citations:
        line(INSTEAD)
        _citations(answer, link)
    _lines(answer)


def _citations(answer: Answer, link: CitationLink) -> None:
    sources = parts.numbered(answer)
    for source in sources:
        unbroken_line(f"{source.mark} {printable(source.cited.citation.words)}")
        unbroken_line(f"    {printable(link(source.cited))}")
    if sources:
        line("")


def _lines(answer: Answer) -> None:
    for part in parts.body_parts(answer):
        if isinstance(part, parts.Headline):
            write(_strong(safe(part.words)))
        elif isinstance(part, parts.Doubt):
            line(part.words)
        elif isinstance(part, parts.QuotedSentence):
            write(_marked(part))


def _marked(part: parts.QuotedSentence) -> Text:
    """The sentence, with the short answer in it emphasised."""
    before, short, rest = map(safe, (part.before, part.short, part.after))
    text = Text.assemble(before, _strong(short) if short else "", rest)
    text.append(f" {part.marks}", style="dim")
    return text


def _strong(words: str) -> Text:
    """Bold on a terminal, between stars elsewhere."""
    return Text(words, style="bold green") if sys.stdout.isatty() else Text(f"**{words}**")


def _shown(part: parts.AnswerPart) -> Iterator[str]:
    """The lines of a part; sources were printed before the words."""
    match part:
        case parts.Refusal():
            yield part.words
            if part.closest:
                yield from ("", parts.CLOSEST)
                for passage in part.closest:
                    yield f"  “{printable(passage.text)}”"
                    yield f"    {printable(passage.cited.citation.words)}"
                yield ""
            if part.near:
                yield parts.related_pages([printable(page.title) for page in part.near])
        case parts.Senses():
            yield f"{parts.SENSES} {'; '.join(printable(sense.title) for sense in part.senses)}."
        case parts.DisagreementPart():
            yield from ("", f"{parts.DISAGREEMENT} {printable(part.words)}")
            yield from (f"  “{printable(side.quote)}”{side.mark}" for side in part.sides)
        case parts.Notice() | parts.RouteNote():
            yield from ("", printable(part.words))
        case parts.Confidence():
            yield part.words
        case parts.BookOrigin():
            yield f"{part.words(printable)}."
        case parts.Headline() | parts.Doubt() | parts.QuotedSentence() | parts.ModelText() | parts.SourceList():
            return


def _explained(answer: Answer) -> None:
    line("")
    if answer.score.terms:
        line(f"Score of the first sentence: {answer.score.total:g}")
        for term in answer.score.terms:
            line(f"  {term.points:+g}  {term.signal}")
    line("Pages, best first:")
    for page in answer.pages:
        line(f"  {page.score:g}  {printable(page.title)}")
    line("Passages, best first:")
    for passage in answer.passages:
        section = passage.section or "introduction"
        text = " ".join(passage.text.split())
        line(f"  {printable(passage.title)} — {printable(section)}: {printable(text[:SNIPPET_CHARS])}")
    for rejected in answer.rejected:
        line(f"  removed ({printable(rejected.reason)}): {printable(rejected.text)}")


MAX_SHOWN = 40
"""Failures shown for one file; --json lists them all."""


def print_claims(found: PageClaims) -> None:
    """Claims by section, each with its type, confidence and location."""
    line(f"{printable(found.page.title)}: {count_of(len(found.claims), 'claim')}")
    for section, claims in groupby(found.claims, key=lambda claim: claim.section):
        line("")
        line(printable(section) or "Introduction")
        for claim in claims:
            _claim(claim)


def _claim(claim: Claim) -> None:
    also = f" (also {', '.join(claim.also)})" if claim.also else ""
    line(f"  {claim.type}{also}, {claim.confidence:.2f}: {printable(claim.text)}")
    if claim.hedges:
        cues = dict.fromkeys(hedge.cue for hedge in claim.hedges)
        line(f"      hedged: the page says {', '.join(f'“{printable(cue)}”' for cue in cues)}")
    for quote in claim.quotes:
        words = "" if quote.text == claim.text else f" “{printable(quote.text)}”"
        line(f"      characters {quote.start}–{quote.end}{words}")


def print_contradictions(found: Sequence[RunContradiction]) -> None:
    """Contradictions, with both sides and their locations."""
    if not found:
        line("No contradictions found between the pages of this run.")
    for number, contradiction in enumerate(found, start=1):
        why = f": {printable(contradiction.why)}" if contradiction.why else ""
        line(f"{number}. {printable(contradiction.about)} ({contradiction.kind}{why})")
        for side in contradiction.sides:
            line(f"   • {printable(side.text)} ({printable(side.place)})")


def print_verification(found: Verification) -> None:
    """Print each failure on a line, then what was verified."""
    shown: Counter[str] = Counter()
    for failure in found.failures:
        shown[failure.file] += 1
        if shown[failure.file] <= MAX_SHOWN:
            unbroken_line(f"✗ {printable(str(failure))}")
    for file, count in shown.items():
        if count > MAX_SHOWN:
            line(f"✗ {file}: {count - MAX_SHOWN:,} more. Use --json to see all.")
    proof = found.proof
    if proof.not_repeated:
        line(f"Not proved, since the research was not repeated: {printable(proof.not_repeated)}.")
    line(f"Checked: {found.summary}.")
    if found.signature:
        line(f"Signed by {printable(found.signature.signer)}, with the key {found.signature.key}.")
    for what, named, between in (
        ("Proved by repeating the research", proof.repeated, ", "),
        ("Compared with the books", proof.compared, "; "),
        ("Not proved, only compared with a hash", proof.hash_only, "; "),
        ("Not checked, since it is not part of the run", proof.not_part, ", "),
    ):
        if named:
            line(f"{what}: {printable(between.join(named))}.")
    if not found.holds:
        line(f"{count_of(len(found.failures), 'problem')} found.")
    else:
        line("No problem was found in what was compared." if proof.not_repeated else "Everything checks out.")


DIFFERENCE_HEADINGS = {"numbers": "Different numbers", "changed": "Reworded", "new": "New", "gone": "Removed"}


def print_comparison(found: Comparison) -> None:
    """The books, settings and pages first, then the claims, then the sentences of the briefs."""
    for pair in found.books:
        line(_book(pair))
    for setting in found.settings:
        line(f"{setting.name}: {_value(setting.old)} → {_value(setting.new)}")
    pages = (
        f"{found.pages_both:,} in both, {len(found.pages_new):,} only in the new run, "
        f"{len(found.pages_gone):,} only in the old one"
    )
    line(f"Pages: {pages}")
    for kind in DIFFERENCE_KINDS:
        _differences(kind, differences(found, kind))
    _statements("New in the brief", [statement.text for statement in found.statements_new])
    _statements("No longer in the brief", [statement.text for statement in found.statements_gone])
    line("")
    counts = difference_counts(found)
    claims = ", ".join(f"{counts[kind]:,} {DIFFERENCE_HEADINGS[kind].lower()}" for kind in DIFFERENCE_KINDS)
    line(f"Claims: {claims}, {found.same:,} the same.")


def _book(pair: BookPair) -> str:
    book = pair.new or pair.old
    title = printable(book.title or book.name or book.id) if book else ""
    if pair.kind == "snapshot" and pair.old and pair.new:
        return f"Book: {title}, editions of {printable(pair.old.date)} and {printable(pair.new.date)}"
    where = {"same": "the same in both", "only old": "only in the old run", "only new": "only in the new run"}
    return f"Book: {title}, {where.get(pair.kind, '')}"


def _value(value: object) -> str:
    return printable(str(value)) if value not in (None, "", []) else "none"


def _differences(kind: str, rows: list[RunDifference]) -> None:
    if not rows:
        return
    line("")
    line(f"{DIFFERENCE_HEADINGS[kind]} ({len(rows):,})")
    for page, of_page in groupby(rows, _page):
        line(f"  {page}")
        for row in of_page:
            for sign, claim in (("-", row.old), ("+", row.new)):
                if claim:
                    line(f"    {sign} {printable(claim.text)}")


def _page(row: RunDifference) -> str:
    which = "" if row.page_in_both else f" (read only for the {'new' if row.new else 'old'} run)"
    return printable(row.claim.page_title) + which


def _statements(heading: str, texts: list[str]) -> None:
    if texts:
        line("")
        line(f"{heading} ({len(texts):,})")
    for text in texts:
        line(f"  {printable(text)}")

"""What a brief tells in running text: a summary, and parts in the order of the main article, no sentence twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kiwiresearch.brief.brief import Statement, StatementGroup
from kiwiresearch.brief.citations import directly_precedes
from kiwiresearch.brief.importance import ClaimWeights, WeightedClaim
from kiwiresearch.brief.relevance import LIKELY, LIKELY_ELSEWHERE, centroid, static_embedder
from kiwiresearch.brief.support import Assertion, independent_pages, says_the_same, statement_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.embed.embedder import Vectors, similarity
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.similarity import AspectWords, jaccard
from kiwiresearch.zim.archive import EntryRef

SUMMARY_WORDS, SHORT_SUMMARY, SHORTEST_SUMMARY = 180, 100, 60
"""The summary has at most so many words. An introduction of fewer is filled up from what follows it; and what is said
of the side that is asked for, if it is shorter still, with what may be about it."""
BODY_WORDS, PART_WORDS, OTHER_PAGE_WORDS = 1_000, 90, 70
INTRODUCTION_WORDS = 220
"""How much of an introduction may follow that the summary had no room for."""
MAX_OF_PART = 0.5
MAX_PARTS, MAX_OTHER_PAGES = 12, 5
FEWEST_SENTENCES, LONG_SECTION = 2, 30
"""A section of the main article with fewer sentences is no part; one with more is told by its subsections."""
ALIKE, ALIKE_IN_MEANING = 0.5, 0.85
"""Two sentences with this share of common words, or so like in meaning, say nearly the same."""
BEGINNING, LONGEST_PASSAGE = 2, 6
"""A passage has so many sentences at least, if its paragraph has, and so many at most."""
CONTINUATION_BONUS, NEW_SECTION_BONUS = 1.0, 0.7
"""What it is worth that a sentence goes on with a passage, or that a passage is of another section."""
MAX_BACK = 2
"""So many sentences may be taken with one that can only be read behind them."""
ENOUGH_SENTENCES = 10
"""So many sentences of the topic's own page are enough to tell of."""
RELAXED = -1.5
"""Where the summary would be short, sentences are told as well that need so much less to be about what is asked for."""
BELOW_HEADING, STRICT = -1.0, 1.0
"""How much less a sentence needs below a heading of what is asked for, and how much more elsewhere."""
SHORTEST_OF_OTHER = 60
"""A shorter sentence of another page says too little away from it: 'Isaac Newton also accepted the finite speed.'"""
BELONGS, BELONGS_AT_ALL, BELONGS_ANYWAY = 0.7, 0.55, 0.65
"""A sentence of another page belongs to a part of the main article if it is so like the part, and so like the article;
one with another subject if it is so like the article."""


class OutlineSentence(NamedTuple):
    """A sentence that may be used: where it stands among those of its page, and what speaks for it."""

    weighed: WeightedClaim
    place: int

    @property
    def claim(self) -> Claim:
        return self.weighed.claim

    @property
    def key(self) -> tuple[EntryRef, int]:
        return self.claim.ref, self.place

    @property
    def words(self) -> int:
        return len(self.claim.text.split())


@dataclass(slots=True)
class _OutlinePart:
    """A part in the making: its heading, the sentences that may stand in it, and how many words it may have."""

    heading: str
    units: list[OutlineSentence]
    words: int
    chosen: list[OutlineSentence] = field(default_factory=list)


class Outline:
    """Chooses sentences for the summary and the parts; what was used once is not used again."""

    def __init__(self, scales: ClaimWeights, said: Sequence[Assertion]) -> None:
        self._scales = scales
        self._relevance = scales.relevance
        self._units = {
            ref: [OutlineSentence(scales.weigh_one(claim), place) for place, claim in enumerate(claims)]
            for ref, claims in scales.sentences.items()
            if any(map(scales.relevance.is_about, claims))
        }
        self._said = {weighed.claim.id: one for one in said for weighed in one.claims}
        self._used: set[tuple[EntryRef, int]] = set()
        self._spans: dict[EntryRef, list[tuple[int, int]]] = {}
        self._quotes: set[str] = set()
        self._told: list[frozenset[str]] = []
        self._rows: list[Vectors] = []
        self._summary: list[OutlineSentence] = []
        self.claims: list[Claim] = []
        """The claims used so far, in the order of their use."""

    def summary(self) -> tuple[Statement, ...]:
        """What matters most, in the order in which the main article tells it."""
        lead = [unit for unit in self._of_heads() if not unit.claim.headings]
        if self._relevance.aspect or not lead:
            chosen = self._take_passages(self._on_aspect(), SUMMARY_WORDS, most_of_other=2)
            told = sum(unit.words for unit in chosen)
            if told < SHORTEST_SUMMARY:
                chosen += self._take(self._on_aspect(RELAXED), SHORTEST_SUMMARY - told, most_of_other=2, beside=chosen)
        else:
            chosen = self._in_sequence(lead, SUMMARY_WORDS)
            told = sum(unit.words for unit in chosen)
            if told < SHORT_SUMMARY:
                body = [unit for unit in self._of_heads() if unit.claim.headings and not _is_minor(unit)]
                firsts = {unit.claim.headings[0]: unit for unit in sorted(body, key=lambda unit: unit.weighed.points)}
                chosen += self._take(firsts.values(), SUMMARY_WORDS - told)
        self._summary = self._in_order(chosen)
        return tuple(map(self._stated, self._summary))

    def _in_sequence(
        self, units: Sequence[OutlineSentence], words: int, beside: Sequence[OutlineSentence] = ()
    ) -> list[OutlineSentence]:
        """Sentences from the first on, as they stand, as far as so many words go: an introduction is well made."""
        chosen: list[OutlineSentence] = []
        for unit in units:
            taken = self._take([unit], words, beside=[*beside, *chosen])
            if not taken and unit.words > words:
                break
            chosen += taken
            words -= sum(one.words for one in taken)
        return chosen

    def parts(self) -> tuple[StatementGroup, ...]:
        """What else is to be told, by the headings of the main article, or by the pages that tell it."""
        parts = self._aspect_parts() if self._relevance.aspect or not self._of_heads() else self._section_parts()
        for part in parts:
            if part.heading or self._relevance.aspect:
                part.chosen = self._take_passages(part.units, part.words, from_openers=not self._relevance.aspect)
            else:
                part.chosen = self._in_sequence(part.units, INTRODUCTION_WORDS, beside=self._summary)
        if not self._relevance.aspect:
            self._add_other_pages(parts)
        return tuple(
            StatementGroup(part.heading, tuple(map(self._stated, self._in_order(part.chosen))))
            for part in parts
            if part.chosen
        )

    def is_only_sentence(self, claim: Claim) -> bool:
        """Whether a claim is all that is known of its paragraph."""
        beside = self._scales.sentences.get(claim.ref, ())
        return not any(directly_precedes(one, claim) or directly_precedes(claim, one) for one in beside)

    def is_used(self, claim: Claim) -> bool:
        """Whether a claim, or what it is a part of, was told already."""
        quote = claim.quotes[0]
        if quote.text in self._quotes:
            return True  # another page may have the very same sentence
        return any(start < quote.end and quote.start < end for start, end in self._spans.get(claim.ref, ()))

    def mark_used(self, claims: Iterable[Claim]) -> None:
        """Remember claims that were told elsewhere in the brief."""
        for claim in claims:
            if not claim.is_row:
                self._spans.setdefault(claim.ref, []).append((claim.quotes[0].start, claim.quotes[0].end))
                self._quotes.add(claim.quotes[0].text)
            self.claims.append(claim)

    def _of_heads(self) -> list[OutlineSentence]:
        return [
            unit
            for ref in self._scales.sentences
            if ref in self._scales.topic_pages
            for unit in self._units.get(ref, ())
        ]

    def _on_aspect(self, more: float = 0.0) -> list[OutlineSentence]:
        """The sentences about what is asked for; `more` log-odds are wanted than usual."""
        units = [unit for units in self._units.values() for unit in units if not self._is_minor_aside(unit)]
        own = [
            unit
            for unit in units
            if unit.claim.ref in self._scales.topic_pages and self._relevance.is_on_aspect(unit.claim, more)
        ]
        # Where the topic's own page has little to say, other pages are believed as readily.
        others = more if len(own) >= ENOUGH_SENTENCES else more + LIKELY - LIKELY_ELSEWHERE
        return own + [
            unit
            for unit in units
            if unit.claim.ref not in self._scales.topic_pages and self._relevance.is_on_aspect(unit.claim, others)
        ]

    def _section_parts(self) -> list[_OutlinePart]:
        """The sections of the main articles, those of one name together; a long one by its subsections."""
        usable = [
            unit
            for unit in self._of_heads()
            # What the summary had no room for of the introduction comes first.
            if not _is_aside(unit) and (unit.claim.headings or unit.key not in self._used)
        ]
        lengths = Counter(unit.claim.headings[:1] for unit in usable)
        sections: dict[str, list[OutlineSentence]] = {}
        for unit in usable:
            headings = unit.claim.headings
            depth = 2 if lengths[headings[:1]] > LONG_SECTION else 1
            sections.setdefault(("", *headings[:depth])[-1], []).append(unit)
        long = {heading: units for heading, units in sections.items() if len(units) >= FEWEST_SENTENCES}
        kept = _longest_of_each(long)[:MAX_PARTS]
        return _with_room({heading: units for heading, units in long.items() if heading in kept})

    def _aspect_parts(self) -> list[_OutlinePart]:
        """What is asked for, by the sections of the main article and then by other pages."""
        heads: dict[str, list[OutlineSentence]] = {}
        others: dict[str, list[OutlineSentence]] = {}
        for unit in self._on_aspect(BELOW_HEADING):
            if not self._is_under_aspect_heading(unit.claim) and not self._relevance.is_on_aspect(unit.claim, STRICT):
                continue
            if unit.claim.ref in self._scales.topic_pages:
                heads.setdefault(self._aspect_heading(unit.claim), []).append(unit)
            else:
                others.setdefault(unit.claim.page_title, []).append(unit)
        best = sorted(others, key=lambda title: (-_best(others[title]), title))[:MAX_OTHER_PAGES]
        strong = sorted(heads, key=lambda heading: (-_best(heads[heading]), heading))[:MAX_PARTS]
        return [
            *_with_room({heading: units for heading, units in heads.items() if heading in strong}),
            *(_OutlinePart(title, others[title], self._other_room(others[title])) for title in best),
        ]

    def _is_minor_aside(self, unit: OutlineSentence) -> bool:
        """Whether a section has little to say of the thing, and is not what is asked for."""
        return _is_minor(unit) and not self._is_under_aspect_heading(unit.claim)

    def _other_room(self, units: Sequence[OutlineSentence]) -> int:
        """How many words of another page are told: more of one that has a section about the thing."""
        is_about = all(self._relevance.is_under_topic(unit.claim) for unit in units)
        return _room(units) if is_about else OTHER_PAGE_WORDS

    def _is_under_aspect_heading(self, claim: Claim) -> bool:
        """Whether a claim stands below a heading of what is asked for."""
        words = AspectWords.of(self._relevance.aspect, self._scales.language(claim.ref))
        return words.names_any(claim.headings)

    def _aspect_heading(self, claim: Claim) -> str:
        """The heading of what is asked for, or the one right below it, which says more."""
        words = AspectWords.of(self._relevance.aspect, self._scales.language(claim.ref))
        for number, heading in enumerate(claim.headings):
            if words.names(heading):
                return claim.headings[min(number + 1, len(claim.headings) - 1)]
        return claim.headings[0] if claim.headings else claim.page_title

    def _add_other_pages(self, parts: Sequence[_OutlinePart]) -> None:
        """What other pages say of the topic: to each part the sentence that is most like it is added."""
        parts = [part for part in parts if part.chosen]
        others = [
            unit
            for ref, units in self._units.items()
            if ref not in self._scales.topic_pages
            for unit in units
            if not unit.claim.depends_on and self._relevance.names(unit.claim) and not _is_aside(unit)
            if len(unit.claim.text) >= SHORTEST_OF_OTHER
        ]
        if not parts or not others:
            return
        rows = [static_embedder().embed([unit.claim.text for unit in part.units]) for part in parts]
        other_rows = static_embedder().embed([unit.claim.text for unit in others])
        like_all = similarity(centroid(np.concatenate(rows)), other_rows)
        least = [BELONGS_AT_ALL if self._relevance.is_mainly_about(unit.claim) else BELONGS_ANYWAY for unit in others]
        for part, own in zip(parts, rows, strict=True):
            like = similarity(centroid(own), other_rows)
            is_near = (like >= BELONGS) & (like_all >= np.array(least))
            near = [number for number in range(len(others)) if is_near[number]]
            near.sort(key=lambda number: (-round(float(like[number]), 3), *others[number].key))
            for number in near:
                taken = self._take([others[number]], OTHER_PAGE_WORDS)
                part.chosen += taken
                if taken:
                    break

    def _take(
        self,
        units: Iterable[OutlineSentence],
        words: int,
        *,
        most_of_other: int = 0,
        beside: Sequence[OutlineSentence] = (),
    ) -> list[OutlineSentence]:
        """The best of some sentences within so many words, each with those before it that it cannot be read without.

        Of one page that is not about the topic itself at most `most_of_other` are taken, if that is given;
        `beside` are sentences that these will stand with.
        """
        chosen: list[OutlineSentence] = []
        of_page: dict[EntryRef, int] = {}
        for unit in sorted(units, key=lambda unit: (-unit.weighed.points, *unit.key)):
            run = self._with_preceding(unit, [*beside, *chosen])
            new = [one for one in run if one.key not in self._used]
            cost = sum(one.words for one in new)
            is_other = not self._relevance.is_under_topic(unit.claim)
            is_full = bool(most_of_other) and is_other and of_page.get(unit.claim.ref, 0) >= most_of_other
            if not new or cost > words or is_full or self._is_repeated(new):
                continue
            words -= cost
            of_page[unit.claim.ref] = of_page.get(unit.claim.ref, 0) + 1
            self._mark_told(new)
            chosen += new
        return chosen

    def _take_passages(
        self, units: Sequence[OutlineSentence], words: int, *, from_openers: bool = False, most_of_other: int = 0
    ) -> list[OutlineSentence]:
        """Passages within so many words: sentences that follow each other on their page, so that they can be followed.

        A passage begins with two sentences of a paragraph and goes on with the next one while that is worth more than
        another passage. With `from_openers` it begins where the paragraph does. Of one page that is not about the
        topic itself at most `most_of_other` are taken, if that is given.
        """
        runs = self._runs(units, from_openers=from_openers)
        lengths = [0] * len(runs)
        chosen: list[OutlineSentence] = []
        while True:
            best: tuple[float, int, list[OutlineSentence]] | None = None
            for number, run in enumerate(runs):
                length = lengths[number]
                new = run[length : length + 1] if length else run[:BEGINNING]
                if not new or length >= LONGEST_PASSAGE or sum(unit.words for unit in new) > words:
                    continue
                ref = new[0].claim.ref
                is_other = bool(most_of_other) and not self._relevance.is_under_topic(new[0].claim)
                if is_other and len(new) + sum(unit.claim.ref == ref for unit in chosen) > most_of_other:
                    continue
                is_new_section = not any(unit.claim.headings == new[0].claim.headings for unit in chosen)
                bonus = CONTINUATION_BONUS if length else NEW_SECTION_BONUS * is_new_section
                worth = sum(unit.weighed.points for unit in new) / len(new) + bonus
                if best is None or worth > best[0]:
                    best = worth, number, new
            if best is None:
                return chosen
            _, number, new = best
            if self._is_repeated(new):
                runs[number] = runs[number][: lengths[number]]
                continue
            lengths[number] += len(new)
            words -= sum(unit.words for unit in new)
            chosen += new
            self._mark_told(new)

    def _runs(self, units: Sequence[OutlineSentence], *, from_openers: bool) -> list[list[OutlineSentence]]:
        """The sentences that follow each other in one paragraph, from one that can be read there."""
        wanted = {unit.key for unit in units}
        runs: list[list[OutlineSentence]] = []
        for ref in dict.fromkeys(unit.claim.ref for unit in units):
            before: OutlineSentence | None = None
            run: list[OutlineSentence] = []
            for unit in self._units[ref]:
                is_opener = before is None or not directly_precedes(before.claim, unit.claim)
                # Behind a sentence that was told, its paragraph may go on.
                may_begin = not from_openers or is_opener or (before is not None and before.key in self._used)
                before = unit
                if is_opener:
                    run = []
                if unit.key not in wanted or unit.key in self._used:
                    run = []
                elif run:
                    run.append(unit)
                elif may_begin:
                    start = self._with_preceding(unit, ())
                    if start and not any(one.key in self._used for one in start):
                        run = start
                        runs.append(run)
        return runs

    def _mark_told(self, new: Sequence[OutlineSentence]) -> None:
        for one in new:
            self._used.add(one.key)
            self._told.append(one.weighed.stems)
            self._rows.append(self._row(one))
        self.mark_used(one.claim for one in new)

    def _row(self, unit: OutlineSentence) -> Vectors:
        return np.asarray(static_embedder().embed([unit.claim.text])[0])

    def _is_repeated(self, new: Sequence[OutlineSentence]) -> bool:
        """Whether any of some sentences was told before, by words or by meaning."""
        if any(self.is_used(unit.claim) for unit in new):
            return True
        if any(jaccard(one.weighed.stems, told) > ALIKE for one in new for told in self._told):
            return True
        return bool(self._rows) and any(
            float(similarity(self._row(one), np.array(self._rows)).max()) > ALIKE_IN_MEANING for one in new
        )

    def _with_preceding(self, unit: OutlineSentence, together: Sequence[OutlineSentence]) -> list[OutlineSentence]:
        """The sentence and those right before it that it depends on; none if they are not there or told elsewhere."""
        units = self._units[unit.claim.ref]
        known = {one.key for one in together}
        run = [unit]
        while self._needs_previous(run[0].claim):
            first = run[0]
            if first.place == 0 or len(run) > MAX_BACK:
                return []
            before = units[first.place - 1]
            if not directly_precedes(before.claim, first.claim):
                return []
            if before.key in self._used:
                return run if before.key in known else []
            run.insert(0, before)
        return run

    def _needs_previous(self, claim: Claim) -> bool:
        """Whether a sentence needs the one before it; on the topic's own page a reader knows whom 'she' means."""
        return claim.depends_on == "previous" or (
            claim.depends_on == "subject" and claim.ref not in self._scales.topic_pages
        )

    def _in_order(self, chosen: Sequence[OutlineSentence]) -> list[OutlineSentence]:
        """As their pages tell it, the pages about the topic first."""
        order = {ref: number for number, ref in enumerate(self._scales.sentences)}
        return sorted(
            chosen, key=lambda unit: (unit.claim.ref not in self._scales.topic_pages, order[unit.claim.ref], unit.place)
        )

    def _stated(self, unit: OutlineSentence) -> Statement:
        """A sentence as a statement, with the other pages that say the same."""
        said = self._said.get(unit.claim.id)
        others = [
            one
            for one in (said.claims if said else ())
            if one.claim.ref != unit.claim.ref and says_the_same(unit.weighed, one)
        ]
        return statement_of(Assertion((unit.weighed, *others), independent_pages((unit.weighed, *others))))


def _best(units: Sequence[OutlineSentence]) -> float:
    """What the three best sentences have together."""
    return round(sum(sorted((unit.weighed.points for unit in units), reverse=True)[:3]), 2)


def _longest_of_each(sections: Mapping[str, Sequence[OutlineSentence]]) -> list[str]:
    """The longest first: of each section of the article its longest subsection, then the second longest of each."""
    longest = sorted(sections, key=lambda heading: (-len(sections[heading]), heading))
    seen: Counter[tuple[str, ...]] = Counter()
    ranks = {}
    for heading in longest:
        top = sections[heading][0].claim.headings[:1]
        ranks[heading] = seen[top]
        seen[top] += 1
    return sorted(longest, key=lambda heading: ranks[heading])


def _with_room(sections: Mapping[str, Sequence[OutlineSentence]]) -> list[_OutlinePart]:
    """Sections as parts; each has room by its length, and together they fill the findings."""
    total = sum(len(units) ** 0.5 for units in sections.values()) or 1.0
    return [
        _OutlinePart(heading, list(units), min(_room(units), round(BODY_WORDS * len(units) ** 0.5 / total)))
        for heading, units in sections.items()
    ]


def _room(units: Sequence[OutlineSentence]) -> int:
    """How many words of a section may be told: half of it, or little where it matters little.

    The other half is left to timeline, explanations and numbers.
    """
    half = round(MAX_OF_PART * sum(unit.words for unit in units))
    return PART_WORDS if all(map(_is_minor, units)) else max(PART_WORDS, half)


def _is_minor(unit: OutlineSentence) -> bool:
    return any(map(language_words(unit.weighed.language).is_minor, unit.claim.headings))


def _is_aside(unit: OutlineSentence) -> bool:
    return any(map(language_words(unit.weighed.language).is_aside, unit.claim.headings))

"""Disagreements without numbers: one relation with two values, negations, and opposites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kiwiresearch.claims.conflicts.sentences import Disagreement, SentenceReading, TextSpan, are_unrelated
from kiwiresearch.claims.conflicts.words import ComparisonWords, SentenceWord, comparison_words
from kiwiresearch.messages import Message

MAX_PLACE_DISTANCE = 12
"""How many words after 'born' its place may be."""

MIN_SHARED_BY_AGENTS = 2
"""How many words about what was done must be in both sentences."""

MAX_VALUE_WORDS = 4
MAX_DOER_DISTANCE = 10


class SingleRelation(NamedTuple):
    """A relation such as the birth place, which has one value, and its value."""

    relation: str
    values: frozenset[str]
    near: frozenset[str]
    span: TextSpan


def compare_single_values(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    """Two different values of one relation: born in Rome, born in Paris."""
    # A cheap test that few pairs pass: both need a word such as 'born', 'by' or 'capital'.
    cues = comparison_words(a.language).relation_cues
    if cues.isdisjoint(a.lows) or cues.isdisjoint(b.lows) or are_unrelated(a, b):
        return None
    theirs = list(single_relations(b))
    if not theirs:
        return None
    for relation in single_relations(a):
        for other in theirs:
            if relation.relation == other.relation and _differ(a, relation, b, other):
                kind = relation.relation.partition(":")
                why = Message(f"Both give the {kind[2] or kind[0]}, which can only have one value.")
                return Disagreement("contradiction", "a name", relation.span, other.span, why, 0.6)
    return None


def _differ(a: SentenceReading, one: SingleRelation, b: SentenceReading, other: SingleRelation) -> bool:
    if not one.values.isdisjoint(other.values | b.content) or not other.values.isdisjoint(a.content):
        return False
    if one.relation.startswith("place"):
        regions = comparison_words(a.language).regions
        # A region and a town in it do not contradict each other; without a map, no region contradicts any town.
        if (one.values <= regions) != (other.values <= regions):
            return False
        return bool((a.content | a.subject) & (b.content | b.subject) - one.values - other.values)
    if one.relation.startswith("agent"):
        return len((one.near & other.near) - one.values - other.values) >= MIN_SHARED_BY_AGENTS
    shared = (one.near | a.subject) & (other.near | b.subject)
    return len(shared) >= (1 if one.relation.startswith("kind") else 2)


def single_relations(reading: SentenceReading) -> Iterator[SingleRelation]:
    known = comparison_words(reading.language)
    for at, word in enumerate(reading.words):
        if word.low in known.place_cues:
            yield from _place(reading, at, known)
        if word.low == "by":
            yield from _agent(reading, at, known)
        if word.low in known.agent_verbs:
            yield from _doer(reading, at, known)
        if word.low in known.single_roles:
            yield from _role(reading, at, known)
        if word.low in known.kinds:
            yield from _kind(reading, at, known)
    for relation, cues in known.single_values.items():
        for cue in cues:
            yield from _single_value(reading, relation, tuple(cue.split()))


def _place(reading: SentenceReading, at: int, known: ComparisonWords) -> Iterator[SingleRelation]:
    words = reading.words
    for n in range(at + 1, min(at + MAX_PLACE_DISTANCE, len(words) - 1)):
        # 'was born, and died in Rome': the place belongs to the next event.
        if words[n].low in known.events or words[n].low == "and":
            return
        if words[n].low in ("in", "at") and words[n + 1].is_name:
            run = _names(reading, n + 1)
            relation = f"place:{known.place_cues[words[at].low]} place"
            yield SingleRelation(relation, _stems(run), reading.content, (run[0].start, run[-1].end))
            return


def _role(reading: SentenceReading, at: int, known: ComparisonWords) -> Iterator[SingleRelation]:
    """'The capital of Peru is Lima'."""
    words = reading.words
    for n in range(at + 1, min(at + MAX_VALUE_WORDS + 2, len(words) - 1)):
        if words[n].low in known.forms_of_be and words[n].clause == words[at].clause:
            if words[n + 1].is_name:
                run = _names(reading, n + 1)
                near = reading.content - _stems(run)
                yield SingleRelation(f"holder:{words[at].low}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _names(reading: SentenceReading, at: int) -> list[SentenceWord]:
    """Consecutive names, with commas or a few function words between them."""
    run = [reading.words[at]]
    for word in reading.words[at + 1 :]:
        between = reading.text[run[-1].end : word.start]
        if not word.is_name or between.strip() not in ("", ",", "-", "–", "and", "&"):
            if word.low in ("of", "the", "de", "la", "and", "van", "von") and between.strip() in ("", ","):
                continue
            break
        run.append(word)
    return run


def _stems(words: list[SentenceWord]) -> frozenset[str]:
    return frozenset(word.stem for word in words)


def _agent(reading: SentenceReading, at: int, known: ComparisonWords) -> Iterator[SingleRelation]:
    words = reading.words
    if at + 1 >= len(words) or not words[at + 1].is_name:
        return
    run = _names(reading, at + 1)
    for word in words[max(0, at - 4) : at]:
        if word.low in known.agent_verbs or word.stem == "nicknam":
            near = reading.content - _stems(run)
            yield SingleRelation(f"agent:{word.stem}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _doer(reading: SentenceReading, at: int, known: ComparisonWords) -> Iterator[SingleRelation]:
    """'Ann Reed built the mill': the name before an active verb, and what was done after it."""
    words = reading.words
    is_passive = any(word.low == "by" for word in words[at + 1 : at + 4])
    if is_passive or any(word.low in known.forms_of_be for word in words[max(0, at - 2) : at]):
        return
    for n in range(at - 1, max(-1, at - MAX_DOER_DISTANCE), -1):
        if words[n].is_name:
            run = [word for word in words[max(0, n - 3) : n + 1] if word.is_name]
            near = frozenset(word.stem for word in words[at + 1 : at + 1 + MAX_PLACE_DISTANCE] if word.stem)
            yield SingleRelation(f"agent:{words[at].stem}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _kind(reading: SentenceReading, at: int, known: ComparisonWords) -> Iterator[SingleRelation]:
    """'The flowers are pale pink': a verb of being, and a noun before it that is the same in both."""
    words = reading.words
    before = [word.low for word in words[max(0, at - 3) : at]]
    if not {"is", "are", "was", "were"} & set(before):
        return
    nouns = [word.stem for word in words[: max(0, at - 2)] if word.stem and not word.is_name]
    if nouns:
        values = frozenset(word.stem for word in words if word.low in known.kinds)
        kind = known.kinds[words[at].low]
        yield SingleRelation(f"kind:{kind} of {nouns[0]}", values, reading.content, (words[at].start, words[at].end))


def _single_value(reading: SentenceReading, relation: str, cue: tuple[str, ...]) -> Iterator[SingleRelation]:
    words = reading.words
    if not reading.lows.issuperset(cue):
        return
    for at in range(len(words) - len(cue)):
        if tuple(word.low for word in words[at : at + len(cue)]) == cue:
            value = [word for word in words[at + len(cue) : at + len(cue) + MAX_VALUE_WORDS] if word.stem]
            if value:
                near = reading.content - _stems(value)
                yield SingleRelation(f"value:{relation}", _stems(value), near, (value[0].start, value[-1].end))
            return


MIN_DENIAL_OVERLAP, MIN_DENIAL_OVERLAP_OF_LONGER = 0.8, 0.6
"""The share of words that a sentence and its negation must have in common: of the shorter one, and of the longer."""

MIN_WEAK_OVERLAP = 0.6
"""The same for the shorter sentence and words that are opposites only if said about the same thing."""

MIN_PREFIX_OVERLAP = 0.4
MIN_SHARED_WORDS = 3
Phrase = tuple[str, ...]


def compare_negations(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    """One sentence denies the other, or says the opposite about the same thing."""
    if not a.content or not b.content or are_unrelated(a, b):
        return None
    # The first two are symmetric; a prefix is only searched for in the second sentence.
    found = _negated(a, b) or _opposite(a, b) or _prefixed(a, b)
    if found is None and (swapped := _prefixed(b, a)):
        return swapped.reversed()
    return found


def _prefixed(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    """'Finished' and 'unfinished', said about the same thing."""
    shared = a.content & b.content
    if len(shared) < 2 or len(shared) < MIN_PREFIX_OVERLAP * min(len(a.content), len(b.content)):
        return None
    prefixes = comparison_words(a.language).negating_prefixes
    for word in b.words:
        for prefix in prefixes:
            root = word.low[len(prefix) :]
            if word.low.startswith(prefix) and len(root) > 3 and root in a.lows and word.low not in a.lows:
                # A sentence with both words, such as 'finished or unfinished', denies nothing.
                if root in b.lows:
                    continue
                plain = next(w for w in a.words if w.low == root)
                why = _opposed(root, word.low)
                spans = (plain.start, plain.end), (word.start, word.end)
                return Disagreement("contradiction", "a denial", *spans, why, 0.6)
    return None


def _negated(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    known = comparison_words(a.language)
    negations = [[w for w in reading.words if w.low in known.negations] for reading in (a, b)]
    # Exactly one negation in both sentences together: two may cancel each other out.
    if bool(negations[0]) == bool(negations[1]) or len(negations[0]) + len(negations[1]) != 1:
        return None
    lows = [_content_words(reading) for reading in (a, b)]
    shared = lows[0] & lows[1]
    fewer, more = sorted((len(lows[0]), len(lows[1])))
    if (
        len(shared) < MIN_SHARED_WORDS
        or len(shared) < MIN_DENIAL_OVERLAP * fewer
        or len(shared) < MIN_DENIAL_OVERLAP_OF_LONGER * more
    ):
        return None
    (negation,) = negations[0] or negations[1]
    spans = (negation.start, negation.end), (0, len((b if negations[0] else a).text))
    one, other = spans if negations[0] else spans[::-1]
    why = Message("One says what the other denies.", "differ.denied")
    return Disagreement("contradiction", "a denial", one, other, why, 0.8)


def _opposed(one: str, other: str) -> Message:
    return Message(f"One says {one!r}, the other {other!r}.", "differ.opposed", one=one, other=other)


def _content_words(reading: SentenceReading) -> frozenset[str]:
    known = comparison_words(reading.language)
    left_out = known.negations | known.auxiliaries | {"a", "an", "the"}
    return frozenset(w.stem or w.low for w in reading.words if w.low not in left_out)


def _opposite(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    known = comparison_words(a.language)
    shared = a.content & b.content
    names = (a.names | a.subject) & (b.names | b.subject)
    cover = len(shared) / min(len(a.content), len(b.content))
    if names or len(shared) >= MIN_SHARED_WORDS or (len(shared) == 2 and cover >= MIN_WEAK_OVERLAP):
        found = _pair_of(a, b, known.strong_opposites)
        if found:
            return found
    if len(shared) >= MIN_SHARED_WORDS and cover >= MIN_WEAK_OVERLAP:
        return _pair_of(a, b, known.weak_opposites)
    return None


def _pair_of(a: SentenceReading, b: SentenceReading, pairs: Iterable[tuple[Phrase, Phrase]]) -> Disagreement | None:
    for pair in pairs:
        for x, y in (pair, pair[::-1]):
            if x[0] not in a.lows or y[0] not in b.lows:
                continue
            one, other = _phrase(a.words, x), _phrase(b.words, y)
            # If a sentence has both opposites ('rose and then fell'), it says nothing against either.
            if one and other and not _phrase(a.words, y) and not _phrase(b.words, x):
                why = _opposed(" ".join(x), " ".join(y))
                return Disagreement("contradiction", "a denial", one, other, why, 0.7)
    return None


def _phrase(words: Sequence[SentenceWord], phrase: Phrase) -> TextSpan | None:
    """The span of the first occurrence of a phrase."""
    size = len(phrase)
    for at in range(len(words) - size + 1):
        if all(words[at + n].low == low for n, low in enumerate(phrase)):
            return words[at].start, words[at + size - 1].end
    return None

"""Cuts a model's reply into sentences as it arrives, and decides which of them may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from kiwiresearch.ask.answer import (
    GENERAL,
    KEY_ALPHABET,
    KEY_LENGTH,
    Answer,
    AnswerCitation,
    AnswerSentence,
    Passage,
    RejectedSentence,
)
from kiwiresearch.ask.firewall import (
    AnswerRejection,
    PassageSentence,
    SentenceJudge,
    SupportedSentence,
    pronoun_is_clear,
)
from kiwiresearch.ask.settings import AskMode
from kiwiresearch.text import printable, sentence_starts, words_in

if TYPE_CHECKING:
    from kiwiresearch.reader import Reader

LineStart = Literal["", "line", "item"]
ReplyKind = Literal["sentence", "heading"]

MAX_LINE_CHARS = 4_000
"""A longer line is cut here, so that each new piece takes the same time to process."""

KEY = re.compile(rf"[{KEY_ALPHABET}]{{{KEY_LENGTH}}}")
ANY_KEY = rf"[a-z0-9]{{{KEY_LENGTH}}}"
# '[k7fmqz]', '【3】' and '(abc2de, xyz9kk)'; not '(in 1809)'.
GROUP = re.compile(rf"\s*[\[【]([^\[\]【】\n]{{1,80}})[\]】]|\s*\(({ANY_KEY}(?:[,; ]+{ANY_KEY})*)\)")
# Models turn keys into links: '[k7fmqz](https://…)' keeps its key, '[Darwin](…)' its words; no address is shown.
LINK = re.compile(r"\[([^\[\]\n]{1,80})\]\([^()\s]{0,300}\)")
BETWEEN = re.compile(r"[,;|\s]+")
# 'k7fmqz', '3', '3†source', 'sources'; not '1809', '1980s', 'Fig. 2' or 'sodium', whose 'o' and 'i' are in no key.
KEY_LIKE = re.compile(
    rf"\d{{1,3}}(?:†\w*)?|(?!\d+(?:s|st|nd|rd|th)?$)(?=[a-z]*\d)[a-z0-9]{{4,12}}|keys?|sources?|(?-i:{KEY.pattern})",
    re.IGNORECASE,
)
"""Citation marks as models write them: a key, an invented key, or a number."""

# 'Born. [k7fmqz] He' becomes 'Born [k7fmqz]. He'.
AFTER_STOP = re.compile(r"([.?!…。！？]+[)\"'”’»]*)((?:\s*[\[【][^\[\]【】\n]{1,80}[\]】])+)")
"""Marks after a full stop are moved before it, so that they stay with their own sentence."""

# 'born [k7f', 'born [k7fmqz]' (more marks, or an address, may follow) and 'born [a](http://x'; not 'born (1809) in'.
OPEN_GROUP = re.compile(r"\s*[\[【(][^\[\]【】()\n]{0,80}[\])】]?$|(?<=[\]】])\(\S{0,300}$")
"""A group at the end that is not complete yet, or may become a link."""

# '- item' and '12. item'; not '1809. item', which starts with a year.
MARKER = re.compile(r"\s*(?:[-*•+–]|\d{1,2}[.)])\s+")
"""The bullet or number of a list item."""

# '## Life', '**Life**:'; not '**Life** was hard', which is a sentence.
HEADING = re.compile(r"\s*(?:#{1,6}\s+(.+?)|\*\*([^*]+)\*\*:?)[\s#]*")
MARKUP = re.compile(r"\*\*|__|`|^\s*#{1,6}\s+|^\s*>\s*")
BEFORE_STOP = re.compile(r"\s+(?=[.,;:?!])")
TWO_STOPS = re.compile(r"(?<!\.)([.?!…])\.(?=$|\s)")
"""Removing a mark between two stops leaves both: 'born.[1].' becomes 'born..'; three are meant."""


class ReplySentence(NamedTuple):
    """A sentence without its citation marks, its keys, and whether it starts a line or a list item."""

    text: str
    keys: tuple[str, ...]
    line_start: LineStart = ""
    kind: ReplyKind = "sentence"


class SentenceCutter:
    """Takes a reply in pieces of any size and gives its sentences, each as soon as the next one starts.

    How the reply is split into pieces does not matter. With `by_line`, lines are not cut.
    `keys` are those of the prompt.
    """

    def __init__(self, language: str = "eng", *, by_line: bool = False, keys: Container[str] = ()) -> None:
        self._language = language
        self._by_line = by_line
        self._keys = keys
        self._line = ""
        self._count = 0

    def feed(self, text: str) -> Iterator[ReplySentence]:
        """The sentences that are complete now."""
        for part in re.split(r"(\n)", text.replace("\r", "\n")):
            while len(self._line) + len(part) > MAX_LINE_CHARS and part != "\n":
                room = MAX_LINE_CHARS - len(self._line)
                self._line, part = self._line + part[:room], part[room:]
                yield from self.end()
            if part == "\n":
                yield from self.end()
            elif part:
                self._line += part
                if not self._by_line and not self._line.lstrip().startswith("#"):
                    open_group = OPEN_GROUP.search(self._line)
                    yield from self._read(self._line[: open_group.start()] if open_group else self._line)

    def end(self) -> Iterator[ReplySentence]:
        """The text held back so far, treated as complete."""
        yield from self._read(self._line, is_complete=True)
        self._line, self._count = "", 0

    def _read(self, line: str, *, is_complete: bool = False) -> Iterator[ReplySentence]:
        heading = HEADING.fullmatch(line)
        if heading and is_complete and not self._count:
            found = reply_sentence(heading[1] or heading[2], self._keys, "line")
            yield from [found._replace(kind="heading")] if found.text else []
            return
        marker = MARKER.match(line)
        opens: LineStart = "item" if marker else "line"
        body = AFTER_STOP.sub(r"\2\1", LINK.sub(_unlinked, line[marker.end() if marker else 0 :]))
        starts = [0] if self._by_line else sentence_starts(body, (), self._language)
        for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(body)], strict=True)):
            # The line is read again with each piece; sentences that were given before are skipped.
            if index < self._count:
                continue
            if not is_complete and not re.match(r"\s*\S+\s", body[end:]):
                return  # the next word may still show that the sentence continues
            self._count = index + 1
            found = reply_sentence(body[start:end], self._keys, opens if index == 0 else "")
            if found.text:
                yield found


def reply_sentence(text: str, known: Container[str] = (), opens: LineStart = "") -> ReplySentence:
    """A sentence, and the keys removed from it."""
    keys: list[str] = []

    def without_keys(found: re.Match[str]) -> str:
        marks = BETWEEN.split((found[1] or found[2]).strip())
        # '(planet)' has six letters as well, so round brackets without a digit are left alone.
        are_keys = all(mark.lower() in known or KEY_LIKE.fullmatch(mark) for mark in marks)
        if not are_keys or (found[2] and not any(map(str.isdigit, found[2]))):
            return found[0]
        keys.extend(mark.lower() for mark in marks)
        return ""

    words = GROUP.sub(without_keys, text)
    plain = " ".join(printable(MARKUP.sub("", words)).split())
    return ReplySentence(TWO_STOPS.sub(r"\1", BEFORE_STOP.sub("", plain)).strip(), tuple(dict.fromkeys(keys)), opens)


def _unlinked(found: re.Match[str]) -> str:
    return f"[{found[1]}]" if KEY.fullmatch(found[1]) else found[1]


MAX_QUESTIONS = 5
QUESTION = re.compile(r"(?:\d+[.)]\s*)?(?:q|question)\s*\d*\s*[:.)]\s*", re.IGNORECASE)
ANSWER = re.compile(r"(?:\d+[.)]\s*)?(?:a|answer)\s*\d*\s*[:)]\s*", re.IGNORECASE)
BOTH_ON_ONE_LINE = re.compile(r"(?<=[?.!])\s*(?:A|Answer)\s*\d*:\s*")
"""Splits a line with a question and its answer."""


class QuizPair(NamedTuple):
    """A question of a quiz, its answer, and the keys of both."""

    question: str
    answer: str
    keys: tuple[str, ...]


class Quiz:
    """Pairs each question with its answer."""

    def __init__(self) -> None:
        self.count = 0
        self._question: ReplySentence | None = None

    def take(self, said: ReplySentence) -> QuizPair | RejectedSentence | None:
        """A complete pair, a line that belongs to none, or None until the answer comes."""
        question = QUESTION.match(said.text)
        both = BOTH_ON_ONE_LINE.split(said.text, maxsplit=1)
        if len(both) == 2:
            words = both[0][question.end() if question else 0 :]
            return self._paired(said._replace(text=words), said._replace(text=both[1]))
        if question or (said.text.endswith("?") and not ANSWER.match(said.text)):
            left = self.take_unanswered()
            self._question = said._replace(text=said.text[question.end() if question else 0 :])
            return RejectedSentence(left, "question without answer") if left else None
        answer = ANSWER.match(said.text)
        if self._question is None:
            return RejectedSentence(said.text, "no key" if answer is None else "question without answer")
        asked, self._question = self._question, None
        return self._paired(asked, said._replace(text=said.text[answer.end() if answer else 0 :]))

    def take_unanswered(self) -> str:
        """Remove and return the question that has no answer yet."""
        said, self._question = self._question, None
        return said.text if said else ""

    def _paired(self, asked: ReplySentence, answer: ReplySentence) -> QuizPair | RejectedSentence:
        if self.count >= MAX_QUESTIONS:
            return RejectedSentence(asked.text, "too many questions")
        return QuizPair(asked.text, answer.text, tuple(dict.fromkeys((*asked.keys, *answer.keys))))


QuoteOf = Callable[[Passage, int, int], AnswerCitation]
"""Cites the words of a passage from one offset in its text to another."""

SUPPORTED_SHARE: dict[AskMode, float] = {"default": 0.6, "eli10": 0.45, "advanced": 0.6, "quiz": 0.6}
"""The share of words that must be in the passage. Simple words often are not; numbers, names and denials must be."""

MAX_DROPPED_CHARS = 200
# '**General (no local citation)** …'; not 'In general, …'.
SENTINEL = re.compile(r"\W*general\s*\(\s*no\s+local\s+cit\w*\s*\)\W*", re.IGNORECASE)
"""The marker of general words, which models do not always write exactly like `GENERAL`."""

# 'Yes, it is' becomes 'it is'; 'No one knows' and a bare 'Yes.' are unchanged.
VERDICT = re.compile(r"(?:Yes|No)\s*[,.:;–—-]\s*(?=\w)")
"""Nothing can support a bare yes or no, so the sentence after it is checked instead."""

SOURCES = re.compile(r"\W*(?:sources?|references?|citations?)\s*:.*", re.IGNORECASE)
"""A list of sources added by the model."""

ADDRESS = re.compile(r"\(?\b(?:https?://|www\.)\S+")
SEPARATORS = {"": " ", "line": "\n", "item": "\n- "}


class Draft:
    """Checks a model's reply and returns the parts that may be shown."""

    def __init__(
        self, found: Answer, quote_of: QuoteOf, reader: Reader | None = None, *, withhold_general: bool = False
    ) -> None:
        self.language = (found.books[0].language if found.books else "") or "eng"
        self.passages: dict[str, Passage] = {}
        self.lines: list[AnswerSentence] = []
        self.rejected: list[RejectedSentence] = []
        self.rekeyed = 0
        self.text = ""
        self.is_general = False
        self._found = found
        self._judge = SentenceJudge(self.language, SUPPORTED_SHARE[found.mode], reader)
        self._quote_of = quote_of
        self._withhold_general = withhold_general
        self._quiz = Quiz() if found.mode == "quiz" else None
        self._cutter = SentenceCutter(self.language, by_line=self._quiz is not None, keys=self.passages)
        self._quotes: dict[str, PassageSentence] = {}
        self._previous_support: tuple[Passage, ...] | None = ()
        self._heading = ""
        self._opens = ""

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Allow these passages to be cited from now on."""
        self.passages |= {passage.key: passage for passage in passages}

    def feed(self, text: str) -> Iterator[str]:
        """The parts of the reply that are complete, checked and may be shown."""
        for said in self._cutter.feed(text):
            yield from filter(None, [self._take(said)])

    def end(self, *, is_whole: bool) -> Iterator[str]:
        """The rest of the reply; if it was cut off, its unfinished sentence is dropped."""
        rest = list(self._cutter.end())
        if is_whole:
            for said in rest:
                yield from filter(None, [self._take(said)])
        elif rest:
            self._drop(" ".join(said.text for said in rest), "cut off")
        if self._quiz and (left := self._quiz.take_unanswered()):
            self._drop(left, "question without answer")

    def citations(self) -> tuple[AnswerCitation, ...]:
        """A citation for each passage that was used, in the order of their numbers."""
        numbers = self._numbers()
        used = sorted(self._quotes.items(), key=lambda row: numbers[row[0]])
        return tuple(
            replace(self._quote_of(sentence.passage, sentence.start, sentence.end), key=key, number=numbers[key])
            for key, sentence in used
        )

    def _numbers(self) -> dict[str, int]:
        """The numbers of the passages; those of the answer by rule keep the numbers they had there."""
        keys = dict.fromkeys((*(passage.key for passage in self._found.passages), *self.passages))
        return {key: number for number, key in enumerate(keys, start=1)}

    def general(self, words: str) -> Iterator[str]:
        """An unsupported reply, presented as the model's general knowledge."""
        self.is_general, self.rejected, self._opens = True, [], ""
        cutter = SentenceCutter(self.language, keys=self.passages)
        for said in [*cutter.feed(words), *cutter.end()]:
            yield from filter(None, [self._take_general(said)])

    def _take(self, said: ReplySentence) -> str:
        self._opens = said.line_start or self._opens
        if self.is_general:
            return self._take_general(said)
        sentinel = SENTINEL.match(said.text)
        # Words without a source must not stand among those that have one, so they are dropped once anything was proved.
        if sentinel and self.lines:
            return self._drop(said.text, "general words")
        if sentinel:
            said = said._replace(text=said.text[sentinel.end() :])
            if not self._found.grounded:
                self.is_general = True
                return self._take_general(said)
            # The passages do answer, whatever the model thinks, so its words are checked like all others.
            if not words_in(said.text):
                return ""
        if self._quiz:
            return self._take_of_quiz(self._quiz, said)
        if said.kind == "heading":
            fits = not said.keys and self._judge.is_heading_of(said.text, self.passages.values())
            self._heading = said.text if fits else ""
            return "" if fits else self._drop(said.text, "no key")
        return self._take_sentence(said)

    def _take_sentence(self, said: ReplySentence) -> str:
        text = VERDICT.sub("", said.text, count=1)
        text = text[:1].upper() + text[1:]
        if any(line.text.casefold() == text.casefold() for line in self.lines):
            return self._drop(text, "said twice")
        # 'In 1867.' is only true as an answer to its question, so it is judged together with it.
        asked = self._found.asked if self._judge.is_fragment(text) else ""
        supported = self._judged(text, said.keys, asked)
        if isinstance(supported, str):
            return self._drop(text, supported)
        if not pronoun_is_clear(text, self.language, self._previous_support, supported.support):
            return self._drop(text, "unresolved pronoun")
        return self._show(text, supported)

    def _take_of_quiz(self, quiz: Quiz, said: ReplySentence) -> str:
        """A question is shown only together with its answer, and the passages must support both together."""
        pair = quiz.take(said)
        if isinstance(pair, RejectedSentence):
            self.rejected.append(replace(pair, text=pair.text[:MAX_DROPPED_CHARS]))
            return ""
        if pair is None:
            return ""
        supported = self._judged(pair.answer, pair.keys, pair.question)
        if isinstance(supported, str):
            return self._drop(f"{pair.question} {pair.answer}", supported)
        quiz.count += 1
        self._opens = "line"
        first = self._show(f"Q: {pair.question}", supported)
        self._opens = "line"
        return first + self._show(f"A: {pair.answer}", supported._replace(rekeyed=False))

    def _judged(self, text: str, keys: Sequence[str], asked: str) -> SupportedSentence | AnswerRejection:
        supported = self._judge.judge(text, keys, self.passages, asked)
        if isinstance(supported, str) or self._found.grounded:
            return supported
        # The rules found no answer, so support is not enough: the passages must also be about the question.
        is_about = self._judge.is_about(self._found.asked, [source.passage for source in supported.support])
        return supported if is_about else "not about the question"

    def _show(self, text: str, supported: SupportedSentence) -> str:
        # The quote of a citation is the sentence that supported it first, so it does not change while text is streamed.
        for key in supported.keys:
            if key not in self._quotes:
                self._quotes[key] = next(source for source in supported.support if source.passage.key == key)
        numbers = [self._numbers()[key] for key in supported.keys]
        self.lines.append(AnswerSentence(text, supported.keys))
        self.rekeyed += supported.rekeyed
        self._previous_support = tuple(source.passage for source in supported.support)
        heading, opens = self._heading, self._opens
        if heading:
            self._heading, self._opens = "", "line"
            heading = self._put(heading)
            self._opens = opens or "line"
        return heading + self._put(f"{text} {''.join(f'[{index}]' for index in sorted(numbers))}")

    def _take_general(self, said: ReplySentence) -> str:
        """The model's own words, with anything that looks like a source removed."""
        text = " ".join(ADDRESS.sub("", SENTINEL.sub("", said.text, count=1)).split())
        if not words_in(text) or SOURCES.fullmatch(text):
            return ""
        if self._withhold_general:
            return self._drop(text, "general words")
        self.lines.append(AnswerSentence(text, ()))
        return self._put(text if self.text else GENERAL + text)

    def _put(self, words: str) -> str:
        separator = SEPARATORS[self._opens] if self.text else "- " if self._opens == "item" else ""
        self._opens = ""
        self.text += separator + words
        return separator + words

    def _drop(self, text: str, reason: AnswerRejection) -> str:
        # After a gap it is not known what a pronoun means: None, not (), which stands for the question alone.
        self.rejected.append(RejectedSentence(text[:MAX_DROPPED_CHARS], reason))
        self._previous_support = None
        return ""

"""Simple English sentences taken apart, so that their words can be put in the order of a question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kiwiresearch.export.sentence_filter import names_some
from kiwiresearch.export.worksheet_facts import FactSheet
from kiwiresearch.export.worksheet_patterns import pattern, verbs

BE = frozenset(("is", "are", "was", "were"))
HAVE = {"has": "does", "have": "do", "had": "did"}
MODAL = {"can": "can", "cannot": "can", "could": "could", "must": "must", "would": "would", "should": "should"}
PARTICIPLES = frozenset(["been", "come", "become", "gone", "grown", "risen", "fallen", "spread", "known", "spoken"])
# 'quickly' and 'never'; 'family' as well, which does no harm between 'has' and a participle.
ADVERB = re.compile(r"\w+ly|almost|always|often|also|never|long|not|ever|since|already")
# 'In the beginning' is a phrase before the subject; 'Inuit art' is a subject.
PREPOSITION = re.compile(
    r"(?:In|On|At|By|From|After|Before|Under|During|With|Without|For|As|Since|Through|Throughout|Within|Among|Because|"
    r"Although|Though|When|While|If|Like|Unlike|Between|Despite|Around|About|Over|Until|To|Of|Early|Late)\b"
)
MAX_SUBJECT_WORDS = 8
MAX_QUESTION_CHARS = 140


@dataclass(frozen=True, slots=True)
class QuestionClause:
    """A subject, a verb and the words after it."""

    subject: str
    """As it is written within a question."""
    auxiliary: str
    """The word that stands before the subject in a question."""
    predicate: str
    """The words after the subject in a question, the verb among them."""

    def as_question(self, opening: str) -> str | None:
        """The question that begins with 'When' or another such word; None if it would be hard to read."""
        text = f"{opening} {self.auxiliary} {self.subject} {self.predicate}".rstrip(" ,")
        return f"{text}?" if len(text) < MAX_QUESTION_CHARS else None


def clause_in(text: str, sheet: FactSheet) -> QuestionClause | None:
    """Parse a sentence (without its full stop) as one clause; None unless its subject and its verb are certain."""
    words = text.split()
    for at, word in enumerate(words[1:], start=1):
        split = _split(words, at, word)
        if split:
            subject = subject_in_question(" ".join(_without_adverbs(words[:at])), sheet)
            auxiliary, verb = split
            kept = [adverb for adverb in words[max(at - 1, 1) : at] if adverb in verbs().kept_adverbs]
            following = words[at + 1 :]
            # 'The largest elephant recorded was shot': the first verb was a participle.
            if auxiliary == "did" and any(other in BE for other in following):
                return None
            predicate = " ".join((*kept, *verb, *following))
            return (
                QuestionClause(subject, auxiliary, predicate)
                if subject and "by" not in words[at + 1 : at + 2]
                else (_passive(subject, auxiliary, predicate))
            )
        if word.endswith("ed") and word.islower():
            return None  # a verb that the list does not have, or a participle: what follows is not certain
    return None


def split_after_subject(text: str) -> tuple[str, str] | None:
    """The subject of a sentence, and its verb with what follows, in the form used after 'Who' or 'What'."""
    words = text.removesuffix(".").split()
    known = verbs()
    for at, word in enumerate(words[1:], start=1):
        following = words[at + 1 :]
        if word == "saw" or word in BE or word in HAVE or word in MODAL or pattern("clauses").fullmatch(word):
            return None
        if word in known.past or word in known.singular or (word in known.plural and words[at - 1].endswith("s")):
            if any(other in BE for other in following) or following[:1] == ["by"]:
                return None
            third = next(
                (form for form, base in known.singular.items() if base == word and word not in known.past), word
            )
            return " ".join(_without_adverbs(words[:at])), " ".join((third, *following))
        if word.endswith("ed"):
            return None
    return None


def _passive(subject: str | None, auxiliary: str, predicate: str) -> QuestionClause | None:
    return QuestionClause(subject, auxiliary, predicate) if subject and auxiliary in BE else None


def _split(words: list[str], at: int, word: str) -> tuple[str, tuple[str, ...]] | None:
    """The auxiliary of the question and the form of the verb after the subject, if the word is a verb."""
    known = verbs()
    if word in BE:
        return word, ()
    if word in MODAL:
        return MODAL[word], (("not",) if word == "cannot" else ())
    if word in HAVE:
        following = next((other for other in words[at + 1 :] if not ADVERB.fullmatch(other)), "")
        if pattern("participle").match(following) or following in PARTICIPLES:
            return word, ()
        return HAVE[word], ("have",)
    if word in known.past:
        return "did", (known.past[word],)
    # 'The wall stands', 'the walls stand': after the wrong form of a noun, the word is not its verb.
    if word in known.singular and not words[at - 1].endswith("s"):
        return "does", (known.singular[word],)
    if word in known.plural and re.search(r"[^s]s$", words[at - 1]):
        return "do", (word,)
    return None


def _without_adverbs(words: list[str]) -> list[str]:
    while len(words) > 1 and words[-1] in verbs().kept_adverbs | verbs().dropped_adverbs:
        words = words[:-1]
    return words


def subject_in_question(words: str, sheet: FactSheet) -> str | None:
    """The subject as it is written within a question; None unless it names the topic or something else.

    'The younger one' would need the sentence before.
    """
    if len(words.split()) > MAX_SUBJECT_WORDS or re.search(r"[,;:()\"“”]|\d", words):
        return None
    if pattern("openers").match(words) or pattern("clauses").search(words) or PREPOSITION.match(words):
        return None
    plain = pattern("article").sub("", words, count=1)
    if re.fullmatch(r"[A-Z]{3,}s?", plain) and plain not in sheet.named:
        return None  # letters that only the page explains
    has_name = re.search(r"(?<= )[A-Z]", f" {plain}" if plain != words else plain) or _is_name(
        plain.partition(" ")[0], sheet
    )
    if not names_some(words, sheet.named) and not has_name:
        return None
    return as_spelled_inside(words, sheet)


def as_spelled_inside(words: str, sheet: FactSheet) -> str:
    """Words of the beginning of a sentence as they are spelled further on; names keep their capitals."""
    first = words.partition(" ")[0]
    if words.startswith(sheet.named) and pattern("article").match(sheet.named):
        return words
    if first in ("The", "A", "An") or not _is_name(first, sheet):
        return f"{words[0].lower()}{words[1:]}"
    article = "the " if _has_article(words, sheet) else ""
    return f"{article}{words}"


def _has_article(words: str, sheet: FactSheet) -> bool:
    """Whether a name alone, such as the title of an article, is mostly written with 'the'."""
    if words != sheet.named:
        return False
    named = re.escape(words)
    return len(re.findall(rf"\b[Tt]he {named}\b", sheet.all_text)) * 2 > len(
        re.findall(rf"\b{named}\b", sheet.all_text)
    )


def _is_name(word: str, sheet: FactSheet) -> bool:
    """Whether a word has a capital even within sentences."""
    if not word[:1].isupper():
        return False
    bare = re.escape(re.sub(r"['’]s?$", "", word))
    low = len(re.findall(rf"(?<![\w-]){bare[0].lower()}{bare[1:]}(?![\w-])", sheet.all_text))
    # Only after a small letter or a comma: at the beginning of a sentence, every word has a capital.
    high = len(re.findall(rf"(?<=[a-z,] ){bare}(?![\w-])", sheet.all_text))
    return low <= high

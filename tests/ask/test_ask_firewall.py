"""What the passages prove passes, and what they do not prove is reported by its fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.ask.passages import BRIDGE, CURIE, a_passage

from kiwiresearch.ask.answer import Passage
from kiwiresearch.ask.firewall import SentenceJudge, SupportedSentence, passage_sentences, pronoun_is_clear
from kiwiresearch.page.parser import open_page
from kiwiresearch.reader.reader import shared_reader
from kiwiresearch.zim.libzim import LibzimArchive

STRICT, CHILD = SentenceJudge(), SentenceJudge(min_share=0.45)
GIVEN = {passage.key: passage for passage in (CURIE, BRIDGE)}
DRUG = a_passage(
    "Ferol",
    "Ferol, which is not sold in Peru, cures fever. Ferol does not, in adults, cure coughs. "
    "Some doctors believe that Ferol helps against pain. It was found by Ann Lee in 1950.",
)


def fault(text: str, passage: Passage, asked: str = "", judge: SentenceJudge = STRICT) -> str:
    found = judge.judge(text, [passage.key], {passage.key: passage}, asked)
    return found if isinstance(found, str) else "passes"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ferol cures fever.", "passes"),
        ("Ferol does not cure fever.", "denial changed"),
        ("Ferol cures coughs in adults.", "denial changed"),
        ("Ferol does not cure coughs in adults.", "passes"),
        ("Ferol helps against pain.", "hedge dropped"),
        ("Some doctors believe that Ferol helps against pain.", "passes"),
        ("Ferol was found by Ann Lee in 1950.", "passes"),
        ("Ferol was found by Ann Lee in 1905.", "number not in its sources"),
        ("Ferol was found by Ann Kee in 1950.", "name not in its sources"),
        ("Ferol was found in Peru by Ann Lee.", "passes"),
        ("Ferol costs little money in every pharmacy of the country.", "other words"),
        ("!!!", "empty"),
        ("Yes.", "name not in its sources"),
        ("Ferol cures fever " * 40, "too long"),
    ],
)
def test_a_sentence_is_compared_with_sentences_about_the_same(text: str, expected: str) -> None:
    """A 'not' in an aside or elsewhere in a passage neither excuses a denial nor demands one.

    Place and deed of two sentences can still be put together: that is the known gap.
    """
    assert fault(text, DRUG) == expected


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        ("When was Marie Curie born?", "In 1867.", "passes"),
        ("When was Marie Curie born?", "In 1859.", "another subject"),
        ("When was the bridge opened?", "1932.", "passes"),
        ("When was the bridge opened?", "1940.", "another subject"),
        ("How long is the bridge?", "503 metres.", "passes"),
    ],
)
def test_a_few_words_are_judged_with_what_they_answer(asked: str, text: str, expected: str) -> None:
    """'In 1859' is true of somebody on the page, but not of the one who was asked about."""
    assert fault(text, CURIE if "Curie" in asked else BRIDGE, asked) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paul Dirac emigrated from Switzerland in 1890.", "another subject"),
        ("Dirac's father emigrated from Switzerland in 1890.", "passes"),
        ("Paul Dirac studied engineering in 1921.", "passes"),
    ],
)
def test_a_father_is_not_his_son(text: str, expected: str) -> None:
    """What a page says of somebody's father, work or capital is not said of the one the page is about."""
    page = a_passage("Paul Dirac", "His father emigrated from Switzerland in 1890. He studied engineering in 1921.")
    assert fault(text, page) == expected


TOWNS = "City\tnote\tHeight\nPort\tcoast town\t17\nHillside\tcapital city\t1,661\nTea\tmain export\t30%"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The capital city of Kuria is Hillside.", "passes"),
        ("The capital city of Kuria is Port.", "another subject"),
        ("The height of Hillside is 1,661.", "passes"),
        ("The height of Hillside is 17.", "another subject"),
        ("Tea is the main export of Kuria.", "passes"),
        ("Tea is the coast town of Kuria.", "another subject"),
        ("The king of Kuria lives in Hillside.", "other words"),
    ],
)
def test_a_row_of_a_table_speaks_of_its_first_cell(text: str, expected: str) -> None:
    """Cells of two rows cannot be put together."""
    table = a_passage("Kuria", TOWNS)._replace(kind="row")
    assert fault(text, table) == expected


def test_simple_words_pass_in_answers_for_children() -> None:
    """Fewer words must be the page's own for a child; numbers and denials are checked as strictly."""
    simple = "Ann Lee spotted Ferol at home in 1950."
    assert (fault(simple, DRUG), fault(simple, DRUG, judge=CHILD)) == ("other words", "passes")
    assert fault(simple.replace("1950", "1951"), DRUG, judge=CHILD) == "number not in its sources"
    assert fault("Ferol never cures fever in hot people.", DRUG, judge=CHILD) == "denial changed"


def test_keys_that_carry_nothing_are_left_out() -> None:
    """Of several keys those stay that bear the sentence out, alone or, if need be, together."""
    both = [BRIDGE.key, CURIE.key]
    found = STRICT.judge("The bridge was opened in 1932.", both, GIVEN)
    assert isinstance(found, SupportedSentence)
    assert (found.keys, found.rekeyed) == ((BRIDGE.key,), False)
    joined = STRICT.judge("The bridge was opened in 1932 and Pierre Curie was born in 1859.", both, GIVEN)
    assert isinstance(joined, SupportedSentence)
    assert set(joined.keys) == set(both)


def test_a_key_is_repaired_only_if_it_is_clear_who_is_meant() -> None:
    """A sentence that names its subject, or a passage of the page that was named; 'the bridge' may be another."""
    more = a_passage("Harbour Bridge", "The bridge carries eight lanes of traffic.", start=900)
    given = GIVEN | {more.key: more}
    by_name = STRICT.judge("Marie Curie was born in Warsaw.", [BRIDGE.key], given)
    by_page = STRICT.judge("The bridge carries eight lanes of traffic.", [BRIDGE.key], given)
    assert [(found.keys, found.rekeyed) for found in (by_name, by_page) if isinstance(found, SupportedSentence)] == [
        ((CURIE.key,), True),
        ((more.key,), True),
    ]
    assert STRICT.judge("The bridge carries eight lanes of traffic.", [CURIE.key], given) == "number not in its sources"


def test_a_pronoun_follows_its_own_page() -> None:
    """A pronoun at the start needs its subject in the sentence before, or in the question."""
    support = passage_sentences(CURIE, "eng")[:1]
    assert pronoun_is_clear("Marie Curie came.", "eng", None, support)
    assert pronoun_is_clear("She came.", "eng", (), support)
    assert pronoun_is_clear("She came.", "eng", (CURIE,), support)
    assert not pronoun_is_clear("She came.", "eng", (BRIDGE,), support)
    assert not pronoun_is_clear("She came.", "eng", None, support)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was the harbour bridge opened?", True),
        ("When was the Zorbia Canal opened?", False),
        ("What do quantum computers cost?", False),
    ],
)
def test_passages_are_about_a_question_or_not(question: str, expected: bool) -> None:
    """All names of the question are in them, and most of its words."""
    assert STRICT.is_about(question, [BRIDGE]) == expected


def test_every_language_gets_an_answer() -> None:
    """Without tables figures and names are compared, and nothing raises."""
    page = a_passage("Brücke", "Die Brücke wurde 1932 eröffnet. 橋は1932年に開通した。")
    judge = SentenceJudge("deu")
    for text, passes in (("Die Brücke wurde 1932 eröffnet.", True), ("Die Brücke wurde 1933 eröffnet.", False)):
        assert isinstance(judge.judge(text, [page.key], {page.key: page}), SupportedSentence) == passes


REAL = ("Albert_Einstein", "Black_hole", "Soil")


def real_passages(shared_data: Path) -> list[Passage]:
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    pages = [open_page(archive, path) for path in REAL]
    return [
        Passage(page.ref, page.title, one.heading, one.anchor, "text", one.start, end, page.text[one.start : end])
        for page in pages
        for one in page.sections[:12]
        if page.text[one.start : (end := min(one.end, one.start + 900))].strip()
    ]


def test_real_pages_bear_out_their_own_sentences_and_no_others(shared_data: Path) -> None:
    """Each sentence of a passage passes; with another number, or turned round by a 'not', hardly one does."""
    counts = {"own": [0, 0], "number": [0, 0], "denial": [0, 0]}
    for passage in real_passages(shared_data):
        for source in passage_sentences(passage, "eng"):
            variants = {"own": source.text} if source.stems else {}
            if year := re.search(r"\b1[0-9]{3}\b", source.text):
                other = source.text.replace(year[0], str(int(year[0]) + 3), 1)
                variants["number"] = other
            if re.search(r"\b(?:is|was|are|were)\b", source.text) and not re.search(r"\bnot?\b", source.text):
                variants["denial"] = re.sub(r"\b(is|was|are|were)\b", r"\1 not", source.text, count=1)
            for kind, text in variants.items():
                counts[kind][0] += fault(text, passage) == "passes"
                counts[kind][1] += 1
    assert counts["own"][0] == counts["own"][1] > 50
    assert counts["number"][0] <= counts["number"][1] * 0.02
    assert counts["denial"][0] <= counts["denial"][1] * 0.02
    assert min(total for _, total in counts.values()) > 10, counts


PAINTER = a_passage(
    "Ada Rowe",
    "Ada Rowe was a painter. She was born in Norbury, and her aunt taught her to draw. "
    "In 1825 she met the sculptor John Thorne. He moved to Lisbon in 1830 and married there.",
)


@pytest.mark.parametrize(
    ("text", "by_words", "by_meaning"),
    [
        ("Ada Rowe moved to Lisbon in 1830.", "passes", "another subject"),
        ("John Thorne moved to Lisbon in 1830.", "another subject", "passes"),
        ("Ada Rowe was born in Norbury.", "passes", "passes"),
    ],
)
def test_the_reading_model_resolves_pronouns(text: str, by_words: str, by_meaning: str) -> None:
    """With rules, "he" refers to the subject of the page; the reading model decides where it is sure."""
    pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")
    assert fault(text, PAINTER) == by_words
    assert fault(text, PAINTER, judge=SentenceJudge(reader=shared_reader())) == by_meaning


def test_a_passage_from_the_middle_of_a_page_still_speaks_of_its_subject() -> None:
    """One "he" beside the name of somebody else proves nothing of that other."""
    pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")
    passage = a_passage(
        "Isaac Newton",
        "Charles Montagu, the chancellor, offered the post in 1696. He moved to London in 1696 and worked at the mint.",
    )
    judge = SentenceJudge(reader=shared_reader())
    assert fault("Charles Montagu moved to London in 1696.", passage, judge=judge) == "another subject"
    assert fault("Isaac Newton moved to London in 1696.", passage, judge=judge) == "passes"

"""Worksheets: questions whose answers the pages prove, whose gaps give nothing away, and that read as English."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from tests.brief.briefs import a_claim, nothing
from tests.export.exported_runs import a_read_run

import kiwiresearch
from kiwiresearch.claims import claims_of_page
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.page_claims import claims_of_text
from kiwiresearch.errors import BadUsage, NothingFound, QuoteNotFound
from kiwiresearch.export.exercises import matching, ordering
from kiwiresearch.export.exporter import export
from kiwiresearch.export.findings import read_findings
from kiwiresearch.export.sentence_filter import is_usable
from kiwiresearch.export.worksheet import ENGLISH_RULES, GAP_RULES, Worksheet, make_worksheet
from kiwiresearch.export.worksheet_choice import QUESTION_KINDS, ExerciseKind, choice_of
from kiwiresearch.export.worksheet_facts import FactSheet, WorksheetFact, facts_of_page, facts_of_run, place_of
from kiwiresearch.export.worksheet_files import page_worksheet_file, worksheet_html, worksheet_markdown
from kiwiresearch.export.worksheet_patterns import pattern
from kiwiresearch.export.worksheet_question import GAP, QuestionKind, WorksheetQuestion
from kiwiresearch.ids import BookId
from kiwiresearch.runs.finished_run import Run
from kiwiresearch.workspace import find_page, open_workspace, shelf_of

RULES = {**ENGLISH_RULES, **GAP_RULES}


def a_sheet(*claims: Claim, topic: str = "Bronze Age", words: str = "") -> FactSheet:
    facts = tuple(WorksheetFact(claim, True) for claim in claims)
    dated = tuple(claim for claim in claims if claim.dates)
    return FactSheet(topic, facts, claims, dated, "eng", {}, words, frozenset(place_of(claim) for claim in claims))


def asked(kind: QuestionKind, text: str, *, topic: str = "Bronze Age", words: str = "") -> WorksheetQuestion | None:
    """The question that a rule makes of the first sentence of a page about the topic."""
    (claim, *_) = (*claims_of_text(text, "A page").claims, *claims_of_text(text, "A page").of_type("statement").claims)
    sheet = a_sheet(claim, topic=topic, words=words)
    return RULES[kind](sheet.facts[0], sheet)


MADE: tuple[tuple[QuestionKind, str, str, str], ...] = (
    ("what", "Bronze is an alloy of copper and tin.", "What is bronze?", "an alloy of copper and tin"),
    (
        "what",
        "The Bronze Age collapse was a period of crisis in the eastern Mediterranean.",
        "What was the Bronze Age collapse?",
        "a period of crisis in the eastern Mediterranean",
    ),
    (
        "who",
        "In 1966 Rhys Carpenter suggested that drought had emptied the palaces of Greece.",
        "In 1966, who suggested that drought had emptied the palaces of Greece?",
        "Rhys Carpenter",
    ),
    (
        "when",
        "The Kassite dynasty of Babylon was brought down by Elam about 1155 BC.",
        "When was the Kassite dynasty of Babylon brought down by Elam?",
        "about 1155 BC",
    ),
    (
        "why",
        "Io is the most volcanically active object in the solar system because of tidal interaction with Jupiter.",
        "Why is Io the most volcanically active object in the solar system?",
        "tidal interaction with Jupiter",
    ),
    (
        "what",
        "The study of bronze weapons is called hoplology, sometimes spelled hopology.",
        "What is the study of bronze weapons called?",
        "hoplology",
    ),
    (
        "what",
        "Bronze production was controlled by the great palaces of the region.",
        "What was bronze production controlled by?",
        "the great palaces of the region",
    ),
    (
        "who",
        "The Bronze Age tombs were uncovered by Heinrich Schliemann.",
        "Who were the Bronze Age tombs uncovered by?",
        "Heinrich Schliemann",
    ),
    (
        "count",
        "About 30,000 tablets and fragments have been recovered from the archives.",
        "How many tablets and fragments have been recovered from the archives?",
        "30,000",
    ),
    (
        "count",
        "Twelve kinds of swords existed in the region, named after places.",
        "How many kinds of swords existed in the region?",
        "Twelve",
    ),
    (
        "what",
        "The largest city of the Bronze Age was Hattusa.",
        "What was the largest city of the Bronze Age?",
        "Hattusa",
    ),
    (
        "what",
        "The lack of tin in the region ended the production of bronze.",
        "What ended the production of bronze?",
        "The lack of tin in the region",
    ),
    (
        "when",
        "In 1921 Marie Curie toured the United States, where many people came to see her.",
        "When did Marie Curie tour the United States?",
        "1921",
    ),
    (
        "where",
        "Charles Darwin was born in Shrewsbury, Shropshire on 12 February 1809.",
        "Where was Charles Darwin born?",
        "in Shrewsbury, Shropshire",
    ),
    (
        "count",
        "The Beagle survey took five years, two of which were spent on land.",
        "How many years did the Beagle survey take?",
        "five",
    ),
    (
        "why",
        "Because of friction, the Bronze Age wheels could not simply turn by themselves.",
        "Why could the Bronze Age wheels not simply turn by themselves?",
        "friction",
    ),
    (
        "date",
        "Merneptah drove back the Libyans and their northern allies about 1208 BC.",
        f"Merneptah drove back the Libyans and their northern allies about {GAP} BC.",
        "1208",
    ),
    (
        "number",
        "About 30,000 tablets and fragments have been recovered from the archives.",
        f"About {GAP} tablets and fragments have been recovered from the archives.",
        "30,000",
    ),
    (
        "name",
        "Assyria and the cities of Phoenicia came through with less damage than others.",
        f"Assyria and the cities of {GAP} came through with less damage than others.",
        "Phoenicia",
    ),
)


@pytest.mark.parametrize(("kind", "text", "prompt", "answer"), MADE)
def test_a_sentence_becomes_a_question(kind: QuestionKind, text: str, prompt: str, answer: str) -> None:
    """Its words keep their order, and the answer is among them."""
    found = asked(kind, text, words="they used bronze")
    assert found is not None
    assert (found.prompt, found.answer) == (prompt, answer)


OPENINGS: tuple[tuple[QuestionKind, str, str, str, str], ...] = (
    (
        "who",
        "Marie Curie",
        "Marie Curie (7 November 1867 – 4 July 1934) was a physicist and chemist.",
        "Who was Marie Curie?",
        "a physicist and chemist",
    ),
    (
        "what",
        "Crimean War",
        "The Crimean War (1853–1856), also called the Eastern War, was a conflict between Russia and an alliance.",
        "What was the Crimean War?",
        "a conflict between Russia and an alliance",
    ),
)


@pytest.mark.parametrize(("kind", "title", "text", "prompt", "answer"), OPENINGS)
def test_the_first_sentence_of_a_page_says_who_or_what_it_is_about(
    kind: QuestionKind, title: str, text: str, prompt: str, answer: str
) -> None:
    """Other names and dates between the title and its meaning are left out; only a person is a 'who'."""
    sheet = a_sheet(a_claim(title, text, ""), topic=title)
    made = {other: RULES[other](sheet.facts[0], sheet) for other in ("who", "what")}
    found = made.pop(kind)
    assert found is not None
    assert (found.prompt, found.answer) == (prompt, answer)
    assert [*made.values()] == [None]


NOT_MADE: tuple[tuple[QuestionKind, str, str], ...] = (
    ("what", "Merneptah was a pharaoh of Egypt in the 13th century BC.", "a name may be a person's"),
    ("what", "The character is an example of a surly penguin that is cute.", "'an example' explains nothing"),
    ("what", "Trade was controlled by the great palaces of the region.", "it does not name the topic"),
    ("truth", "By 1190 the city of Ugarit had lost its harbour to the sea.", "a later year would be true as well"),
    ("truth", "Over 5000 tablets were found in the archive of the palace.", "a larger number may be true as well"),
    ("name", "Smiths used copper, antimony and tin for the weapons of the king.", "one of several things"),
    ("who", "Atlantic Records published the first album of the singer in that city.", "a company is nobody"),
    (
        "count",
        "Four Bronze Age dynasties fell in that war, and the others were weak for a long time.",
        "no verb of counting",
    ),
    ("when", "In 1920 the Hittite Empire joined the League and became a member of its council.", "two things happened"),
    ("what", "Bronze Age swords were used for the defence of the large cities.", "they have other uses too"),
    ("what", "The largest Bronze Age ship was shot at in the harbour of Ugarit.", "no name for it"),
    ("date", "By 1190 the city of Ugarit had lost its harbour to the sea.", "it is true of later years too"),
    ("when", "The site of Troy was destroyed by fire and abandoned about 1180 BC.", "two things happened"),
    ("when", "The war was fought between the two kingdoms from 1180 to 1175 BC.", "it lasted"),
    (
        "date",
        "In 1911 Marie Curie received the prize that is called the 1911 prize.",
        "the year is said again",
    ),
    ("date", "Around 5,000 years ago a large part of the mountain slid away into the valley.", "no year is told"),
    ("number", "The reaction has two forms, cyclic and non-cyclic (both use light in the cell).", "both are named"),
    ("number", "The hall is 76,000 sq ft (7,100 m²) in size and opened for the public later.", "the same in metres"),
    ("number", "Rolling Stone put the singer on its list of the 100 Greatest Artists of all time.", "part of a name"),
    ("name", "Enzymes use adenosine triphosphate from the work of Germany and German laboratories.", "'German'"),
)


@pytest.mark.parametrize(("kind", "text", "why"), NOT_MADE, ids=[why for *_, why in NOT_MADE])
def test_wrong_or_obvious_questions_are_not_asked(kind: QuestionKind, text: str, why: str) -> None:
    assert asked(kind, text) is None, why


UNUSABLE = (
    "The king responded by sending warships to the harbour of the enemy at once.",
    "The president signed a contract with Kenya.The latest in a series of contracts for oil.",
    "12 December 1960 — The National Front of the south is founded by the communists.",
    "Currently the country is split up among twenty-six magistrates of the government.",
    "However, the method was given up again in the following century by most smiths.",
    "Ugarit was probably destroyed by raiders from the sea in the early 12th century BC.",
    "They were given fluids at once and recovered from the disease within a few days.",
    "The values of both are listed in the table below for the years of the great war.",
    "A unit of radioactivity, the Curie, is named in their honour by the congress.",
    "The early development of an independent writing system.",
    "BC after a period when daggers and other artifacts were exchanged with the interior.",
    "A 2006 study of the teeth of ancient people shows traits of northern populations.",
    "For the next 18 months the king worked at home on the law of the kingdom.",
    "Such ideas were attacked by the priests of the great temple for a hundred years.",
    "The decree took effect in the whole of the country on September 7 of 1867.",
    "Some historians think that the palaces of the whole region fell to a long drought.",
)


@pytest.mark.parametrize("text", UNUSABLE)
def test_sentences_that_hedge_or_need_others_are_left_alone(text: str) -> None:
    found = claims_of_text(text, "A page")
    assert not any(is_usable(claim) for claim in (*found.claims, *found.of_type("statement").claims))


def test_sections_beside_the_topic_are_left_out() -> None:
    """A figure of speech in the news is no fact about plates."""
    text = "The idea of moving plates was used for the illness of a minister on 4 January 2005."
    beside = replace(a_claim("Plate tectonics", text, "Metaphoric uses"), headings=("Metaphoric uses",))
    assert is_usable(replace(beside, headings=("History",)))
    assert not is_usable(beside)


def test_true_or_false_has_the_sentence_of_the_page_or_another_year() -> None:
    """The answer sheet gives the right year, and the same sentence is always the same question."""
    texts = [f"The city of {name} was burned by its enemies in {year}." for name, year in FIRES]
    claims = [a_claim("Fires", text, "", "timeline") for text in texts]
    sheet = a_sheet(*claims)
    made = [one for fact in sheet.facts if (one := ENGLISH_RULES["truth"](fact, sheet))]
    assert len(made) == len(texts)
    assert {one.is_true for one in made} == {True, False}
    for one in made:
        assert (one.prompt == one.claim.text) is one.is_true
        assert one.solution == ("True" if one.is_true else f"False: {one.answer}")
        assert one.answer in one.claim.text
    assert made == [ENGLISH_RULES["truth"](fact, sheet) for fact in sheet.facts]


FIRES = (("Ugarit", 1190), ("Hattusa", 1194), ("Pylos", 1187), ("Troy", 1184), ("Emar", 1199), ("Miletus", 1181))


def test_an_answer_that_the_quote_does_not_have_cannot_be_made() -> None:
    """The rule is part of the type."""
    with pytest.raises(QuoteNotFound):
        WorksheetQuestion("who", "Who was it?", "Nobody", a_claim("Ugarit", "Ugarit was burned."))


DEFINED = (
    ("Bronze", "Bronze is an alloy of copper and tin."),
    ("Alphabet", "An alphabet is a set of letters for the sounds of a language."),
    ("Drought", "Drought is a long time without rain in a region."),
    ("Systems collapse", "Systems collapse is the breakdown of a system."),
)


def test_terms_are_matched_with_meanings_that_do_not_name_them() -> None:
    """In an order that does not give the solution away, and the same each time."""
    claims = [a_claim(page, text, "", "definition") for page, text in DEFINED]
    found = matching(a_sheet(*claims))
    assert found is not None
    assert [pair.term for pair in found.pairs] == ["Alphabet", "Bronze", "Drought"]
    assert found.meanings != found.pairs
    assert sorted(found.meanings) == sorted(found.pairs)
    assert found == matching(a_sheet(*reversed(claims)))
    assert matching(a_sheet(*claims[:2])) is None


HAPPENED = (
    "In 1250 BC, the kings of the region exchanged gifts with Egypt.",
    "Merneptah drove back the Libyans from the western desert in 1208 BC.",
    "In 1177 BC, the king of Egypt claimed a victory over the Sea Peoples.",
    "The dynasty of Babylon was brought down by the army of Elam in 1155 BC.",
    "The Assembly set the end of its own first term for 1100 BC.",
    "The people called it their home until the fall of the city in 1050 BC.",
)


def test_events_lose_their_dates_and_are_put_in_order() -> None:
    """Only where the date can be taken out of the sentence, and where no two dates overlap."""
    claims = [a_claim("Egypt", text, "", "timeline") for text in HAPPENED]
    found = ordering(a_sheet(*reversed(claims)))
    assert found is not None
    assert [event.when for event in found.events] == ["1250 BC", "1208 BC", "1177 BC", "1155 BC"]
    assert found.events[1].text == "Merneptah drove back the Libyans from the western desert."
    assert found.printed != found.events
    assert not any(re.search(r"\d", event.text) for event in found.events)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over the sample book."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with kiwiresearch.open_shelf() as shelf:
        shelf.research("Bronze Age collapse", folder, settings=kiwiresearch.CrawlSettings(max_pages=8))
    return folder


@pytest.fixture(scope="module")
def worksheet(run: Path) -> Worksheet:
    return make_worksheet(facts_of_run(read_findings(Run.load(run))))


def test_the_topics_own_page_is_asked_about_first(run: Path, worksheet: Worksheet) -> None:
    """Other pages only give what their first sentence says about the topic, or fill up a short worksheet."""
    findings = read_findings(Run.load(run))
    heads = {source.ref for source in findings.brief.sources.pages if source.is_head}
    assert heads
    own = [one for one in worksheet.questions if one.claim.ref in heads]
    assert len(own) >= len(worksheet.questions) - 1
    assert len({one.kind for one in worksheet.questions}) >= 4
    assert max(Counter(one.claim.section for one in own if one.claim.section).values()) <= 3


def test_a_worksheet_has_up_to_14_questions_and_asks_nothing_twice(worksheet: Worksheet) -> None:
    """Each is of one claim, and each word of the word bank is of one gap."""
    count = len(worksheet.questions) + bool(worksheet.matching) + bool(worksheet.ordering)
    assert 8 <= count <= 14
    ids = [one.claim.id for one in worksheet.questions]
    assert len(set(ids)) == len(ids)
    assert len(worksheet.word_bank) == len(worksheet.word_gaps)


def test_every_answer_is_in_a_claim_of_the_run_that_nothing_hedges(run: Path, worksheet: Worksheet) -> None:
    """With its quote on the answer sheet, and its page and section."""
    claims = {claim.id: claim for page in Run.load(run).pages for claim in page.claims}
    sheet = worksheet_html(worksheet).partition('id="answers"')[2]
    plain = re.sub(r"<[^>]+>", "", sheet).replace("&quot;", '"').replace("&#x27;", "'").replace("&amp;", "&")
    for one in worksheet.questions:
        claim = claims[one.claim.id]
        assert not claim.hedges
        assert one.answer in claim.quotes[0].text
        assert claim.quotes[0].text in plain
        assert claim.citation.words in plain


def test_no_gap_is_given_away_by_its_own_sentence(worksheet: Worksheet) -> None:
    """Its answer is nowhere else in it."""
    for one in (*worksheet.gaps, *worksheet.word_gaps):
        assert one.prompt.count(GAP) == 1
        assert one.answer.casefold() not in one.prompt.casefold().split()
        assert one.prompt.replace(GAP, one.answer) == one.claim.text


def test_the_answers_begin_on_a_new_page(run: Path) -> None:
    """In the page for browsers and in the document for Word; the questions before them have lines to write on."""
    page = export(run, "worksheet")[0].read_text(encoding="utf-8")
    assert page.count('class="new-page"') == 1
    assert "default-src 'none'" in page
    assert "<script" not in page
    with ZipFile(export(run, "worksheet-docx")[0]) as file:
        text = file.read("word/document.xml").decode()
        ElementTree.fromstring(text)
    assert text.count("<w:pageBreakBefore/>") == 1
    assert 'w:val="AnswerLine"' in text
    assert 'w:val="Quote"' in text
    assert 'w:val="ListNumber"' in text.partition("<w:pageBreakBefore/>")[2]


def test_answers_are_a_numbered_list_of_the_books_that_they_are_from(run: Path, worksheet: Worksheet) -> None:
    """Without bullets before the numbers; a book that no answer is from is not named."""
    answers = worksheet_html(worksheet).partition('id="answers"')[2]
    assert answers.count("<li>") == worksheet.count
    assert '<ol class="facts">' in answers
    lines = worksheet_markdown(worksheet).partition("## Answer sheet")[2].splitlines()
    assert [line.partition(".")[0] for line in lines if line[:1].isdigit()] == [
        str(number) for number in range(1, worksheet.count + 1)
    ]
    sheet = facts_of_run(read_findings(Run.load(run)))
    (book,) = worksheet.books
    assert make_worksheet(replace(sheet, books={**sheet.books, BookId("elsewhere"): "Another book"})).books == (book,)


def test_the_same_run_gives_the_same_worksheet(run: Path, tmp_path: Path) -> None:
    """Byte for byte, in every form."""
    for form in ("worksheet", "worksheet-docx", "worksheet-markdown"):
        assert export(run, form)[0].read_bytes() == export(run, form, tmp_path / form)[0].read_bytes()


def test_a_single_page_gives_a_worksheet(tmp_path: Path) -> None:
    """Of its own sentences, with the book it is from."""
    workspace = open_workspace()
    with shelf_of(workspace, ["sample"]) as shelf:
        found = find_page(shelf, "Late Bronze Age collapse")
        read = claims_of_page(found.page, found.book.name)
        made = {form: page_worksheet_file(read, form, found.book) for form in ("html", "docx", "markdown")}
        again = make_worksheet(facts_of_page(read, found.book.title))
    assert [file.name for file in made.values()] == ["worksheet.html", "worksheet.docx", "worksheet.md"]
    assert made["markdown"].content.startswith(b"# Worksheet: Late Bronze Age collapse\n")
    assert f"{found.book.title} (1\u00a0July 2025)" in made["html"].content.decode()
    assert {one.claim.page_title for one in again.questions} == {"Late Bronze Age collapse"}


def test_too_little_to_ask_is_said(tmp_path: Path) -> None:
    """A run that found nothing has no worksheet."""
    with pytest.raises(NothingFound, match="about 'Nothing' do not have enough facts"):
        export(a_read_run(tmp_path, nothing()), "worksheet")


def test_words_of_a_book_become_no_markup() -> None:
    """Neither in a page nor in Markdown."""
    words = "In 1250 BC, the <b>kings</b> of *Egypt* exchanged gifts with the [others](http://x.y)."
    claims = [a_claim("Egypt", words.replace("1250", str(year)), "", "timeline") for year in (1250, 1200, 1150)]
    made = Worksheet(
        "<i>x</i>", "eng", ("<u>",), tuple(WorksheetQuestion("date", one.text, "BC", one) for one in claims), None, None
    )
    page, text = worksheet_html(made), worksheet_markdown(made)
    assert not re.search(r"<(?:b|i|u)>", page)
    assert "\\[others\\](http\\://" in text
    assert "<b>" not in text.replace("\\<", "")


ASPECT = {
    "Causes": (
        "The rivalry of Rome and Carthage in Sicily caused the Punic War of that century.",
        "The Punic War began in 264 BC after a quarrel about the city of Messana.",
        "The fear of the Carthaginian fleet in Rome shaped the policy of the Punic War.",
    ),
    "Ships": (
        "The Punic War was fought with ships of five rows of oars by Rome and Carthage.",
        "The largest ship of the Punic War was the Hannibal.",
    ),
}


def test_a_brief_with_an_aspect_is_asked_about_that_aspect(tmp_path: Path) -> None:
    """A question about ships has no place on a worksheet about causes, as long as there are enough others."""
    claims = {
        section: [replace(a_claim("Punic War", text, section), headings=(section,)) for text in texts]
        for section, texts in ASPECT.items()
    }
    facts = tuple(
        WorksheetFact(claim, section == "Causes", 2.5) for section, found in claims.items() for claim in found
    )
    sheet = FactSheet("causes of the Punic War", facts, (), (), "eng", {}, "", frozenset(), "Punic War")
    made = make_worksheet(sheet)
    assert made.count >= 3
    assert {one.claim.section for one in made.questions} == {"Causes"}


def test_no_two_questions_have_one_answer_or_give_it_away() -> None:
    """The second of two sentences about Hattusa would repeat the first or solve it."""
    texts = (
        "The largest city of the Bronze Age was Hattusa.",
        "The capital of the Bronze Age empire was Hattusa.",
        "Bronze Age Hattusa was built by the Hittites of the north.",
        "The oldest port of the Bronze Age was Ugarit.",
        "The Bronze Age palace of Pylos was burned in 1180 BC.",
    )
    sheet = a_sheet(*(a_claim("Bronze Age", text, f"Part {number}") for number, text in enumerate(texts)))
    made = make_worksheet(replace(sheet, facts=tuple(fact._replace(points=3.0) for fact in sheet.facts)))
    assert sum("Hattusa" in f"{one.prompt} {one.answer}" for one in made.questions) == 1


def test_a_side_matter_is_not_asked() -> None:
    """Sentences with few points leave a worksheet short rather than fill it."""
    claims = [a_claim("Punic War", text, section) for section, texts in ASPECT.items() for text in texts]
    sheet = a_sheet(*claims, topic="Punic War")
    good, aside = (replace(sheet, facts=tuple(fact._replace(points=n) for fact in sheet.facts)) for n in (2.5, 0.1))
    assert len(make_worksheet(good).questions) >= 3
    with pytest.raises(NothingFound):
        make_worksheet(aside)


def test_every_english_pattern_can_be_read_and_has_its_own_name() -> None:
    """A name used twice would hide one of the two patterns."""
    text = (files("kiwiresearch.export") / "worksheet_patterns.toml").read_text(encoding="utf-8")
    names = re.findall(r"^(\w+) = ['\"]", text, re.MULTILINE)
    assert len(names) == len(set(names)) > 40
    for name in names:
        assert pattern(name).pattern


def test_a_teacher_chooses_how_many_questions_there_are(run: Path) -> None:
    """As many as wanted if the pages have facts for them; the best ones are the same."""
    facts = facts_of_run(read_findings(Run.load(run)))
    few, many = (make_worksheet(facts, choice_of(count)) for count in (4, 9))
    assert (few.count, many.count) == (4, 9)
    assert set(few.questions) <= set(many.questions)


@pytest.mark.parametrize("kinds", [("truth",), ("open",), ("numbers", "words"), ("order",), ("matching",)])
def test_a_teacher_chooses_the_kinds_of_questions(kinds: tuple[ExerciseKind, ...]) -> None:
    """Only these are there, and more of them than beside other kinds."""
    claims = [
        *(a_claim(page, text, "", "definition") for page, text in DEFINED),
        *(a_claim("Egypt", text, "", "timeline") for text in HAPPENED),
        *(a_claim("Fires", f"{name} was burned by its enemies in {year}.", "", "timeline") for name, year in FIRES),
    ]
    sheet = replace(a_sheet(*claims), topic="Fires", facts=tuple(WorksheetFact(claim, True, 3.0) for claim in claims))
    made = make_worksheet(sheet, choice_of(kinds=kinds))
    wanted = {question for kind in kinds for question in QUESTION_KINDS[kind]}
    assert {one.kind for one in made.questions} <= wanted
    assert bool(made.questions) is bool(wanted)
    assert bool(made.matching) is ("matching" in kinds)
    assert bool(made.ordering) is ("order" in kinds)


def test_kinds_without_facts_are_refused(tmp_path: Path) -> None:
    """With what to do about it; a kind or number that does not exist is a mistake."""
    sheet = a_sheet(a_claim("Punic War", ASPECT["Ships"][1], ""), topic="Punic War")
    with pytest.raises(NothingFound) as refused:
        make_worksheet(sheet, choice_of(kinds=("order",)))
    assert refused.value.remedy == "Choose more kinds."
    for count, kinds in ((2, ()), (31, ()), (0, ("riddles",))):
        with pytest.raises(BadUsage):
            choice_of(count, kinds)

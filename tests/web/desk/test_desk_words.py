"""What the desk says is said in every language, and nowhere but in its catalogue."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter

import httpx2
import pytest
from tests.web.desk.sources import EXPRESSION, SCRIPTS, TEMPLATES, asked, markup, mentioned

from kiwiresearch.cases.record_builder import tie_dates
from kiwiresearch.kin.sources.registry import shipped_plugins
from kiwiresearch.kin.timeline import Age
from kiwiresearch.kin.tree import Relationship
from kiwiresearch.messages.catalogue import LANGUAGES, LOCALES, Entry, catalogue_in
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import COOKIE, preferred_language
from kiwiresearch.web.desk.pages import section_name
from kiwiresearch.web.desk.translations import in_reader_language, time_element, translated

ENGLISH = catalogue_in("en")
OTHERS = [language for language in LANGUAGES if language != "en"]


def forms(entry: Entry) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def named_in(entry: Entry) -> set[str]:
    """The values that a sentence names in any of its forms."""
    return {name for form in forms(entry) for _, name, _, _ in Formatter().parse(form) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_everything(language: str) -> None:
    """No sentence of English is missing, and none is there that English has not."""
    words = catalogue_in(language)
    assert sorted(ENGLISH.keys() - words.keys()) == []
    assert sorted(words.keys() - ENGLISH.keys()) == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_names_the_same_values(language: str) -> None:
    """What English names in braces every language names, and what counts in one counts in all."""
    words = catalogue_in(language)
    shared = sorted(ENGLISH.keys() & words.keys())
    assert [key for key in shared if named_in(ENGLISH.entry(key)) != named_in(words.entry(key))] == []
    counts = [isinstance(ENGLISH.entry(key), str) != isinstance(words.entry(key), str) for key in shared]
    assert [key for key, differs in zip(shared, counts, strict=True) if differs] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_is_empty_or_unfinished(language: str) -> None:
    """Each form has text, spells each value name the same way, and has no markup."""
    words = catalogue_in(language)
    for key in sorted(words.keys()):
        for form in forms(words.entry(key)):
            assert form.strip() == form != "", key
            assert not re.search(r"<\w|TODO|XXX", form), key
            assert all(re.fullmatch(r"\w+", name) for name in named_in(form)), key


@pytest.mark.parametrize("language", OTHERS)
def test_translations_are_not_left_in_english(language: str) -> None:
    """A sentence of four words or more is not the English one."""
    words = catalogue_in(language)
    same = [key for key in ENGLISH.keys() & words.keys() if ENGLISH.entry(key) == words.entry(key)]
    assert [key for key in sorted(same) if len(forms(ENGLISH.entry(key))[0].split()) > 3] == []


def test_every_sentence_asked_for_is_there() -> None:
    """A template or module asks for no key that the catalogue has not, and gives every value it names."""
    known = ENGLISH.keys()
    assert [f"{one.where} {one.key}" for one in asked() if one.key not in known] == []
    for one in asked():
        if one.values is not None:
            entry = ENGLISH.entry(one.key)
            needs = named_in(entry) | (set() if isinstance(entry, str) else {"n"})
            assert needs <= one.values, f"{one.where} {one.key} does not give {sorted(needs - one.values)}"


def test_no_sentence_is_left_over() -> None:
    """Every key is asked for somewhere, by its name or by the family it belongs to."""
    said = mentioned()
    starts = tuple(text if text.endswith(".") else f"{text}." for text in said if text.count(".") >= 1)
    assert [key for key in sorted(ENGLISH.keys()) if key not in said and not key.startswith(("kinds.", *starts))] == []


OUR_OWN = {"kiwi", "research", "kiwiresearch"}
"""The name of the program, the same in all languages."""

READ_ALOUD = frozenset({"title", "alt", "placeholder", "aria-label", "aria-roledescription", "aria-valuetext"})


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_text(template: Path) -> None:
    """Texts, and attributes that people see or hear, come from the catalogue."""
    read = markup(template)
    spoken = [value for _, name, value in read.attributes if name in READ_ALOUD]
    words = {word for text in (*read.texts, *spoken) for word in re.findall(r"[^\W\d_]{2,}", text)}
    assert words - OUR_OWN == set()
    assert EXPRESSION not in words


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_have_no_sentences(script: Path) -> None:
    """A script takes its texts from the page, which has them from the catalogue."""
    code = re.sub(r"/\*.*?\*/|(?m:(?<![:\"'])//.*$)", "", script.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"""["'`]([A-Z][a-z]+ [a-z]+[^"'`]*)["'`]""", code) == []


WISHES = [
    ("", "en"),
    ("fr", "fr"),
    ("fr-CA,en;q=0.8", "fr"),
    ("de,es;q=0.5,fr;q=0.9", "fr"),
    ("de-DE,pt;q=0.9", "en"),
    ("en;q=0.1,es", "es"),
    ("fr;q=0,es;q=0.1", "es"),
    ("ES-419", "es"),
    ("*", "en"),
    ("fr;q=nonsense,es;q=0.2", "es"),
    (", ,;;;", "en"),
    ("fr;q=nan", "en"),
    ("fr;q=nan,es;q=0.1", "es"),
    ("fr;q=inf,es;q=0.1", "es"),
    ("es;Q=0.9,en;q=0.5", "es"),
    ("xx," * 50 + "fr", "en"),
]


@pytest.mark.parametrize(("header", "language"), WISHES)
def test_the_browser_is_given_the_language_it_asks_for(header: str, language: str) -> None:
    """The one it wants most of those that are here; English where none is."""
    assert preferred_language(header) == language


CUSTOMARY = [
    ("en", "1234567.5", "5.4\u00a0MB", "14\u00a0March 1879", "March 1879", "12%"),
    ("fr", "1234567,5", "5,4\u00a0Mo", "14\u00a0mars 1879", "mars 1879", "12\u202f%"),
    ("es", "1234567,5", "5,4\u00a0MB", "14\u00a0de\u00a0marzo de 1879", "marzo de 1879", "12\u202f%"),
]


@pytest.mark.parametrize(("language", "number", "size", "day", "month", "share"), CUSTOMARY)
def test_numbers_sizes_and_dates_are_written_as_the_language_does(
    language: str, number: str, size: str, day: str, month: str, share: str
) -> None:
    """Thousands are separated, a comma or a point is before the fraction, months have their names."""
    locale = LOCALES[language]
    shown = locale.number(1234567.5)
    assert re.sub(r"[,\u202f](?=\d{3})", "", shown) == number
    assert shown != number, "thousands stand apart"
    assert locale.size(5_400_000) == size
    assert locale.date("1879-03-14") == day
    assert locale.date("1879-03") == month
    assert locale.share(0.123) == share


def test_counts_in_sentences_are_written_as_counts() -> None:
    """English and French separate the thousands of a count; a number that may be a year is unchanged."""
    shown = {one: catalogue_in(one)("family.people", n=3010).partition("3")[2] for one in ("en", "fr", "es")}
    assert [text[:4] for text in shown.values()] == [",010", "\u202f010", "010 "]
    assert LOCALES["en"].number(1879) == "1879"


def test_french_marks_stay_with_their_words() -> None:
    """A colon, question mark or quotation mark never starts or ends a line alone, however the catalogue is written."""
    words = catalogue_in("fr")
    rows = [form for key in sorted(words.keys()) for form in forms(words.entry(key))]
    assert [form for form in rows if re.search(r" [:;?!»%]|« |[^\W\d_][;?!»]|«\S|\u00a0[;?!»%]|«\u00a0", form)] == []
    assert words("home.title") == "Que voulez-vous savoir\u202f?"
    assert words("kinds.quoted", words="Tin") == "«\u202fTin\u202f»"
    assert [LOCALES[language].colon for language in ("en", "fr", "es")] == [":", "\u00a0:", ":"]


def test_the_box_of_a_page_has_a_name_in_every_language() -> None:
    """Other sections keep the name that the page gives them."""
    for words in map(catalogue_in, OTHERS):
        assert section_name("infobox", words) == words("desk.box") == {"fr": "infobox", "es": "ficha"}[words.language]
        assert section_name("History", words) == "History"


def test_the_users_words_about_a_life_are_shown_unchanged() -> None:
    """The words around it are in the reader's language, and markup in it is only text."""
    why = Message("The user says so: a <dog>", "living.user_says_why", words="a <dog>")
    assert translated(why, ENGLISH) == "set by hand: <bdi>a &lt;dog&gt;</bdi>"
    assert translated(why, catalogue_in("es")) == "indicado a mano: <bdi>a &lt;dog&gt;</bdi>"


AGES = [Age(39, 39), Age(38, 39), Age(30, 42), Age(30, None), Age(None, 42), Age(-9, -3)]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["39", "38 or 39", "30 to 42", "at least 30", "at most 42", "before birth"]),
        ("fr", ["39", "38 ou 39", "de 30 à 42", "au moins 30", "au plus 42", "avant la naissance"]),
        ("es", ["39", "38-39", "de 30 a 42", "al menos 30", "como mucho 42", "antes del nacimiento"]),
    ],
)
def test_every_age_is_written_in_the_readers_language(language: str, expected: list[str]) -> None:
    """As exactly as the dates allow."""
    words = catalogue_in(language)
    assert [in_reader_language(age.words(), words) for age in AGES] == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["29 January 1839", "29 January 1839 to 1882", "+1.05", "-0.5", "+2"]),
        ("fr", ["29 janvier 1839", "29 janvier 1839 – 1882", "+1,05", "-0,5", "+2"]),
        ("es", ["29 de enero de 1839", "29 de enero de 1839 – 1882", "+1,05", "-0,5", "+2"]),
    ],
)
def test_when_a_relationship_lasted_and_points_are_written_in_the_readers_language(
    language: str, expected: list[str]
) -> None:
    """The dates of a couple, with or without an end, and the terms of a score."""
    words = catalogue_in(language)
    since, until = (dates_in(text)[0].when for text in ("29 January 1839", "1882"))
    begun = Relationship("tie", "spouse_of", "one", "other", start=since)
    shown = [
        in_reader_language(tie_dates(tie), words).replace("\xa0", " ") for tie in (begun, replace(begun, end=until))
    ]
    assert [*shown, *map(words.locale.signed, (1.05, -0.5, 2.0))] == expected
    assert tie_dates(replace(begun, start=None)) == ""


def test_the_catalogue_has_the_texts_of_the_plugins_that_ship_with_the_program() -> None:
    """English is as in the plugin, and each text of the catalogue belongs to one."""
    words = catalogue_in("en")
    texts = {plugin.plugin.plugin_id: plugin.plugin for plugin in shipped_plugins()}
    prefix = "family.plugins."
    for key in sorted(filter(lambda key: key.startswith(prefix), words.keys())):
        name, _, what = key.removeprefix(prefix).partition(".")
        assert words(key) == (texts[name].display_name if what == "name" else texts[name].compliance.note)
    assert all(words.has(f"{prefix}{name}.note") for name, plugin in texts.items() if plugin.compliance.note)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_invalid_date_is_shown_unchanged(language: str) -> None:
    """A date of a book that makes no sense is shown as the book has it."""
    assert [LOCALES[language].date(text) for text in ("", "soon", "2026-13-01")] == ["", "soon", "2026-13-01"]


@pytest.fixture
def kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose clock is five and a half hours ahead of UTC."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "IST-5:30")  # in a form that needs no files of time zones
        time.tzset()
        yield
    time.tzset()


MOMENTS = [
    ("en", "2 March 2026, 01:15"),
    ("fr", "2 mars 2026 à 01:15"),
    ("es", "2 de marzo de 2026 a la 01:15"),
]


@pytest.mark.usefixtures("kolkata")
@pytest.mark.parametrize(("language", "shown"), MOMENTS)
def test_a_time_is_shown_in_the_time_zone_of_the_machine(language: str, shown: str) -> None:
    """A time that is stored in UTC is shown as local time, and programs can read the exact time."""
    locale = LOCALES[language]
    result = locale.moment("2026-03-01T19:45:10+00:00")
    assert result.replace("\xa0", " ") == shown
    assert locale.moment("2026-03-01T19:45:10") == result
    assert time_element("2026-03-01T19:45:10+00:00", locale) == f'<time datetime="2026-03-01T19:45:10Z">{result}</time>'
    assert (
        time_element("2026-03-01T19:45:10", locale, "<b>") == '<time datetime="2026-03-01T19:45:10Z">&lt;b&gt;</time>'
    )


@pytest.mark.usefixtures("kolkata")
@pytest.mark.parametrize("text", ["", "soon", "2026-13-01T00:00", "9999-12-31T23:59:59", "0001-01-01T00:00:00+14:00"])
def test_text_that_is_not_a_time_is_shown_unchanged(text: str) -> None:
    """Other text in a file is shown; a day without a time does not move."""
    assert time_element(text, LOCALES["en"]) == LOCALES["en"].date(text)
    assert time_element("2026-03-01", LOCALES["en"]) == LOCALES["en"].date("2026-03-01")


def test_every_time_on_a_page_is_shown_in_local_time() -> None:
    """Runs, notes and jobs say when they were made: no template shows that in UTC."""
    moments = re.compile(r"(?:made_at|asked_at|note\.made|note\.changed|one\.at)\b")
    texts = [file.read_text(encoding="utf-8") for file in TEMPLATES]
    rows = [row.partition("}}")[0] for text in texts for row in text.split("{{")[1:]]
    shown = [row for row in rows if moments.search(row)]
    assert len(shown) >= 8
    assert [row for row in shown if not re.search(r"\| time\(locale|locale\.moment\(", row)] == []


def test_one_thing_is_one_thing() -> None:
    """French counts nothing and one and a half as one; the others count one as one."""
    singular = {language: [n for n in (0, 1, 1.5, 2, 21) if LOCALES[language].is_one(n)] for language in LANGUAGES}
    assert singular == {"en": [1], "fr": [0, 1, 1.5], "es": [1]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chosen_language_is_kept(server: str, language: str) -> None:
    """The form below every page leads back to it, in the language chosen, whatever the browser asks for."""
    with httpx2.Client(
        base_url=server, trust_env=False, timeout=30, headers={"Accept-Language": "de", "Origin": server}
    ) as browser:
        sent = browser.post("/language", data={"language": language, "back": "/find?q=moon"})
        assert (sent.status_code, sent.headers["location"]) == (303, "/find?q=moon")
        kept = sent.headers["set-cookie"].lower()
        assert "httponly" in kept
        assert "samesite=strict" in kept
        assert f'<html lang="{language}"' in browser.get("/").text


def test_an_unknown_language_changes_nothing(client: httpx2.Client, server: str) -> None:
    """A language that is not here is not kept, in a form or in a cookie."""
    sent = client.post("/language", data={"language": "xx", "back": "/"}, headers={"Origin": server})
    assert (sent.status_code, "set-cookie" in sent.headers) == (303, False)
    shown = client.get("/", headers={"Cookie": f"{COOKIE}=../../etc", "Accept-Language": "fr"})
    assert '<html lang="fr"' in shown.text


BACK = [
    ("/", "/"),
    ("/runs/a?x=1&y=%2F#part", "/runs/a?x=1&y=%2F#part"),
    ("/find?q=http://elsewhere.example/", "/find?q=http://elsewhere.example/"),
    ("", "/"),
    ("http://elsewhere.example/", "/"),
    ("https:elsewhere.example", "/"),
    ("//elsewhere.example/", "/"),
    ("///elsewhere.example/", "/"),
    ("/\\elsewhere.example", "/"),
    ("\\\\elsewhere.example", "/"),
    ("/\t/elsewhere.example", "/"),
    ("/\n/elsewhere.example", "/"),
    ("\x00/find", "/"),
    ("javascript:alert(1)", "/"),
    ("data:text/html,x", "/"),
    ("find", "/"),
    ("?q=1", "/"),
    ("//[", "/"),
    ("http://[", "/"),
]


@pytest.mark.parametrize(("sent", "goes"), BACK)
def test_a_form_leads_back_to_our_pages_only(sent: str, goes: str) -> None:
    """An address that leads to another site, in any spelling a browser would take for one, leads to the first page."""
    assert safe_return_address(sent) == goes

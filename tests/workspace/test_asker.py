"""Questions over a shelf: events in order, errors first, models that help or do not, many at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ask.passages import a_found
from tests.conftest import free_port
from tests.llm.scripted import ScriptedModel

import kiwiresearch
from kiwiresearch.ask.answer import AnswerText, Done, Event, EvidenceFound, Preview, Thought
from kiwiresearch.ask.records import answer_record
from kiwiresearch.ask.settings import AskOptions, AskSettings, ConversationTurn
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, KiwiError, PageNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.workspace.asker import MAX_PASSAGES, MAX_QUESTION_CHARS, Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

BY_WORDS = AskSettings(reader=False)
EINSTEIN = "When was Einstein born?"
QUESTIONS = (
    EINSTEIN, "Why is the sky orange at sunset?", "Who wins the world cup in curling?", "What is a chariot?",
    "Where is Ugarit?", "Which is older, John Adams or Johann Sebastian Bach?", "How far away is the Andromeda Galaxy?",
    "Who was Anna Magdalena Bach?",
)  # fmt: skip


@contextmanager
def a_finder(folder: Path, *books: Path, **environment: str) -> Iterator[Finder]:
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(folder), **environment})
    with shelf_of(desk, [str(book) for book in books]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield finder


@pytest.fixture(scope="module")
def finder(sample_zim: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finder]:
    with a_finder(tmp_path_factory.mktemp("asking"), sample_zim) as opened:
        yield opened


@pytest.fixture(scope="module")
def asker(finder: Finder) -> Asker:
    return Asker(finder, BY_WORDS)


def record(asker: Asker, question: str, request: AskOptions | None = None) -> str:
    return canonical_json(plain(answer_record(asker.ask(question, request or AskOptions()), lambda cited: cited.key)))


def check_order(events: list[Event]) -> None:
    """`Found` first and once, `Done` last and once, and the answer's words between them; `Glance` before all."""
    events = [event for at, event in enumerate(events) if at or not isinstance(event, Preview)]
    assert isinstance(events[0], EvidenceFound)
    assert isinstance(events[-1], Done)
    assert all(isinstance(event, AnswerText | Thought) for event in events[1:-1])
    assert "".join(event.text for event in events if isinstance(event, AnswerText)) == events[-1].answer.text
    assert events[0].answer.question == events[-1].answer.question


WORDS = (
    "When",
    "was",
    "Einstein",
    "born",
    "who",
    "older",
    ",",
    "or",
    "Bach",
    "sunset",
    "he",
    "?",
    "dose",
    "lethal",
    "42",
)
option_sets = st.builds(
    AskOptions,
    mode=st.sampled_from(["default", "eli10", "advanced", "quiz"]),
    passages=st.integers(0, MAX_PASSAGES),
    page=st.sampled_from(["", "", "Sunset", "Einstein"]),
    turns=st.lists(st.builds(ConversationTurn, st.sampled_from(QUESTIONS)), max_size=2).map(tuple),
    with_model=st.booleans(),
)


@settings(max_examples=25)
@given(question=st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), options=option_sets)
def test_events_come_in_order_or_an_error_before_the_first(asker: Asker, question: str, options: AskOptions) -> None:
    """Citations first, the whole last; what cannot be asked gives an error and no event (R217)."""
    events: list[Event] = []
    try:
        for event in asker.events(question, options):
            events.append(event)
    except KiwiError:
        assert events == []
    else:
        check_order(events)


def test_without_a_model_the_first_event_is_the_whole_answer(asker: Asker) -> None:
    """Everything that is known comes before the first word."""
    first, *_, last = asker.events(EINSTEIN)
    assert isinstance(first, EvidenceFound)
    assert isinstance(last, Done)
    assert first.answer == last.answer == asker.ask(EINSTEIN)
    assert first.answer.citations


def test_citations_by_words_come_before_passages_are_read(finder: Finder) -> None:
    """The first citations are those of words alone, as fast as without the reading model; then come the read ones."""
    pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")
    reading = Asker(finder, AskSettings())
    glance, *events = reading.events(EINSTEIN)
    check_order(events)
    assert isinstance(glance, Preview)
    assert glance.answer == Asker(finder, BY_WORDS).ask(EINSTEIN)
    assert reading.ask(EINSTEIN, AskOptions(fast=True)) == glance.answer


def test_a_refusal_has_no_words(asker: Asker) -> None:
    """Without an answer there is no token (R234)."""
    events = list(asker.events("Who wins the world cup in curling?"))
    assert [type(event) for event in events] == [EvidenceFound, Done]


@pytest.mark.parametrize(
    ("question", "options", "error", "expected"),
    [
        ("", AskOptions(), BadUsage, "The question is empty."),
        (" \n\t?! …", AskOptions(), BadUsage, "The question is empty."),
        ("a" * (MAX_QUESTION_CHARS + 1), AskOptions(), BadUsage, "characters"),
        (EINSTEIN, AskOptions(passages=-1), BadUsage, "-1 passages"),
        (EINSTEIN, AskOptions(passages=MAX_PASSAGES + 1), BadUsage, f"{MAX_PASSAGES + 1} passages"),
        (EINSTEIN, AskOptions(mode="loud"), BadUsage, "'loud'"),  # type: ignore[arg-type]
        (EINSTEIN, AskOptions(page="Nowhere"), PageNotFound, "'Nowhere'"),
    ],
)
def test_errors_come_before_the_first_event(
    asker: Asker, question: str, options: AskOptions, error: type[KiwiError], expected: str
) -> None:
    """What cannot be asked is refused at the first step, with what to do instead."""
    with pytest.raises(error, match=expected) as caught:
        next(asker.events(question, options))
    assert caught.value.remedy


@pytest.mark.parametrize("page", ["Sunset", "sunset"])
def test_a_page_is_found_by_title_or_path(asker: Asker, page: str) -> None:
    """The page that was named answers alone (R235)."""
    answer = asker.ask("Why is the sky orange?", AskOptions(page=page))
    assert (answer.route, [looked.title for looked in answer.pages]) == ("page", ["Sunset"])
    assert {cited.citation.title for cited in answer.citations} == {"Sunset"}


def test_a_model_that_cannot_be_reached_leaves_the_answer_by_rule(
    sample_zim: Path, tmp_path: Path, asker: Asker
) -> None:
    """The page's own words are shown, and a notice says that the model did not help."""
    address = f"http://127.0.0.1:{free_port()}"
    with a_finder(tmp_path, sample_zim, KIWIRESEARCH_MODEL_URL=address) as finder:
        alone = Asker(finder, BY_WORDS)
        assert alone.model is not None
        events = list(alone.events(EINSTEIN))
        quiet = alone.ask(EINSTEIN, AskOptions(with_model=False))
    check_order(events)
    last = events[-1]
    assert isinstance(last, Done)
    expected = asker.ask(EINSTEIN)
    assert (last.answer.text, last.answer.citations, last.answer.model) == (expected.text, expected.citations, "")
    assert len(last.answer.notices) == len(expected.notices) + 1
    assert quiet == expected


def test_a_model_is_asked_only_where_it_may(finder: Finder) -> None:
    """`with_model` off leaves it alone; else it is given the passages of the answer."""
    model = ScriptedModel("Nothing of this is borne out by anything.", "Neither is this.")
    asker = Asker(finder, BY_WORDS, model=model)
    asker.ask(EINSTEIN, AskOptions(with_model=False))
    assert model.asked == []
    events = list(asker.events(EINSTEIN))
    check_order(events)
    assert model.asked
    assert "14 March 1879" in model.asked[0].text


def test_a_dangerous_question_never_reaches_a_model(a_book: Callable[..., Path], tmp_path: Path) -> None:
    """A dose is answered in the book's own words even where a model is set; with the switch off it may be asked."""
    html = "<p>Quinine is a drug. The dose of quinine for adults is 600 mg every 8 hours.</p>"
    question = "What is the dose of quinine for adults?"
    with a_finder(tmp_path / "home", a_book({"Quinine": html})) as finder:
        model = ScriptedModel("Take 900 mg.", "Take 900 mg.", "Take 900 mg.")
        answer = Asker(finder, BY_WORDS, model=model).ask(question)
        assert model.asked == []
        assert "600 mg every 8 hours" in answer.text
        assert (answer.model, bool(answer.notices)) == ("", True)
        Asker(finder, replace(BY_WORDS, verbatim_dangers=False), model=model).ask(question)
        assert model.asked


def test_eight_threads_get_the_answers_that_one_gets(finder: Finder, asker: Asker) -> None:
    """Questions at once are answered as if each were asked alone."""
    alone = [record(asker, question) for question in QUESTIONS]
    fresh = Asker(finder, BY_WORDS)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: record(fresh, question), QUESTIONS * 2))
    assert together == alone * 2


def test_an_earlier_question_leaves_no_trace(finder: Finder) -> None:
    """The order in which questions are asked does not change an answer."""
    one, other = Asker(finder, BY_WORDS), Asker(finder, BY_WORDS)
    forwards = {question: record(one, question) for question in QUESTIONS}
    backwards = {question: record(other, question) for question in reversed(QUESTIONS)}
    assert forwards == backwards


PROGRAM = """
import sys
called = []
sys.addaudithook(lambda event, _: called.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None)
from kiwiresearch.ask.records import answer_record
from kiwiresearch.codec import plain
from kiwiresearch.ids import canonical_json
from kiwiresearch.api import open_shelf
with open_shelf([sys.argv[1]]) as shelf:
    for question in sys.argv[2:]:
        print(canonical_json(plain(answer_record(shelf.ask(question), lambda cited: cited.key))))
sys.exit(f"tried to reach somebody: {called}" if called else 0)
"""


@pytest.fixture(scope="module")
def elsewhere(sample_zim: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Path]]:
    """What two processes of users who never ran the program before wrote, and their homes; no call went out."""
    reports = []
    for seed in ("1", "4242"):
        folder = tmp_path_factory.mktemp(f"seed{seed}")
        known = {**os.environ, "PYTHONHASHSEED": seed, "KIWIRESEARCH_HOME": str(folder)}
        command = [sys.executable, "-c", PROGRAM, str(sample_zim), *QUESTIONS[:6]]
        done = subprocess.run(command, env=known, capture_output=True, check=False)
        assert (done.returncode, done.stderr.decode()) == (0, "")
        reports.append((done.stdout.decode(), folder))
    return reports


def test_the_same_question_gives_the_same_bytes(elsewhere: list[tuple[str, Path]], asker: Asker) -> None:
    """Other processes with other hash seeds write the same records, byte for byte."""
    (one, _), (other, _) = elsewhere
    assert one == other
    assert one.splitlines() == [record(asker, question) for question in QUESTIONS[:6]]


def test_a_book_that_was_just_copied_answers(elsewhere: list[tuple[str, Path]]) -> None:
    """One file is enough: no setting up, no network, nothing kept but its titles (R205, R208, R209, R216, R245)."""
    for lines, folder in elsewhere:
        first = json.loads(lines.splitlines()[0])
        assert (first["grounded"], first["citations"][0]["title"]) == (True, "Albert Einstein")
        kept = {file.relative_to(folder).parts[:2] for file in folder.rglob("*") if file.is_file()}
        assert {parts for parts in kept if parts[0] == "cache"} <= {("cache", "checks"), ("cache", "titles")}


def test_a_shelf_for_programs_answers(sample_zim: Path, home: Path) -> None:
    """`open_shelf` gives the same answers as the command."""
    with kiwiresearch.open_shelf([sample_zim]) as shelf:
        answer = shelf.ask(EINSTEIN)
        assert shelf.ask("When was he born?", AskOptions(page="Albert Einstein")).route == "page"
    assert (answer.short, answer.route) == ("14 March 1879", "title")


def test_a_record_leaves_nothing_out() -> None:
    """Every field of an answer is in its record under some name, best first wherever there is an order."""
    answer = a_found()
    result = plain(answer_record(answer, lambda cited: f"there/{cited.key}"))
    assert result["citations"][0]["url"] == f"there/{answer.citations[0].key}"
    assert [passage["id"] for passage in result["passages"]] == [passage.key for passage in answer.passages]
    assert [line["text"] for line in result["lines"]] == [line.text for line in answer.lines]
    assert canonical_json(result)

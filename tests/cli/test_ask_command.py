"""The command that answers: citations first, honest exit codes, nothing but text on a pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.ask.answers import a_cited, an_answer
from tests.cli.processes import SCRIPT, on_terminal

from kiwiresearch.ask.answer import AnswerText, Done, Event, EvidenceFound
from kiwiresearch.cli.answer_output import show_answer

RunCommand = Callable[..., tuple[int, str, str]]
Ask = Callable[..., tuple[int, str, str]]
EINSTEIN = "When was Einstein born?"
CURLING = "Who wins the world cup in curling?"


@pytest.fixture
def ask(kiwi: RunCommand, home: Path, sample_zim: Path) -> Ask:
    """Runs `ask` on the sample book."""

    def start(*words: object) -> tuple[int, str, str]:
        return kiwi("ask", *words, "-b", sample_zim)

    return start


def record(ask: Ask, *words: object) -> dict[str, Any]:
    _, out, _ = ask(*words, "--json")
    found: dict[str, Any] = json.loads(out)
    return found


def test_citations_are_printed_before_the_answer(ask: Ask) -> None:
    """A reader sees where the answer is from before the answer itself (R217)."""
    code, out, err = ask(EINSTEIN)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("[1] Albert Einstein")
    rows = [number for number, line in enumerate(lines) if line.endswith("[1]")]
    cited = [number for number, line in enumerate(lines) if line.startswith("[")]
    assert rows
    assert max(cited) < min(rows)
    assert "**14 March 1879**" in out


def test_the_route_the_book_and_its_date_are_shown_with_the_answer(ask: Ask) -> None:
    """How it was found, how sure it is and how old the book is are part of what is shown."""
    answer = record(ask, EINSTEIN)
    _, out, _ = ask(EINSTEIN)
    assert f"Found by title: {answer['why'][0].lower()}{answer['why'][1:]}" in out
    assert re.search(r"^Confidence: (?:high|medium|low) \(about [0-9]+%\)\.$", out, re.MULTILINE)
    (book,) = answer["books"]
    assert f"From {book['title']}, {book['date']}" in out


def test_a_refusal_says_so_and_has_an_exit_code_of_its_own(ask: Ask) -> None:
    """No answer is claimed, the closest passages are called so, related pages are named, and the code is 3."""
    code, out, err = ask(CURLING)
    assert (code, err) == (3, "")
    assert out.startswith("No answer found in the books.\n")
    assert "Related pages: " in out
    assert "Route:" not in out
    assert "[1]" not in out


def test_json_is_one_document_with_all_that_is_known(ask: Ask) -> None:
    """The record has the keys that scripts rely on, and citations with fields that lead to their words."""
    code, out, err = ask(EINSTEIN, "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    answer = json.loads(out)
    assert answer["question"] == EINSTEIN
    assert answer["grounded"] is True
    assert {"route", "why", "answer", "short", "lines", "passages", "pages", "conflicts", "books", "sure"} <= set(
        answer
    )
    cited = answer["citations"][0]
    assert {"id", "title", "url", "snippet", "book", "path", "section", "anchor", "quote"} <= set(cited)
    assert cited["quote"] in cited["snippet"]
    assert answer["lines"][0]["citations"] == [cited["id"]]
    assert answer["short"] in cited["quote"]
    assert len(answer["passages"]) <= 6
    assert answer["pages"][0] == "Albert_Einstein"


def test_json_of_a_refusal_is_a_document_too(ask: Ask) -> None:
    """The code is 3, and the document says that nothing is grounded."""
    code, out, _ = ask(CURLING, "--json")
    answer = json.loads(out)
    assert (code, answer["route"], answer["grounded"], answer["citations"], answer["answer"]) == (
        3,
        "none",
        False,
        [],
        "",
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "Enter a question, or give a file with --batch FILE."),
        (["  "], "Enter a question, or give a file with --batch FILE."),
        (["?!"], "The question is empty."),
        ([EINSTEIN, "--batch", "rows.jsonl"], "Enter a question, or give a file with --batch FILE."),
        ([EINSTEIN, "--mode", "loud"], "Unknown mode 'loud'."),
        ([EINSTEIN, "-k", "-1"], "Cannot show -1 passages."),
        ([EINSTEIN, "-k", "9999"], "Cannot show 9999 passages."),
        (["why " * 1_001], "characters."),
    ],
)
def test_bad_usage_is_said_and_ends_with_2(ask: Ask, words: list[str], expected: str) -> None:
    """What cannot be asked is refused before anything is printed, with a reason."""
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err


def test_a_page_answers_alone(ask: Ask) -> None:
    """`--page` takes a title, another name or a path, and quotes nothing else (R235)."""
    for page in ("Albert Einstein", "Einstein", "Albert_Einstein"):
        answer = record(ask, "When was he born?", "--page", page)
        assert (answer["route"], answer["pages"]) == ("page", ["Albert_Einstein"])
        assert {cited["path"] for cited in answer["citations"]} == {"Albert_Einstein"}


def test_a_page_that_is_not_there_is_said(ask: Ask) -> None:
    """The page is named, and nothing is printed."""
    code, out, err = ask(EINSTEIN, "--page", "Nowhere")
    assert (code, out) == (3, "")
    assert "No page named 'Nowhere' in your books." in err


def test_earlier_questions_give_context(ask: Ask) -> None:
    """`--after` gives the conversation, the oldest first."""
    answer = record(ask, "Where was he born?", "--after", "What is a rainbow?", "--after", "Who was Albert Einstein?")
    assert (answer["question"], answer["asked"]) == ("Where was he born?", "Where was Albert Einstein born?")
    assert record(ask, "Where was he born?")["asked"] == "Where was he born?"


def test_without_a_model_every_mode_answers(ask: Ask) -> None:
    """A mode is how a model words it; without one the page's own words are shown."""
    for mode in ("default", "eli10", "advanced", "quiz"):
        answer = record(ask, EINSTEIN, "--mode", mode)
        assert (answer["mode"], answer["model"], answer["grounded"]) == (mode, "", True)
        assert answer["answer"].startswith(answer["citations"][0]["quote"])


def test_fewer_passages_may_be_asked_for(ask: Ask) -> None:
    """`-k` bounds the passages."""
    assert len(record(ask, EINSTEIN, "-k", 2)["passages"]) == 2


def test_explain_lists_pages_and_passages(ask: Ask) -> None:
    """`--explain` lists pages and passages below the answer; without it they are not shown."""
    _, plain, _ = ask(EINSTEIN)
    _, explained, _ = ask(EINSTEIN, "--explain")
    assert explained.startswith(plain)
    assert "Pages, best first:" in explained.removeprefix(plain)
    assert "Passages, best first:" in explained.removeprefix(plain)


def test_words_need_no_quotes(ask: Ask) -> None:
    """A question typed as several words is one question."""
    assert record(ask, "When", "was", "Einstein", "born?") == record(ask, EINSTEIN)


def test_a_conflict_is_shown_with_both_quotes(kiwi: RunCommand, home: Path, a_book: Callable[..., Path]) -> None:
    """If sources do not agree, both sentences are below the answer."""
    html = "<p>The Green Tower was built in 1889.</p><h2>History</h2><p>The Green Tower was built in 1887.</p>"
    code, out, _ = kiwi("ask", "When was the Green Tower built?", "-b", a_book({"Green_Tower": html}))
    assert code == 0
    _, _, behind = out.partition("The sources disagree.")
    assert "“The Green Tower was built in 1889.”" in behind
    assert "“The Green Tower was built in 1887.”" in behind


def test_codes_in_a_book_never_reach_the_output(kiwi: RunCommand, home: Path, a_book: Callable[..., Path]) -> None:
    """A page cannot move the cursor or colour the terminal, and piped output has no codes of ours."""
    html = "<p>The heron &#27;[31m nests \x1b]0;owned\x07 in reeds near Kent.</p>"
    code, out, err = kiwi("ask", "Where does the heron nest?", "-b", a_book({"Heron": html}))
    assert code == 0
    assert "nests" in out
    assert "\x1b" not in out + err
    assert "\x07" not in out + err


def test_codes_in_an_answer_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever characters a quote, a title or a notice has, the terminal only gets text."""
    cited = a_cited("Ships\x1b[31m sail\x07 here.", title="Sea\x1b]0;x\x07", section="A\x1b[2J")
    answer = replace(an_answer(cited), short="sail\x07", notices=("Mind\x1b[1m this.",), why="So\x1b[0m.")
    events: list[Event] = [EvidenceFound(answer), AnswerText(answer.text), Done(answer)]
    assert show_answer(iter(events), lambda _: "zim://b/\x1b[3m", explain=True) is answer
    shown = capsys.readouterr().out
    assert "Ships" in shown
    assert "Mind" in shown
    assert not set("\x1b\x07") & set(shown)


def test_a_terminal_shows_the_short_answer_in_bold_unless_no_color_is_set(home: Path, sample_zim: Path) -> None:
    """NO_COLOR leaves out every code; without it the short answer is bold, without stars."""
    command = [SCRIPT, "ask", EINSTEIN, "-b", str(sample_zim)]
    code, plain = on_terminal(command, TERM="xterm", NO_COLOR="1")
    assert code == 0
    assert "\x1b" not in plain
    assert "14 March 1879" in plain
    code, coloured = on_terminal(command, TERM="xterm")
    assert code == 0
    assert "\x1b[1;32m14 March 1879" in coloured
    assert "**14 March" not in coloured

"""A model words the answer, and nothing it adds is ever shown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ask.passages import BOOK, BRIDGE, CURIE, LURE, a_found, a_passage, answer_with_model
from tests.claims.claim_examples import unsupported
from tests.llm.scripted import CutOff, ScriptedModel
from tests.llm.servers import Talk, event, serving, whole

from kiwiresearch.ask.answer import GENERAL, AnswerConflict, AnswerSentence
from kiwiresearch.ask.notices import CUT_OFF, REPEATED, UNSUPPORTED, WITHHELD
from kiwiresearch.ask.settings import ASK_MODES, AskMode, AskSettings
from kiwiresearch.errors import BadReply, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.chat import ChatModel, Timeouts
from kiwiresearch.llm.model import Reply

C, B, L = CURIE.key, BRIDGE.key, LURE.key
BORN = "Marie Curie was born in 1867 in Warsaw."
GOOD = f"{BORN[:-1]} [{C}]."
RULE = "Marie Curie was born in Warsaw in 1867."


def test_a_checked_sentence_comes_with_its_citation() -> None:
    """Keys become numbers, lines have the keys, and the quote is the sentence of the page that says so (R234)."""
    found = answer_with_model(ScriptedModel(f"{GOOD} In 1903 she shared the Nobel Prize with Pierre Curie. [{C}]"))
    answer = found.answer
    assert answer.text == f"{BORN} [1] In 1903 she shared the Nobel Prize with Pierre Curie. [1]"
    assert found.tokens == (f"{BORN} [1]", " In 1903 she shared the Nobel Prize with Pierre Curie. [1]")
    assert answer.lines[0] == AnswerSentence(BORN, (C,))
    (cited,) = answer.citations
    quote = cited.citation.quote
    assert (cited.key, quote.text, quote.start) == (C, "Marie Curie was born in Warsaw in 1867.", CURIE.start)
    assert CURIE.text[quote.start - CURIE.start : quote.end - CURIE.start] == quote.text
    assert (cited.book, cited.citation.title, cited.citation.book_name) == (BOOK, "Marie Curie", "test_en")
    assert (answer.grounded, answer.model, answer.rejected, answer.notices) == (True, "scripted", (), ())


def test_citations_keep_the_numbers_of_their_passages() -> None:
    """The number in the text is the one a passage was offered under before a word was said; unused ones are out."""
    answer = answer_with_model(
        ScriptedModel(f"The bridge was opened in 1932 [{B}]. {GOOD} The bridge is 503 metres long [{B}].")
    ).answer
    assert re.findall(r"\[(\d)\]", answer.text) == ["2", "1", "2"]
    assert [(one.number, one.key) for one in answer.citations] == [(1, C), (2, B)]


@pytest.mark.parametrize(
    ("reply", "lines", "reasons"),
    [
        (f"{BORN} [zz9zzz] {GOOD}", [BORN], ["unknown key"]),
        (f"{BORN} {GOOD}", [BORN], ["no key"]),
        (f"{BORN[:-1]} [{C}, qq7qqq].", [BORN], []),
        (f"Marie Curie was born in 1868 [{C}]. {GOOD}", [BORN], ["number not in its sources"]),
        (f"Marie Curie was born in 1859 [{C}]. {GOOD}", [BORN], ["contradicts its passage"]),
        (f"Albert Einstein was born in Warsaw in 1867 [{C}]. {GOOD}", [BORN], ["name not in its sources"]),
        (f"Pierre Curie was born in Warsaw in 1867 [{C}]. {GOOD}", [BORN], ["another subject"]),
        (f"Ships stop below the bridge [{B}]. {GOOD}", [BORN], ["denial changed"]),
        (f"The bridge was not opened in 1932 [{B}]. {GOOD}", [BORN], ["denial changed"]),
        (f"Marie Curie suffered from aplastic anaemia [{C}]. {GOOD}", [BORN], ["hedge dropped"]),
        (f"The bridge may have been opened in 1932 [{B}]. {GOOD}", [BORN], ["hedge added"]),
        (f"The bridge is 503 feet long [{B}]. {GOOD}", [BORN], ["number not in its sources"]),
        (f"Many scholars say that the bridge was opened in 1932 [{B}]. {GOOD}", [BORN], ["holder not in its sources"]),
        (f"The moon is made of green cheese [{C}]. {GOOD}", [BORN], ["other words"]),
        (f"In 1859 [{C}]. {GOOD}", [BORN], ["another subject"]),
        (f"Yes, {GOOD}", [BORN], []),
        (f"In 1867 [{C}].", ["In 1867."], []),
        (f"{GOOD} {GOOD}", [BORN], ["said twice"]),
        (f"## Why Marie was poisoned\n{GOOD}", [BORN], ["no key"]),
        (f"{GOOD}\n\nSources: [{C}] [{B}]", [BORN], ["empty"]),
    ],
)
def test_unsupported_sentences_are_dropped(reply: str, lines: list[str], reasons: list[str]) -> None:
    """Unknown keys, other numbers, names, subjects, denials and hedges are removed, each with its reason (R234)."""
    found = answer_with_model(ScriptedModel(reply))
    assert (found.lines, found.reasons) == (lines, reasons)
    assert [one.key for one in found.answer.citations] == [C]


def test_instructions_in_a_passage_are_not_followed() -> None:
    """An instruction in a passage is data: it is sent without a fence that it could end, and its result is dropped."""
    model = ScriptedModel(f"HACKED [{L}]. The moon is made of cheese [{C}]. {GOOD}")
    found = answer_with_model(model)
    assert found.lines == [BORN]
    asked = model.asked[0].text
    assert asked.count("</data>") == 1 + asked.count('<data name="')  # the rule about data names the fence once more
    assert f'<data name="{L}">' in asked


def test_a_wrong_key_is_repaired_where_the_sentence_names_its_subject_() -> None:
    """A proof in another passage is as good as any; the reader is informed."""
    answer = answer_with_model(ScriptedModel(f"{BORN[:-1]} [{B}].")).answer
    assert [line.keys for line in answer.lines] == [(C,)]
    assert "wrong passage for one sentence" in answer.notices[0]
    assert answer_with_model(ScriptedModel(f"The bridge was opened in 1932 [{C}].")).reasons == [
        "number not in its sources"
    ]


def test_a_pronoun_needs_its_noun() -> None:
    """After a sentence that was dropped, or one of another page, nobody knows who 'she' is."""
    prize = f"She shared the Nobel Prize in Physics in 1903 [{C}]."
    assert len(answer_with_model(ScriptedModel(f"{GOOD} {prize}")).lines) == 2
    assert (
        answer_with_model(ScriptedModel(f"{GOOD} Albert Einstein wept [{C}]. {prize}")).reasons[-1]
        == "unresolved pronoun"
    )
    assert answer_with_model(ScriptedModel(f"The bridge was opened in 1932 [{B}]. {prize}")).reasons == [
        "unresolved pronoun"
    ]


def test_lists_and_headings_that_name_a_section_stay() -> None:
    """Items keep their marks, a heading is shown if a title or section has its words, and never alone."""
    items = f"- It is of gold [{B}].\n- The tower was built in 1940 [{B}]."
    reply = f"## History\n- The bridge was opened in 1932 [{B}].\n{items}\n## History"
    found = answer_with_model(ScriptedModel(reply))
    assert found.answer.text == "History\n- The bridge was opened in 1932. [2]\n- The tower was built in 1940. [2]"


def test_general_words_have_no_citation() -> None:
    """A model that finds the passages too little gives general words, without a key, link or source (R234)."""
    reply = f"{GENERAL}Water boils at 100 degrees [{C}]. See https://example.org/x for more [1].\nSources: [{B}]"
    answer = answer_with_model(ScriptedModel(reply), a_found(grounded=False)).answer
    assert answer.text == f"{GENERAL}Water boils at 100 degrees. See for more."
    assert (answer.grounded, answer.citations, answer.model, answer.rejected) == (False, (), "scripted", ())
    assert [line.keys for line in answer.lines] == [(), ()]


def test_general_words_take_no_answer_away() -> None:
    """A small model marks as general what is in the passages; an answer with sources must not be lost by that.

    A small model calls general what is in the passages; an answer with sources must not be lost by that.
    """
    reply = f"{GENERAL}Water boils at 100 degrees [{C}]. See https://example.org/x for more [1].\nSources: [{B}]"
    kept = answer_with_model(ScriptedModel(reply)).answer
    assert (kept.text, kept.grounded, kept.model, kept.notices) == (RULE, True, "", (UNSUPPORTED,))
    assert kept.citations
    borne = answer_with_model(ScriptedModel(f"{GENERAL}{GOOD}"))
    assert (borne.lines, borne.answer.grounded) == ([BORN], True)
    alone = answer_with_model(ScriptedModel(f"{GENERAL}\n{GOOD}"))
    assert (alone.lines, alone.answer.grounded) == ([BORN], True)


def test_words_that_all_fall_are_general_only_where_the_rules_have_nothing() -> None:
    """If the page answers, its own words are used; otherwise the model's are shown as general (R234)."""
    reply = f"It was surely in May 1850 [{C}]."
    by_rule = answer_with_model(ScriptedModel(reply)).answer
    assert (by_rule.text, by_rule.grounded, by_rule.model) == (RULE, True, "")
    assert by_rule.notices == (UNSUPPORTED,)
    assert [one.reason for one in by_rule.rejected] == ["number not in its sources"]
    general = answer_with_model(ScriptedModel(reply), a_found(grounded=False)).answer
    assert (general.text, general.grounded, general.citations) == (f"{GENERAL}It was surely in May 1850.", False, ())


def test_general_words_behind_proved_ones_are_dropped() -> None:
    """An answer is grounded or general, never both."""
    found = answer_with_model(ScriptedModel(f"{GOOD}\n{GENERAL}She liked cats."))
    assert (found.lines, found.reasons) == ([BORN], ["general words"])


def test_general_words_are_withheld_where_they_could_do_harm() -> None:
    """For a dangerous question nothing that is not proved is shown."""
    answer = answer_with_model(
        ScriptedModel(f"{GENERAL}Take 40 pills."), a_found(grounded=False), dangerous=True
    ).answer
    assert (answer.text, answer.notices) == ("", (WITHHELD,))
    assert answer_with_model(ScriptedModel("Take 40 pills."), a_found(grounded=False), dangerous=True).answer.text == ""


def test_weak_passages_prove_nothing_about_something_else() -> None:
    """If the rules found no answer, a proved sentence about another thing is not an answer either."""
    found = a_found("How old is the Zorbia Canal?", grounded=False)
    answer = answer_with_model(ScriptedModel(f"The bridge was opened in 1932 [{B}]."), found).answer
    assert (answer.grounded, answer.citations) == (False, ())
    asked = a_found("When was the Harbour Bridge opened?", grounded=False)
    assert answer_with_model(ScriptedModel(f"The bridge was opened in 1932 [{B}]."), asked).answer.grounded


def test_an_empty_stream_is_asked_for_once_more() -> None:
    """One retry as a whole, and then the page's own words (C6)."""
    model = ScriptedModel("", GOOD)
    assert answer_with_model(model).lines == [BORN]
    nothing = ScriptedModel("", "")
    answer = answer_with_model(nothing).answer
    assert (answer.text, len(nothing.asked)) == (RULE, 2)
    assert "did not answer" in answer.notices[0]


def test_an_empty_stream_of_a_server_is_asked_for_without_streaming() -> None:
    """The second request does not stream (C6)."""

    def chat(talk: Talk) -> None:
        if talk.body["stream"]:
            talk.say()
        else:
            talk.send(200, whole(GOOD))

    with serving(chat) as server, ChatModel(server.address, timeouts=Timeouts(retry_after_s=0)) as model:
        assert answer_with_model(model).lines == [BORN]
    assert [body["stream"] for body in server.chats] == [True, False]


@pytest.mark.parametrize("problem", [ModelUnreachable("gone."), BadReply("nonsense."), PromptTooLong("too long.")])
def test_without_the_model_the_rules_answer(problem: Exception) -> None:
    """A model that fails before the first word leaves the answer by rule, with a notice."""
    answer = answer_with_model(ScriptedModel(problem)).answer  # type: ignore[arg-type]
    assert (answer.text, answer.model, answer.grounded) == (RULE, "", True)
    assert answer.notices[0].startswith("The model 'scripted' could not be used: ")


def test_a_strict_caller_is_informed_that_the_model_is_gone() -> None:
    """Only where it asks for that, and only as long as nothing has been shown."""
    with pytest.raises(ModelUnreachable):
        answer_with_model(ScriptedModel(ModelUnreachable("gone")), strict=True)
    assert answer_with_model(ScriptedModel(CutOff(f"{GOOD} And then")), strict=True).lines == [BORN]


def test_a_reply_that_breaks_off_keeps_what_has_passed() -> None:
    """Complete sentences stay, the incomplete one goes, and the reader is informed."""
    found = answer_with_model(ScriptedModel(CutOff(f"{GOOD} In 1903 she shared the Nobel")))
    assert (found.lines, found.reasons) == ([BORN], ["cut off"])
    assert "stopped before it finished" in found.answer.notices[0]
    cut = answer_with_model(ScriptedModel(Reply(f"{GOOD} In 1903 she shared the Nobel Prize [{C}]", "length")))
    assert (cut.lines, cut.reasons, cut.answer.notices) == ([BORN], ["cut off"], (CUT_OFF,))
    round_and_round = answer_with_model(ScriptedModel(f"{GOOD} " * 30))
    assert round_and_round.lines == [BORN]
    assert round_and_round.answer.notices == (REPEATED,)


def test_thinking_is_shown_apart() -> None:
    """Thoughts come as thoughts and are not part of the answer (R241)."""
    found = answer_with_model(ScriptedModel(f"<think>She was born in 1850, I guess.</think>{GOOD}"))
    assert "1850" in found.thoughts
    assert found.answer.text == f"{BORN} [1]"


@pytest.mark.parametrize("mode", ASK_MODES)
def test_each_mode_has_its_prompt(mode: AskMode) -> None:
    """Question, passages, keys and place reach the model in every mode, and it thinks little (R240, C5, C6)."""
    model = ScriptedModel(GENERAL + "No.")
    answer_with_model(model, a_found(mode=mode))
    (asked,) = model.asked
    assert asked.messages[0].role == "system"
    for words in (f'<data name="{C}">', "Harbour Bridge — “History” section", "book of 2024-05-01", CURIE.text):
        assert words in asked.text
    assert '<data name="question">\nWhen was Marie Curie born?\n</data>' in asked.text
    assert (asked.options.reasoning_effort, asked.options.max_tokens, asked.options.temperature) == ("low", 512, 0.4)
    manner = {"default": "plain sentences", "eli10": "child of ten", "advanced": "precise", "quiz": "Q:"}
    assert manner[mode] in asked.text


def test_a_corrected_question_is_sent_as_it_is_meant() -> None:
    """'And his wife?' says nothing to a model that has not heard the question before."""
    model = ScriptedModel(GOOD)
    found = a_found("And her?")
    answer_with_model(model, replace(found, asked="When was Marie Curie born?"))
    assert "And her?\nThis is meant: When was Marie Curie born?" in model.asked[0].text


def test_the_weakest_passages_go_where_the_model_reads_little() -> None:
    """As many as fit, the best first; a prompt without any is marked as such (C5)."""
    many = [a_passage(f"Page {number}", "The bridge was opened in 1932. " * 20, start=number) for number in range(9)]
    found = a_found("Which bridge?", [CURIE, *many])
    small = ScriptedModel(GOOD, context_tokens=1_800)
    assert answer_with_model(small, found).lines == [BORN]
    kept = [one for one in found.passages if f'<data name="{one.key}">' in small.asked[0].text]
    assert kept == list(found.passages[: len(kept)])
    assert 1 <= len(kept) < 6
    tiny = answer_with_model(ScriptedModel(GOOD, context_tokens=300), found).answer
    assert (tiny.text, tiny.model) == (RULE, "")
    assert "not enough" in tiny.notices[0]
    few = ScriptedModel(GOOD)
    answer_with_model(few, found, settings=AskSettings(context_tokens=300))
    assert few.asked[0].text.count("Page ") == 0 or few.asked[0].text.count('<data name="') < 6


def test_sources_that_do_not_agree_are_named_to_the_model_and_stay_beside_the_answer() -> None:
    """The prompt has both quotes, a sentence with both values passes, and the conflict is always shown."""
    one = a_passage("Tower", "The tower was opened in 1887.")
    two = a_passage("Old tower", "The tower was opened in 1889.")
    conflict = AnswerConflict("contradiction", one.key, two.key, one.text, two.text, "One says 1887, the other 1889.")
    found = a_found("When was the tower opened?", [one, two], words=one.text, conflicts=(conflict,))
    model = ScriptedModel(f"The tower was opened in 1887 [{one.key}]. The tower was opened in 1889 [{two.key}].")
    answer = answer_with_model(model, found).answer
    assert "One says 1887, the other 1889." in model.asked[0].text
    assert answer.conflicts == (conflict,)
    assert [line.keys for line in answer.lines] == [(one.key,), (two.key,)]
    assert answer_with_model(ScriptedModel("Nothing."), found).answer.conflicts == (conflict,)


def test_a_quiz_shows_questions_with_their_answers() -> None:
    """Question and answer must belong together, and neither is shown without the other (C6)."""
    reply = f"""Here is your quiz:
1. Q: When was Marie Curie born? [{C}]
A: In 1867 [{C}].
Q: When was the bridge opened? [{B}]
A: In 1940 [{B}].
Q: How long is the bridge? [{B}] A: 503 metres [{B}].
**Q4:** Who was Albert Einstein? [{C}]
**A4:** A physicist [{C}].
Q: Which prize did Marie Curie share in 1903? [{C}]"""
    found = answer_with_model(ScriptedModel(reply), a_found("Quiz me", mode="quiz"))
    assert found.answer.text == (
        "Q: When was Marie Curie born? [1]\nA: In 1867. [1]\nQ: How long is the bridge? [2]\nA: 503 metres. [2]"
    )
    assert found.reasons[0] == "no key"
    assert found.reasons[1:] == ["another subject", "name not in its sources", "question without answer"]


SNIPPETS = [
    *re.findall(r"[^.]+\.", CURIE.text + " " + BRIDGE.text),
    *(f"[{key}]" for key in (C, B, "zz9zzz", "1")),
    *(
        "1868",
        "not",
        "Einstein",
        "General (no local cite):",
        "Q:",
        "A:",
        "\n",
        "- ",
        "##",
        "**",
        "[",
        "]",
        "(",
        ". ",
        "? ",
    ),
    *("Marie Curie", "was", "born", "in 1859", "in 1867", "the bridge", "may", "no", "It", "twelve", "503 metres"),
]


@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=8), max_size=25).map(" ".join), st.sampled_from(ASK_MODES))
def test_whatever_a_model_says_nothing_is_shown_that_no_passage_has(reply: str, mode: AskMode) -> None:
    """Every line names passages that were given and every number in it is in them, or it is general (R234)."""
    answer = answer_with_model(ScriptedModel(reply, reply), a_found(mode=mode)).answer
    given = {passage.key: passage for passage in answer.passages}
    assert [one.key for one in answer.citations] == list(dict.fromkeys(one.key for one in answer.citations))
    for line in answer.lines if answer.model else ():
        if not answer.grounded:
            assert (line.keys, answer.citations) == ((), ())
            continue
        assert line.keys
        assert set(line.keys) <= set(given)
        sources = [words for key in line.keys for words in (given[key].text, given[key].title, given[key].section)]
        text = re.sub(r"^[QA]: ", "", line.text)
        assert not [word for word in unsupported(text, sources) if any(map(str.isdigit, word))]
        assert set(re.findall(r"[0-9]+", text)) <= set(re.findall(r"[0-9]+", " ".join(sources)))
    for cited in answer.citations if answer.model else ():
        quote, passage = cited.citation.quote, given[cited.key]
        assert passage.text[quote.start - passage.start : quote.end - passage.start] == quote.text


def test_the_same_replies_give_the_same_answer() -> None:
    """Nothing but the reply decides, however it is chopped."""
    reply = f"{GOOD} The bridge was opened in 1932. [{B}] It is 503 metres long [{B}]."

    def chat(talk: Talk) -> None:
        talk.begin()
        for letter in reply:
            talk.write(event({"content": letter}))
        talk.write(event({}, "stop") + b"data: [DONE]\n\n")

    with serving(chat) as server, ChatModel(server.address, model="scripted") as model:
        by_letter = answer_with_model(model)
    assert by_letter.answer == answer_with_model(ScriptedModel(Reply(reply))).answer

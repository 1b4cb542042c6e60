"""The shelf as a model: asked with OpenAI's own client, and shown as Open WebUI shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from tests.ask.answers import a_cited, an_answer
from tests.web.scripted_asker import ScriptedAsker
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.ask.answer import Answer, AnswerSentence, AnswerText, Done, EvidenceFound, Thought
from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext

if TYPE_CHECKING:  # takes a second, which every process of the tests would need
    import openai
    from openai.types.chat import ChatCompletionChunk

SUNSET = "Why is the sky orange at sunset?"
WITH_PAGES = "### Task:\nAnswer with the context.\n<context>\nSome page.\n</context>"
CHAT = "/v1/chat/completions"
IDS = ["kiwiresearch", "kiwiresearch-eli10", "kiwiresearch-advanced", "kiwiresearch-quiz", "kiwiresearch-books"]


def the_sdk(address: str) -> openai.OpenAI:
    import openai

    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def sdk(server: str) -> Iterator[openai.OpenAI]:
    """OpenAI's client, of a server on the sample book."""
    with the_sdk(server) as client:
        yield client


@dataclass
class Scripted:
    """A server whose asker gives the answers that a test sets, and OpenAI's client for it."""

    asker: ScriptedAsker
    address: str
    sdk: openai.OpenAI


@pytest.fixture(scope="module")
def scripted_context(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[ServerContext]:
    """A server context of its own, since its asker is exchanged."""
    with server_context(tmp_path_factory.mktemp("told"), str(sample_zim)) as context:
        yield context


@pytest.fixture(scope="module")
def scripted_server(scripted_context: ServerContext) -> Iterator[str]:
    """A server on that context."""
    with running_server(scripted_context, make_app) as address:
        yield address


@pytest.fixture
def scripted(scripted_context: ServerContext, scripted_server: str) -> Iterator[Scripted]:
    """A server with a scripted asker."""
    scripted_context.asker = asker = ScriptedAsker()
    with the_sdk(scripted_server) as client:
        yield Scripted(asker, scripted_server, client)


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "kiwiresearch", "messages": [{"role": "user", "content": text}], **more}


def event_of(chunk: ChatCompletionChunk) -> dict[str, Any]:
    return (chunk.model_extra or {}).get("event") or {}


def words_in(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_the_models_are_the_ways_to_ask(sdk: openai.OpenAI) -> None:
    """A client lists one model for each mode, and one without any language model."""
    assert [model.id for model in sdk.models.list()] == IDS
    assert sdk.models.retrieve("kiwiresearch-quiz").owned_by == "kiwiresearch"


def test_an_answer_in_one_piece(sdk: openai.OpenAI, server: str) -> None:
    """OpenAI's client gets the words, the sources beside them, and the book in the last line."""
    reply = sdk.chat.completions.create(**asked(SUNSET))
    content = reply.choices[0].message.content or ""
    assert "[1]" in content
    assert re.search(r"^From kiwiresearch sample book, \d{4}-\d\d-\d\d$", content.splitlines()[-1])
    sources = (reply.model_extra or {})["sources"]
    assert sources[0]["source"]["url"].startswith(f"{server}/read/")
    assert f"]({server}/read/" in content
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0


def test_a_stream_has_its_sources_before_its_words(sdk: openai.OpenAI) -> None:
    """Citations come first in a stream, and put together its words are those of the whole answer (R233)."""
    chunks = list(sdk.chat.completions.create(**asked(SUNSET, stream=True)))
    kinds = [event_of(chunk).get("type") or ("words" if words_in([chunk]) else "") for chunk in chunks]
    assert "source" in kinds
    assert kinds.index("source") < kinds.index("words")
    assert kinds[kinds.index("words") :].count("source") == 0
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert words_in(chunks) == sdk.chat.completions.create(**asked(SUNSET)).choices[0].message.content


def test_every_chunk_can_be_read_by_a_simple_client(sdk: openai.OpenAI) -> None:
    """A client that takes `choices[0]` of each chunk meets none without it."""
    chunks = list(sdk.chat.completions.create(**asked(SUNSET, stream=True)))
    assert all(chunk.choices and chunk.object == "chat.completion.chunk" for chunk in chunks)
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}) == 1


def test_a_stream_counts_tokens_when_asked_to(sdk: openai.OpenAI) -> None:
    """With `include_usage` the last chunk has the count and no choice, as OpenAI's has."""
    *_, last = sdk.chat.completions.create(**asked(SUNSET, stream=True, stream_options={"include_usage": True}))
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens > 0


def test_a_stream_ends_as_clients_expect(client: httpx2.Client) -> None:
    """The last line of data is [DONE]."""
    with client.stream("POST", CHAT, json=asked(SUNSET, stream=True)) as reply:
        lines = [line for line in reply.iter_lines() if line.startswith("data:")]
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert lines[-1] == "data: [DONE]"


def test_sources_are_as_open_webui_reads_them(scripted: Scripted) -> None:
    """Numbers, names and ids of sources are all different, or Open WebUI would count two as one."""
    cited = [a_cited("It burned.", start=0), a_cited("It fell.", start=30), a_cited("It rose.", title="Troy")]
    answer = an_answer(*cited)
    scripted.asker.script(EvidenceFound(answer), Done(answer))
    chunks = list(scripted.sdk.chat.completions.create(**asked("What happened?", stream=True)))
    sources = [event_of(chunk)["data"] for chunk in chunks if event_of(chunk).get("type") == "source"]
    assert [row["document"] for row in sources] == [["It burned."], ["It fell."], ["It rose."]]
    names = [row["metadata"][0]["name"] for row in sources]
    assert names == ["Hattusa — introduction", "Hattusa — introduction (2)", "Troy — introduction"]
    assert len({row["metadata"][0]["source"] for row in sources}) == 3
    for row in sources:
        meta = row["metadata"][0]
        assert not meta["source"].startswith("http"), "an address as id would be shown in place of the name"
        assert meta["source_url"] == row["source"]["url"] != ""
        assert (meta["book"], meta["date"]) == ("Wikipedia for Schools", "2007")


def test_words_of_a_book_come_once_and_with_their_numbers(scripted: Scripted) -> None:
    """An answer in the book's own words is streamed as it is in the complete answer."""
    answer = an_answer(a_cited("It burned."), a_cited("It fell.", title="Troy"))
    scripted.asker.script(EvidenceFound(answer), AnswerText(answer.text), Done(answer))
    words = words_in(list(scripted.sdk.chat.completions.create(**asked("What happened?", stream=True))))
    assert words.startswith("It burned. [1]\n\nIt fell. [2]\n\n---\n")
    assert words == scripted.sdk.chat.completions.create(**asked("What happened?")).choices[0].message.content


def test_a_model_streams_thoughts_and_words(scripted: Scripted) -> None:
    """Sources come first, thinking as reasoning, words as they come, with the numbers of the sources (R233, R241)."""
    one, two = a_cited("It burned."), a_cited("It fell.", title="Troy")
    found = an_answer(one, two)
    lines = (AnswerSentence("A fire.", (one.key,)), AnswerSentence("A fall.", (two.key,)))
    done = Answer(
        "q", "q", "title", "Why.", grounded=True, text="A fire. [1] A fall. [2]", lines=lines,
        citations=(one, two), books=found.books, model="m",
    )  # fmt: skip
    scripted.asker.script(
        EvidenceFound(found), Thought("Hm."), AnswerText("A fire. [1]"), AnswerText(" A fall. [2]"), Done(done)
    )
    chunks = list(scripted.sdk.chat.completions.create(**asked("What happened?", stream=True)))
    thoughts = [(chunk.choices[0].delta.model_extra or {}).get("reasoning_content") for chunk in chunks]
    assert "Hm." in thoughts
    assert words_in(chunks).startswith("A fire. [1] A fall. [2]\n")
    assert words_in(chunks).count("A fire.") == 1
    sources = [event_of(chunk)["data"] for chunk in chunks if event_of(chunk).get("type") == "source"]
    assert [row["source"]["id"] for row in sources] == [one.key, two.key]
    kinds = [
        "source" if event_of(chunk).get("type") == "source" else chunk.choices[0].delta.content for chunk in chunks
    ]
    assert kinds.index("source") < kinds.index("A fire. [1]")
    whole = scripted.sdk.chat.completions.create(**asked("What happened?"))
    assert whole.choices[0].message.content == words_in(chunks)
    assert (whole.choices[0].message.model_extra or {})["reasoning_content"] == "Hm."


def test_earlier_messages_become_turns(scripted: Scripted) -> None:
    """A follow-up knows what was asked and answered before; the system and our own ending are left out."""
    answer = an_answer(a_cited("It burned."))
    scripted.asker.script(EvidenceFound(answer), Done(answer))
    scripted.sdk.chat.completions.create(
        model="kiwiresearch-eli10",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": "Who was Darwin?"},
            {"role": "assistant", "content": "A naturalist. [1]\n\n---\n\nFrom a book, 2007"},
            {"role": "user", "content": [{"type": "text", "text": "and his"}, {"type": "text", "text": "wife?"}]},
        ],
        temperature=0.3,
        max_tokens=5,
        stop=["x"],
        tools=[{"type": "function", "function": {"name": "f"}}],
        extra_body={"something_new": True},
    )
    question, request = scripted.asker.asked[-1]
    assert question == "and his wife?"
    assert [(turn.question, turn.answer) for turn in request.turns] == [("Who was Darwin?", "A naturalist. [1]")]
    assert (request.mode, request.with_model) == ("eli10", True)


def test_the_books_alone_can_be_asked(scripted: Scripted) -> None:
    """One of the models is none: the books' own words."""
    answer = an_answer(a_cited("It burned."))
    scripted.asker.script(EvidenceFound(answer), Done(answer))
    scripted.sdk.chat.completions.create(**asked("What happened?") | {"model": "kiwiresearch-books"})
    assert scripted.asker.asked[-1][1].with_model is False


def test_a_refusal_is_an_answer(scripted: Scripted) -> None:
    """If the books have no answer, a client gets that as text, with status 200."""
    refused = Answer("q", "q", "none", "No page is about it.", grounded=False)
    scripted.asker.script(EvidenceFound(refused), Done(refused))
    content = scripted.sdk.chat.completions.create(**asked("Who?")).choices[0].message.content
    assert content == "No answer found in the books."


INSIDES = re.compile(r"Input should|Field required|validation|CompletionPart|valid (?:string|list|dictionary)|\bstr\b")
"""Words of the library that reads bodies."""


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"model": "gpt-9"}, 404, "'gpt-9' does not exist"),
        ({"n": 2}, 400, "one answer at a time, not 2"),
        ({"messages": []}, 400, "'messages' must not be empty."),
        ({"messages": [{"role": "system", "content": "x"}]}, 400, "There is no message from the user"),
        ({"messages": [{"role": "user", "content": " ?! "}]}, 400, "is empty"),
        ({"messages": [{"role": "user", "content": "w" * 5_000}]}, 400, "5,000 characters"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "'image_url'"),
        ({"messages": [{"role": "user", "content": "x"}] * 1_001}, 400, "'messages' can have at most 1,000 items."),
        ({"messages": [{"role": "wizard", "content": "x"}]}, 400, "'messages[0].role' must be 'system', 'developer', "),
        ({"messages": [{"content": "x"}]}, 400, "'messages[0].role' is missing."),
        ({"messages": "x"}, 400, "'messages' must be a list."),
        ({"messages": ["x"]}, 400, "'messages[0]' must be an object."),
        ({"messages": [{"role": "user", "content": 5}]}, 400, "'messages[0].content' must be a text or a list."),
        ({"messages": [{"role": "user", "content": [5]}]}, 400, "'messages[0].content[0]' must be an object."),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            400,
            "'messages[0].content[0].text' must be a text.",
        ),
        ({"model": 5}, 400, "'model' must be a text."),
        ({"stream": "perhaps"}, 400, "'stream' must be true or false."),
        ({"n": 1.5}, 400, "'n' must be a whole number."),
        ({"stream_options": 7}, 400, "'stream_options' must be an object."),
        ({"stream_options": {"include_usage": []}}, 400, "'stream_options.include_usage' must be true or false."),
    ],
)
def test_errors_have_openais_format(client: httpx2.Client, body: dict[str, Any], status: int, words: str) -> None:
    """An error has the format that chat clients show to their users."""
    reply = client.post(CHAT, json=asked("Who?") | body)
    assert reply.status_code == status
    error = reply.json()["error"]
    assert words in error["message"]
    assert error["type"] == "invalid_request_error"
    assert error["code"]
    assert not INSIDES.search(error["message"])


NO_OBJECT = "The body is not an object: send a JSON object with 'model' and 'messages'."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "The body is not JSON: expecting property name enclosed in double quotes at character 1."),
        (b'{"model": }', "The body is not JSON: expecting value at character 10."),
        (b'{"model": "k', "The body is not JSON: unterminated string starting at character 10."),
        (b"What is this?", "The body is not JSON: expecting value at character 0."),
        (b"", "The body is empty: send a JSON object with 'model' and 'messages'."),
        (b"[]", NO_OBJECT),
        (b"null", NO_OBJECT),
        (b'"text"', NO_OBJECT),
        (b"{}", "'model' is missing."),
        (b'{"model": "\xff"}', "The body is not JSON: it is not UTF-8 text."),
        (b"[" * 100_000, "The body is not JSON: it is nested too deeply."),
    ],
)
def test_invalid_json_is_reported_in_openais_format(client: httpx2.Client, content: bytes, words: str) -> None:
    """A body that cannot be read is a 400 in the same format, and says what is wrong with it."""
    reply = client.post(CHAT, content=content, headers={"content-type": "application/json"})
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/json")
    error = reply.json()["error"]
    assert (error["message"], error["type"]) == (words, "invalid_request_error")


def test_the_sdk_shows_what_is_wrong(sdk: openai.OpenAI) -> None:
    """A user of OpenAI's client reads our words, and a program finds the field."""
    import openai

    with pytest.raises(openai.BadRequestError, match="'n' must be a whole number") as caught:
        sdk.chat.completions.create(**asked("Who?") | {"n": "many"})
    assert (caught.value.param, caught.value.code) == ("n", "invalid_value")


def test_letters_that_no_encoding_has_do_no_harm(client: httpx2.Client) -> None:
    """Half a letter in a question is refused or answered, never a fault."""
    body = json.dumps(asked("Sunset \ud800")).encode()
    reply = client.post(CHAT, content=body, headers={"content-type": "application/json"})
    assert reply.status_code in (200, 400)


def test_the_sdk_raises_its_own_errors(sdk: openai.OpenAI) -> None:
    """OpenAI's client knows our errors as its own."""
    import openai

    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.chat.completions.create(**asked("Who?") | {"model": "nobody"})
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        sdk.models.retrieve("nobody")


def test_a_model_that_is_away_is_a_bad_gateway(scripted: Scripted) -> None:
    """What goes wrong before the first word has its own status, streamed or not."""
    import openai

    for stream in (False, True):
        scripted.asker.script(ModelUnreachable("The model is away.", remedy="Start it."))
        with pytest.raises(openai.InternalServerError, match="away") as caught:
            scripted.sdk.chat.completions.create(**asked("Who?", stream=stream))
        assert caught.value.status_code == 502


def test_a_problem_in_a_stream_is_reported_in_it(scripted: Scripted) -> None:
    """A problem after the first word reaches the client as an error, and the stream ends properly."""
    found = an_answer(a_cited("It burned."))
    scripted.asker.script(EvidenceFound(found), ModelUnreachable("The model went away.", remedy="Start it."))
    with http_client(scripted.address) as client, client.stream("POST", CHAT, json=asked("Who?", stream=True)) as reply:
        lines = [line.removeprefix("data: ") for line in reply.iter_lines() if line.startswith("data:")]
    assert json.loads(lines[-2])["error"]["message"] == "The model went away. Start it."
    assert lines[-1] == "[DONE]"


def history(*result: str) -> str:
    return "\n".join(f"{'USER' if place % 2 == 0 else 'ASSISTANT'}: {words}" for place, words in enumerate(result))


def background(task: str, form: str) -> str:
    """A prompt as Open WebUI builds it: its opening, what it wants, the form, and the conversation."""
    talk = history("Why is the sky orange at sunset?", "Because.", "And at dawn?")
    wanted = f"### Task:\n{task}\n### Output:\nJSON format: {form}"
    return f"{wanted}\n### Chat History:\n<chat_history>\n{talk}\n</chat_history>"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ('{ "title": "your title" }', {"title": "Why is the sky orange at…"}),
        ('{ "tags": ["one"] }', {"tags": []}),
        ('{ "follow_ups": ["One?"] }', {"follow_ups": []}),
        ('{ "queries": ["one"] }', {"queries": ["And at dawn?"]}),
        ('{ "text": "" }', {"text": ""}),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_background_prompts_open_no_book(scripted: Scripted, form: str, expected: Any, stream: bool) -> None:
    """Titles, tags and follow-ups that Open WebUI wants are given at once, in the form it reads."""
    prompt = background("Do something with this chat.", form)
    reply = scripted.sdk.chat.completions.create(**asked(prompt, stream=stream))
    content = words_in(list(reply)) if stream else reply.choices[0].message.content
    assert json.loads(content) == expected
    assert scripted.asker.asked == []


@pytest.mark.parametrize(
    "text",
    [
        f"{WITH_PAGES}\n<user_query>\nWho was he?\n</user_query>",
        f"{WITH_PAGES}\n\nWho was he?",
        "Who was he?",
    ],
)
def test_the_question_is_found_in_what_open_webui_wraps_around_it(scripted: Scripted, text: str) -> None:
    """With its own search switched on, Open WebUI puts pages before the question: the question is what is asked."""
    answer = an_answer(a_cited("It burned."))
    scripted.asker.script(EvidenceFound(answer), Done(answer))
    scripted.sdk.chat.completions.create(**asked(text))
    assert scripted.asker.asked[-1][0] == "Who was he?"


def test_a_question_about_tasks_is_a_question(scripted: Scripted) -> None:
    """Only a prompt with all marks of a background prompt is taken for one."""
    answer = an_answer(a_cited("It burned."))
    scripted.asker.script(EvidenceFound(answer), Done(answer))
    for text in ('### Task: what does "title" mean?', 'What is <chat_history> with "tags": in it?'):
        scripted.sdk.chat.completions.create(**asked(text))
    assert len(scripted.asker.asked) == 2


def test_nothing_of_the_machine_is_shown(client: httpx2.Client, context: ServerContext) -> None:
    """Answers name books, never files."""
    text = client.post(CHAT, json=asked(SUNSET)).text
    assert str(context.workspace.folders.config) not in text

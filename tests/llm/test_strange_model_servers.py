"""Servers in trouble: a model server never takes the program down, hangs it or leads it astray."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator

import pytest
from tests.http_servers import DRIPS, silent
from tests.llm.servers import Handle, Talk, event, serving, whole

from kiwiresearch.errors import BadReply, BadSettings, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.chat import ChatModel, Timeouts
from kiwiresearch.llm.model import ChatMessage, Options, Reply, ReplyPiece

HELLO = (ChatMessage("user", "Say hello."),)
QUICK = Timeouts(connect_s=5, read_s=20, total_s=20, retry_after_s=0)


@contextlib.contextmanager
def asking(chat: Handle, patience: Timeouts = QUICK) -> Iterator[ChatModel]:
    """A model behind a server that answers like this."""
    with serving(chat) as model_server, ChatModel(model_server.address, timeouts=patience) as model:
        yield model


def think_for_ever(talk: Talk) -> None:
    talk.begin()
    number = 0
    while not talk.gone.wait(0.005):
        number += 1
        talk.write(event({"reasoning_content": f"{number * 7919} "}))


@pytest.mark.parametrize(
    "chat",
    [lambda talk: silent(talk.request), lambda talk: DRIPS["headers"](talk.request), think_for_ever],
    ids=["silent", "drips", "thinks"],
)
def test_a_call_ends_at_its_deadline(chat: Handle) -> None:
    """One limit applies to the whole call, whatever the server does in the meantime."""
    with (
        asking(chat, Timeouts(connect_s=5, read_s=20, total_s=0.4, retry_after_s=0)) as model,
        pytest.raises(ModelUnreachable, match=r"did not finish within 0\.4 seconds") as caught,
    ):
        model.chat(HELLO)
    assert caught.value.exit_code == 4


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    """A wait between two bytes has its own limit."""
    patience = Timeouts(connect_s=5, read_s=0.2, total_s=20, retry_after_s=0)
    with asking(lambda talk: talk.hang(), patience) as model, pytest.raises(ModelUnreachable, match="in time"):
        model.chat(HELLO)


def test_nobody_at_the_address_is_reported() -> None:
    """A refused connection names the address and says what to do."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with ChatModel(address, model="tiny") as model, pytest.raises(ModelUnreachable) as caught:
            model.chat(HELLO)
    assert repr(address) in caught.value.message
    assert caught.value.remedy


def test_a_password_in_the_address_is_never_shown() -> None:
    """Errors show an address without the name and password in it."""
    with ChatModel("http://me:secret@127.0.0.1:9", model="tiny") as model, pytest.raises(ModelUnreachable) as caught:
        model.chat(HELLO)
    assert "secret" not in str(caught.value)


def cut_off(talk: Talk) -> None:
    talk.begin()
    talk.write(event({"content": "Half a "}))


def cut_within_an_event(talk: Talk) -> None:
    talk.begin()
    talk.write(event({"content": "Half a "}) + b'data: {"choices": [{"del')


def cut_chunked(talk: Talk) -> None:
    talk.request.send_response(200)
    talk.request.send_header("Transfer-Encoding", "chunked")
    talk.request.end_headers()
    data = event({"content": "Half a "})
    talk.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


CUTS = {"between events": cut_off, "within an event": cut_within_an_event, "chunks without an end": cut_chunked}


@pytest.mark.parametrize("chat", CUTS.values(), ids=CUTS)
def test_a_stream_that_breaks_off_is_an_error_after_its_words(chat: Handle) -> None:
    """Half a reply is never taken for a whole one; what came is there, then comes the error."""
    with asking(chat) as model:
        pieces = model.pieces(HELLO)
        assert next(pieces) == ReplyPiece("answer", "Half a")
        with pytest.raises(ModelUnreachable, match="closed the connection"):
            next(pieces)


def test_a_chat_that_breaks_off_is_asked_again() -> None:
    """If nothing has been shown yet, a broken reply is asked for a second time."""
    turns: list[Handle] = [cut_off, lambda talk: talk.say("Whole.")]
    with asking(lambda talk: turns.pop(0)(talk)) as model:
        assert model.chat(HELLO).text == "Whole."


def test_a_server_error_is_asked_again_once() -> None:
    """An error that passes does not reach the user."""
    turns: list[Handle] = [lambda talk: talk.send(500, "oops"), lambda talk: talk.say("Fine.")]
    with asking(lambda talk: turns.pop(0)(talk)) as model:
        assert model.chat(HELLO).text == "Fine."


def test_a_server_error_that_stays_is_reported_in_the_servers_words() -> None:
    """An error that does not pass is reported after two attempts, no more."""
    result = json.dumps({"error": {"message": "out of memory"}})
    with (
        serving(lambda talk: talk.send(500, result)) as model_server,
        ChatModel(model_server.address, timeouts=QUICK) as model,
    ):
        with pytest.raises(ModelUnreachable, match=r"\(500\): out of memory"):
            model.chat(HELLO)
        assert len(model_server.chats) == 2


NO_REPLIES = {
    "broken JSON": lambda talk: talk.send(200, '{"choices": [{'),
    "broken JSON in a stream": lambda talk: talk.send(200, b'data: {"choices": [\n\n', "text/event-stream"),
    "a list": lambda talk: talk.send(200, "[1, 2]"),
    "a number as event": lambda talk: talk.send(200, b"data: 7\n\n", "text/event-stream"),
    "a page for people": lambda talk: talk.send(200, "<!doctype html><title>Welcome</title>", "text/html"),
    "plain words": lambda talk: talk.send(200, "It works!", "text/plain"),
    "JSON of something else": lambda talk: talk.send(200, '{"status": "ok"}'),
    "choices that are none": lambda talk: talk.send(200, '{"choices": "none"}'),
    "deep nesting": lambda talk: talk.send(200, '{"choices":' + "[" * 100_000),
    "gzip": lambda talk: talk.send(200, b"\x1f\x8b", Content_Encoding="gzip"),
    "nothing at all": lambda talk: talk.send(200, ""),
}


@pytest.mark.parametrize("chat", NO_REPLIES.values(), ids=NO_REPLIES)
def test_an_answer_that_is_not_a_reply_is_reported(chat: Handle) -> None:
    """What is not a chat completion is never taken for one, and never ends in a traceback."""
    with asking(chat) as model, pytest.raises(ModelUnreachable) as caught:
        model.chat(HELLO)
    assert caught.value.remedy


def endless(talk: Talk) -> None:
    talk.begin()
    number = 0
    while not talk.gone.is_set():
        number += 1
        talk.write(event({"content": f"{number * 7919} and {number * 104729} "}))


def test_an_endless_stream_is_cut_by_its_size() -> None:
    """A reply longer than the limit is refused while it still arrives."""
    with (
        serving(endless) as model_server,
        ChatModel(model_server.address, max_chars=5_000) as model,
        pytest.raises(BadReply, match="longer than 5,000"),
    ):
        model.chat(HELLO)


def huge_line(talk: Talk) -> None:
    talk.begin("application/json")
    talk.write(b'{"x":"')
    while not talk.gone.is_set():
        talk.write(b"a" * 2**20)


def test_a_huge_document_is_cut_by_its_size() -> None:
    """A reply of more bytes than any reply has is not read to its end."""
    with asking(huge_line) as model, pytest.raises(BadReply, match="larger than 32 MiB"):
        model.chat(HELLO)


def circles(talk: Talk) -> None:
    talk.begin()
    talk.write(event({"content": "A beginning. "}))
    while not talk.gone.is_set():
        talk.write(event({"content": "The same words again. "}))


def test_an_endless_repetition_is_cut_and_reported() -> None:
    """A reply that repeats itself ends, with one copy of what it repeated."""
    with asking(circles) as model:
        reply = model.chat(HELLO)
    assert (reply.text, reply.finish) == ("A beginning. The same words again.", "repeated")


def test_a_circle_of_blanks_is_cut() -> None:
    """A model limited to JSON that goes on with white space for ever is cut, too."""

    def blanks(talk: Talk) -> None:
        talk.begin()
        talk.write(event({"content": '{"a": 1,'}))
        while not talk.gone.is_set():
            talk.write(event({"content": "\n"}))

    with asking(blanks) as model:
        assert model.chat(HELLO).finish == "repeated"


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "application/json"])
def test_a_wrong_content_type_does_no_harm(kind: str) -> None:
    """A stream is known by what it is, not by its label."""
    stream = event({"content": "Fine."}, "stop")
    with asking(lambda talk: talk.send(200, stream, kind)) as model:
        assert model.chat(HELLO).text == "Fine."


def test_a_server_that_does_not_stream_is_read_all_the_same() -> None:
    """A whole completion where a stream was asked for is a reply."""
    with asking(lambda talk: talk.send(200, whole("Fine."))) as model:
        assert list(model.pieces(HELLO)) == [ReplyPiece("answer", "Fine."), Reply("Fine.")]


def test_an_empty_stream_is_asked_for_again_in_one_piece() -> None:
    """A stream without a word is asked for once more, not streamed."""

    def chat(talk: Talk) -> None:
        if talk.body["stream"]:
            talk.say()
        else:
            talk.send(200, whole("Fine."))

    with asking(chat) as model:
        assert model.chat(HELLO).text == "Fine."


def test_letters_and_tags_cut_anywhere_come_out_whole() -> None:
    """Neither a letter of several bytes nor a tag is harmed by where the stream was cut."""
    stream = (
        event({"content": "<thi"}) + event({"content": "nk>hm</think>Zürich 😀 "}) + event({"content": "ok"}, "stop")
    )

    def chat(talk: Talk) -> None:
        talk.begin()
        for number in range(len(stream)):
            talk.write(stream[number : number + 1])

    with asking(chat) as model:
        reply = model.chat(HELLO)
    assert (reply.text, reply.thinking) == ("Zürich 😀 ok", "hm")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_frames_are_kept_apart(field: str) -> None:
    """Thinking that comes in a field of its own arrives as pieces of its own, never as answer (R241)."""

    def chat(talk: Talk) -> None:
        talk.begin()
        talk.write(event({field: "Let me see. "}) + event({field: "Yes."}) + event({"content": "Blue."}, "stop"))

    with asking(chat) as model:
        assert list(model.pieces(HELLO)) == [
            ReplyPiece("thinking", "Let me see. "),
            ReplyPiece("thinking", "Yes."),
            ReplyPiece("answer", "Blue."),
            Reply("Blue.", thinking="Let me see. Yes."),
        ]


def test_content_in_parts_is_read() -> None:
    """Some servers send a list of parts, of which only the text is the answer."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Blue."}]
    with asking(lambda talk: talk.say(content=parts)) as model:
        assert model.chat(HELLO).text == "Blue."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused(status: int) -> None:
    """The program talks to the hosts the user named: being sent on is reported, not followed."""
    with serving(lambda talk: talk.say("Not you.")) as other:
        place = f"{other.address}/v1/chat/completions"
        with (
            asking(lambda talk: talk.send(status, "", Location=place)) as model,
            pytest.raises(ModelUnreachable, match="redirects to") as caught,
        ):
            model.chat(HELLO)
        assert other.asked == []
    assert repr(place) in caught.value.message


def test_a_wrong_key_is_reported() -> None:
    """A server that wants a key says so, and the key that was sent is not shown."""
    with (
        serving(lambda talk: talk.send(401, "{}")) as model_server,
        ChatModel(model_server.address, key="hunter2") as model,
        pytest.raises(ModelUnreachable, match="needs a key") as problem,
    ):
        model.chat(HELLO)
    assert "hunter2" not in str(problem.value)


def test_a_forbidden_info_path_does_no_harm() -> None:
    """A proxy that forbids the paths where servers describe themselves still lets requests through."""
    closed = ("/props", "/api/ps", "/api/show")
    with (
        serving(lambda talk: talk.say("Fine."), closed=closed) as model_server,
        ChatModel(model_server.address) as model,
    ):
        assert model.chat(HELLO).text == "Fine."


def test_a_key_that_no_header_can_carry_is_reported() -> None:
    """A key with strange letters is a wrong setting."""
    with pytest.raises(BadSettings, match="key"):
        ChatModel("http://127.0.0.1:9", key="schlüssel\n☃")


@pytest.mark.parametrize("address", ["", "ftp://host", "http://", "http://host:abc", "http://host:0", "http://[::1"])
def test_an_invalid_address_is_reported_at_once(address: str) -> None:
    """A wrong address is a wrong setting, found before anything is asked."""
    with pytest.raises(BadSettings, match="is not the address of a model server"):
        ChatModel(address)


def test_no_address_at_all_is_reported() -> None:
    """A model needs at least one server."""
    with pytest.raises(BadSettings, match="No model server"):
        ChatModel()


@pytest.mark.parametrize("expected", ["context length exceeded", "This model's maximum context length is 4096 tokens"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_prompt_the_server_finds_too_long_is_reported_as_that(expected: str, status: int) -> None:
    """However a server says that the prompt is too long, in a status or in its stream, it is understood."""
    words = json.dumps({"error": {"message": expected}})
    content = f"data: {words}\n\n" if status == 200 else words
    with asking(lambda talk: talk.send(status, content)) as model, pytest.raises(PromptTooLong):
        model.chat(HELLO)


def test_a_stream_that_is_left_frees_the_server() -> None:
    """A reader who stops ends the connection, so the server can stop as well."""
    stopped = threading.Event()

    def chat(talk: Talk) -> None:
        talk.begin()
        number = 0
        try:
            while not talk.gone.is_set():
                number += 1
                talk.write(event({"content": f"{number * 7919} "}))
        except ConnectionError:
            stopped.set()

    with asking(chat) as model:
        pieces = model.pieces(HELLO, Options(max_tokens=4000))
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert stopped.wait(10)

"""Replies are kept by what was asked, whole or not at all, and never when they are of no use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.llm.scripted import CutOff, ScriptedModel

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.llm.model import ChatMessage, Model, Options, Reply, ReplyPiece, ReplySchema
from kiwiresearch.llm.replay import ReplayModel

HELLO = (ChatMessage("user", "Hello?"),)
FORM = Options(schema=ReplySchema.of("form", {"type": "object"}))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_reply_is_asked_for_once(tmp_path: Path) -> None:
    """The same question gets the kept reply, also in a later run, and without the model."""
    reply = Reply("Hi.", "length", 3, 2, "hm")
    model = ScriptedModel(reply)
    kept: Model = ReplayModel(model, tmp_path)
    assert kept.chat(HELLO) == kept.chat(HELLO) == ReplayModel(ScriptedModel(), tmp_path).chat(HELLO) == reply
    assert ReplayModel(None, tmp_path, name="scripted").chat(HELLO) == reply
    assert len(model.asked) == 1


def test_all_that_makes_a_difference_makes_another_question(tmp_path: Path) -> None:
    """Name, messages and every option count."""
    questions = [
        ("a", HELLO, Options()),
        ("b", HELLO, Options()),
        ("a", (ChatMessage("system", "Hello?"),), Options()),
        ("a", (*HELLO, ChatMessage("user", "")), Options()),
        ("a", HELLO, Options(temperature=0.1)),
        ("a", HELLO, Options(max_tokens=9)),
        ("a", HELLO, Options(reasoning_effort="high")),
        ("a", HELLO, Options(seed=1)),
    ]
    for number, (name, messages, options) in enumerate(questions):
        ReplayModel(ScriptedModel(str(number), name=name), tmp_path).chat(messages, options)
    for number, (name, messages, options) in enumerate(questions):
        assert ReplayModel(None, tmp_path, name=name).chat(messages, options).text == str(number)


def test_without_a_model_a_missing_reply_is_reported(tmp_path: Path) -> None:
    """Replaying alone never calls a model."""
    only = ReplayModel(None, tmp_path, name="tiny")
    for attempt in (only.chat, lambda messages: list(only.pieces(messages))):
        with pytest.raises(ModelUnreachable, match="No reply from 'tiny'") as caught:
            attempt(HELLO)
        assert caught.value.remedy


def test_failures_are_never_kept(tmp_path: Path) -> None:
    """After a failure the model is asked again, and nothing has been written (R198)."""
    model = ScriptedModel(ModelUnreachable("gone"), CutOff("half"), "Hi.")
    kept = ReplayModel(model, tmp_path)
    with pytest.raises(ModelUnreachable):
        kept.chat(HELLO)
    with pytest.raises(ModelUnreachable):
        list(kept.pieces(HELLO))
    assert files(tmp_path) == []
    assert kept.chat(HELLO).text == "Hi."


@pytest.mark.parametrize(
    ("reply", "options"),
    [(Reply(""), Options()), (Reply("a a a", "repeated"), Options()), (Reply("I cannot."), FORM), (Reply("[1]"), FORM)],
    ids=["empty", "circle", "words for JSON", "list for object"],
)
def test_replies_of_no_use_are_never_kept(tmp_path: Path, reply: Reply, options: Options) -> None:
    """A malformed reply must not come back for ever: the model is asked again (R198)."""
    kept = ReplayModel(ScriptedModel(reply, '{"a": 1}'), tmp_path)
    assert kept.chat(HELLO, options) == reply
    assert files(tmp_path) == []
    assert kept.chat(HELLO, options).text == '{"a": 1}'


def test_streams_are_kept_when_they_end(tmp_path: Path) -> None:
    """A stream read to its end is there for the next one; one that was left is not."""
    model = ScriptedModel("<think>hm</think>The sky.", "<think>hm</think>The sky.")
    kept = ReplayModel(model, tmp_path)
    next(kept.pieces(HELLO))
    assert files(tmp_path) == []
    first = list(kept.pieces(HELLO))
    again = list(kept.pieces(HELLO))
    assert again == [ReplyPiece("thinking", "hm"), ReplyPiece("answer", "The sky."), first[-1]]
    assert kept.chat(HELLO) == first[-1]
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-20],
        lambda text: text.replace("Hello?", "Hallo?"),
        lambda text: text.replace('"stop"', '"done"'),
        lambda text: text.replace('"text":"Hi."', '"text":7'),
        lambda text: text.replace('"thinking":""', '"think":""'),
        lambda text: "[" * 100_000,
        lambda text: "\x00",
    ],
    ids=["empty", "cut", "other question", "other end", "number", "other field", "deep", "zero"],
)
def test_a_damaged_file_counts_as_missing(tmp_path: Path, damage: object) -> None:
    """A damaged file is asked for again and replaced."""
    assert callable(damage)
    ReplayModel(ScriptedModel("Hi."), tmp_path).chat(HELLO)
    (file,) = files(tmp_path)
    good = file.read_text(encoding="utf-8")
    file.write_text(damage(good), encoding="utf-8")
    model = ScriptedModel("Hi.")
    assert ReplayModel(model, tmp_path).chat(HELLO).text == "Hi."
    assert len(model.asked) == 1
    assert file.read_text(encoding="utf-8") == good


def test_the_same_reply_is_the_same_bytes(tmp_path: Path) -> None:
    """Two runs write the same files under the same names."""
    for folder in ("one", "two"):
        ReplayModel(ScriptedModel("Zürich 😀"), tmp_path / folder).chat(HELLO)
    (one,), (two,) = files(tmp_path / "one"), files(tmp_path / "two")
    assert one.relative_to(tmp_path / "one") == two.relative_to(tmp_path / "two")
    assert one.read_bytes() == two.read_bytes()


class SlowModel(ScriptedModel):
    """A model that answers when a test lets it."""

    def __init__(self, *lines: str, fails: bool = False) -> None:
        super().__init__(*lines)
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()
        self.fails = fails
        self.calls = 0

    def pieces(self, messages: Sequence[ChatMessage], options: Options = Options()) -> Iterator[ReplyPiece | Reply]:  # noqa: B008
        self.calls += 1
        self.is_asked.set()
        self.may_answer.wait(20)
        if self.fails:
            raise ModelUnreachable("gone")
        yield from super().pieces(messages, options)


@pytest.mark.parametrize("fails", [False, True], ids=["answered", "failed"])
def test_threads_that_ask_the_same_ask_once(tmp_path: Path, fails: bool) -> None:
    """Simultaneous equal questions share one call and its outcome."""
    model = SlowModel("Hi.", fails=fails)
    kept = ReplayModel(model, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        same = [threads.submit(kept.chat, HELLO)]
        assert model.is_asked.wait(20)
        same += [threads.submit(kept.chat, HELLO) for _ in range(3)]
        (call,) = kept._under_way.values()
        patience = time.monotonic() + 20
        while waiting(call) < 3 and time.monotonic() < patience:
            time.sleep(0)
        model.may_answer.set()
        outcomes = [future.exception(20) for future in same]
    assert model.calls == 1
    if fails:
        assert {type(outcome) for outcome in outcomes} == {ModelUnreachable}
    else:
        assert {future.result().text for future in same} == {"Hi."}


def waiting(call: Future[Reply]) -> int:
    """How many threads wait for the outcome of a call."""
    condition: Any = call._condition
    return len(condition._waiters)


def test_a_folder_that_cannot_be_written_loses_no_reply(tmp_path: Path) -> None:
    """The reply is given all the same, and the user is informed that it was not kept."""
    (tmp_path / "file").write_text("")
    reports: list[str] = []
    kept = ReplayModel(ScriptedModel("Hi."), tmp_path / "file" / "folder", say=reports.append)
    assert kept.chat(HELLO).text == "Hi."
    assert "Could not save replies in" in reports[0]


@given(st.text(), st.text(min_size=1), st.text())
def test_any_words_are_kept_as_they_are(question: str, answer: str, thinking: str) -> None:
    """No letter of a reply is changed by being kept."""
    reply = Reply(answer, thinking=thinking)
    with TemporaryDirectory() as folder:
        ReplayModel(ScriptedModel(reply), Path(folder)).chat([ChatMessage("user", question)])
        assert ReplayModel(None, Path(folder), name="scripted").chat([ChatMessage("user", question)]) == reply

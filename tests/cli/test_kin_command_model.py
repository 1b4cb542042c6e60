"""`kiwiresearch kin` with a language model: where it is used, what it is sent, and what of its replies is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.kin_book import SECRETS, copied, family_book
from tests.llm.servers import ModelServer, Talk, serving, whole

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cli.start import run as start

Kiwi = Callable[..., tuple[int, str, str]]
START = ("kin", "start", "Edmund Wendover", "--book", "wendover.zim", "--case", "one")
INVENTED = "Edmund Wendover was a king."


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the book, and a case that was started without a model, with somebody who may be alive."""
    folder = tmp_path_factory.mktemp("kin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        patch.chdir(folder)
        book = family_book(folder)
        assert start(["kin", "start", "Nora Wendover", "Edmund Wendover", "--book", str(book), "--case", "nora"]) == 0
    return folder


@pytest.fixture
def place(done: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the command is given."""
    return copied(done, home, tmp_path / "place", monkeypatch)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that repeats its prompt in a summary and adds one thing, and otherwise says nothing of use."""
    with serving(_reply) as server:
        monkeypatch.setenv("KIWIRESEARCH_MODEL_URL", server.address)
        yield server


def _reply(talk: Talk) -> None:
    asked = talk.body["messages"][-1]["content"]
    sentences = []
    if '<data name="facts">\n' in asked:
        line = asked.split('<data name="facts">\n')[1].splitlines()[0]
        key, _, text = line.partition(" ")
        sentences = [{"text": INVENTED, "keys": [key]}, {"text": text, "keys": [key]}]
    talk.send(200, whole(json.dumps({"sentences": sentences} if sentences else {"reasoning": "none"})))


def prompts(server: ModelServer) -> str:
    return json.dumps([body["messages"] for body in server.chats], ensure_ascii=False)


def test_the_first_pages_are_read_with_the_model(kiwi: Kiwi, place: Path, model: ModelServer) -> None:
    """`kin start` asks the model that is set, as `kin run` does, and the same case comes of a model of no use."""
    assert kiwi(*START)[0] == 0
    assert "You plan family research" in prompts(model)
    with Case.open(Path("one")) as case:
        tree = case.store.tree()
    assert kiwi(*START[:-1], "two", "--no-model")[0] == 0
    with Case.open(Path("two")) as case:
        assert case.store.tree().facts == tree.facts


def test_without_the_model_nobody_is_asked(kiwi: Kiwi, place: Path, model: ModelServer) -> None:
    """With `--no-model` start, step and export send nothing to the model that is set."""
    assert kiwi(*START, "--no-model")[0] == 0
    for words in (("step",), ("export", "--to", "html")):
        assert kiwi("kin", *words, "--case", "one", "--no-model")[0] == 0
    assert model.asked == []


def test_a_model_that_is_away_is_reported_and_not_needed(
    kiwi: Kiwi, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case starts with rules if no model answers, and says so."""
    monkeypatch.setenv("KIWIRESEARCH_MODEL_URL", "http://127.0.0.1:9")
    code, _, err = kiwi(*START)
    assert code == 0
    assert "Continued without the language model." in err
    assert "http://127.0.0.1:9" in err


def test_a_report_says_that_the_model_was_away(kiwi: Kiwi, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the model does not answer, a report is written in the words of the rules, and says so."""
    monkeypatch.setenv("KIWIRESEARCH_MODEL_URL", "http://127.0.0.1:9")
    assert kiwi("kin", "export", "--case", "nora", "--to", "markdown")[0] == 0
    text = (place / "nora" / "family.md").read_text()
    assert "the summary was written by rules" in text
    assert "127.0.0.1" not in text


@pytest.mark.parametrize("is_allowed", [False, True])
def test_a_local_model_sees_the_living_only_with_the_setting(
    kiwi: Kiwi, place: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch, *, is_allowed: bool
) -> None:
    """By default no prompt names anybody who may be alive; `model_sees_living` lifts that on this machine (R269)."""
    if is_allowed:
        monkeypatch.setenv("KIWIRESEARCH_KIN_MODEL_SEES_LIVING", "yes")
    assert kiwi("kin", "start", "Nora Wendover", "--book", "wendover.zim", "--case", "one")[0] == 0
    assert model.chats
    assert [secret in prompts(model) for secret in SECRETS[:1]] == [is_allowed]


def test_the_summary_is_worded_by_the_model(kiwi: Kiwi, place: Path, model: ModelServer) -> None:
    """The report marks what the model worded; what it made up is replaced by the words of the rules (R281)."""
    plain, again, worded = (place / name for name in ("plain.md", "again.md", "worded.md"))
    for target, more in ((plain, ("--no-model",)), (again, ("--no-model",)), (worded, ())):
        words = ("kin", "export", "--case", "nora", "--to", "markdown", "--out", str(target))
        assert kiwi(*words, *more)[0] == 0
    assert plain.read_bytes() == again.read_bytes()
    assert "words of a model" not in plain.read_text()
    text = worded.read_text()
    assert "Sentences marked ° were written by a language model" in text
    assert text.count(" °") == 2
    assert INVENTED not in text
    assert text.replace(" °", "").splitlines()[:4] == plain.read_text().splitlines()[:4]


def test_the_summary_for_the_owner_sends_no_living_people_to_the_model(
    kiwi: Kiwi, place: Path, model: ModelServer
) -> None:
    """Even in the report for the owner, the prompts for the model have only dead people."""
    assert kiwi("kin", "export", "--case", "nora", "--to", "html", "--privacy", "owner")[0] == 0
    assert "Nora" in (place / "nora" / "family.html").read_text()
    assert not [secret for secret in SECRETS if secret in prompts(model)]


def test_a_case_keeps_the_settings_it_was_started_with(
    kiwi: Kiwi, place: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[kin] in the settings, the environment and the options give a case its settings; later changes do not."""
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text("[kin]\ngenerations = 1\ncollaterals = 0\nbudget = 7\n", encoding="utf-8")
    monkeypatch.setenv("KIWIRESEARCH_KIN_BUDGET", "5")
    assert kiwi(*START, "--collaterals", "2", "--years-after-death", "30")[0] == 0
    monkeypatch.setenv("KIWIRESEARCH_KIN_GENERATIONS", "9")
    with Case.open(Path("one")) as case:
        kept = case.settings
    assert (kept.generations, kept.collaterals, kept.budget, kept.years_after_death) == (1, 2, 5, 30)


def test_a_setting_out_of_bounds_begins_nothing(kiwi: Kiwi, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option or a setting that cannot be is named with its bounds, and no folder is left."""
    code, _, err = kiwi(*START, "--collaterals", "6")
    assert (code, "Use a number from 0 to 5" in err) == (2, True)
    monkeypatch.setenv("KIWIRESEARCH_KIN_GENERATIONS", "21")
    code, _, err = kiwi(*START)
    assert (code, "KIWIRESEARCH_KIN_GENERATIONS cannot be 21. It must be between 0 and 20" in err) == (1, True)
    assert not (place / "one" / CASE_FILE).exists()


def test_plugins_are_where_the_settings_say(kiwi: Kiwi, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`plugins` below [kin] names the folder of the user's own plugins."""
    (place / "mine").mkdir()
    (place / "mine" / "broken.yaml").write_text("plugin_id: broken\n", encoding="utf-8")
    monkeypatch.setenv("KIWIRESEARCH_KIN_PLUGINS", str(place / "mine"))
    assert "broken.yaml" in kiwi("kin", "plugins")[1]


def test_only_a_source_of_the_case_can_be_signed_in_to(kiwi: Kiwi, place: Path) -> None:
    """`--sign-in` names a source that is enabled and needs it; anything else is an error, and no step is taken."""
    code, _, err = kiwi("kin", "run", "--case", "nora", "--sign-in", "familysearch")
    assert (code, "This case has no source 'familysearch' that is turned on and needs a sign-in." in err) == (2, True)
    kiwi("kin", "plugins", "on", "familysearch", "--case", "nora", "--terms-ok")
    code, _, err = kiwi("kin", "run", "--case", "nora", "--sign-in", "familysearch")
    assert code != 0
    assert "KIWIRESEARCH_KEY_FAMILYSEARCH" in err

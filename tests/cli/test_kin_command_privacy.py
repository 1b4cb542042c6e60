"""What leaves a case with living people: nothing of them beyond what the mode allows, and the same bytes everywhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.kin_book import LIVING, SECRETS, copied, family_book
from tests.kin.privacy_scan import find_leaks

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cases.exports import FILE_NAMES
from kiwiresearch.cli.start import run as start
from kiwiresearch.kin.privacy.redaction import PrivacyMode

RunCommand = Callable[..., tuple[int, str, str]]
CASE = "cases/edmund-wendover"
SHOWN = (
    ("show",),
    ("tree", "--down"),
    ("evidence", "Ralph Wendover"),
    ("evidence", "Edmund Wendover"),
    ("conflicts",),
    ("merges",),
    ("timeline",),
    ("log",),
    ("relation", "Edmund Wendover", "Ralph Wendover"),
    ("plugins",),
    ("verify",),
    ("living", "Nora Wendover"),
    ("step",),
    ("run",),
)


def _research(folder: Path, seed: str = "Edmund Wendover") -> None:
    book = family_book(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        patch.chdir(folder)
        assert start(["kin", "start", seed, "--book", str(book)]) == 0
        assert start(["kin", "run"]) == 0


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("private")
    _research(folder)
    return folder


@pytest.fixture
def here(done: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return copied(done, home, tmp_path / "place", monkeypatch)


def _artefacts(kiwi: RunCommand, folder: Path, mode: PrivacyMode) -> Iterator[tuple[str, bytes]]:
    """All that a case writes or prints for others in a mode."""
    for form in FILE_NAMES:
        assert kiwi("kin", "export", "--to", form, "--privacy", mode, "--out", f"out/{FILE_NAMES[form]}")[0] == 0
    for file in sorted((folder / "out").iterdir()):
        yield file.name, file.read_bytes()
    chosen = () if mode == "public" else ("--privacy", mode)
    for words in SHOWN:
        has_no_mode = words[0] in ("plugins", "verify", "living", "step", "run")
        if has_no_mode and mode != "public":
            continue
        code, out, _ = kiwi("kin", *words, *chosen, "--json")
        assert code == 0, words
        yield " ".join(words), out.encode()


@pytest.mark.parametrize("mode", ["public", "private", "exclude"])
def test_nothing_of_the_living_leaves_the_case(kiwi: RunCommand, here: Path, mode: PrivacyMode) -> None:
    """Every export and every --json of a case with living people is free of them, in each mode (R435, R436, R437)."""
    with Case.open(here / CASE) as case:
        tree, year, overrides = case.store.tree(), case.year, case.store.living_overrides
        assert case.settings.years_after_death == 0
    hidden = {person.name for person in tree.persons.values() if person.living != "deceased"}
    assert hidden == set(LIVING)
    found = {}
    for name, content in _artefacts(kiwi, here, mode):
        leaked = find_leaks(content, tree, mode, year, overrides=overrides)
        by_eye = [secret for secret in SECRETS if mode != "private" and secret.encode() in content]
        if leaked or by_eye:
            found[name] = (leaked, by_eye)
    assert found == {}


def test_the_owner_sees_everything(kiwi: RunCommand, here: Path) -> None:
    """On the owner's terminal, and with --privacy owner, nothing is kept back."""
    assert "Nora Wendover" in kiwi("kin", "show")[1]
    assert "Nora Wendover" in kiwi("kin", "show", "--json", "--privacy", "owner")[1]
    kiwi("kin", "export", "--privacy", "owner")
    assert "Nora" in (here / CASE / "family.ged").read_text(encoding="utf-8-sig")


def test_people_who_may_be_living_are_not_shown_by_name(kiwi: RunCommand, here: Path) -> None:
    """With --json, a hidden person cannot be asked for."""
    code, out, err = kiwi("kin", "show", "Nora", "--json")
    assert (code, out) == (2, "")
    assert "--privacy owner" in err


@pytest.mark.parametrize("words", [("show",), ("evidence",), ("tree",), ("relation", "Edmund Wendover"), ("living",)])
def test_a_name_that_several_have_lists_nobody_who_lives(kiwi: RunCommand, here: Path, words: tuple[str, ...]) -> None:
    """Half a name that several have lists the dead by name, and of the living no name, where others may read it."""
    code, out, err = kiwi("kin", *words, "Wendover", "--json")
    assert (code, out) == (2, "")
    assert "matches" in err
    assert [secret for secret in SECRETS if secret in err] == []


def test_a_case_about_somebody_who_lives(
    kiwi: RunCommand, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that begins with a living person is exported without the name, be it as a title or as a file's place."""
    _research(tmp_path / "n", "Nora Wendover")
    kiwi("kin", "plugins")  # what the run printed is of no interest
    monkeypatch.chdir(tmp_path / "n")
    shutil.copytree(tmp_path / "n" / "home", home, ignore=shutil.ignore_patterns("state"), dirs_exist_ok=True)
    for name, content in [
        *((form, kiwi("kin", "export", "--to", form, "--json")[1].encode()) for form in FILE_NAMES),
        *((file.name, file.read_bytes()) for file in (tmp_path / "n/cases/nora-wendover").glob("family*")),
    ]:
        assert [secret for secret in (*SECRETS, "nora") if secret.encode() in content] == [], name


def test_two_runs_give_the_same_bytes(kiwi: RunCommand, here: Path, tmp_path: Path) -> None:
    """The same research in another folder, from the same book, gives every export byte for byte."""
    other = tmp_path / "other"
    with Case.open(here / CASE) as case:
        places = list(case.book_paths())
    kiwi("kin", "start", "Edmund Wendover", "--book", places[0], "--case", str(other))
    kiwi("kin", "run", "--case", str(other))
    for form, file in FILE_NAMES.items():
        kiwi("kin", "export", "--to", form)
        kiwi("kin", "export", "--to", form, "--case", str(other))
        assert (here / CASE / file).read_bytes() == (other / file).read_bytes(), form
    assert (other / CASE_FILE).is_file()

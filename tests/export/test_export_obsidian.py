"""A run as a folder of notes: names that every system takes, links that lead somewhere, words that stay words."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.briefs import BOOK, bronze_age, of_words
from tests.export.exported_runs import a_read_run, noted

from kiwiresearch.errors import CannotWrite
from kiwiresearch.export.exporter import EXPORT_RECORD, export, write_folder
from kiwiresearch.export.obsidian import escaped_words, front_matter, tag
from kiwiresearch.export.packing import ExportedFile, unique_file_names

WIKI = re.compile(r"(?<!\\)\[\[([^\]|#^]+)(?:[^\]]*)\]\]")
MARKDOWN = re.compile(r"\]\(([^)]+\.md)(?:#[^)]*)?\)")


def vault(folder: Path) -> dict[str, str]:
    """The notes by their names, without ending."""
    return {str(file.relative_to(folder))[:-3]: file.read_text(encoding="utf-8") for file in folder.rglob("*.md")}


def head(text: str) -> dict[str, Any]:
    _, matter, _ = text.split("---\n", 2)
    read = yaml.safe_load(matter)
    assert isinstance(read, dict)
    return read


def test_there_is_a_note_for_each_page_and_an_index(tmp_path: Path) -> None:
    """The index and the brief lead to all pages, and every link leads to a note that is there."""
    export(a_read_run(tmp_path / "run"), "obsidian", tmp_path / "vault")
    notes = vault(tmp_path / "vault")
    titles = {page.title for page in bronze_age().sources.pages}
    assert set(notes) == {"Index", "Brief"} | {f"Pages/{title}" for title in titles}
    assert {f"Pages/{title}" for title in titles} | {"Brief"} == set(WIKI.findall(notes["Index"]))
    for text in notes.values():
        linked = set(WIKI.findall(text)) | {unquote(place)[:-3] for place in MARKDOWN.findall(text)}
        assert linked <= set(notes)
    assert "](Pages/Ugarit.md#End)" in notes["Brief"]
    assert "](zim://" not in notes["Brief"]


def test_another_export_takes_the_notes_away_that_are_no_longer_made(tmp_path: Path) -> None:
    """The folder is as if it were new; what somebody else put there stays, and what they changed too."""
    run, folder = a_read_run(tmp_path / "run"), tmp_path / "vault"
    noted(run, next(iter(bronze_age().claims.values())))
    export(run, "obsidian", folder)
    fresh = vault(folder)
    own = {"Pages/My own.md": "mine", "Pages/Ugarit.txt": "mine"}
    for name, words in own.items():
        (folder / name).write_text(words)
    (run / "notes.jsonl").unlink()
    export(run, "obsidian", folder)
    assert "Notes" in fresh
    assert set(vault(folder)) == set(fresh) - {"Notes"} | {"Pages/My own"}
    assert {name: (folder / name).read_text() for name in own} == own
    again = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    export(run, "obsidian", folder)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == again


def test_a_note_that_was_changed_is_not_taken_away(tmp_path: Path) -> None:
    """What somebody wrote into an exported file stays, though the run has no such file any more."""
    run, folder = a_read_run(tmp_path / "run"), tmp_path / "vault"
    noted(run, next(iter(bronze_age().claims.values())))
    export(run, "obsidian", folder)
    (folder / "Notes.md").write_text("Words of my own.")
    (run / "notes.jsonl").unlink()
    export(run, "obsidian", folder)
    assert (folder / "Notes.md").read_text() == "Words of my own."


@pytest.mark.parametrize("is_exported", [False, True])
def test_words_of_the_user_are_not_written_over(tmp_path: Path, is_exported: bool) -> None:
    """A vault may have an index of its own, or a note that was written on since: nothing is written then."""
    run, folder = a_read_run(tmp_path / "run"), tmp_path / "vault"
    if is_exported:
        export(run, "obsidian", folder)
    folder.mkdir(exist_ok=True)
    (folder / "Index.md").write_text("Words of my own.")
    before = sorted(folder.rglob("*"))
    with pytest.raises(CannotWrite, match=r"Index\.md.*may contain your own text") as caught:
        export(run, "obsidian", folder)
    assert "--out" in caught.value.remedy
    assert (folder / "Index.md").read_text() == "Words of my own."
    assert sorted(folder.rglob("*")) == before


def test_an_export_of_an_older_version_is_distinguished_from_the_users_text(tmp_path: Path) -> None:
    """It kept no record, so that nobody can say who wrote its files; the user can, and has a way out."""
    run, folder = a_read_run(tmp_path / "run"), tmp_path / "vault"
    noted(run, next(iter(bronze_age().claims.values())))
    export(run, "obsidian", folder)
    (folder / EXPORT_RECORD).unlink()
    (run / "notes.jsonl").unlink()
    with pytest.raises(CannotWrite, match="or come from an older version") as caught:
        export(run, "obsidian", folder)
    assert caught.value.remedy == "Move the folder, or choose another one with --out."
    export(run, "obsidian", tmp_path / "another")


def test_a_file_is_known_whatever_capitals_its_name_has(tmp_path: Path) -> None:
    """Where capitals do not matter to the system, the file of the earlier export is there under the new name."""
    write_folder(tmp_path, [ExportedFile("Pages/IUPAC.md", b"before")])
    (tmp_path / "Pages" / "IUPAC.md").rename(tmp_path / "Pages" / "Iupac.md")
    write_folder(tmp_path, [ExportedFile("Pages/Iupac.md", b"after")])
    assert (tmp_path / "Pages" / "Iupac.md").read_bytes() == b"after"


@pytest.mark.parametrize("name", ["../other.md", "/{other}", "out/other.md", ""])
def test_a_record_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    """A record that came with somebody's vault cannot have files taken away outside the folder."""
    run, folder, other = a_read_run(tmp_path / "run"), tmp_path / "vault", tmp_path / "other.md"
    other.write_text("x")
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    known = f"sha256:{sha256(b'x').hexdigest()}"
    named = name.format(other=str(other).removeprefix("/"))
    (folder / EXPORT_RECORD).write_text(json.dumps({"files": {named: [known]}}))
    export(run, "obsidian", folder)
    assert other.read_text() == "x"


@pytest.mark.parametrize("record", ["", "[]", "{", '{"files": 3}', '{"files": {"Index.md": 3}}', "[" * 5000])
def test_a_damaged_record_does_no_harm(tmp_path: Path, record: str) -> None:
    """A record of earlier exports that makes no sense is as good as none."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / EXPORT_RECORD).write_text(record)
    export(a_read_run(tmp_path / "run"), "obsidian", folder)
    export(tmp_path / "run", "obsidian", folder)
    assert "Index" in vault(folder)


def test_a_page_links_to_the_pages_it_led_to(tmp_path: Path) -> None:
    """So that the graph of the vault is the graph of the run."""
    export(a_read_run(tmp_path / "run"), "obsidian", tmp_path / "vault")
    text = vault(tmp_path / "vault")["Pages/Ugarit"]
    assert WIKI.findall(text) == ["Pages/Late Bronze Age collapse", "Pages/Hittite Empire"]


def test_claims_are_blocks_with_quotes_and_tags(tmp_path: Path) -> None:
    """Each claim can be linked to by its id, and says its type, its quote and how sure it is."""
    export(a_read_run(tmp_path / "run"), "obsidian", tmp_path / "vault")
    text = vault(tmp_path / "vault")["Pages/Drought"]
    claim = next(one for one in bronze_age().claims.values() if one.text.startswith("A dry spell of some centuries"))
    block = text[text.index(f"- {claim.text}") :]
    first, quote, _, proof = block.splitlines()[:4]
    assert first == f"- {claim.text} #claim/causal #hedged ^{claim.id.partition(':')[2][:16]}"
    assert quote == f"    > {claim.quotes[0].text}"
    assert proof.startswith(f"    > Confidence {claim.confidence:.0%}, hedged by “")


def test_the_front_matter_names_the_source(tmp_path: Path) -> None:
    """Title, book, date, UUID and path are there for queries."""
    export(a_read_run(tmp_path / "run"), "obsidian", tmp_path / "vault")
    result = head(vault(tmp_path / "vault")["Pages/Ugarit"])
    assert (result["title"], result["book"], result["book_date"]) == ("Ugarit", "The sample book", "2026-01-01")
    assert (result["book_id"], result["path"], result["order"]) == (BOOK, "Ugarit", 3)
    assert result["tags"] == ["kiwiresearch", "research/late-bronze-age-collapse"]


def test_notes_are_with_what_they_are_about(tmp_path: Path) -> None:
    """On the claim, on the page, and all together in a note of their own."""
    claim = next(iter(bronze_age().claims.values()))
    export(noted(a_read_run(tmp_path / "run"), claim), "obsidian", tmp_path / "vault")
    notes = vault(tmp_path / "vault")
    page = notes[f"Pages/{claim.page_title}"]
    assert "    - **Note.** Doubted (2026-02-03): The date is from an old book." in page
    assert "\n- **Note.** Corrected (2026-02-04): It is misspelt. It should read: Ugarit, not Ugaritt" in page
    assert "Well done." in notes["Notes"]
    block = f"^{claim.id.partition(':')[2][:16]}"
    assert f"](Pages/Late%20Bronze%20Age%20collapse.md#{block})" in notes["Notes"]
    assert f" {block}\n" in page
    assert "- [[Notes]]" in notes["Index"]


@pytest.mark.parametrize(
    "text", ["[[x]]", "#tag", "$x$", "%% hidden %%", "==mark==", "---", "a ^b", "<b>x</b>", "](y.md)"]
)
def test_words_of_a_book_become_no_markup(tmp_path: Path, text: str) -> None:
    """No link, tag, comment, formula or mark comes from a book."""
    export(a_read_run(tmp_path / "run", of_words(text)), "obsidian", tmp_path / "vault")
    notes = vault(tmp_path / "vault")
    pages = [name for name in notes if name.startswith("Pages/")]
    for name in pages:
        body = notes[name].split("---\n", 2)[2]
        plain = re.sub(r"\\.", "", body)
        assert set(WIKI.findall(plain)) <= set(pages)
        assert set(re.findall(r"(?<!\S)#[\w/-]+", plain)) <= {"#claim/quote", "#hedged"}
        assert not re.search(r"\$|%%|==|<b>", plain)
        assert head(notes[name])["title"] == text


NAMES = [
    ("Hattusa", "Hattusa"),
    ("AC/DC: what?", "AC DC what"),
    ("CON", "CON_"),
    ("com1.txt", "com1.txt_"),
    ("ends with a dot.", "ends with a dot"),
    (" . ", "Untitled"),
    ("C# [x]^y|z", "C x y z"),
    ("שלום", "שלום"),
    ("a\u202eb\x00c", "a b c"),
    ("\ud800", "Untitled"),
    ("x" * 300, "x" * 80),
]


@pytest.mark.parametrize(("title", "name"), NAMES)
def test_names_are_safe_everywhere(title: str, name: str) -> None:
    """No sign that Windows refuses or that Obsidian takes for a part of a link, and no reserved name."""
    assert unique_file_names([title]) == [name]


def test_names_do_not_differ_in_capitals_alone() -> None:
    """Windows and macOS would take them for one file."""
    assert unique_file_names(["Troy", "troy", "TROY?", "Troy 2"]) == ["Troy", "troy 2", "TROY 3", "Troy 2 2"]


@given(st.lists(st.text(st.characters(), max_size=100), max_size=6))
def test_any_titles_have_names_of_their_own(titles: list[str]) -> None:
    """Whatever the titles are, their names are as many, can be written, and fit into a path."""
    names = unique_file_names(titles)
    assert len({name.casefold() for name in names}) == len(titles)
    for name in names:
        assert name == name.strip(" .") != ""
        assert not re.search(r'[<>:"/\\|?*#^\[\]\x00-\x1f]', name)
        assert len(name.encode("utf-8")) < 230


@given(st.text(st.characters(), max_size=40))
def test_front_matter_gives_back_any_text(text: str) -> None:
    """YAML reads what was written, but for characters that no text has."""
    clean = re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert head(front_matter({"title": text, "n": 3, "tags": [text]})) == {"title": clean, "n": 3, "tags": [clean]}


@given(st.text(st.characters(), max_size=30))
def test_any_words_make_a_tag(text: str) -> None:
    """A tag has letters and no sign that ends it."""
    assert re.fullmatch(r"[\w/-]*[^\W\d][\w/-]*", tag("research", text))


def test_escaped_signs_are_not_escaped_twice() -> None:
    """A backslash of the text stays one, and what Markdown has escaped stays escaped once."""
    assert escaped_words("# a") == r"\# a"
    assert escaped_words("\\#x 5% [y]") == r"\\\#x 5\% \[y\]"

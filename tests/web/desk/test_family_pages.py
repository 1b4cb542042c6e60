"""Families in the browser: begun, read, decided upon and taken along by forms and links alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.kin_book import LIVING, SECRETS
from tests.kin.privacy_scan import find_leaks
from tests.web.family_server import SEED, Families, families
from tests.web.running import heard

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.places import CASE_FILE
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.cases.repository import case_id
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.location import locked_folder
from kiwiresearch.kin.timeline import Age
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.mentions import dates_in

GEDCOM = (
    b"0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    b"0 @I1@ INDI\n1 NAME Ida /Marlow/\n1 SEX F\n1 DEAT\n2 DATE 1870\n"
    b"0 @I2@ INDI\n1 NAME Otto /Marlow/\n1 FAMC @F1@\n1 DEAT\n2 DATE 1890\n"
    b"0 @F1@ FAM\n1 WIFE @I1@\n1 CHIL @I2@\n0 TRLR\n"
)
VOID = frozenset({"input", "br", "meta", "link", "hr", "img"})


class Elements(HTMLParser):
    """The elements of a page: whether they close in order, and where they lead."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.unclosed: list[str] = []
        self.links: set[str] = set()
        self.forms: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.fields: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID and not (tag in ("path", "rect") and (self.get_starttag_text() or "").endswith("/>")):
            self.open.append(tag)
        self.links |= {given["href"]} if tag == "a" else set()
        self.ids += [given["id"]] if "id" in given else []
        self.labels |= {given["for"]} if tag == "label" and "for" in given else set()
        if tag == "form":
            self.forms.append((given.get("method", "get"), given["action"]))
        if tag in ("input", "select", "textarea") and given.get("type") not in ("hidden", "checkbox", "radio"):
            self.fields.add(given.get("id", f"no id: {given}"))

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in ("path", "rect"):
            self.unclosed.append(f"{tag} in {self.open[-3:]}")


def elements(page: httpx2.Response) -> Elements:
    found = Elements()
    found.feed(page.text)
    return found


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Families]:
    with families(tmp_path_factory.mktemp("families")) as found:
        yield found


def browsing(client: httpx2.Client) -> httpx2.Client:
    client.headers |= {"Accept": "text/html", "Origin": str(client.base_url).rstrip("/")}
    return client


@pytest.fixture(scope="module")
def owner(there: Families) -> Iterator[httpx2.Client]:
    """The owner's browser."""
    with there.served(family_owner=True) as client:
        yield browsing(client)


@pytest.fixture(scope="module")
def anybody(there: Families) -> Iterator[httpx2.Client]:
    """A browser on a server as it is unless somebody sets it otherwise."""
    with there.served() as client:
        yield browsing(client)


@pytest.fixture
def copied(there: Families) -> Iterator[tuple[str, Path]]:
    """A case of a test's own, to be changed: its address and its folder."""
    folder = there.folder / "copied"
    shutil.copytree(CaseRegistry(there.folder).folder(there.done), folder)
    yield f"/family/{case_id(folder)}", folder
    shutil.rmtree(folder)


def people(client: httpx2.Client, base: str) -> dict[str, str]:
    """The addresses of everybody by name."""
    page = client.get(f"{base}/people").text
    return {name: place for place, name in re.findall(r'<th scope="row"><a href="([^"]+)"><bdi>([^<]+)</bdi>', page)}


def sent(client: httpx2.Client, address: str, **fields: str) -> str:
    """Where a form leads that was taken."""
    reply = client.post(address, data=fields)
    assert reply.status_code == 303, reply.text
    return reply.headers["location"]


def crawled(client: httpx2.Client, *, asking: bool = True) -> dict[str, httpx2.Response]:
    """Every page of families that links lead to; unless `asking`, those without a question mark alone."""
    found: dict[str, httpx2.Response] = {}
    waiting = ["/family"]
    while waiting:
        address = waiting.pop()
        if address in found:
            continue
        found[address] = client.get(address)
        links = elements(found[address]).links
        waiting += [one for one in links if one.startswith("/family") and (asking or "?" not in one)]
    return found


def test_every_page_is_whole(owner: httpx2.Client) -> None:
    """All that links lead to is there; elements close, ids are there once, fields have labels."""
    pages = crawled(owner, asking=False)
    assert len(pages) > 30
    for address, page in pages.items():
        assert page.status_code == 200, address
        read = elements(page)
        assert (read.open, read.unclosed) == ([], []), address
        assert len(read.ids) == len(set(read.ids)), address
        assert read.fields <= read.labels, address
        assert page.text.count("<h1") == 1, address


def test_a_case_is_begun_by_a_name(there: Families, owner: httpx2.Client) -> None:
    """The form leads to the new case; what was set for it is kept."""
    place = sent(owner, "/family", name="Ann Pell", generations="1", budget="", max_steps="")
    page = owner.get(place)
    assert page.status_code == 200
    assert "Ann Pell" in page.text
    assert owner.get(f"/api{place}").json()["generations"] == 1
    shutil.rmtree(there.folder / "ann-pell")


def test_who_is_meant_is_chosen(there: Families, owner: httpx2.Client) -> None:
    """Where a name fits several people each is offered with a button that begins with them; nobody is guessed."""
    page = owner.post("/family", data={"name": "Wendover", "generations": "2"})
    assert page.status_code == 400
    offered = re.findall(
        r'name="name" value="([^"]+)">\s*<input type="hidden" name="generations" value="2">', page.text
    )
    assert {SEED, "Hugh Wendover"} <= set(offered)
    assert "1850–1920" in page.text
    assert SECRETS[2] not in page.text
    place = sent(owner, "/family", name="Hugh Wendover")
    assert "Hugh Wendover" in owner.get(place).text
    shutil.rmtree(there.folder / "hugh-wendover")


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"name": "Nobody Whosoever"}, 404, "/find?q=Nobody%20Whosoever"),
        ({"name": "Ann Pell", "generations": "99"}, 400, "from 0 to 20"),
        ({"name": " ; "}, 400, "A case begins with a name"),
        ({"name": "x" * 501}, 422, "At most 500"),
        ({"name": "Ann Pell", "budget": "many"}, 422, "This must be a number."),
    ],
)
def test_what_cannot_be_begun(owner: httpx2.Client, fields: dict[str, str], status: int, said: str) -> None:
    """A page says what is wrong and what to do; what was typed is still in the form."""
    page = owner.post("/family", data=fields)
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert said in page.text


def test_the_tree_is_drawn_and_told(there: Families, owner: httpx2.Client) -> None:
    """Each box leads to its person, and the list below has everybody who is drawn."""
    base = f"/family/{there.done}"
    places = people(owner, base)
    for of, names in (("ancestors", ("Josiah Wendover", "Ann Pell")), ("descendants", ("Alice Wendover", LIVING[0]))):
        page = owner.get(f"{base}/tree", params={"of": of, "generations": 0})
        picture, _, told = page.text.partition('<h2 id="list">')
        for name in (SEED, *names):
            assert f'href="{places[name]}" aria-label="{name}' in picture
            assert f'<a href="{places[name]}"><bdi>{name}</bdi></a>' in told
    alone = owner.get(f"{base}/tree", params={"root": places["Ann Pell"].rpartition("/")[2]})
    assert "No parents of this person are known." in alone.text
    assert owner.get(f"{base}/tree", params={"generations": 0, "of": "descendants"}).text.count("<svg") > 1
    short = owner.get(f"{base}/tree", params={"of": "descendants", "generations": 1}).text
    assert "Ralph Wendover" not in short.partition('class="scroll"')[2]


def test_a_person_with_the_proofs(there: Families, owner: httpx2.Client) -> None:
    """Every fact has the words that say so, with the page they are read on, marked, and the language they are in."""
    page = owner.get(people(owner, f"/family/{there.done}")[SEED]).text
    assert "12 May 1850" in page
    assert re.search(r'<blockquote lang="en" dir="ltr">Edmund Wendover \(12 May 1850', page)
    assert re.search(r'<a href="/page/[0-9a-f-]{36}/Edmund_Wendover\?mark=\d+-\d+">', page)
    assert "Castleford Bay" in page
    here = elements(owner.get(people(owner, f"/family/{there.done}")[SEED]))
    assert {"#facts", "#relatives", "#timeline"} <= here.links, "on a phone the page is long"
    assert {"facts", "relatives", "timeline"} <= set(here.ids)


def test_a_conflict_stands_side_by_side(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Values that cannot both be right stand beside each other with their quotes, with the person and in the list."""
    base, folder = copied
    place = people(owner, base)[SEED]
    assert "do not contradict" in owner.get(f"{base}/conflicts").text
    with Case.open(folder) as case, case.store.step("test"):
        person = place.rpartition("/")[2]
        [*_, fact] = case.store.tree().facts_of(person, "birth_date")
        said = fact.evidence[0]
        other = Snippet(said.start, said.end, said.snippet)
        read = ExtractedFact("birth_date", "1 May 1848", other, "prose", 0.4, dates_in("1 May 1848")[0].when)
        case.store.assert_fact(person, read, said.source, status="verified")
    for page in (owner.get(f"{base}/conflicts").text, owner.get(place).text):
        sides = page.partition('class="sides"')[2].split('<div class="side')[1:3]
        assert "12 May 1850" in sides[0]
        assert "1 May 1848" in sides[1]
        assert all("<blockquote" in side for side in sides)


def test_merges_are_reviewed_and_undone(owner: httpx2.Client, anybody: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Both people stand side by side with what speaks for and against it; each decision can be taken back."""
    base, folder = copied
    places = people(owner, base)
    ids = {name: place.rpartition("/")[2] for name, place in places.items()}
    pairs = [("Ann Pell", "Clara Holt"), ("Josiah Wendover", "Ralph Wendover")]
    told: dict[str, Any] = {"similarity_score": 0.8, "merge_rationale": "Alike.", "why_not_merge": "Far apart."}
    rows = [{**told, "candidate_pair": [ids[a], ids[b]], "recommended_action": "review"} for a, b in pairs]
    with Case.open(folder) as case, case.store.step("test"):
        case.store.set_state("proposals", rows)
    page = owner.get(f"{base}/merges").text
    plain = page.replace("\u00a0", " ")
    assert all(words in plain for words in ("Alike.", "Far apart.", "1 March 1820", "8 July 1855"))
    first = re.findall(r'action="([^"]+)/accept"', page)
    sent(owner, f"{first[0]}/accept", why="one <grave>")
    assert len(people(owner, base)) == len(places) - 1
    page = owner.get(f"{base}/merges").text
    assert "one &lt;grave&gt;" in page
    [called] = re.findall(r"The records were called: <bdi>([^<]+)</bdi> = <bdi>([^<]+)</bdi>", page)
    assert tuple(sorted(called)) in pairs
    assert "grave" not in anybody.get(f"{base}/merges").text, "what the owner says may name people no mask knows"
    [undo] = re.findall(r'action="([^"]+/undo)"', page)
    sent(owner, undo, why="two people")
    assert people(owner, base) == places
    with Case.open(folder) as case, case.store.step("test"):
        case.store.set_state("proposals", rows)
    [left] = re.findall(r'action="([^"]+/reject)"', owner.get(f"{base}/merges").text)
    sent(owner, left, why="no")
    assert "Nothing waits for a decision." in owner.get(f"{base}/merges").text
    assert owner.post(left, data={}).status_code == 404
    page = owner.get(f"{base}/merges").text
    apart = page.partition('<h2 id="apart">2 pairs kept apart</h2>')[2]
    assert all(places[name] in apart for pair in pairs for name in pair)
    assert [one in apart for one in ("two people", '<dd dir="auto">no</dd>')] == [True, True]
    seen = anybody.get(f"{base}/merges").text
    assert ('id="apart"' in seen, "two people" in seen, "/take-back" in seen) == (True, False, False)
    [back, other] = re.findall(r'action="([^"]+/take-back)"', page)
    sent(owner, back, why="a mistake")
    assert re.findall(r'action="([^"]+/take-back)"', owner.get(f"{base}/merges").text) == [other]
    assert owner.post(back, data={}).status_code == 404
    with Case.open(folder) as case:
        assert "allow_link" in {row.action_type for row in case.store.audit()}


def test_who_gives_no_reason_is_given_none(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Where the owner said nothing to a merge or to two kept apart, no sentence of ours stands for it."""
    base, folder = copied
    ids = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    told: dict[str, Any] = {"similarity_score": 0.8, "merge_rationale": "Alike.", "why_not_merge": "Far apart."}
    pairs = [("Ann Pell", "Clara Holt"), ("Josiah Wendover", "Ralph Wendover")]
    rows = [{**told, "candidate_pair": [ids[a], ids[b]], "recommended_action": "review"} for a, b in pairs]
    for row, decision in zip(rows, ("accept", "reject"), strict=True):
        with Case.open(folder) as case, case.store.step("test"):
            case.store.set_state("proposals", [row])
        [waiting] = re.findall(r'action="([^"]+)/accept"', owner.get(f"{base}/merges").text)
        sent(owner, f"{waiting}/{decision}")
    [undo] = re.findall(r'action="([^"]+/undo)"', owner.get(f"{base}/merges").text)
    pages = [owner.get(f"{base}/merges").text]
    sent(owner, undo)
    pages.append(owner.get(f"{base}/merges").text)
    assert [page.count('<section class="card merge"') for page in pages] == [2, 3]
    assert [re.findall(r'<dd dir="auto">([^<]*)', page) for page in pages] == [[], []]


def test_lives_and_sources_are_decided(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """What the owner knows of a life is shown with the reason; a source is switched on and off."""
    base, _ = copied
    place = people(owner, base)[LIVING[0]]
    assert sent(owner, f"{place}/living", status="deceased", why="a letter of 1999") == place
    assert "(the user says so: <bdi>a letter of 1999</bdi>)" in owner.get(place).text
    sent(owner, f"{place}/living", status="deceased", why="<b>une lettre</b>")
    page = owner.get(place, headers={"Accept-Language": "fr"}).text
    assert "(l’utilisateur le dit\u00a0: <bdi>&lt;b&gt;une lettre&lt;/b&gt;</bdi>)" in page
    assert owner.post(f"{place}/living", data={"status": "asleep", "why": "x"}).status_code == 422
    for on, words in (("yes", "Switch off"), ("", "Switch on")):
        sent(owner, f"{base}/sources/wikidata", on=on)
        page = owner.get(f"{base}/sources").text
        assert words in page.partition("Wikidata")[2].partition("</li>")[0]
    assert owner.post(f"{base}/sources/nothing", data={"on": "yes"}).status_code == 404


def test_relations_are_found_for_those_who_are_shown(
    there: Families, owner: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a family of thousands the way to far relatives takes long: a page looks for its own rows, a log for none."""
    asked: list[str] = []
    told = KinshipFinder.describe

    def words(family: KinshipFinder, first: str, second: str) -> str:
        asked.append(second)
        return told(family, first, second)

    monkeypatch.setattr(KinshipFinder, "describe", words)
    found = owner.get(f"/api/family/{there.done}/people", params={"limit": 2, "offset": 3}).json()
    assert owner.get(f"/family/{there.done}/log").status_code == 200
    assert asked == [one["id"] for one in found["people"]]
    assert found["total"] > len(asked) == 2


def test_lists_of_a_case(there: Families, owner: httpx2.Client) -> None:
    """Relations, events, searches, evidence and the proof are pages; people are found by a part of the name."""
    base = f"/family/{there.done}"
    ids = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    kin = owner.get(f"{base}/relation", params={"first": ids[SEED], "second": ids["Ann Pell"]})
    assert "<b>mother</b>" in kin.text
    assert "grandparents" not in kin.text
    found = owner.get(f"{base}/people", params={"q": "holt"}).text
    assert ("Clara Holt" in found, "Ann Pell" in found) == (True, False)
    assert "All of it holds." in owner.get(f"{base}/audit", params={"check": "1"}).text
    only = owner.get(f"{base}/evidence", params={"person": ids["Ann Pell"], "field": "birth_place"}).text
    assert ("Elmsworth" in only, "2 April 1890" in only) == (True, False)
    assert owner.get(f"{base}/evidence", params={"field": "shoe size"}).status_code == 400
    assert "naissance" in owner.get(f"{base}/timeline", headers={"Accept-Language": "fr"}).text
    log = owner.get(f"{base}/log").text
    assert SEED in log or "Wendover" in log


def test_ages_and_lives_are_told_in_the_readers_language(
    owner: httpx2.Client, copied: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How old somebody was at least, and by what somebody counts as living."""
    base, _ = copied
    place = people(owner, base)[LIVING[0]]
    shown = [owner.get(place, headers={"Accept-Language": one}).text for one in ("en", "fr")]
    assert "(born 122 years ago or less, as far as the date of birth tells)" in shown[0]
    assert "(naissance il y a 122 ans ou moins, d’après la date de naissance)" in shown[1]
    monkeypatch.setattr(Age, "words", lambda _: Message("at least 30", "age.at_least", least=30))
    page = owner.get(f"{base}/timeline", headers={"Accept-Language": "fr"}).text
    assert ("au moins 30" in page, "at least" in page) == (True, False)


def test_families_leave_as_files(there: Families, owner: httpx2.Client) -> None:
    """The form downloads what the command line writes, without the living unless the owner chooses."""
    address = f"/family/{there.done}/file"
    for form, beginning in (("gedcom", "0 HEAD"), ("gedcom7", "0 HEAD"), ("json", "{"), ("html", "<!doctype")):
        reply = owner.get(address, params={"form": form})
        assert reply.headers["content-disposition"].startswith("attachment")
        assert reply.text.lstrip("\ufeff").lower().startswith(beginning.lower())
        assert LIVING[0] not in reply.text
    assert LIVING[0] in owner.get(address, params={"form": "csv", "privacy": "owner"}).text


def test_a_case_goes_on_as_a_job(there: Families, owner: httpx2.Client, anybody: httpx2.Client) -> None:
    """The form leads to the job's own page, which tells the owner whose family it is; nobody begins a second one."""
    place = sent(owner, f"/family/{there.begun}/run", steps="1")
    assert re.fullmatch(r"/research/[\w-]+", place)
    with owner.stream("GET", f"/api{place}/events", headers={"Accept": "text/event-stream"}) as stream:
        assert list(heard(stream.iter_lines()))[-1].name == "done"
    [name] = re.findall(r"<h1>Work on a family: <bdi>([^<]+)</bdi></h1>", owner.get(place).text)
    assert name in owner.get(f"/family/{there.begun}").text
    assert "<h1>Work on a family</h1>" in anybody.get(place).text
    with locked_folder(CaseRegistry(there.folder).folder(there.begun)):
        taken = owner.post(f"/family/{there.begun}/run", data={"steps": "0"})
    assert taken.status_code == 409
    assert f'href="/family/{there.begun}"' in taken.text


def test_a_family_file_comes_in_by_a_form(there: Families, owner: httpx2.Client) -> None:
    """A GEDCOM file of the form begins a case; what is none is refused with what to do, and nothing is left of it."""
    before = sorted(there.folder.iterdir())
    for files, said in (
        ({"file": ("x.ged", b"MZ\x90\0" * 99)}, "no GEDCOM file"),
        ({"file": ("", b"")}, "brought no file"),
        ({"file": ("x.ged", b"")}, "is empty"),
        ({"other": ("x.ged", GEDCOM)}, "brought no file"),
    ):
        reply = owner.post("/family/import", files=files)
        assert (reply.status_code, said in reply.text) == (400, True), reply.text
    assert sorted(there.folder.iterdir()) == before
    reply = owner.post("/family/import", files={"file": ("../marlow.ged", GEDCOM)})
    assert reply.status_code == 303, reply.text
    job = reply.headers["location"]
    with owner.stream("GET", f"/api{job}/events", headers={"Accept": "text/event-stream"}) as stream:
        assert list(heard(stream.iter_lines()))[-1].name == "done"
    base = f"/family/{case_id(there.folder / 'marlow')}"
    assert set(people(owner, base)) == {"Ida Marlow", "Otto Marlow"}
    shutil.rmtree(there.folder / "marlow")


def test_a_case_that_cannot_be_read(there: Families, owner: httpx2.Client) -> None:
    """It is listed with what is wrong, and its own page is an error that leads back."""
    folder = there.folder / "broken"
    folder.mkdir()
    (folder / CASE_FILE).write_bytes(b"no database at all, but long enough to look at" * 100)
    listed, page = owner.get("/family"), owner.get(f"/family/{case_id(folder)}")
    shutil.rmtree(folder)
    assert (listed.status_code, page.status_code) == (200, 500)
    assert "is no case" in listed.text
    assert 'href="/family"' in page.text
    assert str(there.place) not in listed.text + page.text


def test_problems_lead_back_to_the_family(there: Families, owner: httpx2.Client, anybody: httpx2.Client) -> None:
    """They are told as all problems are, in the reader's language, with a way on; nothing asks for an API."""
    base = f"/family/{there.done}"
    gone = owner.get(f"{base}/people/nobody", headers={"Accept-Language": "fr"})
    assert (gone.status_code, "Repartez de la liste des familles." in gone.text) == (404, True)
    assert '<li><a href="/family">Toutes les familles</a>' in gone.text
    refused = anybody.post(f"{base}/sources/wikidata", data={"on": "yes"})
    assert (refused.status_code, "family_owner = true" in refused.text) == (403, True)
    assert f'<li><a href="{base}">' in refused.text
    missing = owner.get("/family/0123456789ab/tree")
    assert (missing.status_code, "/api" in missing.text.partition("<main")[2].partition("</main")[0]) == (404, False)


def test_what_somebody_living_was_called_by_is_no_title(
    there: Families, owner: httpx2.Client, anybody: httpx2.Client
) -> None:
    """A first name alone, or a nickname, begins a case too; only the owner reads it, in pages and in files."""
    base = sent(owner, "/family", name="Nora")
    pages = ["/family", base, f"{base}/tree", f"{base}/file?form=html", f"{base}/file?form=markdown", f"/api{base}"]
    told = {page: anybody.get(page).text for page in pages}
    mine = owner.get(f"/api{base}").json()["title"]
    shutil.rmtree(there.folder / "nora")
    assert [page for page, text in told.items() if "Nora" in text] == []
    assert 'class="box root kept"' in told[f"{base}/tree"], "the tree begins with her, whoever she is"
    assert mine == "Nora"


def leaked(there: Families, case_name: str, content: bytes) -> list[object]:
    """What a text tells of those who may be living, as far as the case knows."""
    by_eye = [secret for secret in (*SECRETS, "nora") if secret.encode() in content]
    with Case.open(CaseRegistry(there.folder).folder(case_name)) as case:
        return [
            *by_eye,
            *find_leaks(
                content,
                case.store.tree(),
                "public",
                case.year,
                years_after_death=case.settings.years_after_death,
                overrides=case.overrides,
            ),
        ]


def test_no_page_tells_of_the_living(there: Families, anybody: httpx2.Client) -> None:
    """Whoever is not the owner reads on no page, in no picture and in no error who may be living (R435)."""
    pages = crawled(anybody)
    for case in (there.done, there.begun):
        base = f"/family/{case}"
        asked = ("tree?of=descendants&generations=0", "people?q=nora", "audit?check=1", "file?form=html", "people/x")
        pages |= {f"{base}/{one}": anybody.get(f"{base}/{one}") for one in asked}
    assert len(pages) > 50
    assert "Family of Somebody who may be living" in pages[f"/family/{there.begun}"].text
    # What was asked for is told again; the rest of the answer has nothing of it.
    whole = {address: page.text.replace("nora", "").encode() for address, page in pages.items()}
    for case, other in ((there.done, there.begun), (there.begun, there.done)):
        # Who is known to be dead in one case may be known too little in the other.
        of_case = {address: text for address, text in whole.items() if not address.startswith(f"/family/{other}")}
        if leaked(there, case, b"\n".join(of_case.values())):
            assert {address: wrong for address, text in of_case.items() if (wrong := leaked(there, case, text))} == {}


def test_only_the_owner_decides(there: Families, anybody: httpx2.Client) -> None:
    """Others see why there are no buttons and what to set; a form that is sent all the same is refused."""
    base = f"/family/{there.done}"
    for address in ("/family", f"{base}/merges", f"{base}/sources", f"{base}/import"):
        page = anybody.get(address)
        assert "‘family_owner = true’ below [serve] in settings.toml" in page.text
        assert "KIWIRESEARCH_SERVE_FAMILY_OWNER=true kiwiresearch serve" in page.text
        assert [place for method, place in elements(page).forms if method == "post" and place.startswith(base)] == []
    for address, fields in (
        (f"{base}/merges/x/accept", {}),
        (f"{base}/merges/x/reject", {}),
        (f"{base}/merges/x/take-back", {}),
        (f"{base}/merges/x/undo", {}),
        (f"{base}/people/living-1/living", {"status": "deceased", "why": "I say so"}),
        (f"{base}/sources/wikidata", {"on": "yes"}),
    ):
        assert anybody.post(address, data=fields).status_code == 403, address
    for address in ("/family/import", f"{base}/import"):
        assert anybody.post(address, files={"file": ("x.ged", GEDCOM)}).status_code == 403
    for privacy in ("owner", "private"):
        assert anybody.get(f"{base}/file", params={"form": "csv", "privacy": privacy}).status_code == 403

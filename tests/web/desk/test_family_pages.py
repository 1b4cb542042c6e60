"""Families in the browser: started, read, decided upon and exported by forms and links alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.cli.kin_book import LIVING, SECRETS
from tests.kin.privacy_scan import find_leaks
from tests.web.desk.page_text import first
from tests.web.family_server import SEED, Families
from tests.web.servers import stream_events

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.cases.repository import case_id_of
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.resolve import reasons
from kiwiresearch.kin.resolve.proposal import MergeProposal
from kiwiresearch.kin.resolve.resolver import SIBLINGS
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.standing import Standing
from kiwiresearch.kin.store.locks_and_schemas import locked_folder
from kiwiresearch.kin.timeline import Age, birth_of
from kiwiresearch.kin.tree import FieldName
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.web.desk.family_frame import LinkedFact, birth_day, relatives_by_birth

GEDCOM = (
    b"0 HEAD\n1 GEDC\n2 VERS 5.5.1\n1 CHAR UTF-8\n"
    b"0 @I1@ INDI\n1 NAME Ida /Marlow/\n1 SEX F\n1 RESI Bath\n1 DEAT\n2 DATE 1870\n"
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
        self.labels |= {given["id"]} if given.get("aria-label") and "id" in given else set()
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
    yield f"/family/{case_id_of(folder)}", folder
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


def ended(client: httpx2.Client, job: str) -> str:
    """Where a job leads when it has ended."""
    with client.stream("GET", f"/api{job}/events", headers={"Accept": "text/event-stream"}) as stream:
        assert list(stream_events(stream.iter_lines()))[-1].name == "done"
    return client.get(job).headers["location"]


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


def test_a_case_is_started_by_a_name(there: Families, owner: httpx2.Client) -> None:
    """One press starts its research, whose page has its name and its people; then it leads to the new case."""
    job = sent(owner, "/family", name="Ann Pell", generations="1", budget="", max_steps="")
    assert re.fullmatch(r"/research/[\w-]+", job)
    running = owner.get(job)
    assert running.status_code == 303 or '<h1 dir="auto">Family of Ann Pell</h1>' in running.text
    assert "Ann Pell" in owner.get(f"{job}/news").json()["family"]
    place = ended(owner, job)
    page = owner.get(place)
    assert page.status_code == 200
    assert "Family of Ann Pell" in page.text
    case = owner.get(f"/api{place}").json()
    assert (case["generations"], case["steps"] > 0) == (1, True)
    shutil.rmtree(there.folder / "ann-pell")


def test_the_user_chooses_among_several_people(there: Families, owner: httpx2.Client) -> None:
    """If a name fits several people each is offered with a button that starts with them; nobody is guessed."""
    page = owner.post("/family", data={"name": "Wendover", "generations": "2"})
    assert page.status_code == 400
    offered = re.findall(
        r'name="name" value="([^"]+)">\s*<input type="hidden" name="generations" value="2">', page.text
    )
    assert {SEED, "Hugh Wendover"} <= set(offered)
    assert "1850–1920" in page.text
    assert SECRETS[2] not in page.text
    place = ended(owner, sent(owner, "/family", name="Hugh Wendover"))
    assert "Hugh Wendover" in owner.get(place).text
    shutil.rmtree(there.folder / "hugh-wendover")


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"name": "Nobody Whosoever"}, 404, "/find?q=Nobody%20Whosoever"),
        ({"name": "Ann Pell", "generations": "99"}, 400, "from 0 to 20"),
        ({"name": " ; "}, 400, "No name was entered, or too many names were."),
        ({"name": "x" * 501}, 422, "Use 500 characters or fewer."),
        ({"name": "Ann Pell", "budget": "many"}, 422, "Enter a number."),
    ],
)
def test_a_case_that_cannot_be_started_is_explained(
    owner: httpx2.Client, fields: dict[str, str], status: int, expected: str
) -> None:
    """A page says what is wrong and what to do; what was typed is still in the form."""
    page = owner.post("/family", data=fields)
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert expected in page.text


def test_relatives_are_listed_by_birth_with_what_they_are(there: Families, owner: httpx2.Client) -> None:
    """Sons and daughters, brothers and sisters; the kind of source is said once, and only quotes are checked."""
    base = f"/family/{there.done}"
    places = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    page = LexborHTMLParser(owner.get(f"{base}/people/{places[SEED]}").text)
    known = {one["id"]: one for one in owner.get(f"/api{base}/people").json()["people"]}
    rows = page.css("#relatives ~ ul li")
    shown = {str(first(row, "a").attributes["href"]).rpartition("/")[2]: row.text() for row in rows}
    words = {"male": ("father", "son", "brother"), "female": ("mother", "daughter", "sister")}
    kin = {row["id"] for field in ("parents", "children", "siblings") for row in known[places[SEED]][field]}
    for one, text in shown.items():
        if one in kin and known[one]["sex"]:
            assert text.rstrip().endswith(words[known[one]["sex"]]), text
    assert "Ann Pell 1820–1890 mother" in shown.values()
    for field in ("children", "siblings"):
        of_seed = [one for one in shown if one in {row["id"] for row in known[places[SEED]][field]}]
        births = [known[one]["birth"]["edtf"] if known[one]["birth"] else "9999" for one in of_seed]
        assert births == sorted(births), field
    facts = first(page, ".columns > div").text()
    kinds = page.css(".source-kinds li")
    assert sum("authored source" in kind.text() for kind in kinds) == len(kinds) > 0
    assert "accepted" in facts
    assert not {"quote checked", "verified", "%"} & set(facts.split()), "one status and one confidence, in words"
    assert "Living or deceased" not in first(page, "dl.facts").text()


def test_the_tree_is_drawn_and_listed(there: Families, owner: httpx2.Client) -> None:
    """Each box links to its person, and the list below has everybody who is drawn."""
    base = f"/family/{there.done}"
    places = people(owner, base)
    for of, names in (("ancestors", ("Josiah Wendover", "Ann Pell")), ("descendants", ("Alice Wendover", LIVING[0]))):
        page = owner.get(f"{base}/tree", params={"of": of, "generations": 0})
        picture, _, result = page.text.partition('<h2 id="list">')
        for name in (SEED, *names):
            assert f'<a href="{places[name]}" class="person' in picture
            assert f'<a href="{places[name]}"><bdi>{name}</bdi></a>' in result
    alone = owner.get(f"{base}/tree", params={"of": "ancestors", "root": places["Ann Pell"].rpartition("/")[2]})
    assert "No relatives of this person are known that this view could show." in alone.text
    assert owner.get(f"{base}/tree", params={"generations": 0, "of": "descendants"}).text.count("<svg") > 1
    short = owner.get(f"{base}/tree", params={"of": "descendants", "generations": 1}).text
    assert "Ralph Wendover" not in short.partition('<div class="drawing-view"')[2]


def test_brothers_and_sisters_are_sorted_by_birth(there: Families) -> None:
    """Those without a birth come last; facts of other fields stay where they are."""
    with Case.open(CaseRegistry(there.folder).folder(there.done)) as case:
        tree = case.tree("owner")
        dated = sorted((one for one in tree.persons if birth_of(tree, one)), key=lambda one: birth_day(tree, one))
        undated = next(one for one in tree.persons if not birth_of(tree, one))
        facts = [linked("birth_date", ""), *(linked("sibling", one) for one in [undated, *reversed(dated)])]
        ordered = [one.person for one in relatives_by_birth(facts, tree)]
    assert ordered[0] == ""
    assert ordered[-1] == undated
    assert [birth_day(tree, one or "") for one in ordered[1:-1]] == sorted(birth_day(tree, one) for one in dated)


def linked(field: FieldName, person: str) -> LinkedFact:
    """A fact about a relative."""
    return LinkedFact(
        id=person,
        field=field,
        value="",
        status="verified",
        preferred=False,
        confidence=0.5,
        why_rejected="",
        evidence=(),
        person=person,
        standing=Standing("accepted", "medium"),
        decision="",
    )


def test_a_person_with_the_proofs(there: Families, owner: httpx2.Client) -> None:
    """Every fact has the words that say so, with the page they are read on, marked, and the language they are in."""
    page = owner.get(people(owner, f"/family/{there.done}")[SEED]).text
    assert "12 May 1850" in page
    assert re.search(r'<blockquote lang="en" dir="ltr">Edmund Wendover \(12 May 1850', page)
    assert re.search(r'<a href="/page/[0-9a-f-]{36}/Edmund_Wendover\?mark=\d+-\d+#mark">', page)
    assert "Castleford Bay" in page
    here = elements(owner.get(people(owner, f"/family/{there.done}")[SEED]))
    assert {"#facts", "#relatives", "#timeline"} <= here.links, "on a phone the page is long"
    assert {"facts", "relatives", "timeline"} <= set(here.ids)


def test_a_conflict_is_shown_side_by_side(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Values that cannot both be right are side by side with their quotes, with the person and in the list."""
    base, folder = copied
    place = people(owner, base)[SEED]
    assert "do not contradict" in owner.get(f"{base}/conflicts").text
    with Case.open(folder) as case, case.store.step("test"):
        person = place.rpartition("/")[2]
        [*_, fact] = case.store.tree().facts_of(person, "birth_date")
        result = fact.evidence[0]
        other = Snippet(result.start, result.end, result.snippet)
        read = ExtractedFact("birth_date", "1 May 1848", other, "prose", 0.4, dates_in("1 May 1848")[0].when)
        case.store.assert_fact(person, read, result.source, status="verified")
    for page in (owner.get(f"{base}/conflicts").text, owner.get(place).text):
        sides = page.partition('class="sides"')[2].split('<div class="side')[1:3]
        assert "12 May 1850" in sides[0]
        assert "1 May 1848" in sides[1]
        assert all("<blockquote" in side for side in sides)
        assert [re.findall(r'<span class="tag[^>]*>([^<]+)<', side.partition("</p>")[0]) for side in sides] == [
            ["accepted", "medium confidence"], ["competing", "low confidence"],
        ]  # fmt: skip
    told = owner.get(f"{base}/evidence", params={"person": person, "field": "birth_date"}).text
    labels = re.findall(r'<p class="value">.*?</p>', told, re.DOTALL)
    assert [re.findall(r'<span class="tag[^>]*>([^<]+)<', label)[0] for label in labels] == ["accepted", "competing"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("fr", ("dans l’introduction", "est retenu", "Cherchez l’acte de naissance à l’état civil")),
        ("es", ("en la introducción", "Se prefiere", "Busque la inscripción de nacimiento en el registro civil")),
    ],
)
def test_the_reasons_of_a_conflict_are_in_the_language_of_the_reader(
    owner: httpx2.Client, copied: tuple[str, Path], language: str, words: tuple[str, ...]
) -> None:
    """Why a value is preferred, and what would settle it, is said in French and Spanish as in English."""
    base, folder = copied
    person = people(owner, base)[SEED].rpartition("/")[2]
    with Case.open(folder) as case, case.store.step("test"):
        [*_, fact] = case.store.tree().facts_of(person, "birth_date")
        said = fact.evidence[0]
        other = Snippet(said.start, said.end, said.snippet)
        read = ExtractedFact("birth_date", "1 May 1848", other, "prose", 0.4, dates_in("1 May 1848")[0].when)
        case.store.assert_fact(person, read, said.source, status="verified")
    page = owner.get(f"{base}/conflicts", headers={"Accept-Language": language}).text
    conflict = page.partition('<div class="conflict card">')[2].partition('<details class="legend">')[0]
    assert [one for one in words if one not in conflict] == []
    assert not re.search(r"\b(?:information from|is preferred|Look for)\b", conflict)


def test_a_person_is_the_heading_of_their_page(there: Families, owner: httpx2.Client) -> None:
    """The family is where the page is, not what it is about; each fact has one status and one confidence in words."""
    base = f"/family/{there.done}"
    page = owner.get(people(owner, base)[SEED]).text
    assert re.findall(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL) == [f"<bdi>{SEED}</bdi>"]
    assert f'<a href="{base}">Family of {SEED}</a>' in page.partition("<h1")[0]
    values = re.findall(r'<p class="value">.*?</p>', page, re.DOTALL)
    assert len(values) > 5
    for value in values:
        assert len(re.findall(r'class="tag', value)) == 2
        assert re.search(r'">(?:high|medium|low) confidence<', value)
    shown = re.sub(r"<[^>]*>", " ", page.partition("<main")[2].partition('<details class="legend">')[0])
    assert not re.search(r"\d%", shown)


def test_the_tabs_of_a_family_are_few(there: Families, owner: httpx2.Client) -> None:
    """Seven tabs at most; every page of a family is under one of them, and its own link is marked there."""
    base = f"/family/{there.done}"
    places = ("", "/tree", "/people", "/timeline", "/conflicts", "/merges", "/changes", "/evidence", "/sources", "/log")
    for place in (*places, "/export", "/import", "/audit"):
        page = owner.get(f"{base}{place}")
        assert page.status_code == 200
        tabs = page.text.partition('<ul class="tabs">')[2].partition("</ul>")[0]
        assert 1 < tabs.count("<li>") <= 7
        assert tabs.count("aria-current") == 1
        assert f'<a href="{base}{place}" aria-current="page">' in page.text


def test_merges_are_reviewed_and_undone(owner: httpx2.Client, anybody: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Both people are side by side with what speaks for and against it; each decision can be undone."""
    base, folder = copied
    places = people(owner, base)
    ids = {name: place.rpartition("/")[2] for name, place in places.items()}
    pairs = [("Ann Pell", "Clara Holt"), ("Josiah Wendover", "Ralph Wendover")]
    values: dict[str, Any] = {"similarity_score": 0.8, "merge_rationale": "Alike.", "why_not_merge": "Far apart."}
    rows = [{**values, "candidate_pair": [ids[a], ids[b]], "recommended_action": "review"} for a, b in pairs]
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
    [called] = re.findall(r"Names of the merged records: <bdi>([^<]+)</bdi> = <bdi>([^<]+)</bdi>", page)
    assert tuple(sorted(called)) in pairs
    assert "grave" not in anybody.get(f"{base}/merges").text, "what the owner says may name people no mask knows"
    [undo] = re.findall(r'action="([^"]+/undo)"', page)
    sent(owner, undo, why="two people")
    assert people(owner, base) == places
    with Case.open(folder) as case, case.store.step("test"):
        case.store.set_state("proposals", rows)
    [left] = re.findall(r'action="([^"]+/reject)"', owner.get(f"{base}/merges").text)
    sent(owner, left, why="no")
    assert "No possible duplicates to review." in owner.get(f"{base}/merges").text
    assert owner.post(left, data={}).status_code == 404
    page = owner.get(f"{base}/merges").text
    apart = page.partition('<h2 id="apart">2 pairs kept separate</h2>')[2]
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


def test_reasons_of_a_merge_are_in_the_language_of_the_reader(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """A proposal of the resolver is explained in French, before and after it was accepted."""
    base, folder = copied
    ids = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    why = reasons.sentence([reasons.same_first_name("ann"), reasons.FAMILIES_TOGETHER])
    proposal = MergeProposal((ids["Ann Pell"], ids["Clara Holt"]), 0.8, (), why, reasons.sentence([SIBLINGS]), "review")
    with Case.open(folder) as case, case.store.step("test"):
        case.store.set_state("proposals", [proposal.record()])
    french = {"accept-language": "fr"}
    for decision in ("accept", ""):
        page = " ".join(re.sub(r"<[^>]+>", "", owner.get(f"{base}/merges", headers=french).text).split())
        assert "Le même prénom « Ann » ; leurs familles ont vécu à la même époque." in page
        assert "Ce sont peut-être des frères et sœurs." in page
        if decision:
            [waiting] = re.findall(r'action="([^"]+)/accept"', owner.get(f"{base}/merges").text)
            sent(owner, f"{waiting}/accept")


def test_a_decision_without_a_reason_shows_no_reason(owner: httpx2.Client, copied: tuple[str, Path]) -> None:
    """If the owner gave no reason for a merge or a separation, no text of ours replaces it."""
    base, folder = copied
    ids = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    values: dict[str, Any] = {"similarity_score": 0.8, "merge_rationale": "Alike.", "why_not_merge": "Far apart."}
    pairs = [("Ann Pell", "Clara Holt"), ("Josiah Wendover", "Ralph Wendover")]
    rows = [{**values, "candidate_pair": [ids[a], ids[b]], "recommended_action": "review"} for a, b in pairs]
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
    assert "(set by hand: <bdi>a letter of 1999</bdi>)" in owner.get(place).text
    sent(owner, f"{place}/living", status="deceased", why="<b>une lettre</b>")
    page = owner.get(place, headers={"Accept-Language": "fr"}).text
    assert "(indiqué à la main\u00a0: <bdi>&lt;b&gt;une lettre&lt;/b&gt;</bdi>)" in page
    assert owner.post(f"{place}/living", data={"status": "asleep", "why": "x"}).status_code == 422
    for on, words in (("yes", "Turn off"), ("", "Turn on")):
        sent(owner, f"{base}/sources/wikidata", on=on)
        page = owner.get(f"{base}/sources").text
        assert words in page.partition("Wikidata")[2].partition("</li>")[0]
    assert owner.post(f"{base}/sources/nothing", data={"on": "yes"}).status_code == 404


def test_relations_are_found_for_those_who_are_shown(
    there: Families, owner: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a family of thousands the way to far relatives takes long: a page looks for its own rows, a log for none."""
    asked: list[str] = []
    result = KinshipFinder.describe

    def words(family: KinshipFinder, first: str, second: str) -> str:
        asked.append(second)
        return result(family, first, second)

    monkeypatch.setattr(KinshipFinder, "describe", words)
    found = owner.get(f"/api/family/{there.done}/people", params={"limit": 2, "offset": 3}).json()
    assert owner.get(f"/family/{there.done}/log").status_code == 200
    assert asked == [one["id"] for one in found["people"]]
    assert found["total"] > len(asked) == 2


def test_lists_of_a_case(there: Families, owner: httpx2.Client) -> None:
    """Relations, events, searches, evidence and the proof are pages; people are found by a part of the name."""
    base = f"/family/{there.done}"
    ids = {name: place.rpartition("/")[2] for name, place in people(owner, base).items()}
    chosen = re.findall(r'<option value="([^"]+)" selected', owner.get(f"{base}/relation").text)
    assert len(chosen) == 1, "the first person is the first of the list, the second another one"
    kin = owner.get(f"{base}/relation", params={"first": ids[SEED], "second": ids["Ann Pell"]})
    assert "<b>mother</b>" in kin.text
    assert "grandparents" not in kin.text
    found = owner.get(f"{base}/people", params={"q": "holt"}).text
    assert ("Clara Holt" in found, "Ann Pell" in found) == (True, False)
    assert "Everything checks out." in owner.get(f"{base}/audit", params={"check": "1"}).text
    only = owner.get(f"{base}/evidence", params={"person": ids["Ann Pell"], "field": "birth_place"}).text
    assert ("Elmsworth" in only, "2 April 1890" in only) == (True, False)
    assert owner.get(f"{base}/evidence", params={"field": "shoe size"}).status_code == 400
    assert "naissance" in owner.get(f"{base}/timeline", headers={"Accept-Language": "fr"}).text
    log = owner.get(f"{base}/log").text
    assert SEED in log or "Wendover" in log


def test_ages_and_lives_are_written_in_the_readers_language(
    owner: httpx2.Client, copied: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How old somebody was at least, and why somebody counts as living."""
    base, _ = copied
    place = people(owner, base)[LIVING[0]]
    shown = [owner.get(place, headers={"Accept-Language": one}).text for one in ("en", "fr")]
    assert "(probably born 122 years ago or less, judging by the date of birth)" in shown[0]
    assert "(naissance probable il y a 122 ans ou moins, d’après la date de naissance)" in shown[1]
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


def test_a_case_continues_as_a_job(there: Families, owner: httpx2.Client) -> None:
    """The form leads to the job's own page, and that to the family when it is done; a second job is refused."""
    before = owner.get(f"/api/family/{there.started}").json()["steps"]
    place = sent(owner, f"/family/{there.started}/run", extent="some", steps="1")
    assert re.fullmatch(r"/research/[\w-]+", place)
    assert ended(owner, place) == f"/family/{there.started}"
    assert owner.get(f"/api/family/{there.started}").json()["steps"] == before + 1
    with locked_folder(CaseRegistry(there.folder).folder(there.started)):
        taken = owner.post(f"/family/{there.started}/run", data={"extent": "all", "steps": "10"})
    assert taken.status_code == 409
    assert f'href="/family/{there.started}"' in taken.text


def test_a_family_file_comes_in_by_a_form(there: Families, owner: httpx2.Client) -> None:
    """A GEDCOM file of the form begins a case; what is none is refused with what to do, and nothing is left of it."""
    before = sorted(there.folder.iterdir())
    for files, entry in (
        ({"file": ("x.ged", b"MZ\x90\0" * 99)}, "This is not a GEDCOM file"),
        ({"file": ("", b"")}, "No file was chosen"),
        ({"file": ("x.ged", b"")}, "is empty"),
        ({"other": ("x.ged", GEDCOM)}, "No file was chosen"),
    ):
        reply = owner.post("/family/import", files=files)
        assert (reply.status_code, entry in reply.text) == (400, True), reply.text
    assert sorted(there.folder.iterdir()) == before
    reply = owner.post("/family/import", files={"file": ("../marlow.ged", GEDCOM)})
    assert reply.status_code == 303, reply.text
    job = reply.headers["location"]
    with owner.stream("GET", f"/api{job}/events", headers={"Accept": "text/event-stream"}) as stream:
        assert list(stream_events(stream.iter_lines()))[-1].name == "done"
    base = f"/family/{case_id_of(there.folder / 'marlow')}"
    assert set(people(owner, base)) == {"Ida Marlow", "Otto Marlow"}
    report = owner.get(f"{base}/import").text
    assert "marlow.ged" in report
    assert "<code>INDI.RESI</code></td><td>1</td><td>8</td>" in report
    assert "Nothing was left out." in report
    shutil.rmtree(there.folder / "marlow")


def test_a_case_that_cannot_be_read(there: Families, owner: httpx2.Client) -> None:
    """It is listed with what is wrong, and its own page is an error that leads back."""
    folder = there.folder / "broken"
    folder.mkdir()
    (folder / CASE_FILE).write_bytes(b"no database at all, but long enough to look at" * 100)
    listed, page = owner.get("/family"), owner.get(f"/family/{case_id_of(folder)}")
    shutil.rmtree(folder)
    assert (listed.status_code, page.status_code) == (200, 500)
    assert "is not a case" in listed.text
    assert 'href="/family"' in page.text
    assert str(there.place) not in listed.text + page.text


def test_problems_lead_back_to_the_family(there: Families, owner: httpx2.Client, anybody: httpx2.Client) -> None:
    """They are shown like all problems, in the reader's language, with a next step; nothing refers to an API."""
    base = f"/family/{there.done}"
    gone = owner.get(f"{base}/people/nobody", headers={"Accept-Language": "fr"})
    assert (gone.status_code, "Repartez de la liste des familles." in gone.text) == (404, True)
    assert '<li><a href="/family">Toutes les familles</a>' in gone.text
    refused = anybody.post(f"{base}/sources/wikidata", data={"on": "yes"})
    assert (refused.status_code, 'href="/settings#group-family"' in refused.text) == (403, True)
    assert f'<li><a href="{base}">' in refused.text
    missing = owner.get("/family/0123456789ab/tree")
    assert (missing.status_code, "/api" in missing.text.partition("<main")[2].partition("</main")[0]) == (404, False)


def test_a_living_persons_name_is_not_the_title_of_a_case(
    there: Families, owner: httpx2.Client, anybody: httpx2.Client
) -> None:
    """A first name alone, or a nickname, starts a case too; only the owner reads it, in pages and in files."""
    job = sent(owner, "/family", name="Nora")
    base = ended(owner, job)
    pages = [
        "/",
        "/research",
        "/family",
        f"{job}/news",
        base,
        f"{base}/tree",
        f"{base}/file?form=html",
        f"{base}/file?form=markdown",
        f"/api{base}",
    ]
    values = {page: anybody.get(page).text for page in pages}
    mine = owner.get(f"/api{base}").json()["title"]
    shutil.rmtree(there.folder / "nora")
    assert [page for page, text in values.items() if "Nora" in text] == []
    assert 'class="person root kept"' in values[f"{base}/tree"], "the tree begins with her, whoever she is"
    assert mine == "Nora"


def leaked(there: Families, case_name: str, content: bytes) -> list[object]:
    """What a text shows of people who may be living, as far as the case knows."""
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
                overrides=case.store.living_overrides,
            ),
        ]


def test_no_page_shows_the_living(there: Families, anybody: httpx2.Client) -> None:
    """Only the owner sees on a page, in a picture or in an error who may be living (R435)."""
    pages = crawled(anybody)
    for case in (there.done, there.started):
        base = f"/family/{case}"
        asked = ("tree?of=descendants&generations=0", "people?q=nora", "audit?check=1", "file?form=html", "people/x")
        pages |= {f"{base}/{one}": anybody.get(f"{base}/{one}") for one in asked}
    assert len(pages) > 50
    assert "Family of A person who may be living" in pages[f"/family/{there.started}"].text
    # The request is repeated in the answer; the rest of the answer has nothing of it.
    whole = {address: page.text.replace("nora", "").encode() for address, page in pages.items()}
    for case, other in ((there.done, there.started), (there.started, there.done)):
        # Who is known to be dead in one case may be known too little in the other.
        of_case = {address: text for address, text in whole.items() if not address.startswith(f"/family/{other}")}
        if leaked(there, case, b"\n".join(of_case.values())):
            assert {address: wrong for address, text in of_case.items() if (wrong := leaked(there, case, text))} == {}


def test_only_the_owner_decides(there: Families, anybody: httpx2.Client) -> None:
    """Others see why there are no buttons and where to turn them on; a form that is sent all the same is refused."""
    base = f"/family/{there.done}"
    for address in ("/family", f"{base}/merges", f"{base}/sources", f"{base}/import"):
        page = anybody.get(address)
        back = quote(address, safe="")
        assert f'<a href="/settings?next={back}#group-family">Turn it on in Settings</a>' in page.text
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

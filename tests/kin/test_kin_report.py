"""The family report: everything that is known with its proof, what was looked for in vain, and no markup but ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.kin.families import Making, vale_family

from kiwiresearch.kin.conflict import CompetingValue, Conflict
from kiwiresearch.kin.conflict import ValueRank as Place
from kiwiresearch.kin.report.proof import support_for
from kiwiresearch.kin.report.report import family_document, family_markdown, family_page, style
from kiwiresearch.kin.report.report_input import (
    MergeEntry,
    ReportInput,
    SearchEntry,
    ShownConflict,
    ShownValue,
    Stop,
    shown_conflict,
)
from kiwiresearch.kin.tree import Person, Tree
from kiwiresearch.messages.message import Message

VOID = frozenset({"meta", "br", "hr", "img", "link", "input"})
HOSTILE = [
    "</style></script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='x",
    "[x](javascript:alert(1)) | a | b",
    "# no heading\n- no list\n> no quote",
    "<!-- no comment --> &lt;b&gt; &#60;",
    "\u202eabc\u2066 \x00\x1b[31m\ufeff",
    "javascript:alert(1)",
    "https://evil.example/a www.evil.example",
    "#person-1 \ud800 half",
]


class Markup(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")


def checked(text: str) -> Markup:
    """The markup of a page that must be whole: balanced, no id twice, every link inside leads somewhere."""
    found = Markup(text)
    assert found.problems == []
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    return found


def written(case: ReportInput) -> tuple[str, str]:
    document = family_document(case)
    return family_markdown(document), family_page(document)


def hostile(case: ReportInput, bad: str) -> ReportInput:
    """The case with the same bad words everywhere words can be."""
    tree = case.tree
    persons = {one: replace(person, name=bad, names=(bad, bad + "2")) for one, person in tree.persons.items()}
    sources = {one: replace(source, name=bad, title=bad, url=bad) for one, source in tree.sources.items()}

    def spoiled(evidence: tuple) -> tuple:  # type: ignore[type-arg]
        return tuple(replace(one, snippet=bad, locator=bad, rationale=bad) for one in evidence)

    facts = tuple(
        replace(fact, value=fact.value if fact.when else bad, evidence=spoiled(fact.evidence)) for fact in tree.facts
    )
    ties = tuple(replace(tie, evidence=spoiled(tie.evidence)) for tie in tree.relationships)
    conflicts = tuple(
        replace(one, rationale=bad, next_actions=(bad,), ranking=tuple(replace(r, reason=bad) for r in one.ranking))
        for one in case.conflicts
    )
    return replace(
        case,
        tree=Tree(persons, ties, facts, sources),
        title=bad,
        conflicts=conflicts,
        merges=(MergeEntry("P1", (bad,), bad, bad, 0.5, bad),),
        searches=(SearchEntry(bad, bad, negative=True),),
        stop=Stop(bad, bad),
        kinship=dict.fromkeys(persons, bad),
        privacy=bad,
    )


def test_the_report_has_all_its_parts() -> None:
    """Summary, pictures, people, timeline, conflicts, merges, log, sources and stop reason are there."""
    text, html = written(vale_family())
    parts = ["Summary", "Ancestors", "Descendants", "People", "Family timeline", "Conflicts"]
    parts += ["Merged records", "Research log", "Sources", "How the research ended"]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == parts
    assert [re.sub("<.*?>", "", found) for found in re.findall(r"<h2.*?</h2>", html)] == parts
    assert text.startswith("# The family of Edmund Vale\n")
    assert "After 12 steps." in text
    assert "After 12 steps." in html


def test_each_fact_has_its_proof() -> None:
    """A fact shows its value, how well it is proved, its sources, their words and the class of the evidence."""
    text, html = written(vale_family())
    line = next(line for line in text.splitlines() if "“Edmund son of Josiah Vale, born 3d March 1801”" in line)
    assert "— Baptisms 1790–1812, at “folio 12”, source 3 (" in line
    assert "3. [Baptisms 1790–1812](zim://book/S3): Register of Thornby, tier 0, original source, official" in text
    assert '<a href="#source-3">source 3</a>' in html
    assert "original source, primary information, direct evidence; read from another source" in line
    assert "- **Father**: Josiah Vale (*proved*)" in text
    assert "- **Occupation**: clockmaker (*one source*)" in text
    assert '<span class="badge good">proved</span>' in html
    assert "“Edmund son of Josiah Vale, born 3d March 1801”" in html


def test_competing_values_are_side_by_side() -> None:
    """Both values of a conflict are shown with their sources, which is preferred and why, and what would settle it."""
    text, html = written(vale_family())
    assert "- **Born**: 3 March 1801 (*sources disagree*)" in text
    assert "*Why this value:* The register was written within days of the birth." in text
    assert "*Another value:* 4 March 1802, kept as an alternative (Vale, Edmund, at “introduction”, source 2)" in text
    assert "| 3 March 1801 | Birth | Edmund Vale | Thornby |" in text
    assert "sources disagree, high confidence" in text
    conflicts = text.split("## Conflicts")[1].split("## Records")[0]
    assert "| 3 March 1801 |" in conflicts
    assert "most likely | an original record made at the time |" in conflicts
    assert "| 4 March 1802 |" in conflicts
    assert "Look for the census of 1851 in Thornby." in conflicts
    assert "<details open><summary><strong>Born</strong>" in html


def test_a_search_that_found_nothing_is_not_evidence() -> None:
    """The log lists what was not found, and says that this proves nothing."""
    text, html = written(vale_family())
    assert "| Barnaby Crook birth | A Small Encyclopaedia | no results | 0 |" in text
    for shown in (text, html):
        assert "Finding nothing does not prove that there is nothing" in shown


def test_a_merge_says_why_perhaps_not() -> None:
    """Each merge is shown with what speaks for it and what speaks against it."""
    text, _ = written(vale_family())
    assert "*For:* same wife and same trade" in text
    assert "*Against:* the birth years differ by one" in text


def test_a_conflict_of_the_analyst_is_shown_in_its_order() -> None:
    """The ranking of the conflict analyst is the order of the rows, and a parent may be a side of it."""
    competing = (
        CompetingValue("b", ("R2",), ("S1",), 0, "authored", 0.4, (3,)),
        CompetingValue("a", ("R1", "gone"), ("S1",), 0, "primary", 0.8, (1,)),
    )
    ranking = (Place(0, 2, "copied"), Place(1, 1, "original"))
    why, look = Message("so it is"), Message("look")
    found = shown_conflict(Conflict("c", "P1", "parent", competing, ranking, 1, why, 0.8, "tentative", (look,)))
    assert found == ShownConflict(
        "P1",
        "parent",
        (ShownValue(("R1", "gone"), "original"), ShownValue(("R2",), "copied")),
        "R1",
        "so it is",
        "tentative",
        ("look",),
    )
    text, _ = written(replace(vale_family(), conflicts=(found,)))
    conflicts = text.split("## Conflicts")[1]
    assert conflicts.index("| Josiah Vale |") < conflicts.index("| Ruth Orchard |")


@pytest.mark.parametrize(
    ("groups", "form", "information", "status", "expected"),
    [
        (("a", "b"), "original", "primary", "verified", "proved"),
        (("a", "a"), "original", "primary", "verified", "several sources with the same origin"),
        (("a",), "original", "primary", "verified", "one source"),
        (("a", "b"), "authored", "primary", "verified", "2 independent sources"),
        (("a", "b"), "original", "secondary", "verified", "2 independent sources"),
        (("a", "b"), "original", "primary", "unverified", "2 independent sources, not verified"),
        (("a", "b"), "original", "primary", "disputed", "competing"),
        (("a", "b"), "original", "primary", "hypothesis", "hypothesis, not a fact"),
        ((), "original", "primary", "verified", "no evidence to show"),
    ],
)
def test_proved_needs_independent_sources(
    groups: tuple[str, ...], form: str, information: str, status: str, expected: str
) -> None:
    """Proved needs two independent origins, an original record and primary information; copies count once."""
    make = Making()
    sources = [make.source(f"N{n}", origin_group=group, form=form) for n, group in enumerate(groups)]
    evidence = [make.evidence(one, "words", information=information) for one in sources]
    assert support_for(make.tree(), status, evidence).words == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", HOSTILE)
def test_words_of_sources_never_become_markup(bad: str) -> None:
    """Names, quotes, titles, addresses and reasons of any content leave the page whole and without script."""
    plain = checked(written(vale_family())[1])
    text, html = written(hostile(vale_family(), bad))
    found = checked(html)
    assert set(found.tags) <= set(plain.tags) | {"a"}
    assert found.attributes <= plain.attributes | {"href"}
    assert all(urlsplit(link).scheme in ("", "https", "zim") for link in found.links)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text + html)
    assert (text + html).encode("utf-8")
    assert "<script" not in html.lower()
    assert "<script" not in text.replace("\\<", "")
    heading = re.compile(r"^#+ ", re.MULTILINE)
    assert len(heading.findall(text)) == len(heading.findall(written(vale_family())[0]))
    assert not re.search(r"(?<!\\)\]\(javascript", text)


def test_the_page_needs_nothing_else() -> None:
    """The page has no script and loads nothing; it has a dark side, a small one, and one for paper."""
    html = written(vale_family())[1]
    found = checked(html)
    assert not {"script", "link", "img", "iframe", "object"} & set(found.tags)
    assert "default-src 'none'" in html
    assert "url(" not in style()
    assert "@import" not in style()
    for media in ("prefers-color-scheme: dark", "max-width: 34rem", "@media print"):
        assert media in style()
    assert '<html lang="en">' in html
    assert "<bdi>רבקה לוי</bdi>" in html


def test_a_case_without_people_has_a_report() -> None:
    """An empty case, or a seed that is not in the tree, gives a complete report."""
    for seeds in ((), ("nobody",)):
        text, html = written(ReportInput(Making().tree(), seeds))
        checked(html)
        assert "No people have been found yet." in text
        assert "The research is not finished." in text


def test_living_people_are_shown_as_they_come() -> None:
    """What privacy has left out stays out: a living person has a name that says so, and nothing is added to it."""
    tree = Tree({"living-1": Person("living-1", "Living", living="living")})
    text, html = written(ReportInput(tree, ("living-1",), privacy="1 living person is not shown."))
    checked(html)
    assert "May be living, so little or nothing is shown." in text
    assert "1 living person is not shown." in text


def test_ties_and_facts_of_people_who_are_left_out_do_no_harm() -> None:
    """A tree from which people were removed may have ties and facts that lead to them: the report is complete."""
    case = vale_family()
    kept = {one: person for one, person in case.tree.persons.items() if one not in ("P2", "P5", "P8")}
    tree = Tree(kept, case.tree.relationships, case.tree.facts, {})
    text, html = written(replace(case, tree=tree))
    checked(html)
    assert "Miriam Ashdown" not in re.sub(r"“.*?”", "", text)


def test_a_relative_is_shown_once() -> None:
    """A fact that names a father who is a person of the tree is shown with that tie, its quote included."""
    make = Making()
    child, father, source = make.person("Ann Lee"), make.person("Bob Lee", "male"), make.source("A")
    make.tie("parent_of", father, child)
    make.fact(child, "father", "Bob Lee", make.evidence(source, "daughter of Bob Lee"))
    make.fact(child, "mother", "Cora Day", make.evidence(source, "and Cora Day"))
    text, _ = written(ReportInput(make.tree(), (child,)))
    section = text.split("### Ann Lee")[1].split("###")[0]
    assert section.count("**Father**: Bob Lee") == 1
    assert "“daughter of Bob Lee”" in section
    assert "**Mother**: Cora Day (*one source*)" in section


def test_a_tie_has_its_proof_once() -> None:
    """The quotes of both pages are with the person who comes first; the other one links there."""
    make = Making()
    child, father = make.person("Ann Lee", "female"), make.person("Bob Lee", "male")
    own, his = make.source("A", title="Ann"), make.source("A", title="Bob")
    make.tie("parent_of", father, child, make.evidence(own, "daughter of Bob Lee"))
    make.fact(father, "child", "Ann Lee", make.evidence(his, "his girl Ann Lee"))
    text, html = written(ReportInput(make.tree(), (child,), kinship={father: "father"}))
    first, second = text.split("### Ann Lee")[1].split("### Bob Lee")
    for quote in ("“daughter of Bob Lee”", "“his girl Ann Lee”"):
        assert quote in first
        assert text.count(quote) == 1
    assert "- **Daughter**: Ann Lee (*2 independent sources*)\n" in second
    assert second.split("##")[0].strip().splitlines()[0] == "father of Ann Lee"
    checked(html)


def test_the_same_words_are_quoted_once() -> None:
    """Evidence of the same place with the same words is one quote, and a class that all quotes share is above them."""
    make = Making()
    one, source = make.person("Ann Lee"), make.source("A")
    quotes = [make.evidence(source, words, rationale=why) for words, why in (("born 1801", "a"), ("B. 1801", "b"))]
    again = replace(quotes[0], id="again", rationale="c")
    make.fact(one, "birth_date", "1801", *quotes, again)
    text, _ = written(ReportInput(make.tree(), (one,)))
    assert text.count("“born 1801”") == 1
    assert text.count("authored source, undetermined information, direct evidence") == 1
    assert "*Missing or disputed:* death and parents not found." in text


def test_children_are_with_their_parents_in_the_order_of_the_source() -> None:
    """If births are not known, the source's list is the order; of several wives each has her children."""
    make = Making()
    man, source = make.person("Abe Lee", "male"), make.source("A")
    names = ("Zoe Lee", "Bob Lee", "Amy Lee")
    wives = [make.person(name, "female") for name in ("Eve Day", "Joy Day")]
    children = [make.person(name) for name in names]
    for at, wife in enumerate(wives):
        make.tie("spouse_of", man, wife, start=str(1800 + 10 * at))
    for at, child in enumerate(children):
        make.tie("parent_of", man, child, make.evidence(source, names[at], start=at * 10))
        make.tie("parent_of", wives[at // 2], child)
    text, _ = written(ReportInput(make.tree(), (man,)))
    listed = text.split("## Descendants")[1].split("## People")[0].split()
    expected = "- Abe Lee - ⚭ Eve Day (m. 1800) - Zoe Lee - Bob Lee - ⚭ Joy Day (m. 1810) - Amy Lee"
    assert listed == expected.split()


def test_the_same_case_gives_the_same_bytes() -> None:
    """Neither the order of a mapping nor the seed of hashes changes a byte."""
    code = (
        "import hashlib\nfrom tests.kin.families import vale_family\n"
        "from kiwiresearch.kin.report.report import family_document, family_markdown, family_page\n"
        "d = family_document(vale_family())\n"
        "print(hashlib.sha256((family_markdown(d) + family_page(d)).encode()).hexdigest())"
    )
    root = Path(__file__).parent.parent.parent
    seen = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        seen.add(ran.stdout)
    assert len(seen) == 1

"""A page about a person is read to values, each with the words that say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwiresearch.ids import BookId
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page, read_page
from kiwiresearch.zim.archive import Entry, EntryRef
from kiwiresearch.zim.libzim import LibzimArchive

LEAD = "<p><b>John Carter</b> (1 May 1801 – 3 June 1870) was an English miller. He owned two mills.</p>"
QUEEN = "<p><b>Anna I</b> (1 May 1801 – 3 June 1870) was queen of Dorn. She was crowned when she was ten.</p>"


def page_of(html: str, title: str = "John Carter") -> PageDoc:
    entry = Entry(EntryRef(BookId("book"), title.replace(" ", "_")), title, "text/html", html.encode())
    return read_page(entry)


def read(html: str, title: str = "John Carter") -> PersonReading:
    return read_person(page_of(html, title))


def values(person: PersonReading, *fields: str) -> list[tuple[str, str]]:
    return [(fact.field, fact.value) for fact in person.facts if fact.field in fields]


def box(*rows: tuple[str, str]) -> str:
    cells = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows)
    return f'<table class="infobox vcard">{cells}</table>'


def test_a_box_gives_dates_places_and_relatives() -> None:
    """Rows of a box become values, the place apart from the date."""
    rows = (
        ("Born", "24 May 1819<br>Dorn Palace, Dorn"),
        ("Died", "22 January 1901 (aged 81)<br>Aue"),
        ("Father", "Otto II"),
    )
    person = read(box(*rows) + LEAD)
    found = [fact for fact in person.facts if fact.method == "infobox"]
    assert [(fact.field, fact.value) for fact in found] == [
        ("birth_date", "1819-05-24"),
        ("birth_place", "Dorn Palace, Dorn"),
        ("death_date", "1901-01-22"),
        ("death_place", "Aue"),
        ("father", "Otto II"),
    ]
    assert found[-1].snippet.words == "Father\tOtto II"


ROWS = [
    ("Children", "12", []),
    ("Children", "3, including Paris", []),
    ("Issue", "Died without posterity", []),
    ("Issue", "Edward, the Black Prince", ["Edward, the Black Prince"]),
    ("Issue", "Clara, Helen, Otto II and Igor", ["Clara", "Helen", "Otto II", "Igor"]),
    ("Issue", "Lionel of Aue (1338–1368)<br>Thomas of Dorn<br>(1355–1397)", ["Lionel of Aue", "Thomas of Dorn"]),
    ("Issue", "William Long, 3rd Earl of<br>Dorn<br>Otto", ["William Long", "Otto"]),
    ("Children", "Jochi, son<br>Clara, daughter<br>Others", ["Jochi", "Clara"]),
]


@pytest.mark.parametrize(("label", "value", "names"), ROWS)
def test_children_of_a_box_are_single_persons(label: str, value: str, names: list[str]) -> None:
    """A number is not a child, a title after a comma is not a second one, and a name over two lines is one."""
    person = read(box((label, value)) + LEAD)
    assert [fact.value for fact in person.facts if fact.field == "child"] == names


def test_a_spouse_has_the_dates_of_the_marriage() -> None:
    """The begin and end of a marriage, and a divorce, are read from the note behind a name."""
    person = read(box(("Spouses", "Jane Wood (m. 1940; div. 1948)<br>Ruth Davis (m. 1952)")) + LEAD)
    found = [fact for fact in person.facts if fact.field == "spouse"]
    rows = [(one.value, one.when and one.when.edtf(), one.until and one.until.edtf(), one.qualifier) for one in found]
    assert rows == [("Jane Wood", "1940", "1948", "divorced"), ("Ruth Davis", "1952", None, "")]


def test_life_dates_of_a_consort_are_not_those_of_the_marriage() -> None:
    """Years in brackets without a word for a wedding say nothing about it."""
    person = read(box(("Consort", "Isabella of Aue (c. 1295–1358)")) + LEAD)
    assert [(f.value, f.when) for f in person.facts if f.field == "spouse"] == [("Isabella of Aue", None)]


def test_parents_are_distinguished_by_their_notes() -> None:
    """'(father)' behind a name says which parent it is."""
    person = read(box(("Parents", "Max Carter (father)<br>Eve Stone (mother)<br>Kim Hay")) + LEAD)
    assert values(person, "father", "mother", "parent") == [
        ("father", "Max Carter"),
        ("mother", "Eve Stone"),
        ("parent", "Kim Hay"),
    ]


def test_baptism_is_not_birth() -> None:
    """A date of baptism, in the lead or in a box, is never taken for one of birth."""
    person = read(
        box(("Born", "14 May 1727 (baptised)"))
        + "<p><b>John Carter</b> (baptised 14 May 1727 – 2 August 1788) was a painter. He drew his wife.</p>"
    )
    assert values(person, "birth_date") == []
    assert {value for _, value in values(person, "baptism_date")} == {"1727-05-14"}


BRACKETS = [
    ("(24 May 1819 – 22 January 1901)", "1819-05-24", "1901-01-22"),
    ("(born 6 July 1946)", "1946-07-06", ""),
    ("(c. 849 – 26 October 899)", "0849~", "0899-10-26"),
    ("(384–322 BC)", "-0383", "-0321"),
    ("(reigned 1819–1901)", "", ""),
    ("(Old Dornish: Jon; 24 May 1819 – 22 January 1901)", "1819-05-24", "1901-01-22"),
    ("(born 1833 or 1834, died 5 May 1907)", "[1833..1834]", "1907-05-05"),
    ("(died 5 May 1907)", "", "1907-05-05"),
]


@pytest.mark.parametrize(("bracket", "born", "died"), BRACKETS)
def test_brackets_behind_the_name_give_the_life(bracket: str, born: str, died: str) -> None:
    """The lead's brackets give birth and death; a reign is neither."""
    person = read(f"<p><b>John Carter</b> {bracket} was an English king. He lost his crown, and he lost his life.</p>")
    assert person.is_person
    result = dict(values(person, "birth_date", "death_date"))
    assert (result.get("birth_date", ""), result.get("death_date", "")) == (born, died)


PROSE = [
    ("He was the son of Max Carter and Eve Stone.", [("father", "Max Carter"), ("mother", "Eve Stone")]),
    (
        "Carter was the second son of Max Carter (1770–1820), a miller, and his wife Eve.",
        [("father", "Max Carter"), ("mother", "Eve")],
    ),
    ("Carter was born in Aue, Dorn to Max and Eve Carter.", [("father", "Max"), ("mother", "Eve Carter")]),
    (
        "His father was Max Carter, a miller, and his mother was Eve Stone.",
        [("father", "Max Carter"), ("mother", "Eve Stone")],
    ),
    ("In 1825, he married Ruth Hay, daughter of Thomas Hay.", [("spouse", "Ruth Hay")]),
    ("He married Thomas Hay's daughter Ruth in 1825.", [("spouse", "Ruth")]),
    ("Carter married the actress Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter never married.", []),
    ("Thomas Hay was the son of Robert Hay.", []),
    ("Carter met Thomas, son of Robert Hay.", []),
    ("She was the daughter of Robert Hay.", []),
    ("Carter had two daughters, Ann and Ruth.", [("child", "Ann"), ("child", "Ruth")]),
    ("He was succeeded by his son Max Carter.", [("child", "Max Carter")]),
    ("His half-brother Ned was a smith.", [("sibling", "Ned")]),
    ("His brother-in-law Ned was a smith.", []),
    ("His mother was American.", []),
    ("His parents moved from Dorn to Texas.", []),
    ("His grandfather Max was a smith.", []),
    ("He served both the king and his consort, Anne of Denmark.", []),
    ("On the death of his father, Robert, in 1824, the squire, Thomas Hay, was friendly with Carter.", []),
    ("With his brother Ned Carter he built a mill.", [("sibling", "Ned Carter")]),
    ("He married his second cousin from Arnau, Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("He married the author and politician Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("His father was half Fanti; his mother was Fanti.", []),
    ("Carter, a descendant of the miller Otto Hay, was the third son of Max Carter.", [("father", "Max Carter")]),
    ("Carter and the son of Robert Hay were friends.", []),
    ("He had seen the painter John Carter, son of Max Hay.", []),
    ("He met his grandson John Carter, son of Max Hay.", []),
    ("Carter was born in Aue and moved to Cleve.", []),
    ("Carter was born in Aue to the actor Max Carter and socialite Eve Stone.",
     [("father", "Max Carter"), ("mother", "Eve Stone")]),
    ("Carter's mother, the former Eve Stone, was a cook.", [("mother", "Eve Stone")]),
    ("His mother, who came from Dorn, is the actress Eve Stone.", [("mother", "Eve Stone")]),
    ("His brother Ulmar sent a letter.", [("sibling", "Ulmar")]),
    ("Eve Stone, Carter's mother, was a cook.", [("mother", "Eve Stone")]),
    ("Meanwhile, his wife, Ruth Hay, was a cook.", [("spouse", "Ruth Hay")]),
    ("Carter had an elder brother, Ned, and a younger sister, Ruth.", [("sibling", "Ned"), ("sibling", "Ruth")]),
    ("Carter had two adopted sons, John Carter Jr., the son of Ann's brother Tom Hay.",
     [("child", "John Carter Jr.")]),
    ("Although he had ten children by Mrs Hay, Aue had none.", []),
    ("Next to his parents, Admiral Hay taught him most.", []),
    ("He became a surrogate son to Sam Hay.", []),
    ("Robert Hay was a smith. He invited Carter to teach his daughter, Ruth.", []),
    ("Carter learned it from Robert Hay. He, in turn, had it from his mother Eve.", []),
    ("His father was a smith. His wife, Ruth Hay, was a cook.", []),
    ("His father was a smith. His mother, Eve Stone, was a cook.", [("mother", "Eve Stone")]),
    ("His mother was a cook. He married Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Her father was Max Hay.", []),
    ("He was helped by his uncles John and Thomas Hay, sons of Otto Hay.", []),
    ("He gained the support of Thomas, Duke of Aue, brother of Robert Hay.", []),
    ("Carter was one of five sons of Max Carter.", [("father", "Max Carter")]),
    ("Carter left his wife in 1824 and married his cousin Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter left Aue, where Robert Hay lived, and married Ruth.", []),
    ("Carter married a wealthy widow, Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter married his pupil's sister, Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter improved his lot by marrying Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("On 2 April 1825, he married Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("He fled to Aue, to king Otto, whose daughter Ruth he married.", [("spouse", "Ruth")]),
    ("Carter and Ruth Hay married in 1825.", [("spouse", "Ruth Hay")]),
    ("Carter and Robert Hay married sisters.", []),
    ("In 1825, Ruth Hay married Carter.", [("spouse", "Ruth Hay")]),
    ("The bishop's sister Ruth Hay married Carter's brother.", []),
    ("Ruth Hay became Carter's wife.", [("spouse", "Ruth Hay")]),
    ("Ruth Hay, Carter's widow (and a painter herself), lived in Aue.", [("spouse", "Ruth Hay")]),
    ("Carter met Ruth Hay in 1824, and they were married in Aue.", [("spouse", "Ruth Hay")]),
    ("Carter met Ruth Hay in 1824. They married in 1825.", [("spouse", "Ruth Hay")]),
    ("Carter met Ruth Hay in 1824. She was a cook. They married in 1825.", [("spouse", "Ruth Hay")]),
    ("Carter met Ruth Hay in 1824. They quarrelled in 1825.", []),
    ("Carter and wife Ruth bought a mill.", [("spouse", "Ruth")]),
    ("He lies in his wife Ruth's village.", [("spouse", "Ruth")]),
    ("Carter sent his brother Kant's works.", []),
    ("Mrs. Carter's brother Ned was a smith.", []),
    ("Otto ruled Dorn, and Carter was an adviser to his son Max Dorn.", []),
    ("Carter married Ruth Hay in 1825 and had two sons, Max and John.",
     [("spouse", "Ruth Hay"), ("child", "Max"), ("child", "John")]),
    ("Carter married Ruth Hay. Over the next ten years the couple would have two sons: Max and Ned.",
     [("spouse", "Ruth Hay"), ("child", "Max"), ("child", "Ned")]),
    ("Carter married Ruth Hay. A year later, their son Max was born.", [("spouse", "Ruth Hay"), ("child", "Max")]),
    ("Carter married Ruth Hay. His parents were fond of their son Ned.", [("spouse", "Ruth Hay")]),
    ("Carter and Ruth's first son, Max Carter, was born in 1826. Their second son, Ned, was born in 1828.",
     [("child", "Max Carter"), ("child", "Ned")]),
    ("Carter had two children who lived to adulthood, Max and Ned.", [("child", "Max"), ("child", "Ned")]),
    ("Carter had nine children in all, born from 1820 to 1835, including Max Carter.", [("child", "Max Carter")]),
    ("Carter had two adopted children, a daughter, Ann, and a son, Max.", [("child", "Ann"), ("child", "Max")]),
    ("His wife bore him two sons, Max and Ned.", [("child", "Max"), ("child", "Ned")]),
    ("Carter married Ruth Hay. Ruth gave birth to two sons, Max and Ned.",
     [("spouse", "Ruth Hay"), ("child", "Max"), ("child", "Ned")]),
    ("Carter hired Ruth Hay. Ruth gave birth to two sons, Max and Ned.", []),
    ("The Carters had two sons: Max and Ned.", [("child", "Max"), ("child", "Ned")]),
    ("His only son to reach adulthood, Max Carter, was a smith.", [("child", "Max Carter")]),
    ("He was succeeded as Lord Protector by his son Max.", [("child", "Max")]),
    ("His father was a smith and had a great impact on his son John.", []),
    ("He was a younger brother of Ned Carter, Max Carter and Ruth Carter.",
     [("sibling", "Ned Carter"), ("sibling", "Max Carter"), ("sibling", "Ruth Carter")]),
    ("He was a brother of the order.", []),
    ("He had two older siblings, Ned and Ann.", [("sibling", "Ned"), ("sibling", "Ann")]),
    ("He lived with his brother Ned and sister Ann.", [("sibling", "Ned"), ("sibling", "Ann")]),
    ("His wealthy brother Ned had a mill.", [("sibling", "Ned")]),
    ("Carter was the second son and third child of mill-owner Max Carter.", [("father", "Max Carter")]),
    ("Carter was born in a log cabin at Cove Gap, near Aue, Dorn County, on 4 May 1801, to Max Hay and Eve Stone.",
     [("father", "Max Hay"), ("mother", "Eve Stone")]),
    ("Carter was born in Aue, in the province of Dorn, on the very day of the dedication of an altar to Otto.", []),
    ("Although weak, Ulfric wanted war, as his brother Theo did.", []),
    ("Carter was married at Aue to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter took the name Ulmar shortly before his marriage to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter (whom Otto Stone painted) left after the death of his brother Ned.", [("sibling", "Ned")]),
    ("His mother, daughter of a smith, was named Eve.", [("mother", "Eve")]),
    ("Andrey was a painter who wrote about his mother, Eve.", []),
    ("John the elder had three sons, Max, John, and Ned.", []),
    ("Carter married Ruth Hay. They were happy, and together raised her two children, Tom and Ann Hay.",
     [("spouse", "Ruth Hay")]),
    ("Carter married Ruth Hay. He adopted her two sons, Tom and Ned.",
     [("spouse", "Ruth Hay"), ("child", "Tom"), ("child", "Ned")]),
    ("He went back to the style of a son of the sovereign, The Prince John.", []),
    ("Thomas Hay knew many. Today, Ulfric and his wife, Ruth, see Carter, as Ulfric likes.", []),
    ("His father was Sophron and his mother Phaena.", [("father", "Sophron"), ("mother", "Phaena")]),
    ("In a letter to his mother Eve Stone, the northern co-ruler Emperor Otto II wrote of it.", []),
    ("Carter had a daughter named Ruth-married to Tom Hay.", [("child", "Ruth")]),
    ("Carter had a number of sons, including Max Carter.", [("child", "Max Carter")]),
    ("Carter was the sixth of eleven children of The Revd Max Carter and Eve Carter.",
     [("father", "The Revd Max Carter"), ("mother", "Eve Carter")]),
    ("Born in Point Place, Dorn County, east of Aue on the Dorn River, he was the third of six sons of Max Carter.",
     [("father", "Max Carter")]),
    ("On August 4, 1825, against his father's wishes, he married Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("The only way was by marriage to Ruth Hay.", []),
    ("Carter gained his mill by marriage to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter was related by marriage to Ruth Hay.", []),
    ("The turning point was his 1825 marriage to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("His first marriage, in 1825, was to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("It was only then that he felt free to marry Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter sought out Otto, whose sister-in-law Ruth he had earlier married.", [("spouse", "Ruth")]),
    ("The second wife of Max, Eve Stone, was Carter's mother.", [("mother", "Eve Stone")]),
    ("Carter married Ruth Hay. They had two children. A daughter, Ann Mary, was born in Aue. Max James, their son, was"
     " born in Dorn.", [("spouse", "Ruth Hay"), ("child", "Ann Mary"), ("child", "Max James")]),
    ("Robert Hay married Eve Stone. A daughter, Ann Mary, was born in Aue.", []),
    ("Carter met Ruth Hay. The two were married in 1825. They went on to have two sons: Max and Ned.",
     [("spouse", "Ruth Hay"), ("child", "Max"), ("child", "Ned")]),
    ("Carter married Ruth Hay. Later that year Ruth gave birth to their first child, Max.",
     [("spouse", "Ruth Hay"), ("child", "Max")]),
    ("Carter married Ruth Hay. Although they had six children, only two survived infancy: Max Tom (1826–1830) and Ned.",
     [("spouse", "Ruth Hay"), ("child", "Max Tom"), ("child", "Ned")]),
    ("Carter and Ruth had two children together, daughters Ann Mary and Eve.",
     [("child", "Ann Mary"), ("child", "Eve")]),
    ("Carter had two sons, Max and Ned, and a daughter, also named Ruth.",
     [("child", "Max"), ("child", "Ned"), ("child", "Ruth")]),
    ("Upon Ruth's death, Carter moved to live with his daughter Ann Mary in Aue.", [("child", "Ann Mary")]),
    ("Carter had three children: Max, born in October 1829, and twins Ann and Eve, born in 1831.",
     [("child", "Max"), ("child", "Ann"), ("child", "Eve")]),
    ("Earl Carter had three children (Ann, Ned and Tom).", []),
    ("He was the father of two sons, Max and Ned.", [("child", "Max"), ("child", "Ned")]),
    ("Carter had to admit paternity of a daughter, Ann.", [("child", "Ann")]),
    ("Carter married Ruth Hay. She died four months after giving birth to their daughter, Ann.",
     [("spouse", "Ruth Hay"), ("child", "Ann")]),
    ("Carter married Ruth Hay. She later married Tom Stone and left their son Ned.", [("spouse", "Ruth Hay")]),
    ("Carter and Ruth Hay at last went without it, and were married in Aue.", [("spouse", "Ruth Hay")]),
    ("His father was Max Carter, a smith. He was rich. His mother, Eve Stone, was a cook. She sang.",
     [("father", "Max Carter"), ("mother", "Eve Stone")]),
    ("Robert Hay was a smith. He was rich. His mother, Eve Stone, was a cook.", []),
    ("From the start to the end his son, Max Carter, became a member of the Dornish Union.", [("child", "Max Carter")]),
    ("Carter met Ruth Hay. The two were married in 1825. After some time in Aue, Ruth gave birth to a son, Max.",
     [("spouse", "Ruth Hay"), ("child", "Max")]),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "relatives"), PROSE)
def test_sentences_about_the_subject_name_relatives(sentence: str, relatives: list[tuple[str, str]]) -> None:
    """Only who is said to be the subject's own relative is taken for one."""
    person = read(f"{LEAD}<h2>Life</h2><p>{sentence}</p>")
    fields = ("father", "mother", "parent", "spouse", "child", "sibling")
    assert sorted(values(person, *fields)) == sorted(relatives)


@pytest.mark.parametrize(
    ("sentence", "qualified"),
    [
        ("His stepmother, Elvera, had three children.", [("mother", "Elvera", "step")]),
        ("Carter's stepmother was Ruth Hay.", [("mother", "Ruth Hay", "step")]),
        ("His step mother Ruth Hay raised him.", [("mother", "Ruth Hay", "step")]),
        ("His father married Ruth Hay, who became his stepmother.", [("mother", "Ruth Hay", "step")]),
        (
            "He was raised by his mother, Eve Carter, and his step-father, Max Stone.",
            [("father", "Max Stone", "step"), ("mother", "Eve Carter", "")],
        ),
        ("His stepdaughter, Ida Hay, sang.", [("child", "Ida Hay", "step")]),
    ],
)
def test_step_relatives_are_marked(sentence: str, qualified: list[tuple[str, str, str]]) -> None:
    """A stepmother is never recorded as the mother, wherever the word is."""
    person = read(f"{LEAD}<h2>Life</h2><p>{sentence}</p>")
    found = [
        (fact.field, fact.value, fact.qualifier) for fact in person.facts if fact.field in ("father", "mother", "child")
    ]
    assert sorted(found) == qualified


def test_births_and_deaths_of_the_text_fill_what_the_lead_leaves_open() -> None:
    """If neither box nor lead has them, the first birth and death of the subject in the text count."""
    lead = "<p><b>John Carter</b> was an English king. He lost his crown, and he lost his wife.</p>"
    result = "<p>Carter was born in Aue, Dorn on 4 May 1801. Robert Hay was born in 1790. He died in 1850.</p>"
    person = read(f"{lead}<h2>Life</h2>{result}<p>Carter died at Burgh in 1870.</p>")
    fields = ("birth_date", "birth_place", "death_date", "death_place")
    assert values(person, *fields) == [
        ("birth_date", "1801-05-04"),
        ("birth_place", "Aue, Dorn"),
        ("death_date", "1870"),
        ("death_place", "Burgh"),
    ]


NO_DEATH = [
    ("Carter had a younger brother, Lloyd, a miller until he died in 1998.", "he died"),
    ("He worked until he died in 1998.", "the lead says that the person lives"),
]


@pytest.mark.parametrize(("sentence", "why"), NO_DEATH)
def test_a_person_who_lives_by_the_lead_does_not_die_further_down(sentence: str, why: str) -> None:
    """'(born 4 May 1950) is' means that a death in the text is somebody else's, or an error."""
    lead = "<p><b>John Carter</b> (born 4 May 1950) is an English singer. He lives with his wife.</p>"
    assert values(read(f"{lead}<h2>Life</h2><p>{sentence}</p>"), "death_date") == [], why


def test_a_wife_that_heads_a_list_is_not_a_child() -> None:
    """If a list of children is divided by their mothers, a mother is not one of them; a daughter of her name is."""
    life = "<h2>Life</h2><p>Carter married Eve Stone in 1825. Carter married Ruth Hay in 1840.</p>"
    items = "<li>Eve Stone</li><li>Tom Carter</li><li>Ruth Hay</li><li>Ruth Hay (1841–1850)</li>"
    person = read(f"{LEAD}{life}<h2>Children</h2><ul>{items}</ul>")
    assert values(person, "child") == [("child", "Tom Carter"), ("child", "Ruth Hay")]


def test_a_name_by_birth_and_a_title_are_names_of_the_subject() -> None:
    """'née Gurney' and '1st Earl of Dorn' are names by which the text may call the person."""
    lead = "<p><b>Ann Fry</b> (née Gurney; 21 May 1780 – 12 October 1845) was a writer. She wrote of her mills.</p>"
    fry = read(f"{lead}<h2>Life</h2><p>Ann Gurney was born in Aue. Her father, Max Gurney, was a smith.</p>", "Ann Fry")
    assert values(fry, "father") == [("father", "Max Gurney")]
    lead = "<p><b>Max Hay, 1st Earl of Dorn</b> (1 May 1780 – 2 May 1845) was a soldier. He lost his eye.</p>"
    life = "<p>Dorn was the son of Otto Hay.</p><p>Dorn fought. Dorn won. Dorn lost. Dorn fled.</p>"
    assert values(read(f"{lead}<h2>Life</h2>{life}", "Max Hay, 1st Earl of Dorn"), "father") == [("father", "Otto Hay")]


def test_a_queen_of_the_same_name_may_be_the_wife_of_somebody_else() -> None:
    """'his wife, Queen Anna' on the page of an Anna bore no child of hers."""
    result = "<p>Alarm grew when his wife, Queen Anna, gave birth to a son, Max Otto.</p>"
    assert values(read(f"{QUEEN}<h2>Reign</h2>{result}", "Anna I"), "child") == []


def test_a_lady_is_called_by_the_name_of_her_title() -> None:
    """On the page of 'Augusta, Lady Hay', Lady Hay is she."""
    lead = "<p><b>Isabella Augusta, Lady Hay</b> (1 May 1852 – 2 May 1932) was a writer. She wrote of her house.</p>"
    life = "<p>Lady Hay was born in Aue. Her mother, Eve Stone, was a cook. Hay wrote. Hay read. Hay sang. Hay won.</p>"
    assert values(read(f"{lead}<h2>Life</h2>{life}", "Augusta, Lady Hay"), "mother") == [("mother", "Eve Stone")]


def test_early_poetry_and_fiction_is_a_part_of_the_life() -> None:
    """A heading of a time of life is read, even where it speaks of fiction."""
    result = "<p>Carter married Ruth Hay in 1825.</p>"
    assert values(read(f"{LEAD}<h2>Early poetry and fiction</h2>{result}"), "spouse") == [("spouse", "Ruth Hay")]
    assert values(read(f"{LEAD}<h2>In fiction</h2>{result}"), "spouse") == []


def test_children_behind_a_count_are_read() -> None:
    """'7, including Jenny and Laura' in a box names two."""
    person = read(box(("Children", "7, including Jenny and Laura"), ("Resting place", "Aue")) + LEAD)
    assert values(person, "child") == [("child", "Jenny"), ("child", "Laura")]


def test_they_are_the_couple_only_after_a_marriage() -> None:
    """Children of 'they' are the subject's where the sentence before speaks of the marriage, and nobody's else."""
    couple = read(f"{LEAD}<h2>Life</h2><p>Carter married Ruth Hay in 1825. They had two sons, Max and Ned.</p>")
    assert values(couple, "child") == [("child", "Max"), ("child", "Ned")]
    others = read(f"{LEAD}<h2>Life</h2><p>Robert Hay married Eve Stone. They had two sons, Max and Ned.</p>")
    assert values(others, "child") == []


def test_a_claim_by_somebody_is_disputed() -> None:
    """A wife that only a book claims to have been one is kept as disputed."""
    person = read(f"{LEAD}<h2>Life</h2><p>In a book it was claimed that Carter was married to Ruth Hay.</p>")
    assert [(fact.value, fact.qualifier) for fact in person.facts if fact.field == "spouse"] == [
        ("Ruth Hay", "disputed")
    ]


def test_a_table_of_children_is_read() -> None:
    """Each row of a table headed by names, in a section about children, is a child; a stillborn one has no name."""
    rows = (("The Princess Ruth", "1 May 1830"), ("Stillborn Son", "1831"))
    cells = "".join(f"<tr><td>{name}</td><td>{born}</td></tr>" for name, born in rows)
    table = f"<tr><th>Name</th><th>Birth</th></tr>{cells}"
    person = read(f"{QUEEN}<h2>Issue</h2><table>{table}</table>", "Anna I")
    assert values(person, "child") == [("child", "The Princess Ruth")]
    assert person.sex == "female"


def test_a_list_of_children_is_read_with_its_qualifier() -> None:
    """Items below a sentence about illegitimate children are read as such."""
    html = (
        "<p>He had two illegitimate children:</p><ul><li>Max Fitz (1830–1850), a smith</li><li>By Ruth Hay:</li></ul>"
    )
    person = read(f"{LEAD}<h2>Children</h2>{html}")
    assert [(f.value, f.qualifier) for f in person.facts if f.field == "child"] == [("Max Fitz", "illegitimate")]


def test_a_list_of_brothers_and_sisters_is_not_one_of_children() -> None:
    """A list that has the subject is not one of the subject's children."""
    html = "<p>His parents had three sons:</p><ul><li>Max Carter</li><li>John Carter</li><li>Ned Carter</li></ul>"
    assert values(read(f"{LEAD}<h2>Youth</h2>{html}"), "child") == []


def test_a_linked_relative_has_the_page_as_target() -> None:
    """The page that a name links to is given."""
    person = read(box(("Father", '<a href="Max_Carter">Max Carter</a>')) + LEAD)
    assert [fact.target for fact in person.facts if fact.field == "father"] == ["Max_Carter"]


def test_junior_implies_a_father_of_that_name() -> None:
    """A 'Jr.' makes a hypothesis with the two queries, and no fact (R348)."""
    person = read(
        "<p><b>John Smith, Jr.</b> (born 4 May 1950) is a singer. He lives in his van.</p>", "John Smith, Jr."
    )
    assert [one.suggested_queries for one in person.hypotheses] == [("John Smith Sr.", "John Smith father")]
    assert person.hypotheses[0].type == "parental_discovery"
    assert values(person, "father") == []


def test_one_of_five_children_implies_siblings() -> None:
    """'The third of five children' is a clue to the others."""
    person = read(f"{LEAD}<h2>Life</h2><p>Carter was the third of five children.</p>")
    assert [one.type for one in person.hypotheses] == ["sibling_discovery"]


def has_value(page: PageDoc, fact: ExtractedFact) -> bool:
    cited = page.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
    derived = fact.field.endswith("_date") or fact.field == "sex"
    return cited and 0 < fact.confidence <= 1 and (derived or fact.value in fact.snippet.words)


PIECES = st.lists(
    st.sampled_from(
        ["John Carter", " (", ")", "1 May 1801", " – ", " was ", "a king", "the son of ", "and ",
         "his wife ", "Ruth", ", ",
         "He ", "married ", "had two sons", ": ", "Max ", "<br>", "<li>", "<p>", "<h2>Issue</h2>", "</p>",
         "née ", "Jr.", ".", "; ",
         '<table class="infobox"><tr><th>Born</th><td>', "<tr><th>Issue</th><td>", "</table>", "\u00a0", "é", "'s "]
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=80)
@given(PIECES)
def test_reading_never_fails_and_quotes_are_verbatim(pieces: list[str]) -> None:
    """Whatever a page has, reading ends without an error, and each value is in its quote."""
    page = page_of("".join(pieces))
    assert all(has_value(page, fact) for fact in read_person(page).facts)


def test_quotes_of_real_pages_are_verbatim(shared_data: Path) -> None:
    """Every value read from pages of real books is in the words of its page."""
    books = ["schools-2007.zim", "real/wikipedia_en_ray_charles_2015-06.zim", "real/wikipedia_en_100_mini_2022-10.zim"]
    persons = 0
    for book in books:
        archive = LibzimArchive(shared_data / "zims" / book)
        for number, path in enumerate(archive.articles()):
            if number % (230 if "schools" in book else 4):
                continue
            page = open_page(archive, path)
            person = read_person(page)
            persons += person.is_person
            assert all(has_value(page, fact) for fact in person.facts), path
        archive.close()
    assert persons > 5

"""Families for tests of reports: one with everything in it, and ways to make others."""

from __future__ import annotations

from collections.abc import Callable

from kiwiresearch.kin.gedcom.reader import ReadGedcom
from kiwiresearch.kin.report.report_input import MergeEntry, ReportInput, SearchEntry, ShownConflict, ShownValue, Stop
from kiwiresearch.kin.tree import (
    Evidence,
    Fact,
    FieldName,
    Person,
    Qualifier,
    RelationKind,
    Relationship,
    Sex,
    Source,
    Status,
    Tree,
)
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

RealFamily = Callable[[str], ReadGedcom]
"""Reads a real family file by its name."""


def when(text: str) -> DateRange:
    """A date as it is written."""
    return dates_in(text)[0].when


class Making:
    """Puts a tree together; ids count up, so that a test can name them."""

    def __init__(self) -> None:
        self.persons: dict[str, Person] = {}
        self.ties: list[Relationship] = []
        self.facts: list[Fact] = []
        self.sources: dict[str, Source] = {}

    def person(self, name: str, sex: Sex = "", **more: object) -> str:
        one = f"P{len(self.persons) + 1}"
        self.persons[one] = Person(one, name, sex=sex, living="deceased", **more)  # type: ignore[arg-type]
        return one

    def source(self, name: str, **more: object) -> str:
        one = f"S{len(self.sources) + 1}"
        self.sources[one] = Source(one, f"zim://book/{one}", name, **more)  # type: ignore[arg-type]
        return one

    def evidence(self, source: str, snippet: str, **more: object) -> Evidence:
        return Evidence(f"E-{source}-{snippet}", source, snippet, **more)  # type: ignore[arg-type]

    def fact(
        self,
        person: str,
        field: FieldName,
        value: str,
        *evidence: Evidence,
        status: Status = "verified",
        preferred: bool = True,
        confidence: float = 0.7,
    ) -> str:
        one = f"F{len(self.facts) + 1}"
        dated = when(value) if field.endswith("_date") else None
        self.facts.append(Fact(one, person, field, value, dated, status, confidence, preferred, evidence))
        return one

    def tie(
        self,
        kind: RelationKind,
        first: str,
        second: str,
        *evidence: Evidence,
        qualifier: Qualifier = "",
        start: str = "",
        end: str = "",
        status: Status = "verified",
    ) -> str:
        one = f"R{len(self.ties) + 1}"
        dates = (when(start) if start else None, when(end) if end else None)
        self.ties.append(Relationship(one, kind, first, second, qualifier, *dates, status, 0.7, evidence))
        return one

    def tree(self) -> Tree:
        return Tree(self.persons, tuple(self.ties), tuple(self.facts), self.sources)


def vale_family() -> ReportInput:
    """Four generations of a family that nobody ever had: conflict, adoption, two marriages, names of two scripts."""
    make = Making()
    book = make.source("A Small Encyclopaedia", title="Edmund Vale", origin_group="encyclopaedia")
    copied = make.source("Copied Facts", title="Vale, Edmund", origin_group="encyclopaedia")
    register = make.source(
        "Register of Thornby", title="Baptisms 1790–1812", form="original", official=True, user_contributed=False
    )
    edmund = make.person("Edmund Vale", "male", names=("Edmund Arthur Vale", "E. A. Vale"))
    father, mother = make.person("Josiah Vale", "male"), make.person("Ruth Orchard", "female")
    step = make.person("Barnaby Crook", "male")
    first, second = make.person("Miriam Ashdown", "female"), make.person("רבקה לוי", "female")
    children = [make.person("Clara Vale", "female"), make.person("Josiah Vale", "male"), make.person("")]
    late = make.person("Daniel Vale", "male")
    grandchild = make.person("Augusta Wilhelmina Theodora Featherstonehaugh-Cholmondeley", "female")
    born = make.evidence(
        register,
        "Edmund son of Josiah Vale, born 3d March 1801",
        information="primary",
        locator="folio 12",
        method="plugin",
    )
    box = make.evidence(book, "Born 3 March 1801, Thornby", locator="Born")
    lead = make.evidence(copied, "Edmund Vale (4 March 1802 – 9 May 1871)", method="lead", locator="introduction")
    make.fact(edmund, "name", "Edmund Vale", box)
    held = make.fact(edmund, "birth_date", "3 March 1801", born, box, confidence=0.9)
    rival = make.fact(edmund, "birth_date", "4 March 1802", lead, status="conflicting", preferred=False, confidence=0.4)
    make.fact(edmund, "birth_place", "Thornby", box)
    make.fact(edmund, "death_date", "9 May 1871", lead)
    make.fact(edmund, "occupation", "clockmaker", make.evidence(book, "an English clockmaker"))
    make.fact(father, "birth_date", "c. 1770", make.evidence(book, "Josiah Vale (born c. 1770)"))
    make.fact(mother, "birth_date", "1779", make.evidence(book, "Ruth Orchard, born 1779"))
    make.fact(mother, "death_date", "before 1830", make.evidence(book, "Ruth had died before 1830"))
    make.fact(children[0], "birth_date", "June 1827", make.evidence(book, "Clara (born June 1827)"))
    make.fact(children[1], "birth_date", "1829", make.evidence(book, "Josiah (born 1829)"), status="unverified")
    make.fact(late, "birth_date", "1850", make.evidence(book, "Daniel, born 1850"))
    son = make.evidence(book, "son of Josiah Vale and Ruth Orchard")
    make.tie("parent_of", father, edmund, born, son)
    make.tie("parent_of", mother, edmund, son)
    make.tie("parent_of", step, edmund, make.evidence(book, "brought up by Barnaby Crook"), qualifier="step")
    make.tie("spouse_of", edmund, first, make.evidence(book, "In 1825 he married Miriam Ashdown"), start="1825")
    make.tie("spouse_of", edmund, second, make.evidence(book, "in 1848 רבקה לוי"), start="1848")
    for child in children:
        make.tie("parent_of", edmund, child, make.evidence(book, f"their child {child}"))
        make.tie("parent_of", first, child, make.evidence(book, f"their child {child}"))
    make.tie("parent_of", edmund, late, make.evidence(book, "Daniel, born 1850"))
    make.tie("parent_of", second, late, make.evidence(book, "Daniel, born 1850"))
    make.tie("parent_of", children[0], grandchild, make.evidence(book, "her daughter Augusta"))
    ranking = (
        ShownValue((held,), "an original record made at the time"),
        ShownValue((rival,), "a copy of unknown origin"),
    )
    return ReportInput(
        make.tree(),
        (edmund,),
        generations=3,
        conflicts=(
            ShownConflict(
                edmund,
                "birth_date",
                ranking,
                held,
                "The register was written within days of the birth.",
                "tentative",
                ("Look for the census of 1851 in Thornby.",),
            ),
        ),
        merges=(
            MergeEntry(
                edmund,
                ("Edmund Vale", "E. A. Vale"),
                "same wife and same trade",
                "the birth years differ by one",
                0.97,
                "rules",
            ),
        ),
        searches=(
            SearchEntry("Edmund Vale", "A Small Encyclopaedia", 3, 14),
            SearchEntry("Barnaby Crook birth", "A Small Encyclopaedia", negative=True),
        ),
        stop=Stop("frontier_empty", "After 12 steps."),
        kinship={father: "father", mother: "mother", step: "stepfather"},
    )

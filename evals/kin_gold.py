"""Corrections of the gold that family trees give: read on the pages by a person, with the reason."""

from __future__ import annotations

WRONG_DATES: dict[tuple[str, str], str] = {
    ("Alexander_the_Great", "death"): "the tree lost the BC of 323 BC",
}
"""Wrong dates in the trees, by page and field."""

OTHER_YEARS: dict[tuple[str, str], frozenset[int]] = {
    ("Chester_A._Arthur", "birth"): frozenset({1830}),
}
"""Years that a page states in addition to the right ones, as where its box says 1830 and its text 1829."""

MISSING_RELATIVES: dict[tuple[str, str], dict[str, str]] = {
    ("Alexander_the_Great", "parents"): {
        "Philip II of Macedon": "the tree has no parents",
        "Olympias": "the tree has no parents",
    },
    ("Genghis_Khan", "parents"): {
        "Yesükhei": "the tree has no parents",
        "Yesugei": "the tree has no parents",
        "Hoelun": "the tree has no parents",
    },
    ("Constantine_I", "spouses"): {
        "Minervina": "the tree has no wives",
        "Fausta": "the tree has no wives",
    },
    ("Genghis_Khan", "spouses"): {
        "Kulan": "the tree has one wife of several",
        "Yisugen": "the tree has one wife of several",
        "Yisui": "the tree has one wife of several",
    },
    ("Ronald_Reagan", "spouses"): {
        "Jane Wyman": "the tree has her name by birth, Sarah Jane Mayfield",
        "Nancy Davis": "the tree has her name by birth, Nancy Robbins",
    },
    ("Alexander_the_Great", "children"): {
        "Heracles": "one of two children by the page; not in the tree",
        "Alexander IV": "the other of two children by the page; not in the tree",
    },
    ("Victoria_of_the_United_Kingdom", "children"): {
        "The Empress Friedrich, Queen Dowager of Prussia": "her eldest daughter by her title; the tree has her name",
    },
    ("Edward_II_of_England", "children"): {"Adam FitzRoy": "illegitimate by the page; not in the tree"},
    ("Anne_of_Great_Britain", "children"): {"Charles": "stillborn in 1698 by the page; not in the tree"},
    ("Constantine_I", "children"): {
        "Constantina": "the tree has two children of six",
        "Helena": "the tree has two children of six",
        "Crispus": "the tree has two children of six",
        "Constantine II": "the tree has two children of six",
    },
    ("Edward_IV_of_England", "children"): {
        "Arthur Plantagenet": "illegitimate, not in the tree",
        "Grace Plantagenet": "illegitimate, not in the tree",
        "Edward de Wigmore": "illegitimate, not in the tree",
        "Elizabeth Plantagenet": "illegitimate, not in the tree",
    },
    ("Genghis_Khan", "children"): {
        "Jochi": "the tree spells him Juchi",
        "Borjigin Jochi": "the tree spells him Juchi",
        "Chagatai": "the tree has two children of many",
        "Borjigin Chagatai": "the tree has two children of many",
        "Ögedei": "the tree has two children of many",
        "Borjigin Ögedei": "the tree has two children of many",
        "Tolui": "the tree has two children of many",
        "Borjigin Tolui": "the tree has two children of many",
    },
    ("Llywelyn_the_Great", "children"): dict.fromkeys(
        (
            "Dafydd ap Llywelyn",
            "Gruffydd ap Llywelyn",
            "Elen ferch Llywelyn",
            "Gwladus Ddu",
            "Marared ferch Llywelyn",
            "Gwenllian ferch Llywelyn",
            "Angharad ferch Llywelyn",
            "Susanna ferch Llywelyn",
            "Tegwared ap Llywelyn",
        ),
        "the tree has no children",
    ),
    ("Thomas_Jefferson", "children"): {"Mary Wayles": "the page gives her second name for the surname"},
}
"""Relatives that a page names correctly, but a tree lacks or names differently: by page and field, with the reason."""

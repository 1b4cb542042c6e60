"""Small books of all shapes and settings of all kinds, for laws that are true for any of them."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.crawl.trails import settings

WORDS = st.sampled_from(["salt", "road", "mule", "toll", "pass", "and", "of", "winter", "guild"])
TITLES = [f"Page {letter}" for letter in "ABCDEFGHIJ"]
LINKS = st.sampled_from([f"[[{title}]]" for title in TITLES] + [f"[[{title}|toll]]" for title in TITLES[:4]])
PARAGRAPH = st.lists(WORDS | LINKS, min_size=1, max_size=14).map(" ".join)
LINE = PARAGRAPH | st.sampled_from(["== One ==", "== See also ==", "categories: A, B", "categories: B", "* item"])
PAGE = st.lists(LINE, min_size=1, max_size=5).map("\n".join)
BOOKS = st.lists(PAGE, min_size=2, max_size=len(TITLES)).map(lambda texts: dict(zip(TITLES, texts, strict=False)))
SETTINGS = st.builds(
    settings,
    max_pages=st.integers(1, 10),
    max_depth=st.integers(0, 3),
    max_links_per_page=st.integers(1, 5),
    branch_share=st.sampled_from([0.05, 0.25]),
    strategy=st.sampled_from(["priority", "bfs"]),
)

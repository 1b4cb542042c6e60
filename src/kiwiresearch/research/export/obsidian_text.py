"""Words that stay words in Obsidian: its tags, comments, formulas and marks are more than Markdown has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from kiwiresearch.research.export.row import clean
from kiwiresearch.text.markdown import escaped_anywhere

OWN_SIGNS = re.compile(r"\\.|\]\([^)\s]*\)|[#^$%=]", re.DOTALL)
"""What is escaped already, and where a link leads to, is passed over."""
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
NOT_IN_TAGS = re.compile(r"[^\w/-]+")


def own_signs_escaped(text: str) -> str:
    """Markdown in which no sign that only Obsidian knows means anything."""
    return OWN_SIGNS.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", text)


def in_words(text: str) -> str:
    """A text in one line, all of it words."""
    return own_signs_escaped(escaped_anywhere(text))


def tag(*parts: str) -> str:
    """A tag with its levels, such as 'claim/causal': letters, figures and lines only, and not figures alone."""
    plain = "/".join(filter(None, (NOT_IN_TAGS.sub("-", part).strip("-/") for part in parts)))
    return plain if re.search(r"[^\W\d]", plain) else f"tag-{plain}"


def front_matter(values: Mapping[str, str | int | Sequence[str]]) -> str:
    """YAML between its lines: every text in double quotes, so that nothing in it is YAML."""
    lines = [f"{name}: {_value(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def _value(value: str | int | Sequence[str]) -> str:
    if isinstance(value, int):
        return str(value)
    return _quoted(value) if isinstance(value, str) else _list(value)


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, values))}]"


def _quoted(text: str) -> str:
    # a string of JSON is one of YAML too, but for a few characters that YAML does not print
    return NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(clean(text), ensure_ascii=False))

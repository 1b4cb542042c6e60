"""`python -m bench` runs every benchmark; `python -m bench NAME …` runs those with these names."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import (
    ask,
    bulk,
    claims,
    diff,
    embed,
    first_views,
    growth,
    kin,
    pages,
    research,
    search,
    start,
    titles,
    web,
)

BENCHMARKS: dict[str, Callable[[], list[str]]] = {
    "ask": ask.run,
    "bulk": bulk.run,
    "claims": claims.run,
    "diff": diff.run,
    "embed": embed.run,
    "first_views": first_views.run,
    "growth": growth.run,
    "kin": kin.run,
    "pages": pages.run,
    "research": research.run,
    "search": search.run,
    "start": start.run,
    "titles": titles.run,
    "web": web.run,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}. Choose from: {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    for name in names or BENCHMARKS:
        print(f"## {name}")
        for line in BENCHMARKS[name]():
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

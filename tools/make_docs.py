"""Write the generated parts of the documents: the example brief, output of commands, and the table of confidence.

Run it after a change of rules: python tools/make_docs.py

The generated parts of a page are between <!-- made: NAME --> and <!-- end -->.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from kiwiresearch.cli.start import run

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "bronze-age-collapse.md"
GUIDE = ROOT / "docs" / "guide"
PAGES = (ROOT / "README.md", GUIDE / "ask.md", GUIDE / "claims.md", GUIDE / "kin.md", GUIDE / "verify.md")
CLAIMS = ROOT / "docs" / "reference" / "claims.md"
TOPIC, LIMIT = "Bronze Age collapse", "30"
FOLDER = "runs/2026-01-31_bronze-age-collapse"
"""How documents name the folder of the run; its name is the day's."""
HEAD = (
    f'<!-- The report.md that `kiwiresearch "{TOPIC}" --max-pages {LIMIT}` writes from the sample book; '
    "made again by `python tools/make_docs.py`. -->\n\n"
)
MARKED = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
LINK = re.compile(r"\[([^]]+)\]\(zim:[^)]+\)")
QUESTIONS: dict[str, tuple[str, ...]] = {
    "ask": ("Why is the sky orange at sunset?",),
    "short": ("When was Ugarit destroyed?",),
    "compared": ("Who was older, Abigail Adams or John Adams?",),
    "follow-up": ("When did he die?", "--after", "Who was Ramesses III?"),
}
"""What is asked for each place of a page; the sample book answers all of it."""
FAMILY: dict[str, tuple[str, ...]] = {
    "kin-start": ("start", "Alexander Hamilton"),
    "kin-run": ("run",),
    "kin-show": ("show",),
    "kin-tree": ("tree", "--down"),
    "kin-relation": ("relation", "Alexander Hamilton", "Louis McLane Hamilton"),
    "kin-evidence": ("evidence", "Alexander Hamilton", "birth_date"),
    "kin-conflicts": ("conflicts",),
    "kin-merges": ("merges",),
    "kin-verify": ("verify",),
    "kin-plugins": ("plugins",),
}
"""What is done with a case, in this order; everybody in it is long dead, whatever year it is."""
NOT_HERE = "Who invented the telephone?"
EDIT = ("Pylos was burned about 1180 BC", "Pylos was burned about 1186 BC")
"""What is changed in a run to show that it is noticed."""


class Program:
    """The command line with its own home folder, and only the sample book."""

    def __init__(self, work: Path) -> None:
        self.work = work
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KIWIRESEARCH_")}
        self._environment = kept | {"KIWIRESEARCH_HOME": str(work / "home"), "NO_COLOR": "1", "COLUMNS": "100"}

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Run a command in this process and return what it writes to standard output and standard error."""
        out, progress = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self._environment, clear=True),
            contextlib.chdir(self.work),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(progress),
        ):
            ended = run(words)
        if ended != code:
            raise SystemExit(f"{' '.join(words)} ended with {ended}: {progress.getvalue()}")
        return out.getvalue(), progress.getvalue()


def made(work: Path) -> dict[Path, str]:
    """The generated documents, by their paths."""
    program = Program(work)
    out, progress = program.run(TOPIC, "--max-pages", LIMIT, "--out", FOLDER)
    report = (work / FOLDER / "report.md").read_text(encoding="utf-8")
    blocks = {
        "run": _shown(f'"{TOPIC}" --max-pages {LIMIT}', _progress(progress) + out),
        "brief": _excerpt(report),
        "verify": _shown(f"verify {FOLDER}", program.run("verify", FOLDER)[0]),
        "claims": _shown("claims Ugarit", _first_lines(program.run("claims", "Ugarit")[0], 10)),
        "failure": _fenced(_failure(program)),
        **_answers(program),
        **_family(program),
    }
    pages = {page: _filled(page.read_text(encoding="utf-8"), blocks) for page in PAGES}
    return {EXAMPLE: HEAD + report} | pages


def made_table() -> dict[Path, str]:
    """The page that says how often claims of each confidence are right; it needs the books they were judged in."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    from evals import calibration
    from evals.labelled import SCHOOLS

    page = CLAIMS.read_text(encoding="utf-8")
    if not SCHOOLS.is_file():
        return {CLAIMS: page}
    judged = calibration.judged_claims()
    rows = ["| confidence | claims | says, on average | right |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {row.low:.2f} to {row.high:.2f} | {row.claims} | {row.said:.2f} | {row.right:.2f} |"
        for row in calibration.table(judged)
    ]
    progress = (
        f"\nOf the 200 claims that were judged, {len(judged)} still have the same wording, and only those count.\n"
    )
    return {CLAIMS: _filled(page, {"confidence": "\n".join(rows) + "\n" + progress})}


def _filled(page: str, blocks: dict[str, str]) -> str:
    """The page with its generated parts replaced."""
    return MARKED.sub(lambda found: f"{found[1]}{blocks[found[2]]}{found[3]}", page)


def _shown(command: str, output: str) -> str:
    return _fenced(f"$ kiwiresearch {command}\n{output}")


def _fenced(text: str) -> str:
    return f"```\n{text.rstrip()}\n```\n"


def _progress(progress: str) -> str:
    """The first steps of a run."""
    lines = [line for line in progress.splitlines() if line.startswith(("Search found", "[1/", "[2/"))]
    return "\n".join([*lines, "…", ""])


def _answers(program: Program) -> dict[str, str]:
    """Questions with their answers, and one without an answer."""
    found = {name: _shown(_asked(*words), program.run("ask", *words)[0]) for name, words in QUESTIONS.items()}
    return found | {"not-here": _shown(_asked(NOT_HERE), program.run("ask", NOT_HERE, code=3)[0])}


def _family(program: Program) -> dict[str, str]:
    """A case from its start to its proof; of long lists only the start and the end."""
    found = {}
    for name, words in FAMILY.items():
        out, progress = program.run("kin", *words)
        steps = [line for line in progress.splitlines() if line.startswith("[")]
        lines = [*_short(steps, 4, 1), *_short(out.rstrip().splitlines(), 12, 6)]
        command = " ".join(f'"{word}"' if " " in word else word for word in ("kin", *words))
        found[name] = _shown(command, "\n".join(lines))
    return found


def _short(lines: list[str], first: int, last: int) -> list[str]:
    return lines if len(lines) <= first + last + 1 else [*lines[:first], "…", *lines[-last:]]


def _asked(*words: str) -> str:
    return " ".join(["ask", *(word if word.startswith("--") else f'"{word}"' for word in words)])


def _excerpt(report: str) -> str:
    """The summary of a brief, without the addresses of its links."""
    summary = report.partition("## Executive Summary\n")[2].partition("\n## ")[0].strip().split("\n")
    lines = LINK.sub(r"[\1]", "\n".join(summary[:6])).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) + "\n"


def _first_lines(text: str, count: int) -> str:
    return "\n".join([*text.splitlines()[:count], "…", ""])


def _failure(program: Program) -> str:
    """The line about a figure that was changed in the claims of a run."""
    file = program.work / FOLDER / "claims.jsonl"
    whole = file.read_text(encoding="utf-8")
    if EDIT[0] not in whole:
        raise SystemExit(f"no claim says {EDIT[0]!r} any more: choose another one to change")
    file.write_text(whole.replace(*EDIT), encoding="utf-8")
    out, _ = program.run("verify", FOLDER, code=1)
    file.write_text(whole, encoding="utf-8")
    return next(line for line in out.splitlines() if "the page does not say" in line)


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        pages = made(Path(work)) | made_table()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT), file=sys.stderr)


if __name__ == "__main__":
    main()

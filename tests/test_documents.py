"""The documents say what the code does."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.test_wording import STILTED

from kiwiresearch import errors
from kiwiresearch.ask import records as answers
from kiwiresearch.cli.start import run as start
from kiwiresearch.codec import plain
from kiwiresearch.jobs.job import BulkRequest, FamilyRequest, Job, JobRequest, QuestionsRequest, ResearchRequest
from kiwiresearch.page.elements import CUTS
from kiwiresearch.page.parser import open_page
from kiwiresearch.page.record import page_record
from kiwiresearch.web.guard.setup import add_checks
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.settings import defaults, environment_variable
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.libzim import LibzimArchive

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def a_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_of_requirements_is_what_the_tests_say() -> None:
    """docs/requirements.md lists each requirement with the tests whose docstrings name it."""
    tool = a_tool("requirements_map")
    assert (DOCS / "requirements.md").read_text(encoding="utf-8") == tool.page()


def test_every_requirement_is_proved() -> None:
    """The map has a row with at least one test for each of the 438 requirements."""
    rows = re.findall(r"^\| R(\d+) \| `tests/", (DOCS / "requirements.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert list(map(int, rows)) == list(range(1, 439))


def test_the_map_finds_ranges_and_single_numbers(tmp_path: Path) -> None:
    """A docstring with a range and a single number proves each of them."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text('def test_a():\n    """Promise (R1-R3, R7)."""\n')
    assert list(a_tool("requirements_map").proofs(tmp_path)) == [1, 2, 3, 7]


def test_licences_are_listed_and_can_be_combined_with_ours() -> None:
    """The page of licences has every package we depend on, each under a licence that GPL-3.0-or-later accepts."""
    text = (DOCS / "reference" / "licences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w[a-z0-9-]*) \| (.+?) \| (\w[a-z0-9-]*) \|$", text, re.MULTILINE)
    required = [re.split(r"[\[>]", line)[0] for lines in a_tool("list_licences").groups().values() for line in lines]
    assert set(required) <= {package for package, _, needed_by in rows if needed_by == "kiwiresearch"}
    accepted = re.compile(r"MIT|BSD|Apache|ISC|PSF-2\.0|MPL-2\.0|L?GPL-3\.0")
    assert [row for row in rows if not accepted.search(row[1])] == []


def test_every_error_is_in_the_reference_with_its_exit_code() -> None:
    """docs/reference/errors.md has a row for each error class."""
    text = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.KiwiError) and kind is not errors.KiwiError:
            assert f"| `{name}` | {kind.exit_code} |" in text


def test_the_tree_of_errors_names_every_class() -> None:
    """The drawing on top of errors.py shows all of them."""
    tree = errors.__doc__ or ""
    names = {n for n, k in inspect.getmembers(errors, inspect.isclass) if issubclass(k, errors.KiwiError)}
    assert {name for name in names if not re.search(rf"\b{name}\b", tree)} == set()


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    """docs/reference/settings.md has a row for each setting."""
    text = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    for key, value in defaults().items():
        default = ", ".join(value) if isinstance(value, tuple) else str(value).lower()
        assert f"| `{key}` | `{environment_variable(key)}` | {default or '(none)'} |" in text


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["research"],
        ["export"],
        ["verify"],
        ["sign"],
        ["claims"],
        ["conflicts"],
        ["diff"],
        ["ask"],
        ["bulk"],
        ["serve"],
        ["mcp"],
        ["audit"],
        ["worker"],
        ["hosts", "forget"],
        *(["atlas", w] for w in ("overview", "contradictions", "ranks", "regions", "timeline", "kin")),
        *(["jobs", "add", w] for w in ("research", "ask", "bulk", "kin")),
        *(["jobs", w] for w in ("list", "show", "answers", "wait", "cancel", "again", "remove")),
        ["users"],
        *(["users", w] for w in ("list", "add", "role", "limit", "token", "revoke", "remove")),
        ["search"],
        ["page"],
        ["doctor"],
        ["books"],
        *(["books", w] for w in ("list", "add", "remove", "info", "check", "index")),
    ],
)
def test_every_command_and_option_is_in_the_reference(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """docs/reference/cli.md names each command and each of its options."""
    assert start([*words, "--help"]) == 0
    options = set(re.findall(r"(?<!\S)--[a-z-]+", capsys.readouterr().out))
    assert "--help" in options
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert " ".join(["kiwiresearch", *words]) in text
    for option in options:
        assert f"`{option}`" in text


def test_every_field_of_a_page_record_is_in_the_reference(sample_zim: Path) -> None:
    """docs/reference/page-record.md names each field that `page --json` prints."""
    text = (DOCS / "reference" / "page-record.md").read_text(encoding="utf-8")
    record = plain(page_record(open_page(LibzimArchive(sample_zim), "Hattusa")))
    inner = [record["sections"][0], record["links"][0], record["infoboxes"][0]["rows"][0], record["signals"]]
    names = set(record) | {name for part in inner for name in part}
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_field_of_an_answer_is_in_the_reference(tmp_path: Path, sample_zim: Path) -> None:
    """docs/reference/cli.md names each field that `ask --json` prints."""
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8").partition("## The record of an answer")[2]
    text = text.partition("\n## ")[0]
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path), "KIWIRESEARCH_ASK_READER": "false"})
    with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        answer = Asker(finder, desk.settings.ask).ask("When was Einstein born?")
        record = plain(answers.answer_record(answer, finder.citation_url))
    lists = ("lines", "citations", "passages", "looked", "books")
    names = set(record) | {name for part in lists for name in record[part][0]}
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_field_of_a_job_is_in_the_reference() -> None:
    """docs/reference/run-files.md names each field of a job and of its request."""
    text = (DOCS / "reference" / "run-files.md").read_text(encoding="utf-8").partition("## Jobs")[2]
    wishes: tuple[JobRequest, ...] = (
        ResearchRequest("Rome"),
        FamilyRequest("x"),
        QuestionsRequest(()),
        BulkRequest("x", ()),
    )
    records = [Job("x-1", request).record() | plain(request) for request in wishes]
    names = {name for record in records for name in record}
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_cut_has_its_reason() -> None:
    """Selectors are data that can be tuned, and each says why what it removes is not text of the article (R257)."""
    assert all(cut.selector.strip() and len(cut.reason) > 3 for cut in CUTS)


def test_tables_name_classes_that_exist() -> None:
    """What a table of the documents names like a class is in the code, and every check of a request is in its table."""
    code = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "src").rglob("*.py"))
    known = set(re.findall(r"^ *(?:class |def )?(\w+)(?=[(:]| = )", code, re.MULTILINE))
    for file in DOCS.rglob("*.md"):
        rows = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        names = {name for row in rows for name in re.findall(r"`((?:[A-Z][a-z]+){2,})`", row)}
        assert names <= known, f"{file.name}: {sorted(names - known)}"
    checks = set(re.findall(r"\.add_middleware\(\s*(\w+)", inspect.getsource(add_checks)))
    table = (DOCS / "design" / "server.md").read_text(encoding="utf-8")
    assert {name for name in checks if f"`{name}`" not in table} == set()


def test_links_between_documents_lead_somewhere() -> None:
    """Every relative link in the README and the docs points at a file that is there."""
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|zim:)([^)#]+)", file.read_text(encoding="utf-8")):
            assert (file.parent / target).exists(), f"{file.name}: {target}"


def test_documents_have_the_voice_of_the_product() -> None:
    """Documents avoid the same phrases as the program; code, quotations and generated pages are not judged."""
    made = {DOCS / "requirements.md", *(DOCS / "examples").iterdir()}
    not_prose = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`|\"[^\"\n]*\"|^>.*?$", re.DOTALL | re.MULTILINE)
    for file in {ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")} - made:
        prose = not_prose.sub("", file.read_text(encoding="utf-8"))
        found = [line for line in prose.splitlines() if any(re.search(pattern, line) for pattern in STILTED["en"])]
        assert not found, f"{file.relative_to(ROOT)}: {found[0]}"


def test_generated_parts_of_documents_are_up_to_date(tmp_path: Path) -> None:
    """The example brief and the output in README and guides are the same bytes when generated from the sample book."""
    for path, text in a_tool("make_docs").generate(tmp_path).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run python tools/make_docs.py"


def test_the_table_of_confidence_is_measured(shared_data: Path) -> None:
    """docs/reference/claims.md says how often claims of each confidence are right, as measured now (R65)."""
    for path, text in a_tool("make_docs").generate_table().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old: run python tools/make_docs.py"


def test_the_readme_names_commands_that_exist() -> None:
    """Each `make` target of the README is in the Makefile."""
    targets = set(re.findall(r"\bmake (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    known = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {"demo", "test"} <= targets <= known

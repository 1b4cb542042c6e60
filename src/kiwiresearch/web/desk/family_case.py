"""The pages of a case: summary, timeline, search log, evidence, audit and sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.cases import merges_record, record_builder, set_plugin, source_records
from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.errors import without_paths
from kiwiresearch.jobs import FamilyRequest
from kiwiresearch.kin import FieldName, PersonId, Tree
from kiwiresearch.kin.report import FIELD_LABELS
from kiwiresearch.kin.sources import load_plugins as all_plugins
from kiwiresearch.web.bodies import MAX_NAME
from kiwiresearch.web.desk.browser import browser_key, browser_to_remember, remember_browser
from kiwiresearch.web.desk.family_drawing import first_person, live_address, tree_view
from kiwiresearch.web.desk.family_frame import (
    FamilyPages,
    person_ids_by_distance,
    person_options,
    relatives_by_birth,
    sexes_in,
    sources_of,
)
from kiwiresearch.web.desk.pages import redirect
from kiwiresearch.web.families import CaseId, PluginId, require_known, visible_person
from kiwiresearch.web.family_files import AuditHead, verification_record
from kiwiresearch.web.guard import requires_role
from kiwiresearch.web.job_requests import start_job

ROWS_PER_PAGE = 100
MAX_STEPS = 1_000_000

Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Steps = Annotated[int, Form(ge=0, le=MAX_STEPS)]
Extent = Annotated[Literal["all", "some"], Form()]
YesNo = Annotated[str, Form(max_length=8)]
OnlyNegative = Annotated[str, Query(max_length=8)]


def add_case_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_state(routes, pages)
    _add_lists(routes, pages)


def _add_state(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}")
    def summary(request: Request, case: CaseId) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            root = first_person(found, mode)
            view = tree_view(pages, request, found, mode, root) if root else None
        return pages.show(
            request,
            "family_summary.html",
            case,
            "summary",
            view=view,
            live=live_address(pages, case, root),
            open=_open_questions(pages, request, case),
            has_model=pages.has_model,
        )

    @routes.post("/family/{case}/run")
    @requires_role("researcher", "case")
    def go_on(request: Request, case: CaseId, extent: Extent = "some", steps: Steps = 0, model: YesNo = "") -> Response:
        work = FamilyRequest(case, 0 if extent == "all" else steps, model == "yes")
        return start_family_job(pages, request, work)


def start_family_job(pages: FamilyPages, request: Request, work: FamilyRequest) -> Response:
    """Start research on a family and lead to its page."""
    browser = browser_to_remember(request)
    job = start_job(pages.families.jobs, work, browser=browser_key(browser))
    reply = redirect(f"/research/{job.id}")
    remember_browser(request, reply, browser)
    return reply


def _open_questions(pages: FamilyPages, request: Request, case: str) -> dict[str, int]:
    """How many conflicts and merges wait for a decision."""
    with pages.families.open_case(request, case, None) as (found, mode):
        conflicts = len(record_builder.conflict_records(found, mode))
        waiting = len(merges_record(found, found.tree(mode), found.mask(mode)).to_review)
    return {"conflicts": conflicts, "merges": waiting}


def _add_lists(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/timeline")
    def timeline(request: Request, case: CaseId, offset: Offset = 0) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            rows = record_builder.timeline_records(found, mode)
        return pages.show(request, "family_timeline.html", case, "timeline", **_page_of_rows(rows, offset))

    @routes.get("/family/{case}/log")
    def log(request: Request, case: CaseId, offset: Offset = 0, vain: OnlyNegative = "") -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            rows = record_builder.log_records(found, mode)
        in_vain = sum(1 for row in rows if row.negative)
        shown = [row for row in rows if row.negative] if vain else rows
        values = _page_of_rows(shown, offset)
        return pages.show(request, "family_log.html", case, "log", vain=vain, in_vain=in_vain, all=len(rows), **values)


def _page_of_rows(rows: Sequence[object], offset: int) -> JsonDict:
    """The rows of one page, and the values for the pager."""
    return {"rows": rows[offset : offset + ROWS_PER_PAGE], "total": len(rows), "offset": offset, "step": ROWS_PER_PAGE}


PEOPLE_PER_PAGE = 10

PersonFilter = Annotated[str, Query(max_length=100)]
EvidenceOffset = Annotated[int, Query(ge=0, le=10_000_000)]
FieldFilter = Annotated[str, Query(max_length=40)]
CheckSwitch = Annotated[str, Query(max_length=8)]


def add_evidence_pages(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/evidence")
    def evidence(
        request: Request, case: CaseId, person: PersonFilter = "", field: FieldFilter = "", offset: EvidenceOffset = 0
    ) -> Response:
        wanted: FieldName | None = record_builder.checked_field(field) if field else None
        with pages.families.open_case(request, case, None) as (found, mode):
            tree = found.tree(mode)
            ids = (visible_person(tree, person),) if person else person_ids_by_distance(found, mode)
            if wanted:
                ids = tuple(filter(people_with_field(found.tree(mode, with_discarded=True), wanted).__contains__, ids))
            some = ids[offset : offset + PEOPLE_PER_PAGE]
            facts = [(tree.persons[item], record_builder.evidence_records(found, item, wanted, mode)) for item in some]
            people = person_options(found, mode, person)
        rows = [
            (
                who,
                relatives_by_birth([pages.fact_with_links(fact) for fact in said], tree),
            )
            for who, said in facts
        ]
        shown = [fact for _, said in rows for fact in said]
        values: dict[str, Any] = {
            "rows": rows,
            "sexes": sexes_in(tree, shown),
            "sources": sources_of(shown),
            "people": people,
            "fields": list(FIELD_LABELS),
            "person": person,
            "field": wanted or "",
            "total": len(ids),
            "offset": offset,
            "step": PEOPLE_PER_PAGE,
        }
        return pages.show(request, "family_evidence.html", case, "evidence", **values)

    @routes.get("/family/{case}/audit")
    def audit(request: Request, case: CaseId, check: CheckSwitch = "", head: AuditHead = "") -> Response:
        verification = verification_record(pages.families, request, case, head.strip()) if check else None
        return pages.show(request, "family_audit.html", case, "audit", verification=verification, head=head)


def people_with_field(tree: Tree, field: FieldName) -> set[PersonId]:
    """The people with a value in a field."""
    # A parent counts as the father or mother that their sex says, whichever field stated the tie.
    parent: dict[str, FieldName] = {"male": "father", "female": "mother", "": "parent"}
    found = {fact.person for fact in tree.facts if fact.field == field}
    for tie in tree.relationships:
        if tie.first not in tree.persons or tie.second not in tree.persons:
            continue
        if tie.kind != "parent_of":
            found |= {tie.first, tie.second} if tie.kind == f"{field}_of" else set()
        elif field == "child":
            found.add(tie.first)
        elif field == parent[tree.persons[tie.first].sex]:
            found.add(tie.second)
    return found


SwitchField = Annotated[str, Form(max_length=8)]
TextField = Annotated[str, Form(max_length=MAX_NAME)]


def add_source_pages(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/sources")
    def sources(request: Request, case: CaseId) -> Response:
        there = all_plugins(pages.families.cases.plugins)
        with pages.families.cases.reading(case) as found:
            there_are = source_records(there, found.store)
        own = {plugin.plugin.plugin_id for plugin in there.known if plugin.plugin.kind == "sparql"}
        rows = sorted(
            ({**plain(row), "own_endpoint": row.id in own} for row in there_are), key=lambda row: bool(row["network"])
        )
        problems = [without_paths(str(bad_settings)) for bad_settings in there.problems]
        return pages.show(request, "family_sources.html", case, "sources", sources=rows, problems=problems)

    @routes.post("/family/{case}/sources/{plugin}")
    @requires_role("researcher", "case")
    def switch_source(
        request: Request,
        case: CaseId,
        plugin: PluginId,
        on: SwitchField = "",
        terms_ok: SwitchField = "",
        contact: TextField = "",
        endpoint: TextField = "",
    ) -> Response:
        pages.families.access.require_family_owner(request)
        there = all_plugins(pages.families.cases.plugins)
        with pages.families.cases.opened_exclusively(case) as found:
            require_known(plugin, [known_plugin.plugin.plugin_id for known_plugin in there.known])
            values = {"contact": contact.strip(), "endpoint": endpoint.strip()}
            set_plugin(found.store, there.named(plugin), on=on == "yes", terms=terms_ok == "yes", **values)
        return redirect(f"/family/{case}/sources")

"""The sources of a case: what each is asked, and which of them are switched on."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from kiwiresearch.kin.sources.registry import plugins as all_plugins
from kiwiresearch.research.family_plugins import switch, told
from kiwiresearch.web.bodies import MOST_NAME
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family import CaseId
from kiwiresearch.web.family_change import PluginId, known
from kiwiresearch.web.problems import without_places

Choice = Annotated[str, Form(max_length=8)]
Text = Annotated[str, Form(max_length=MOST_NAME)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/sources")
    def sources(request: Request, case: CaseId) -> Response:
        there = all_plugins(desk.families.cases.plugins)
        with desk.families.cases.seen(case) as found:
            rows = told(there, found.store)
        own = {one.plugin.plugin_id for one in there.known if one.plugin.kind == "sparql"}
        rows = sorted(({**row, "own_endpoint": row["id"] in own} for row in rows), key=lambda row: bool(row["network"]))
        problems = [without_places(str(one)) for one in there.problems]
        return desk.show(request, "family_sources.html", case, "sources", sources=rows, problems=problems)

    @routes.post("/family/{case}/sources/{plugin}")
    def switch_source(
        request: Request,
        case: CaseId,
        plugin: PluginId,
        on: Choice = "",
        terms_ok: Choice = "",
        contact: Text = "",
        endpoint: Text = "",
    ) -> Response:
        desk.families.access.owner(request)
        there = all_plugins(desk.families.cases.plugins)
        with desk.families.cases.changing(case) as found:
            known(plugin, [one.plugin.plugin_id for one in there.known])
            wish = {"contact": contact.strip(), "endpoint": endpoint.strip()}
            switch(found.store, there.named(plugin), on=on == "yes", terms=terms_ok == "yes", **wish)
        return go_to(f"/family/{case}/sources")

"""Routes by which the owner decides: who is one person, who lives, which sources a case may ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from kiwiresearch.errors import NothingFound
from kiwiresearch.kin.sources.registry import Plugins
from kiwiresearch.kin.sources.registry import plugins as all_plugins
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.research import family_merges
from kiwiresearch.research.family import Case
from kiwiresearch.research.family_living import living_record, set_living
from kiwiresearch.research.family_merges import merges_record
from kiwiresearch.research.family_plugins import switch, told
from kiwiresearch.web.family import CaseId, Families, Person, shown
from kiwiresearch.web.family_replies import (
    DecisionBody,
    LivingBody,
    LivingReply,
    MergesReply,
    PluginBody,
    PluginsReply,
    UndoBody,
    UndoneReply,
)
from kiwiresearch.web.problems import without_places
from kiwiresearch.web.replies import Json

Among = Callable[[Case], Sequence[family_merges.Open | family_merges.Apart]]
Decide = Callable[[Case, str, str], object]

NO_REASON = DecisionBody()
UNDO = UndoBody()
MergeId = Annotated[
    str, Path(max_length=100, description="The `id` of a merge, of one that waits for review, or of a pair kept apart.")
]
PluginId = Annotated[str, Path(max_length=100, description="The `id` of a source.", examples=["wikidata"])]


def add(routes: APIRouter, families: Families) -> None:
    _add_merges(routes, families)
    _add_living(routes, families)
    _add_plugins(routes, families)


def _add_merges(routes: APIRouter, families: Families) -> None:
    def decided(request: Request, case: str, merge: str, among: Among, decide: Decide, why: str) -> Response:
        families.access.owner(request)
        with families.cases.changing(case) as found:
            known(merge, [one.id for one in among(found)])
            decide(found, merge, why)
            return Json(merges_record(found, found.tree(), found.mask("owner")))

    @routes.post("/{case}/merges/{merge}/accept", response_class=Json, responses={200: {"model": MergesReply}})
    def accept(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> Response:
        """Take two for one person, as was proposed. Only the owner may."""
        return decided(request, case, merge, family_merges.to_review, family_merges.accept, body.why)

    @routes.post("/{case}/merges/{merge}/reject", response_class=Json, responses={200: {"model": MergesReply}})
    def reject(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> Response:
        """Keep two apart, though it was proposed. Only the owner may."""
        return decided(request, case, merge, family_merges.to_review, family_merges.reject, body.why)

    @routes.post("/{case}/merges/{merge}/take-back", response_class=Json, responses={200: {"model": MergesReply}})
    def take_back(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> Response:
        """Keep two apart no longer: they may be proposed again, or merged. Only the owner may."""
        return decided(request, case, merge, family_merges.kept_apart, family_merges.take_back, body.why)

    @routes.post("/{case}/merges/{merge}/undo", response_class=Json, responses={200: {"model": UndoneReply}})
    def undo(request: Request, case: CaseId, merge: MergeId, body: UndoBody = UNDO) -> Response:
        """Undo a merge: everything is as it was before, and the two are not proposed again. Only the owner may."""
        families.access.owner(request)
        with families.cases.changing(case) as found:
            known(merge, [one.id for one in found.store.merges()])
            return Json({"undone": list(family_merges.undo(found, merge, body.why, cascade=body.cascade))})


def _add_living(routes: APIRouter, families: Families) -> None:
    @routes.put("/{case}/people/{person}/living", response_class=Json, responses={200: {"model": LivingReply}})
    def living(request: Request, case: CaseId, person: Person, body: LivingBody) -> Response:
        """Say whether a person lives; it wins over every rule. Only the owner may."""
        families.access.owner(request)
        with families.cases.changing(case) as found:
            one = shown(found.store.tree(), person)
            set_living(found, one, body.status, body.why)
            return Json(living_record(found, one))


def _add_plugins(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/plugins", response_class=Json, responses={200: {"model": PluginsReply}})
    def plugins(case: CaseId) -> Response:
        """The sources there are, what each is asked, and which of them this case may ask."""
        with families.cases.seen(case) as found:
            return _plugins(all_plugins(families.cases.plugins), found.store)

    @routes.put("/{case}/plugins/{plugin}", response_class=Json, responses={200: {"model": PluginsReply}})
    def switch_plugin(request: Request, case: CaseId, plugin: PluginId, body: PluginBody) -> Response:
        """Switch a source on or off for a case; all but the books are off until then. Only the owner may."""
        families.access.owner(request)
        there = all_plugins(families.cases.plugins)
        with families.cases.changing(case) as found:
            known(plugin, [one.plugin.plugin_id for one in there.known])
            wish = {"contact": body.contact, "endpoint": body.endpoint}
            switch(found.store, there.named(plugin), on=body.on, terms=body.terms_ok, **wish)
            return _plugins(there, found.store)


def _plugins(there: Plugins, store: CaseStore) -> Response:
    problems = [without_places(str(one)) for one in there.problems]
    return Json({"plugins": told(there, store), "problems": problems})


def known(wanted: str, there: list[str]) -> None:
    """Refuse an id that is none of these."""
    if wanted not in there:
        raise NothingFound(f"There is no {wanted!r} here.", remedy="Ids are given whole, as the lists have them.")

"""The archive and the trash: research and families that were archived or deleted, and the way back."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from kiwiresearch.jobs import KEEP_DAYS, JobQueue, RemovedItem, WorkKind
from kiwiresearch.web.addresses import url_part
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.guard import OwnerAccess, RoleRouter, current_visitor, require_creator_or_owner, requires_role

Action = Literal["archive", "delete", "restore", "purge"]
WorkId = Annotated[str, Path(max_length=200)]
LISTS: dict[WorkKind, str] = {"run": "/research", "family": "/family"}
DAY_S = 24 * 3600


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page, and the forms of lists that archive, delete and restore."""
    routes = RoleRouter("researcher", include_in_schema=False)
    shown = ArchivePages(context, jobs, pages)
    jobs.removed.purge_old()
    routes.get("/archive")(shown.page)
    routes.post("/archive/empty")(shown.empty)
    routes.post("/archive/{kind}/{work_id}/{action}")(shown.act)
    return routes


class ArchivePages:
    """The page and its actions: for owners, and for researchers with their own research."""

    def __init__(self, context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> None:
        self._jobs = jobs
        self._removed = jobs.removed
        self._pages = pages
        self._has_users = context.workspace.settings.serve.users
        self._access = OwnerAccess(context.workspace.settings.serve)
        self._questions = QuestionHistory(context.workspace)

    def page(self, request: Request, *, purged: bool = False) -> Response:
        self._removed.purge_old()
        self._questions.empty_trash(older_than_s=KEEP_DAYS * DAY_S)
        return self._pages.show(
            request,
            "archive.html",
            archived=[item for item in self._removed.items("archived") if self._may(request, item)],
            deleted=[item for item in self._removed.items("deleted") if self._may(request, item)],
            days=KEEP_DAYS,
            may_empty=self._access.may_manage(request),
            is_purged=purged,
        )

    @requires_role("researcher", "remove")
    def act(self, request: Request, kind: WorkKind, work_id: WorkId, action: Action) -> Response:
        """Archive, delete, restore or delete for good."""
        if action in ("restore", "purge"):
            item = self._removed.get(kind, work_id)
            self._require(request, item.kind, item.user, item.requested_at)
            if action == "purge":
                self._removed.purge([item])
                return redirect("/archive?purged=1")
            self._removed.restore(kind, work_id)
            return redirect(f"{LISTS[kind]}?restored={kind}.{url_part(work_id)}#set-aside")
        if kind == "run" and self._has_users and not self._access.may_manage(request):
            job = self._jobs.get(work_id)
            self._require(request, kind, job.user, job.asked_at)
        else:
            self._access.require_server_owner(request)
        if action == "archive":
            self._removed.archive(kind, work_id)
        else:
            self._removed.delete(kind, work_id)
        state = "archived" if action == "archive" else "deleted"
        return redirect(f"{LISTS[kind]}?{state}={kind}.{url_part(work_id)}#set-aside")

    @requires_role("owner", "remove")
    def empty(self, request: Request) -> Response:
        """Delete everything in the trash for good."""
        self._access.require_server_owner(request)
        self._removed.purge(self._removed.items("deleted"))
        self._questions.empty_trash()
        return redirect("/archive?purged=1")

    def _may(self, request: Request, item: RemovedItem) -> bool:
        is_theirs = (
            item.kind == "run" and self._has_users and current_visitor().may_change(item.user, item.requested_at)
        )
        return is_theirs or self._access.may_manage(request)

    def _require(self, request: Request, kind: WorkKind, user: str, made: str) -> None:
        """Owners may do everything, users may change and restore what is theirs."""
        if kind == "run" and self._has_users:
            require_creator_or_owner(user, made)
        else:
            self._access.require_server_owner(request)

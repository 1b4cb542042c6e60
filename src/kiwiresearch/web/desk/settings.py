"""The page on which the owner changes settings while the server runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.responses import Response

from kiwiresearch.errors import BadSettings, KiwiError
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.desk.reading import TEXT_SIZES, text_size
from kiwiresearch.web.desk.shelf import DeskState
from kiwiresearch.web.desk.sign_in_forms import off_lock
from kiwiresearch.web.guard import OwnerAccess, RoleRouter, requires_role
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.workspace import (
    RANGES,
    THEMES,
    HostStatus,
    SettingOrigin,
    defaults,
    environment_variable,
    host_statuses,
    save_settings,
    setting_origins,
    setting_value,
    value_from_text,
    with_values,
)

Control = Literal["text", "long", "number", "switch", "choice", "lines", "secret"]
# One address or several: 'http://a:11434, http://b:11434'; not 'a:11434'.
ADDRESSES = re.compile(r"https?://[^\s,]+(?:[\s,]+https?://[^\s,]+)*")
MAX_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting that can be changed here, and how."""

    key: str
    control: Control
    needs_restart: bool = False
    is_for_access: bool = False
    """Whether it decides who may do what, which routes and checks read when they are made."""
    choices: tuple[str, ...] = ()
    is_technical: bool = False
    """Whether few people change it, so that it is folded."""

    @property
    def name(self) -> str:
        """Its name in the catalogue."""
        return self.key.replace(".", "_")

    @property
    def bounds(self) -> tuple[float, float] | None:
        return RANGES.get(self.key)


GROUPS: Mapping[str, tuple[SettingField, ...]] = {
    "pages": (
        SettingField("serve.theme", "choice", choices=THEMES),
        SettingField("serve.remember_questions", "switch"),
        SettingField("serve.scripts", "switch", is_technical=True),
    ),
    "library": (
        SettingField("serve.books", "text"),
        SettingField("serve.max_book_gb", "number"),
        SettingField("atlas", "lines", needs_restart=True, is_technical=True),
        SettingField("kiwix_url", "text", is_technical=True),
        SettingField("allow_damaged", "switch", needs_restart=True, is_technical=True),
    ),
    "model": (
        SettingField("model_url", "text"),
        SettingField("model_name", "text"),
        SettingField("model_key", "secret"),
        SettingField("model_timeout_s", "number", is_technical=True),
        SettingField("model_pages", "number", is_technical=True),
    ),
    "research": (
        SettingField("max_pages", "number"),
        SettingField("max_depth", "number", is_technical=True),
        SettingField("max_links_per_page", "number", is_technical=True),
        SettingField("search_books", "number", is_technical=True),
    ),
    "family": (SettingField("serve.family_owner", "switch", is_for_access=True),),
    "limits": (
        SettingField("serve.requests_a_minute", "number", needs_restart=True),
        SettingField("limits.reader_questions_a_day", "number", needs_restart=True),
        SettingField("limits.researcher_running", "number", needs_restart=True),
        SettingField("limits.researcher_queued", "number", needs_restart=True),
        SettingField("limits.researcher_max_pages", "number", needs_restart=True),
    ),
    "policy": (
        SettingField("policy.name", "text", needs_restart=True),
        SettingField("policy.notice", "long", needs_restart=True),
        SettingField("policy.hidden", "lines", needs_restart=True),
    ),
}
"""What can be changed here, in the order of the page; nothing that could lock the owner out is offered."""

FOLDED_GROUPS = ("limits", "policy")
"""Groups that matter on a server with many users, at the end of the page."""

FIELDS = {field.key: field for fields in GROUPS.values() for field in fields}


@dataclass(frozen=True, slots=True)
class SettingFault:
    """What is wrong with a typed value, as a key of the catalogue and its values."""

    kind: Literal["range", "number", "address", "choice", "value"]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting as the page shows it."""

    field: SettingField
    value: str
    """Its text in the form; empty for a secret."""
    is_on: bool
    origin: SettingOrigin
    variable: str
    default: str
    fault: SettingFault | None = None

    @property
    def is_locked(self) -> bool:
        """Whether a variable of the environment decides, so that a change here would have no effect."""
        return self.origin == "environment"


def router(context: ServerContext, pages: PageRenderer, renew: Callable[[], None]) -> APIRouter:
    """The page and its forms; `renew` builds the routes again after a change of who may do what."""
    routes = RoleRouter("owner", include_in_schema=False)
    shown = SettingPages(context, pages, renew)
    routes.get("/settings")(shown.page)
    routes.post("/settings")(shown.save)
    return routes


class SettingPages:
    """The page and what its forms do."""

    def __init__(self, context: ServerContext, pages: PageRenderer, renew: Callable[[], None]) -> None:
        self._context = context
        self._renew = renew
        self._pages = pages
        self._access = OwnerAccess(context.workspace.settings.serve)
        self._state = DeskState(context)
        self._pending = context.pending_settings

    def page(
        self,
        request: Request,
        saved: Annotated[str, Query(max_length=20)] = "",
        came_from: Annotated[str, Query(alias="next", max_length=2_000)] = "",
    ) -> Response:
        """The settings; `saved` is the group that was just saved, and `came_from` the page to return to after that."""
        self._access.require_server_owner(request)
        return self._show(request, saved=saved, came_from=came_from)

    @requires_role("owner", "manage")
    async def save(self, request: Request) -> Response:
        """Save what was changed in one group of the page."""
        self._access.require_server_owner(request)
        form = await request.form(max_files=0, max_fields=100)
        return await run_in_threadpool(self._save, request, form)

    def _save(self, request: Request, form: FormData) -> Response:
        workspace, came_from = self._context.workspace, str(form.get("next", ""))[:2_000]
        origins = setting_origins(workspace)
        changes: dict[str, Any] = {}
        faults: dict[str, SettingFault] = {}
        typed: dict[str, str] = {}
        for setting in self._groups().get(str(form.get("group", "")), ()):
            if origins[setting.key] == "environment":
                continue
            typed[setting.key] = str(form.get(setting.key, ""))[:MAX_CHARS]
            if (
                # An empty field keeps a secret, which the page never shows.
                setting.control == "secret" and not typed[setting.key] and not form.get(f"{setting.key}.remove")
            ):
                continue
            found = checked_text(setting, typed[setting.key])
            if isinstance(found, SettingFault):
                faults[setting.key] = found
            elif found != setting_value(workspace.settings, setting.key) or setting.key in self._pending:
                changes[setting.key] = found
        if faults:
            return self._show(request, typed=typed, faults=faults, came_from=came_from)
        try:
            settings = save_settings(workspace, changes) if changes else workspace.settings
        except KiwiError as error:
            return self._show(request, typed=typed, problem=problem_of(error), came_from=came_from)
        self._use(changes, settings)
        group = str(form.get("group", ""))
        saved = f"/settings?saved={group}#group-{group}" if group in GROUPS else "/settings"
        return redirect(safe_return_address(came_from) if came_from else saved)

    def _use(self, changes: Mapping[str, Any], settings: Any) -> None:
        """Use at once what can be; what is only read at the start keeps its old value here until then."""
        later = {key for key in changes if FIELDS[key].needs_restart}
        self._pending |= later
        before = self._context.workspace.settings
        kept = {key: (repr(key), setting_value(before, key)) for key in later}
        if set(changes) - later:
            self._context.use_settings(with_values(settings, kept))
        if any(FIELDS[key].is_for_access for key in changes):
            self._renew()

    def _groups(self) -> Mapping[str, tuple[SettingField, ...]]:
        """What can be changed on this server: where 'family_owner' makes holders of its token owners, they keep it."""
        serve = self._context.workspace.settings.serve
        is_kept = serve.token and not serve.users
        return {name: fields for name, fields in GROUPS.items() if not (is_kept and name == "family")}

    def _show(
        self,
        request: Request,
        *,
        typed: Mapping[str, str] | None = None,
        faults: Mapping[str, SettingFault] | None = None,
        problem: Problem | None = None,
        saved: str = "",
        came_from: str = "",
    ) -> Response:
        workspace = self._context.workspace
        values: dict[str, Any] = {
            "groups": self._rows(typed or {}, faults or {}),
            "folded_groups": FOLDED_GROUPS,
            "sizes": TEXT_SIZES,
            "size": text_size(request),
            "settings_file": str(workspace.folders.settings_file),
            "model": self._state.model(),
            "hosts": self._hosts(),
            "problem": problem,
            "has_faults": bool(faults),
            "saved": saved,
            "came_from": came_from,
            "pending": sorted(self._pending),
            "has_users": workspace.settings.serve.users,
            "off_lock": off_lock(workspace),
        }
        status = 422 if faults else problem.status if problem else 200
        return self._pages.show(request, "settings.html", status=status, **values)

    def _rows(self, typed: Mapping[str, str], faults: Mapping[str, SettingFault]) -> list[tuple[str, list[SettingRow]]]:
        origins, usual = setting_origins(self._context.workspace), defaults()
        settings = self._context.workspace.settings

        def row(setting: SettingField) -> SettingRow:
            value = setting_value(settings, setting.key)
            shown = typed[setting.key] if setting.key in faults else value_text(value)
            return SettingRow(
                setting,
                "" if setting.control == "secret" else shown,
                bool(value),
                origins[setting.key],
                environment_variable(setting.key),
                value_text(usual[setting.key]),
                faults.get(setting.key),
            )

        return [(name, [row(setting) for setting in fields]) for name, fields in self._groups().items()]

    def _hosts(self) -> list[HostStatus]:
        if not self._context.workspace.settings.is_shared_store:
            return []
        try:
            return host_statuses(self._context.workspace)
        except KiwiError:
            return []


def value_text(value: Any) -> str:
    """A value as a field of the form has it."""
    if isinstance(value, tuple):
        return "\n".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def checked_text(setting: SettingField, text: str) -> Any | SettingFault:
    """The value that was typed, or what is wrong with it."""
    kind = type(defaults()[setting.key])
    if setting.control == "lines":
        value: Any = tuple(line.strip() for line in text.splitlines() if line.strip())
    elif setting.control == "switch":
        value = bool(text)
    else:
        # A number may have the typographic minus of a text, or the decimal comma of French and Spanish.
        plain = " ".join(text.split()).replace("\u2212", "-")
        if setting.control == "number":
            plain = plain.replace(",", ".")
        try:
            value = value_from_text(setting.key, plain, kind)
        except BadSettings:
            return SettingFault("number")
    if setting.key == "model_url" and value and not ADDRESSES.fullmatch(value):
        return SettingFault("address")
    try:
        with_values_of(setting.key, value)
    except BadSettings:
        return _fault(setting)
    return value


def with_values_of(key: str, value: Any) -> None:
    """Check one value as the settings file is checked."""
    from kiwiresearch.workspace import Settings

    with_values(Settings(), {key: (repr(key), value)})


def _fault(setting: SettingField) -> SettingFault:
    if setting.bounds is not None:
        low, high = setting.bounds
        return SettingFault("range", {"low": low, "high": high})
    return SettingFault("address" if setting.key.endswith("_url") else "choice" if setting.choices else "value")

"""What makes the desk an installable app: manifest, service worker, the page for a lost server; and its shortcuts."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.pages import PageRenderer
from kiwiresearch.web.desk.static_files import file_address, static_files
from kiwiresearch.web.guard import RoleRouter

SHELL = ("css/base.css", "icon.svg", "js/every_page.js", "js/suggestions.js")
"""What the page for a lost server and the frame of every page need. Pages themselves are never cached: they show
what one person may see."""

WORKER = """\
// Keeps the frame of the desk, and shows a page of its own when the server cannot be reached.
const NAME = %(name)s;
const SHELL = %(shell)s;
self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(SHELL)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("kiwiresearch-") && name !== NAME;
  event.waitUntil(Promise.all([
    caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))),
    // The browser then sends the request itself, with headers that say where the click came from.
    self.registration.navigationPreload?.enable(),
  ]));
});
async function open(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch {
    return (await caches.match("/offline")) || Response.error();
  }
}
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && request.destination === "document") {
    event.respondWith(open(event));
  } else if (SHELL.includes(new URL(request.url).pathname)) {
    event.respondWith(caches.match(request).then((kept) => kept || fetch(request)));
  }
});
"""

WORKER_HEADERS = {
    "Cache-Control": "no-cache",
    # The policy of a worker's own file governs what the worker may fetch.
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
}


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:  # noqa: ARG001 (all desk routers share this signature)
    """The files of the app, which hold nothing private, and the list of shortcuts."""
    routes = RoleRouter("stranger", include_in_schema=False)

    @routes.get("/manifest.webmanifest")
    def manifest(request: Request) -> Response:
        catalogue = catalogue_for(request)
        record = {
            "name": "kiwiresearch",
            "short_name": "kiwiresearch",
            "description": catalogue("frame.app.description"),
            "lang": catalogue.language,
            "id": "/",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": "#faf8f2",
            "theme_color": "#153b2c",
            "icons": [
                {"src": file_address("icon.svg"), "sizes": "any", "type": "image/svg+xml", "purpose": purpose}
                for purpose in ("any", "maskable")
            ],
        }
        return JSONResponse(record, media_type="application/manifest+json", headers={"Cache-Control": "no-cache"})

    @routes.get("/service-worker.js")
    def service_worker() -> Response:
        shell = ["/offline", *map(file_address, SHELL)]
        version = "".join(static_files()[name].content_hash for name in SHELL)
        code = WORKER % {"name": canonical_json(f"kiwiresearch-{version}"), "shell": canonical_json(shell)}
        return Response(code, media_type="text/javascript", headers=WORKER_HEADERS)

    @routes.get("/offline")
    def offline(request: Request) -> Response:
        return pages.show(request, "offline.html")

    @routes.get("/shortcuts")
    def shortcuts(request: Request) -> Response:
        return pages.show(request, "shortcuts.html")

    @routes.get("/shortcuts/sheet")
    def sheet(request: Request) -> Response:
        return pages.show(request, "shortcuts_sheet.html")

    return routes

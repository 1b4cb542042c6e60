// Results as somebody types: quick ones at once, the full search when the typing rests; older answers are dropped.

import { offerTitles } from "./title_suggestions.js";

const QUICK = 250;
const FULL = 1000;
const form = document.getElementById("search");
const results = document.getElementById("results");
const said = document.getElementById("search-said");
let timers = [];
let asking = null;

async function look({ fast }) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", String(query) ? `/find?${query}` : "/find");
  document.getElementById("led")?.remove();
  if (fast) query.set("fast", "true");
  results.setAttribute("aria-busy", "true");
  try {
    const reply = await fetch(`/find/results?${query}`, { signal });
    // What stands in the way of a search, such as a key that has run out, is told in another form.
    if (!reply.headers.get("content-type")?.startsWith("text/html")) throw new Error(reply.statusText);
    results.innerHTML = await reply.text();
    said.textContent = results.querySelector("h2:last-of-type")?.textContent ?? results.querySelector("p")?.textContent ?? "";
    results.setAttribute("aria-busy", "false");
  } catch {
    if (signal.aborted) return;
    results.textContent = results.dataset.failed;
    results.setAttribute("aria-busy", "false");
  }
}

function later() {
  timers.forEach(clearTimeout);
  timers = [setTimeout(look, QUICK, { fast: true }), setTimeout(look, FULL, { fast: false })];
}

form.elements.q.addEventListener("input", later);
form.elements.book?.addEventListener("change", () => look({ fast: false }));
form.addEventListener("submit", () => {
  timers.forEach(clearTimeout);
  asking?.abort();
});
document.querySelectorAll("[data-titles]").forEach(offerTitles);

// Search while you type: quick results after a short pause, the full search after a longer one. Older responses are
// dropped.

const QUICK_MS = 250;
const FULL_MS = 1000;
const form = document.getElementById("search");
const results = document.getElementById("results");
const status = document.getElementById("search-said");
let timers = [];
let request = null;

async function search({ fast }) {
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, "", String(query) ? `/find?${query}` : "/find");
  document.getElementById("led")?.remove();
  if (fast) query.set("fast", "true");
  results.setAttribute("aria-busy", "true");
  try {
    const reply = await fetch(`/find/results?${query}`, { signal });
    // An error, such as an expired session, is not HTML.
    if (!reply.headers.get("content-type")?.startsWith("text/html")) throw new Error(reply.statusText);
    results.innerHTML = await reply.text();
    status.textContent = results.querySelector("h2:last-of-type")?.textContent ?? results.querySelector("p")?.textContent ?? "";
    results.setAttribute("aria-busy", "false");
  } catch {
    if (signal.aborted) return;
    results.textContent = results.dataset.failed;
    results.setAttribute("aria-busy", "false");
  }
}

function searchSoon() {
  timers.forEach(clearTimeout);
  timers = [setTimeout(search, QUICK_MS, { fast: true }), setTimeout(search, FULL_MS, { fast: false })];
}

form.elements.q.addEventListener("input", searchSoon);
form.elements.book?.addEventListener("change", () => search({ fast: false }));
form.addEventListener("submit", () => {
  timers.forEach(clearTimeout);
  request?.abort();
});

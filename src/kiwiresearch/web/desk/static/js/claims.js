// Filters apply as they change: the same page is asked for, and its list put into the place of this one's.

const form = document.querySelector("form[data-swap]");
const WAIT_MS = 250;
let waiting = 0;
let asked = null;
let changed = "";
let isStep = false;
let shown = location.pathname + location.search;

function address() {
  const said = [...new FormData(form)].filter(([, value]) => value !== "" && value !== "0");
  const query = new URLSearchParams(said).toString();
  return form.getAttribute("action") + (query ? `?${query}` : "");
}

async function apply() {
  asked?.abort();
  asked = new AbortController();
  const url = address();
  try {
    const reply = await fetch(url, { signal: asked.signal });
    if (!reply.ok) throw new Error(String(reply.status));
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const found = page.getElementById(form.dataset.swap);
    document.getElementById(form.dataset.swap).replaceWith(document.adoptNode(found));
    document.getElementById("count").textContent = page.getElementById("count").textContent;
    if (isStep) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
    isStep = false;
    shown = location.pathname + location.search;
    // What leads back here leads to what is shown now.
    for (const back of document.querySelectorAll("input[name=back]")) back.value = url;
  } catch (problem) {
    if (problem.name !== "AbortError") document.getElementById("count").textContent = form.dataset.failed;
  }
}

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(apply, WAIT_MS);
}

// Each choice is a step that Back undoes; the letters of one word are one step together.
form?.addEventListener("input", ({ target }) => {
  isStep ||= target.name !== changed || target.tagName === "SELECT";
  changed = target.name;
  soon();
});
// A link within the page is told as a step, too.
addEventListener("popstate", () => {
  if (location.pathname + location.search !== shown) location.reload();
});
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  apply();
});

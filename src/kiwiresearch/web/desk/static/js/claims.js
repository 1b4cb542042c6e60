// Filters apply as they change: the same page is asked for, and its list put into the place of this one's.

const form = document.querySelector("form[data-swap]");
const WAIT_MS = 250;
let waiting = 0;
let asked = null;

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
    history.replaceState(null, "", url);
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

form?.addEventListener("input", soon);
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  apply();
});

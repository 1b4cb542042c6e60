// Saves notes without leaving the page. Drafts stay in the browser until the server has them, also after a reload.

const DRAFT_PREFIX = "kiwiresearch note ";
const FIELDS = ["verdict", "reason", "correction"];

function draftName(form) {
  return DRAFT_PREFIX + form.dataset.noteForm;
}

function loadDraft(form) {
  try {
    return JSON.parse(localStorage.getItem(draftName(form)) ?? "null");
  } catch {
    return null;
  }
}

function saveDraft(form) {
  const typed = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  try {
    localStorage.setItem(draftName(form), JSON.stringify(typed));
  } catch {
    // Notes can be saved without drafts.
  }
}

function deleteDraft(name) {
  if (!name) return;
  try {
    localStorage.removeItem(DRAFT_PREFIX + name);
  } catch {
    // There are no drafts.
  }
}

function restoreDraft(form) {
  const typed = loadDraft(form);
  if (!typed || typeof typed !== "object") return;
  if (FIELDS.every((name) => typed[name] === form.elements[name].value)) {
    deleteDraft(form.dataset.noteForm); // sent before this script was ready
    return;
  }
  for (const name of FIELDS) {
    if (typeof typed[name] === "string") form.elements[name].value = typed[name];
  }
  const around = form.closest("details");
  if (around) around.open = true;
}

function showMessage(form, text) {
  const place = form.querySelector("[data-message]") ?? form.closest("[data-notes]")?.querySelector("[data-problem]");
  if (!place) return;
  place.hidden = !text;
  place.textContent = text;
}

function refusalText(reply, form) {
  if (reply.isPlain) return reply.text;
  try {
    const problem = JSON.parse(reply.text);
    return `${problem.detail} ${problem.remedy ?? ""}`;
  } catch {
    return notSentText(form);
  }
}

function notSentText(form) {
  return form.closest("[data-unsent]")?.dataset.unsent ?? "";
}

async function send(form) {
  const body = new URLSearchParams(new FormData(form));
  body.set("in_place", "true");
  const reply = await fetch(form.action, { method: "POST", body });
  const isPlain = (reply.headers.get("Content-Type") ?? "").startsWith("text/plain");
  return { ok: reply.ok, isConflict: reply.status === 409, isPlain, text: await reply.text() };
}

function putInPlace(form, text) {
  const section = form.closest("[data-notes]");
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-notes]");
  if (!section || !fresh) {
    location.reload();
    return;
  }
  section.replaceWith(fresh);
  connect(fresh);
  fresh.querySelector("h2")?.focus();
}

async function submit(event) {
  const form = event.currentTarget;
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  showMessage(form, "");
  try {
    const reply = await send(form);
    if (reply.ok) {
      deleteDraft(form.dataset.noteForm);
      putInPlace(form, reply.text);
    } else if (reply.isConflict) {
      form.submit(); // as without a script: the response is a page that shows both versions and deletes the draft
    } else {
      showMessage(form, refusalText(reply, form));
    }
  } catch {
    showMessage(form, notSentText(form));
  } finally {
    button.disabled = false;
  }
}

function connect(place) {
  for (const form of place.querySelectorAll("[data-note-form]")) {
    restoreDraft(form);
    form.addEventListener("input", () => saveDraft(form));
    form.addEventListener("submit", submit);
  }
  for (const form of place.querySelectorAll("[data-note-step]")) {
    if (form.closest("[data-notes]")) form.addEventListener("submit", submit);
  }
}

connect(document);
// The server has these drafts: they are in the forms of this page.
for (const form of document.querySelectorAll("[data-note-arrived]")) deleteDraft(form.dataset.noteArrived);

// Notes saved where they are written. What is typed stays in its field until the server has it, and outlives a reload.

const KEPT = "kiwiresearch note ";
const FIELDS = ["verdict", "reason", "correction"];

function draftName(form) {
  return KEPT + form.dataset.noteForm;
}

function kept(form) {
  try {
    return JSON.parse(localStorage.getItem(draftName(form)) ?? "null");
  } catch {
    return null;
  }
}

function keep(form) {
  const typed = Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  try {
    localStorage.setItem(draftName(form), JSON.stringify(typed));
  } catch {
    // A browser that keeps nothing still saves notes.
  }
}

function forget(name) {
  if (!name) return;
  try {
    localStorage.removeItem(KEPT + name);
  } catch {
    // Nothing was kept.
  }
}

function bringBack(form) {
  const typed = kept(form);
  if (!typed || typeof typed !== "object") return;
  for (const name of FIELDS) {
    if (typeof typed[name] === "string") form.elements[name].value = typed[name];
  }
  const around = form.closest("details");
  if (around) around.open = true;
}

function tell(form, words) {
  const place = form.querySelector("[data-message]") ?? form.closest("[data-notes]")?.querySelector("[data-told]");
  if (!place) return;
  place.hidden = !words;
  place.textContent = words;
}

function refusal(reply, form) {
  if (reply.isPlain) return reply.text;
  try {
    const problem = JSON.parse(reply.text);
    return `${problem.detail} ${problem.remedy ?? ""}`;
  } catch {
    return unsent(form);
  }
}

function unsent(form) {
  return form.closest("[data-unsent]")?.dataset.unsent ?? "";
}

async function send(form) {
  const body = new URLSearchParams(new FormData(form));
  body.set("in_place", "true");
  const reply = await fetch(form.action, { method: "POST", body });
  const isPlain = (reply.headers.get("Content-Type") ?? "").startsWith("text/plain");
  return { ok: reply.ok, isLate: reply.status === 409, isPlain, text: await reply.text() };
}

function putInPlace(form, text) {
  const section = form.closest("[data-notes]");
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-notes]");
  if (!section || !fresh) {
    location.reload();
    return;
  }
  section.replaceWith(fresh);
  begin(fresh);
  fresh.querySelector("h2")?.focus();
}

async function submit(event) {
  const form = event.currentTarget;
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  tell(form, "");
  try {
    const reply = await send(form);
    if (reply.ok) {
      forget(form.dataset.noteForm);
      putInPlace(form, reply.text);
    } else if (reply.isLate) {
      form.submit(); // without a script's wish, so that a page answers which shows both, and then forgets the draft
    } else {
      tell(form, refusal(reply, form));
    }
  } catch {
    tell(form, unsent(form));
  } finally {
    button.disabled = false;
  }
}

function begin(place) {
  for (const form of place.querySelectorAll("[data-note-form]")) {
    bringBack(form);
    form.addEventListener("input", () => keep(form));
    form.addEventListener("submit", submit);
  }
  for (const form of place.querySelectorAll("[data-note-step]")) {
    if (form.closest("[data-notes]")) form.addEventListener("submit", submit);
  }
}

begin(document);
// What was typed has arrived with this page, and stands in its form.
for (const form of document.querySelectorAll("[data-note-arrived]")) forget(form.dataset.noteArrived);

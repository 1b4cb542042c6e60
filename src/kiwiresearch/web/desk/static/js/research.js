// Keeps the text in the form until it is sent, so that a reload loses nothing.
const form = document.querySelector("form[data-draft]");
const NAMES = ["topic", "aspect", "focus"];

function loadDraft() {
  try {
    return JSON.parse(sessionStorage.getItem(form.dataset.draft)) ?? {};
  } catch {
    return {};
  }
}

function saveDraft() {
  try {
    const values = Object.fromEntries(NAMES.map((name) => [name, form.elements[name].value]));
    sessionStorage.setItem(form.dataset.draft, JSON.stringify(values));
  } catch {
    // The form works without a draft.
  }
}

if (form) {
  const draft = loadDraft();
  for (const name of NAMES) {
    const field = form.elements[name];
    if (field.value || typeof draft[name] !== "string" || !draft[name]) continue;
    field.value = draft[name];
    const folded = field.closest("details");
    if (folded) folded.open = true;
  }
  form.addEventListener("input", saveDraft);
  form.addEventListener("submit", () => {
    try {
      sessionStorage.removeItem(form.dataset.draft);
    } catch {
      // There is no draft.
    }
  });
}

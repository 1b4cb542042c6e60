// What was typed into the form is kept until it is sent, so that a reload loses nothing.
const form = document.querySelector("form[data-draft]");
const NAMES = ["topic", "aspect", "focus"];

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(form.dataset.draft)) ?? {};
  } catch {
    return {};
  }
}

function keep() {
  try {
    const values = Object.fromEntries(NAMES.map((name) => [name, form.elements[name].value]));
    sessionStorage.setItem(form.dataset.draft, JSON.stringify(values));
  } catch {
    // A browser that keeps nothing still sends the form.
  }
}

if (form) {
  const draft = kept();
  for (const name of NAMES) {
    if (!form.elements[name].value && typeof draft[name] === "string") form.elements[name].value = draft[name];
  }
  form.addEventListener("input", keep);
  form.addEventListener("submit", () => {
    try {
      sessionStorage.removeItem(form.dataset.draft);
    } catch {
      // Nothing was kept.
    }
  });
}

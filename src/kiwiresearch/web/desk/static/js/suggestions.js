// Suggestions while you type: a combobox with a list for the arrow keys.

const PAUSE_MS = 150;

export function offerSuggestions(frame) {
  const input = frame.querySelector("input");
  const list = document.createElement("ul");
  const status = document.createElement("span");
  list.id = `${input.id}-suggestions`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", frame.dataset.label);
  status.className = "hidden-text";
  status.setAttribute("role", "status");
  frame.append(list, status);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  let chosen = -1;
  let timer = 0;
  let request = null;

  const close = () => {
    clearTimeout(timer);
    request?.abort();
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const choose = (place) => {
    const options = [...list.children];
    chosen = (place + options.length) % options.length;
    options.forEach((option, number) => option.setAttribute("aria-selected", String(number === chosen)));
    input.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  };

  const show = (rows) => {
    list.replaceChildren(...rows.map((row, number) => optionFor(row, `${list.id}-${number}`)));
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = rows.length === 0;
    input.setAttribute("aria-expanded", String(rows.length > 0));
    status.textContent = rows.length ? frame.dataset.said.replace("{n}", rows.length) : "";
  };

  const fetchSuggestions = async () => {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    const query = new URLSearchParams({ q: input.value });
    const book = input.form?.elements.book?.value;
    if (book) query.set("book", book);
    if (frame.hasAttribute("data-pages-only")) query.set("pages_only", "true");
    try {
      const answer = await fetch(`/suggest?${query}`, { signal });
      if (answer.ok && document.activeElement === input) show((await answer.json()).suggestions);
    } catch {
      // The form works without suggestions.
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (input.value.trim().length < 2) close();
    else timer = setTimeout(fetchSuggestions, PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      event.preventDefault();
      if (event.key === "ArrowDown") choose(chosen + 1);
      else choose(chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      location.assign(list.children[chosen].dataset.address);
    }
  });
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) location.assign(option.dataset.address);
  });
  input.addEventListener("blur", close);
  input.form?.addEventListener("submit", close);
}

function optionFor(row, id) {
  const option = document.createElement("li");
  option.id = id;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.dir = "auto";
  option.dataset.address = row.address;
  const detail = document.createElement("small");
  detail.textContent = row.detail;
  option.append(row.text, " ", detail);
  return option;
}

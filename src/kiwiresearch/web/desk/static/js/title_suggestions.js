// Titles of pages offered while somebody types: a combobox whose list the arrow keys walk through.

const PAUSE = 150;
const MOST = 7;

export function offerTitles(frame) {
  const input = frame.querySelector("input");
  const list = document.createElement("ul");
  const said = document.createElement("span");
  list.id = `${input.id}-titles`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", frame.dataset.label);
  said.className = "hidden-text";
  said.setAttribute("role", "status");
  frame.append(list, said);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");

  let chosen = -1;
  let timer = 0;
  let asking = null;

  const close = () => {
    clearTimeout(timer);
    asking?.abort();
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
    const isOneBook = new Set(rows.map((row) => row.book_id)).size < 2;
    list.replaceChildren(...rows.map((row, number) => optionFor(row, `${list.id}-${number}`, isOneBook)));
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = rows.length === 0;
    input.setAttribute("aria-expanded", String(rows.length > 0));
    said.textContent = rows.length ? frame.dataset.said.replace("{n}", rows.length) : "";
  };

  const look = async () => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const query = new URLSearchParams({ q: input.value, limit: MOST });
    const book = input.form?.elements.book?.value;
    if (book) query.set("book", book);
    try {
      const answer = await fetch(`/api/suggest?${query}`, { signal });
      if (answer.ok && document.activeElement === input) show((await answer.json()).suggestions);
    } catch {
      // Titles are a help only: without them the form works as before.
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    if (input.value.trim().length < 2) close();
    else timer = setTimeout(look, PAUSE);
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

function optionFor(row, id, isOneBook) {
  const option = document.createElement("li");
  option.id = id;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.dir = "auto";
  const path = row.path.split("/").map(encodeURIComponent).join("/");
  option.dataset.address = `/page/${encodeURIComponent(row.book_id)}/${path}`;
  const beside = document.createElement("small");
  beside.textContent = [row.alias !== row.title && row.alias, !isOneBook && row.book_title].filter(Boolean).join(" · ");
  option.append(row.title, " ", beside);
  return option;
}

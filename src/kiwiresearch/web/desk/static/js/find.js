// Finds words in an article as you type. The browser paints the marks over the text (CSS.highlights), so that the
// article itself, its links and its marked quotes stay as they are.

/** Letters without case and accents, and quotes and dashes in one form; a letter may become several, or none. */
function folded(letter) {
  return letter.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[‘’ʼ]/g, "'").replace(/[“”„«»]/g, '"').replace(/[‐-–—−]/g, "-").toLowerCase();
}

/** The text that can be found in an element, and where each letter of it comes from. */
class FoundText {
  text = "";
  #places = [];

  constructor(root) {
    const isShown = new Map();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    let block = null;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.localName === "br") this.#add("\n", null);
      if (node.nodeType !== Node.TEXT_NODE) continue;
      const parent = node.parentElement;
      // Folded parts can be found: they are opened when their turn comes.
      if (!isShown.has(parent)) isShown.set(parent, parent.checkVisibility() || parent.closest("details:not([open])") !== null);
      if (!isShown.get(parent)) continue;
      const around = blockOf(parent);
      if (around !== block) this.#add("\n", null); // a phrase does not span paragraphs or cells
      block = around;
      let start = 0;
      for (const letter of node.data) {
        const place = { node, start, end: (start += letter.length) };
        for (const char of /\s/.test(letter) ? " " : folded(letter)) this.#add(char, place);
      }
    }
  }

  #add(char, place) {
    if (char === " " && /\s$/.test(this.text.slice(-1))) return;
    this.text += char;
    for (let unit = 0; unit < char.length; unit += 1) this.#places.push(place);
  }

  /** The ranges of all matches, with their positions in the text. */
  matches(words) {
    const wanted = folded(words).replace(/\s+/g, " ").trim();
    const found = [];
    for (let at = wanted ? this.text.indexOf(wanted) : -1; at >= 0; at = this.text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      const [first, last] = [this.#places[at], this.#places[at + wanted.length - 1]];
      range.setStart(first.node, first.start);
      range.setEnd(last.node, last.end);
      found.push({ at, range });
    }
    return found;
  }
}

function blockOf(element) {
  let block = element;
  while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
  return block;
}

/** The box in a page: `opener` is the button that shows it. Without highlights, the browser's own search remains. */
export function offerFind(article, opener, form) {
  if (!opener || !form || !CSS.highlights || !article.checkVisibility) return;
  const box = form.querySelector("input");
  const status = form.querySelector("[role=status]");
  const number = new Intl.NumberFormat(document.documentElement.lang);
  let text = null;
  let matches = [];
  let current = -1;

  const show = () => {
    const ranges = matches.map((match) => match.range);
    CSS.highlights.set("found", new Highlight(...ranges));
    CSS.highlights.set("found-current", Object.assign(new Highlight(...ranges.slice(current, current + 1)), { priority: 1 }));
    for (const button of form.querySelectorAll("[data-step]")) button.disabled = !matches.length;
    const { count, none } = form.dataset;
    if (matches.length) status.textContent = count.replace("{n}", number.format(current + 1)).replace("{total}", number.format(matches.length));
    else status.textContent = box.value.trim() ? none : "";
  };

  /** Scroll to the current match, and to its side of a wide table. */
  const reveal = () => {
    const { range } = matches[current];
    const parent = range.startContainer.parentElement;
    for (let folded = parent.closest("details:not([open])"); folded; folded = folded.parentElement.closest("details:not([open])")) folded.open = true;
    parent.closest(".article-table, pre")?.scrollIntoView({ block: "nearest" });
    const place = range.getBoundingClientRect();
    if (place.top < form.getBoundingClientRect().bottom || place.bottom > window.innerHeight) window.scrollBy({ top: place.top - window.innerHeight / 3, behavior: "instant" });
    const table = parent.closest(".article-table, pre");
    if (table) table.scrollLeft += place.left - table.getBoundingClientRect().left - table.clientWidth / 3;
  };

  const search = () => {
    // Typing on stays where you are: the first match is at the current one or, at the start, in view.
    const since = matches[current]?.at ?? -1;
    text ??= new FoundText(article);
    matches = text.matches(box.value);
    const isNext = since >= 0 ? ({ at }) => at >= since : ({ range }) => range.getBoundingClientRect().bottom > 0;
    current = matches.length ? Math.max(matches.findIndex(isNext), 0) : -1;
    show();
    if (matches.length) reveal();
  };

  const step = (by) => {
    if (!matches.length) return;
    current = (current + by + matches.length) % matches.length;
    show();
    reveal();
  };

  const open = () => {
    form.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    box.focus({ preventScroll: true });
    box.select();
    if (box.value) search();
  };

  const close = () => {
    form.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    [text, matches, current] = [null, [], -1];
    CSS.highlights.delete("found");
    CSS.highlights.delete("found-current");
    opener.focus({ preventScroll: true });
  };

  opener.hidden = false;
  opener.addEventListener("click", () => (form.hidden ? open() : close()));
  box.addEventListener("input", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    step(1);
  });
  form.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button?.hasAttribute("data-close")) close();
    else if (button?.type === "button") step(Number(button.dataset.step));
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.shiftKey && event.target === box) step(-1);
    else return;
    event.preventDefault();
  });
}

// On the page of a brief: the outline marks the section being read, passages open beside the text or in a sheet at
// the bottom, and notes in the margin do not overlap. Without a script, a click on its number opens or closes a passage.

import { followOutline } from "./outline.js";
import { openBeside } from "./source_panel.js";

const article = document.querySelector(".brief");
const contents = document.getElementById("contents");
const beside = window.matchMedia("(min-width: 60rem)");
const hasMargin = window.matchMedia("(min-width: 76rem)");
const EDGE = 12; // pixels between a passage and the edge of the window

const openPassage = () => article.querySelector("details.proof[open]");

function close(passage, { refocus = true } = {}) {
  passage.open = false;
  if (refocus) passage.querySelector("summary").focus({ preventScroll: true });
}

/** Keeps a passage in the margin within the window, and a sheet from covering the number that opened it. */
function place(passage) {
  const box = passage.querySelector(".passage");
  const highest = Math.max(EDGE, article.getBoundingClientRect().top); // not over the tabs
  box.style.translate = "";
  box.style.maxHeight = hasMargin.matches ? `${window.innerHeight - highest - EDGE}px` : "";
  const number = passage.querySelector("summary").getBoundingClientRect();
  const room = box.getBoundingClientRect();
  if (hasMargin.matches) {
    const over = Math.max(0, Math.min(room.bottom - window.innerHeight + EDGE, room.top - highest));
    if (over) box.style.translate = `0 ${-over}px`;
  } else if (number.bottom > room.top - EDGE) {
    window.scrollBy({ top: number.bottom - room.top + 4 * EDGE });
  }
}

/** Moves notes down that would overlap the one above. */
function spreadNotes() {
  const notes = [...article.querySelectorAll(".notes")].filter((note) => !note.closest(".views"));
  for (const note of notes) note.style.translate = "";
  if (!hasMargin.matches) return;
  let free = -Infinity;
  for (const { note, box } of notes.map((note) => ({ note, box: note.getBoundingClientRect() }))) {
    const move = Math.max(0, free - box.top);
    if (move) note.style.translate = `0 ${move}px`;
    free = box.bottom + move + 4;
  }
}

article.classList.add("scripted");
for (const button of article.querySelectorAll("[data-close]")) button.hidden = false;
article.addEventListener("toggle", (event) => {
  if (event.target.matches("details.proof") && event.target.open) place(event.target);
}, { capture: true });
article.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) close(event.target.closest("details.proof"));
});
document.addEventListener("click", (event) => {
  const passage = openPassage();
  if (passage && !hasMargin.matches && !event.target.closest("details.proof")) close(passage, { refocus: false });
});
document.addEventListener("keydown", (event) => {
  const passage = event.key === "Escape" && openPassage();
  if (passage) close(passage);
});

openBeside(article);
new ResizeObserver(spreadNotes).observe(article);
const here = contents.querySelector("[data-here]");
followOutline(contents, {
  links: 'a[href^="#"]', wide: beside, isFirstAtTop: true, onSection: (title) => (here.textContent = title),
});

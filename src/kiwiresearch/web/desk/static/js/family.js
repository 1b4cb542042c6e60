// Enhances the pages of families: people are filtered while typing, the picture of a tree is moved by hand,
// a file that is too large is told before it is sent.
// Without it the form searches, and the picture scrolls.

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

function filter(box) {
  const table = document.getElementById(box.dataset.filter);
  const count = document.querySelector("[data-filter-count]");
  if (!table) return;
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, words: folded(row.dataset.words) }));
  box.addEventListener("input", () => {
    const wanted = folded(box.value.trim());
    let shown = 0;
    for (const { row, words } of rows) {
      row.hidden = !words.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    if (count) count.textContent = count.dataset.filterCount.replace("{n}", String(shown));
  });
}

const LEAST_MOVE = 5; // pixels; less is a click on a person

function pan(region) {
  let from = null;
  const canPan = () => region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight;
  region.classList.toggle("can-pan", canPan());
  region.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || !canPan()) return;
    from = { x: event.clientX, y: event.clientY, left: region.scrollLeft, top: region.scrollTop, moved: false };
  });
  window.addEventListener("pointermove", (event) => {
    if (!from) return;
    const across = event.clientX - from.x;
    const down = event.clientY - from.y;
    from.moved ||= Math.abs(across) + Math.abs(down) > LEAST_MOVE;
    if (!from.moved) return;
    region.classList.add("is-panned");
    region.scrollLeft = from.left - across;
    region.scrollTop = from.top - down;
  });
  window.addEventListener("pointerup", () => {
    const wasMoved = from?.moved;
    from = null;
    region.classList.remove("is-panned");
    if (!wasMoved) return;
    const refuse = (event) => event.preventDefault();
    region.addEventListener("click", refuse, { capture: true });
    setTimeout(() => region.removeEventListener("click", refuse, { capture: true }), 0); // the click comes before that
  });
  region.addEventListener("dragstart", (event) => event.preventDefault());
  showRoot(region);
}

// The person whom a tree is about stands in the middle of it, not always in sight.
function showRoot(region) {
  const root = region.querySelector(".root rect");
  if (!root) return;
  const middle = Number(root.getAttribute("y")) + Number(root.getAttribute("height")) / 2;
  region.scrollTop = Math.max(0, middle - region.clientHeight / 2);
}

function weigh(field) {
  field.addEventListener("change", () => {
    const isTooLarge = [...field.files].some((file) => file.size > Number(field.dataset.largest));
    field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
    field.reportValidity();
  });
}

for (const box of document.querySelectorAll("[data-filter][data-whole]")) filter(box);
for (const region of document.querySelectorAll("[data-pan]")) pan(region);
for (const field of document.querySelectorAll("[data-largest]")) weigh(field);

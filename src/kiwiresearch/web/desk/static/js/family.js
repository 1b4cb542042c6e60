// On the pages of families: filters people while you type, and refuses a file that is too large before it is sent.
// Without a script, the form searches.

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

function filter(box) {
  const table = document.getElementById(box.dataset.filter);
  const count = document.querySelector("[data-filter-count]");
  if (!table) return;
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, words: fold(row.dataset.words) }));
  box.addEventListener("input", () => {
    const wanted = fold(box.value.trim());
    let shown = 0;
    for (const { row, words } of rows) {
      row.hidden = !words.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    if (count) count.textContent = count.dataset.filterCount.replace("{n}", String(shown));
  });
}

function checkSize(field) {
  field.addEventListener("change", () => {
    const isTooLarge = [...field.files].some((file) => file.size > Number(field.dataset.largest));
    field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
    field.reportValidity();
  });
}

for (const box of document.querySelectorAll("[data-filter][data-whole]")) filter(box);
for (const field of document.querySelectorAll("[data-largest]")) checkSize(field);

// Who types a number of steps wants that many.
const steps = document.querySelector("[data-chooses]");
steps?.addEventListener("input", () => {
  document.getElementById(steps.dataset.chooses).checked = true;
});

// The outline of a long text: open beside it on wide screens, folded above it on others. It marks the section that
// is being read.

export function followOutline(contents, { links, wide, isFirstAtTop = false, onSection = () => {} }) {
  const fold = () => (contents.open = wide.matches);
  fold();
  wide.addEventListener("change", fold);
  contents.addEventListener("click", (event) => {
    if (event.target.closest("a") && !wide.matches) contents.open = false;
  });

  const places = new Map();
  for (const link of contents.querySelectorAll(links)) {
    const place = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (place) places.set(place, link);
  }
  if (!places.size) return;
  let current = null;
  const [first] = places.values();
  function markSection() {
    let found = isFirstAtTop ? first : null;
    for (const [place, link] of places) {
      if (place.getBoundingClientRect().top > window.innerHeight / 4) break;
      found = link;
    }
    if (found === current) return;
    current?.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "location");
    current = found;
    onSection(found?.textContent ?? "");
    const list = contents.parentElement;
    if (!found || !wide.matches || list.scrollHeight <= list.clientHeight) return;
    const box = found.getBoundingClientRect();
    const around = list.getBoundingClientRect();
    if (box.top < around.top || box.bottom > around.bottom) list.scrollTop += box.top - around.top - around.height / 3;
  }
  let isDue = false;
  window.addEventListener("scroll", () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      markSection();
    });
  }, { passive: true });
  markSection();
}

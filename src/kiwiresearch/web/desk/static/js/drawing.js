// Zooms and moves drawings that the server made: by mouse, touch, keyboard and buttons. Only the viewBox changes.
// Without a script, a drawing scrolls. The drawing of a family grows while its research goes on.

const MAX_SCALE = 5;
const LEGIBLE = 0.7;
const STEP = 1.3;
const MOVE = 60; // pixels that an arrow key moves
const LIVE_MS = 3000;
const MIN_DRAG = 5; // pixels; less is a click
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const paper = matchMedia("print");
const percent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });

class Drawing {
  constructor(frame) {
    this.view = frame.querySelector(".drawing-view");
    this.level = frame.querySelector("output");
    this.measure();
    frame.classList.add("is-live");
    this.begin();
    this.listen(frame);
  }

  measure() {
    this.svg = this.view.querySelector("svg");
    this.whole = this.svg.getAttribute("viewBox");
    [, , this.width, this.height] = this.whole.split(" ").map(Number);
    this.view.style.height = `${Math.ceil(this.height) + this.view.offsetHeight - this.view.clientHeight}px`; // the style sheet limits it
    this.view.scrollTo(0, 0);
  }

  begin() {
    this.hasMoved = false;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    const start = this.start;
    if (start) {
      // A tree is shown whole where its names can still be read.
      this.scale = Math.min(1, Math.max(this.smallest, this.room.width / this.width, LEGIBLE));
      this.centre(start);
    }
    this.draw();
  }

  get start() {
    return this.svg.querySelector(".root");
  }

  /** Shows a newer drawing. Whoever has zoomed or moved keeps the zoom, and the first person stays in place. */
  replace(markup) {
    const before = this.start?.getBBox();
    const focused = this.view.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    this.view.innerHTML = markup;
    this.measure();
    const after = this.start?.getBBox();
    if (this.hasMoved && before && after) {
      this.x += after.x - before.x;
      this.y += after.y - before.y;
      this.draw();
    } else {
      this.begin();
    }
    if (focused) [...this.svg.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }

  get room() {
    return { width: this.view.clientWidth, height: this.view.clientHeight };
  }

  get smallest() {
    return Math.min(1, this.room.width / this.width, this.room.height / this.height);
  }

  /** Shows the part that x, y and scale describe, kept within the drawing; returns whether anything has changed. */
  draw() {
    if (paper.matches) return this.drawWhole();
    const room = this.room;
    const within = (at, all, seen) => (all <= seen ? (all - seen) / 2 : Math.min(Math.max(at, 0), all - seen));
    this.scale = Math.min(Math.max(this.scale, this.smallest), MAX_SCALE);
    const [wide, high] = [room.width / this.scale, room.height / this.scale];
    this.x = within(this.x, this.width, wide);
    this.y = within(this.y, this.height, high);
    // In a direction in which the drawing cannot move, a finger scrolls the page.
    const slack = 1 / this.scale;
    this.view.style.touchAction = `${this.width > wide + slack ? "" : "pan-x"} ${this.height > high + slack ? "" : "pan-y"}`.trim() || "none";
    this.view.classList.toggle("can-move", this.width > wide + slack || this.height > high + slack);
    const box = [this.x, this.y, wide, high].map((one) => one.toFixed(2)).join(" ");
    const hasChanged = this.svg.getAttribute("viewBox") !== box;
    this.svg.setAttribute("viewBox", box);
    this.level.value = percent.format(this.scale);
    return hasChanged;
  }

  drawWhole() {
    this.svg.setAttribute("viewBox", this.whole);
  }

  /** Zooms around a point of the view, in pixels; by default its centre. */
  zoom(factor, at = { x: this.room.width / 2, y: this.room.height / 2 }) {
    const before = this.scale;
    this.hasMoved = true;
    this.scale = Math.min(Math.max(before * factor, this.smallest), MAX_SCALE);
    this.x += at.x / before - at.x / this.scale;
    this.y += at.y / before - at.y / this.scale;
    return this.draw();
  }

  move(across, down) {
    this.hasMoved = true;
    this.x += across / this.scale;
    this.y += down / this.scale;
    return this.draw();
  }

  fit() {
    this.scale = 0;
    return this.draw();
  }

  centre(part) {
    const box = part.getBBox();
    this.x = box.x + box.width / 2 - this.room.width / this.scale / 2;
    this.y = box.y + box.height / 2 - this.room.height / this.scale / 2;
  }

  /** Moves a link that got the focus into view. */
  reveal(link) {
    const [part, seen] = [link.getBoundingClientRect(), this.view.getBoundingClientRect()];
    if (part.left >= seen.left && part.right <= seen.right && part.top >= seen.top && part.bottom <= seen.bottom) return;
    this.centre(link);
    this.draw();
  }

  place(event) {
    const box = this.view.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = { "+": () => this.zoom(STEP), "=": () => this.zoom(STEP), "-": () => this.zoom(1 / STEP), 0: () => this.fit() };
    const arrow = ARROWS[event.key];
    const hasChanged = arrow ? this.move(arrow[0] * MOVE, arrow[1] * MOVE) : actions[event.key]?.();
    if (hasChanged) event.preventDefault(); // else the page scrolls
  }

  listen(frame) {
    const actions = { in: () => this.zoom(STEP), out: () => this.zoom(1 / STEP), fit: () => this.fit() };
    for (const button of frame.querySelectorAll("[data-zoom]")) button.addEventListener("click", actions[button.dataset.zoom]);
    this.view.addEventListener("keydown", (event) => this.press(event));
    this.view.addEventListener("focusin", (event) => {
      if (event.target.matches("a:focus-visible")) this.reveal(event.target);
    });
    this.view.addEventListener("wheel", (event) => {
      // The wheel zooms only in a drawing that has the focus, so that scrolling a page does not stop at a drawing.
      if (!event.ctrlKey && !event.metaKey && !this.view.contains(document.activeElement)) return;
      const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002));
      if (this.zoom(factor, this.place(event)) || event.ctrlKey) event.preventDefault();
    }, { passive: false });
    this.listenToPointers();
    new ResizeObserver(() => this.draw()).observe(this.view);
    addEventListener("beforeprint", () => this.drawWhole());
    addEventListener("afterprint", () => this.draw());
    paper.addEventListener("change", () => this.draw());
  }

  listenToPointers() {
    const fingers = new Map();
    let hasMoved = false;
    const middle = () => {
      const all = [...fingers.values()];
      const [one, other] = [all[0], all.at(-1)];
      return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.hypot(one.x - other.x, one.y - other.y) };
    };
    this.view.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (!fingers.size) hasMoved = false;
      fingers.set(event.pointerId, this.place(event));
    });
    addEventListener("pointermove", (event) => {
      const from = fingers.get(event.pointerId);
      if (!from) return;
      const to = this.place(event);
      if (!hasMoved && fingers.size === 1 && Math.hypot(to.x - from.x, to.y - from.y) < MIN_DRAG) return;
      hasMoved = true;
      const before = middle();
      fingers.set(event.pointerId, to);
      const after = middle();
      this.view.classList.add("is-moved");
      this.move(before.x - after.x, before.y - after.y);
      if (before.apart && after.apart) this.zoom(after.apart / before.apart, after);
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      if (!fingers.size) this.view.classList.remove("is-moved");
    };
    addEventListener("pointerup", release);
    addEventListener("pointercancel", release);
    this.view.addEventListener("click", (event) => {
      if (hasMoved) event.preventDefault(); // it was a drag that ended on a link
      hasMoved = false;
    }, { capture: true });
    this.view.addEventListener("dragstart", (event) => event.preventDefault());
  }
}

/** Asks for the drawing of a family again and again while its research goes on, and says when it has ended. */
function follow(frame, drawing) {
  const view = frame.querySelector(".drawing-view");
  let shown = "";
  const update = async () => {
    const reply = await fetch(frame.dataset.live, { headers: { Accept: "application/json" } });
    if (!reply.ok) return true;
    const news = await reply.json();
    if (news.drawing && news.drawing !== shown) {
      if (drawing) drawing.replace(news.drawing);
      else {
        view.innerHTML = news.drawing;
        drawing = new Drawing(frame);
      }
      shown = news.drawing;
    }
    document.querySelector("[data-live-state]").innerHTML = news.state;
    if (!news.is_open && !drawing?.hasMoved) location.reload(); // the rest of the page has changed, too
    return news.is_open;
  };
  const again = async () => {
    // A page in the background waits; a server that does not answer is asked again.
    const goesOn = document.hidden || (await update().catch(() => true));
    if (goesOn) setTimeout(again, LIVE_MS);
  };
  setTimeout(again, LIVE_MS);
}

export function makeDrawings(within) {
  for (const frame of within.querySelectorAll(".drawing")) {
    const drawing = frame.querySelector("svg") ? new Drawing(frame) : undefined;
    if (frame.dataset.live) follow(frame, drawing);
  }
}

makeDrawings(document);

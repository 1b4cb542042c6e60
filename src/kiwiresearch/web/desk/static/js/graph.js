// Explores the links of a run. The package that draws them is loaded only when it is needed. Details of a page come
// from the server, as they do without a script.

import { keyboard } from "./graph_keys.js";
import { graphStyle } from "./graph_style.js";

const explorer = document.getElementById("explorer");
const picture = document.getElementById("picture");
const canvas = explorer?.querySelector(".canvas");
const OPEN = "#explore";
const NODE_AREA = 9000; // in square pixels, for a page and its name
let graph = null;
let request = null;
let shown = 0;
let opening = 0;

const part = (name) => explorer.querySelector(`[data-do=${name}]`);

/* The number of the page in the panel; 0 for none. */
const chosen = () => Number(new URLSearchParams(location.search).get("page")) || 0;

async function choose(number, { focus, isNewEntry = true }) {
  request?.abort();
  request = new AbortController();
  const place = document.querySelector("[data-graph]")?.dataset.graph ?? location.pathname;
  const old = document.getElementById("panel");
  old.classList.add("old");
  try {
    const reply = await fetch(`${place}?page=${number}&part=panel`, { signal: request.signal });
    if (!reply.ok) throw new Error(String(reply.status));
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const panel = document.adoptNode(page.getElementById("panel"));
    document.getElementById("panel").replaceWith(panel);
    const query = new URLSearchParams(location.search);
    if (Number(number)) query.set("page", number);
    else query.delete("page");
    // Each page that is chosen is an entry in the history, which Back undoes.
    const change = isNewEntry && Number(number) !== shown ? "pushState" : "replaceState";
    history[change](null, "", `${location.pathname}?${query}${graph ? OPEN : ""}`);
    shown = Number(number);
    mark(number);
    if (focus) panel.focus();
    else panel.querySelector("#panel-title").scrollIntoView({ block: "nearest" });
  } catch (problem) {
    if (problem.name !== "AbortError") location.assign(`${place}?page=${number}#panel`);
  }
}

function mark(number) {
  graph?.elements().removeClass("chosen near");
  const node = graph?.getElementById(String(number));
  if (!node?.length) return;
  node.addClass("chosen");
  node.connectedEdges().addClass("near");
}

function arrange() {
  const nodes = graph.nodes(":visible");
  // Links that are not shown count, too, so that linked pages stay together whichever links are shown.
  const seen = nodes.union(nodes.edgesWith(nodes));
  const many = nodes.length > 200;
  graph.nodes().forEach((node, at) => {
    // The same start positions give the same picture every time.
    const radius = 60 + 220 * node.data("depth");
    node.position({ x: radius * Math.cos(at * 2.4), y: radius * Math.sin(at * 2.4) });
  });
  const isLed = (link) => link.hasClass("led");
  seen.layout({
    name: "cose", animate: false, randomize: false, fit: false, numIter: many ? 250 : 900, nodeOverlap: 40,
    nodeRepulsion: () => 600000, idealEdgeLength: (link) => isLed(link) ? 80 : 200,
    edgeElasticity: (link) => isLed(link) ? 32 : 500, gravity: 0.4, nodeDimensionsIncludeLabels: true,
  }).run();
  spread(nodes);
  graph.fit(nodes, 24);
}

/* Fill the canvas, or a multiple of its size that has room for every name; then you see one part at a time. */
function spread(nodes) {
  const times = Math.max(1, Math.sqrt(nodes.length * NODE_AREA / (graph.width() * graph.height())));
  const box = nodes.boundingBox({ includeLabels: false });
  const right = times * (graph.width() - 120) / Math.max(box.w, 1);
  const down = times * (graph.height() - 60) / Math.max(box.h, 1);
  nodes.positions((node) => ({ x: right * node.position("x"), y: down * node.position("y") }));
}

function elements(data) {
  const most = Math.max(1, ...data.pages.map((page) => page.claims));
  const nodes = data.pages.map((page) => ({
    data: { id: String(page.n), title: page.title, depth: page.depth, size: 12 + 20 * Math.sqrt(page.claims / most) },
    classes: page.read ? (page.depth ? "" : "first") : "left",
  }));
  const links = data.links.map(([from, to, led], at) => ({
    data: { id: `l${at}`, source: String(from), target: String(to) },
    classes: led ? "led" : "more",
  }));
  return [...nodes, ...links];
}

async function open() {
  const turn = ++opening;
  show(true); // at once, so that nothing moves when the data arrives
  explorer.querySelector("[data-problem]").hidden = true;
  canvas.setAttribute("aria-busy", "true");
  try {
    const [{ default: cytoscape }, reply] = await Promise.all([
      import(explorer.dataset.package), fetch(explorer.dataset.links),
    ]);
    const data = await reply.json();
    if (canvas.hidden || turn !== opening) return; // closed meanwhile
    graph = cytoscape({
      container: canvas, elements: elements(data), style: graphStyle(), minZoom: 0.1, maxZoom: 4, boxSelectionEnabled: false,
      autoungrabify: false, layout: { name: "preset" },
    });
  } catch {
    if (canvas.hidden || turn !== opening) return;
    const hadFocus = canvas.contains(document.activeElement);
    show(false);
    if (hadFocus) part("open").focus();
    const problem = explorer.querySelector("[data-problem]");
    problem.textContent = explorer.dataset.failed;
    problem.hidden = false;
    return;
  } finally {
    if (turn === opening) canvas.removeAttribute("aria-busy");
  }
  filter();
  graph.on("tap", "node", (event) => choose(event.target.id(), { focus: false }));
  keyboard(canvas, graph, { choose, say });
  if (chosen()) mark(chosen());
  history.replaceState(null, "", location.search + OPEN);
}

function close() {
  graph?.destroy();
  graph = null;
  show(false);
  history.replaceState(null, "", location.pathname + location.search);
  part("open").focus();
}

function show(explored) {
  if (picture) picture.hidden = explored;
  canvas.hidden = !explored;
  explorer.querySelector(".tools").hidden = !explored;
  explorer.querySelector("#graph-keys").hidden = !explored;
  part("open").hidden = explored;
}

function filter() {
  if (!graph) return;
  graph.nodes(".left").toggleClass("shown", Boolean(part("left")?.checked));
  graph.edges(".more").toggleClass("shown", part("all").checked);
  arrange();
}

function say(words) {
  explorer.querySelector("[data-at]").textContent = words;
}

function zoom(factor) {
  if (!graph) return;
  graph.zoom({ level: graph.zoom() * factor, renderedPosition: { x: graph.width() / 2, y: graph.height() / 2 } });
}

if (explorer) {
  explorer.hidden = false;
  part("open").addEventListener("click", () => {
    open();
    canvas.focus(); // the button is gone
  });
  part("close").addEventListener("click", close);
  part("in").addEventListener("click", () => zoom(1.3));
  part("out").addEventListener("click", () => zoom(1 / 1.3));
  part("fit").addEventListener("click", () => graph?.fit(undefined, 24));
  part("all").addEventListener("change", filter);
  part("left")?.addEventListener("change", filter);
  const redraw = () => graph?.style(graphStyle());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  document.addEventListener("themechange", redraw);
  if (location.hash === OPEN) open();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href*='?page='][href$='#panel']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  choose(new URL(link.getAttribute("href"), location).searchParams.get("page"), { focus: true });
});

shown = chosen();
addEventListener("popstate", () => {
  if (chosen() !== shown) choose(chosen(), { focus: false, isNewEntry: false });
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && graph && event.target.closest?.("#panel")) canvas.focus();
});

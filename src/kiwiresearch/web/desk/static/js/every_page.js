// On every page: suggestions in search boxes, keyboard shortcuts, the theme, buttons to print, and the service worker that makes the web interface installable.

import { offerChoices } from "./choices.js";
import { offerSuggestions } from "./suggestions.js";

const PLACES = { h: "/", a: "/ask", s: "/find", r: "/research", f: "/family", b: "/books" };
const OFF_KEY = "kiwiresearch.no-shortcuts";
const LEADER_MS = 1500; // how long "g" waits for the second key
let leaderAt = 0;

function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

async function showHelp() {
  document.getElementById("shortcuts-sheet")?.remove();
  const reply = await fetch("/shortcuts/sheet");
  if (!reply.ok) return;
  const sheet = document.createElement("dialog");
  sheet.id = "shortcuts-sheet";
  sheet.className = "sheet";
  sheet.innerHTML = await reply.text();
  sheet.setAttribute("aria-labelledby", "shortcuts-title");
  document.body.append(sheet);
  addSwitch(sheet);
  sheet.addEventListener("close", () => sheet.remove());
  sheet.showModal();
}

/** Single keys disturb some people who dictate or use switches, so they can be turned off in this browser. */
function addSwitch(within) {
  const box = within.querySelector("[data-shortcuts-switch]");
  if (!box) return;
  box.closest("label").hidden = false;
  box.checked = localStorage.getItem(OFF_KEY) === null;
  box.addEventListener("change", () => (box.checked ? localStorage.removeItem(OFF_KEY) : localStorage.setItem(OFF_KEY, "1")));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || localStorage.getItem(OFF_KEY) !== null) return;
  const isAfterLeader = Date.now() - leaderAt < LEADER_MS;
  leaderAt = 0;
  if (isAfterLeader && event.key in PLACES) {
    event.preventDefault();
    location.assign(PLACES[event.key]);
  } else if (event.key === "g") {
    leaderAt = Date.now();
  } else if (event.key === "/") {
    const box = document.querySelector("#box, #q, #top-search");
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "f") {
    const opener = document.querySelector("[data-find]:not([hidden])");
    if (!opener) return;
    event.preventDefault();
    opener.click();
  } else if (event.key === "?") {
    event.preventDefault();
    showHelp();
  }
});

/** A menu closes when the reader clicks or moves elsewhere, or presses Escape. */
for (const menu of document.querySelectorAll("[data-menu]")) {
  const closeOutside = ({ target }) => { if (!menu.contains(target)) menu.open = false; };
  document.addEventListener("click", closeOutside);
  document.addEventListener("focusin", closeOutside);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

document.addEventListener("click", ({ target }) => { if (target instanceof Element && target.closest("[data-print]")) window.print(); });

offerChoices("/theme", (theme) => {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  document.querySelector("meta[name=color-scheme]").content = theme === "system" ? "light dark" : theme;
  document.dispatchEvent(new Event("themechange"));
});
document.querySelectorAll("[data-suggestions]").forEach(offerSuggestions);
addSwitch(document);
if ("serviceWorker" in navigator && window.isSecureContext) navigator.serviceWorker.register("/service-worker.js").catch(() => {});

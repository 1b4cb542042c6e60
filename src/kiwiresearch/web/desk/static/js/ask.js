// The answer as it comes: its sources first, then the words, then the whole of it, checked.

import { openBeside } from "./source_panel.js";
import { askLive } from "./live_answer.js";

const answer = document.getElementById("answer");
const asked = document.getElementById("asked");
const waiting = document.getElementById("waiting");
const UNHURRIED_S = 5; // from here on the seconds are counted, so that a slow model is not taken for a dead one

function ready(root) {
  askLive(root);
  const button = root.querySelector("[data-copy]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (await copied(root.querySelector("#copy"))) button.textContent = button.dataset.done;
  });
}

// Browsers keep the clipboard from pages that come over a network without encryption, as in a school;
// there the text is shown and chosen, and the old way of copying is tried.
async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.closest("details").open = true;
    field.select();
    return document.execCommand("copy");
  }
}

async function* eventsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const name = lines.find((line) => line.startsWith("event:"))?.slice(6).trim();
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      if (name) yield { name, data: JSON.parse(data.join("\n")) };
    }
  }
}

function tell(words, lang = "") {
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.textContent = words;
  if (lang) problem.lang = lang;
  document.getElementById("words")?.after(problem);
}

function take({ name, data }) {
  const words = document.getElementById("words");
  if (name === "chips") {
    answer.querySelector(".chips").innerHTML = data.html;
    if (answer.dataset.wording) waiting.firstElementChild.textContent = answer.dataset.wording;
    if (data.meanwhile) words.innerHTML = data.meanwhile;
  } else if (name === "token") {
    if (words.firstElementChild) words.textContent = ""; // the books' own words make room for the model's
    words.append(data.text);
  } else if (name === "error") {
    tell([data.detail, data.remedy, data.told].filter(Boolean).join(" "), "en");
  } else if (name === "done") {
    const focused = answer.contains(document.activeElement) ? document.activeElement.id : "";
    answer.innerHTML = data.html;
    if (focused) document.getElementById(focused)?.focus();
    ready(answer);
    waiting.remove();
  }
}

async function listen() {
  const stopping = new AbortController();
  const clock = document.getElementById("clock");
  const begun = Date.now();
  const ticking = setInterval(() => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    if (seconds >= UNHURRIED_S) clock.textContent = `${seconds} s`;
  }, 1000);
  document.getElementById("stop").addEventListener("click", () => stopping.abort());
  try {
    const reply = await fetch(asked.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(asked)),
      headers: { Accept: "text/event-stream" },
      signal: stopping.signal,
    });
    if (!reply.ok) {
      const problem = await reply.json();
      tell(`${problem.detail} ${problem.remedy}`, "en");
    } else {
      for await (const event of eventsOf(reply.body)) take(event);
    }
  } catch {
    tell(stopping.signal.aborted ? answer.dataset.stopped : answer.dataset.failed);
  }
  clearInterval(ticking);
  clock.remove();
  document.getElementById("stop")?.remove();
  waiting.firstElementChild?.remove();
  answer.setAttribute("aria-busy", "false");
}

ready(document);
if (answer) openBeside(answer);
if (asked) listen();

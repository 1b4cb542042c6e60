// The answer as it comes: its sources first, then the words, then the whole of it, checked.

import { openBeside } from "./beside.js";
import { askLive } from "./live.js";

const answer = document.getElementById("answer");
const asked = document.getElementById("asked");
const waiting = document.getElementById("waiting");

function ready(root) {
  askLive(root);
  const button = root.querySelector("[data-copy]");
  if (!button || !navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(root.querySelector("#copy").value);
    button.textContent = button.dataset.done;
  });
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
  if (name === "chips") answer.querySelector(".chips").innerHTML = data.html;
  else if (name === "token") words.append(data.text);
  else if (name === "error") tell(`${data.detail} ${data.remedy}`, "en");
  else if (name === "done") {
    const focused = answer.contains(document.activeElement) ? document.activeElement.id : "";
    answer.innerHTML = data.html;
    if (focused) document.getElementById(focused)?.focus();
    ready(answer);
    waiting.remove();
  }
}

async function listen() {
  const stopping = new AbortController();
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
  document.getElementById("stop")?.remove();
  waiting.firstElementChild?.remove();
  answer.setAttribute("aria-busy", "false");
}

ready(document);
if (answer) openBeside(answer);
if (asked) listen();

// Shows an answer while it is written: first its sources, then the words, then the complete, checked answer.

import { copyText } from "./copy.js";
import { openBeside } from "./source_panel.js";
import { askLive } from "./live_answer.js";

const answer = document.getElementById("answer");
const questionForm = document.getElementById("asked");
const waiting = document.getElementById("waiting");
const SHOW_CLOCK_AFTER_S = 5; // then the seconds are shown, so that a slow model does not look dead

function prepare(root) {
  askLive(root);
  const button = root.querySelector("[data-copy]");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (await copyText(root.querySelector("#copy"))) button.textContent = button.dataset.done;
  });
}

async function* readEvents(body) {
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

function showProblem(text, lang = "") {
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.textContent = text;
  if (lang) problem.lang = lang;
  document.getElementById("words")?.after(problem);
}

function handleEvent({ name, data }) {
  const words = document.getElementById("words");
  if (name === "chips") {
    answer.querySelector(".chips").innerHTML = data.html;
    if (answer.dataset.wording) waiting.firstElementChild.textContent = answer.dataset.wording;
    if (data.meanwhile) words.innerHTML = data.meanwhile;
  } else if (name === "token") {
    if (words.firstElementChild) words.textContent = ""; // the model's words replace the books' own
    words.append(data.text);
  } else if (name === "error") {
    showProblem([data.detail, data.remedy, data.reference].filter(Boolean).join(" "), "en");
  } else if (name === "done") {
    const focused = answer.contains(document.activeElement) ? document.activeElement.id : "";
    answer.innerHTML = data.html;
    if (focused) document.getElementById(focused)?.focus();
    prepare(answer);
    waiting.remove();
  }
}

async function streamAnswer() {
  const abort = new AbortController();
  const clock = document.getElementById("clock");
  const startedAt = Date.now();
  const clockTimer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    if (seconds >= SHOW_CLOCK_AFTER_S) clock.textContent = `${seconds} s`;
  }, 1000);
  document.getElementById("stop").addEventListener("click", () => abort.abort());
  try {
    const reply = await fetch(questionForm.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(questionForm)),
      headers: { Accept: "text/event-stream" },
      signal: abort.signal,
    });
    if (!reply.ok) {
      const problem = await reply.json();
      showProblem(`${problem.detail} ${problem.remedy}`, "en");
    } else {
      for await (const event of readEvents(reply.body)) handleEvent(event);
    }
  } catch {
    showProblem(abort.signal.aborted ? answer.dataset.stopped : answer.dataset.failed);
  }
  clearInterval(clockTimer);
  clock.remove();
  document.getElementById("stop")?.remove();
  waiting.firstElementChild?.remove();
  answer.setAttribute("aria-busy", "false");
}

prepare(document);
if (answer) openBeside(answer);
if (questionForm) streamAnswer();

// Keeps the page of a job up to date: an event says that something has changed, and the server sends the new parts.
const job = document.querySelector("[data-job]");
const PAUSE_MS = 700;
const POLL_MS = 4000;
let last = Number(job?.dataset.last ?? 0);
const away = job?.querySelector(".away");
let isUpdating = false;
let isUpdateDue = false;
let hasEnded = false;

// Both an event and an update can say that the job has ended; a second request would abort the first.
function showResult() {
  if (hasEnded) return;
  hasEnded = true;
  location.replace(location.pathname);
}

async function update() {
  const reply = await fetch(`${job.dataset.news}?after=${last}`, { headers: { Accept: "application/json" } });
  if (!reply.ok) return;
  const news = await reply.json();
  away.hidden = true;
  job.querySelector(".status").innerHTML = news.status;
  announce(job.querySelector(".stage").textContent);
  if (news.last > last) {
    job.querySelector(".taken")?.insertAdjacentHTML("afterbegin", news.pages);
    job.querySelector(".none-yet")?.remove();
    last = news.last;
  }
  const found = job.querySelector(".found");
  if (found && found.innerHTML !== news.family) found.innerHTML = news.family;
  if (!news.open) showResult();
}

// Screen readers announce each new stage, not every page.
function announce(stage) {
  const said = job.querySelector(".said");
  if (said.textContent !== stage) said.textContent = stage;
}

// Events come in bursts: one update at a time, and one more after the last event.
async function updateSoon() {
  if (isUpdating) {
    isUpdateDue = true;
    return;
  }
  isUpdating = true;
  try {
    await update();
  } catch {
    away.hidden = false; // until the next update succeeds
  }
  setTimeout(() => {
    isUpdating = false;
    if (isUpdateDue) {
      isUpdateDue = false;
      updateSoon();
    }
  }, PAUSE_MS);
}

function follow() {
  const source = new EventSource(job.dataset.events);
  source.addEventListener("open", () => {
    away.hidden = true;
  });
  source.addEventListener("progress", updateSoon);
  for (const end of ["done", "failed", "cancelled", "interrupted"]) {
    source.addEventListener(end, () => {
      source.close();
      showResult();
    });
  }
  source.addEventListener("error", () => {
    away.hidden = false;
    // The browser reconnects by itself, unless the server refused the request.
    if (source.readyState === EventSource.CLOSED) setInterval(updateSoon, POLL_MS);
  });
}

if (job) follow();

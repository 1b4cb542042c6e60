// The page of a job, kept up to date: events say that there is news, and the server draws it.
const job = document.querySelector("[data-job]");
const PAUSE_MS = 700;
const POLL_MS = 4000;
let last = Number(job?.dataset.last ?? 0);
const away = job?.querySelector(".away");
let waiting = false;
let again = false;

async function update() {
  const reply = await fetch(`${job.dataset.news}?after=${last}`, { headers: { Accept: "application/json" } });
  if (!reply.ok) return;
  const news = await reply.json();
  away.hidden = true;
  job.querySelector(".status").innerHTML = news.status;
  say(job.querySelector(".stage").textContent);
  if (news.last > last) {
    job.querySelector(".taken")?.insertAdjacentHTML("afterbegin", news.pages);
    job.querySelector(".none-yet")?.remove();
    last = news.last;
  }
  if (!news.open) location.replace(location.pathname);
}

// Screen readers hear when something else begins, not every page.
function say(stage) {
  const said = job.querySelector(".said");
  if (said.textContent !== stage) said.textContent = stage;
}

// Many events come at once: one look at a time, and one more after the last.
async function look() {
  if (waiting) {
    again = true;
    return;
  }
  waiting = true;
  try {
    await update();
  } catch {
    away.hidden = false; // for a moment; the next event or look tries again
  }
  setTimeout(() => {
    waiting = false;
    if (again) {
      again = false;
      look();
    }
  }, PAUSE_MS);
}

function follow() {
  const source = new EventSource(job.dataset.events);
  source.addEventListener("open", () => {
    away.hidden = true;
  });
  source.addEventListener("progress", look);
  for (const end of ["done", "failed", "cancelled", "interrupted"]) {
    source.addEventListener(end, () => {
      source.close();
      location.replace(location.pathname);
    });
  }
  source.addEventListener("error", () => {
    away.hidden = false;
    // The browser comes back by itself, unless the server refused.
    if (source.readyState === EventSource.CLOSED) setInterval(look, POLL_MS);
  });
}

if (job) follow();

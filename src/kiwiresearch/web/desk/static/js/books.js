// On the page of the library: an upload shows its progress and can be stopped, and the state of jobs is updated.
// Without a script the form is sent as usual, and the page reloads itself while a job is running.

const POLL_MS = 2000;

const parsePage = (text) => new DOMParser().parseFromString(text, "text/html");

// The response is a page in the reader's language: its messages replace those shown here.
function showMessages(text) {
  const theirs = parsePage(text).getElementById("messages");
  const ours = document.getElementById("messages");
  if (!theirs?.firstElementChild) return false;
  ours.replaceWith(document.importNode(theirs, true));
  document.getElementById("messages").scrollIntoView({ block: "nearest" });
  return true;
}

function upload(form) {
  const field = form.querySelector("input[type=file]");
  const parts = form.querySelector("[data-progress]");
  const bar = parts.querySelector("progress");
  const status = parts.querySelector("[data-said]");
  field.addEventListener("change", () => {
    const isTooLarge = [...field.files].some((file) => file.size > Number(field.dataset.largest));
    field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
    field.reportValidity();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest();
    const button = form.querySelector("button:not([type])");
    const end = (text) => {
      button.disabled = false;
      status.textContent = text;
      bar.hidden = true;
      parts.querySelector("[data-stop]").hidden = true;
    };
    button.disabled = true;
    parts.hidden = bar.hidden = parts.querySelector("[data-stop]").hidden = false;
    bar.value = 0;
    status.textContent = form.dataset.sending;
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "text/html");
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total ? loaded / total : 0;
      if (loaded === total) status.textContent = form.dataset.checking;
    });
    request.addEventListener("load", () => {
      if (request.status < 300) location.assign(request.responseURL);
      else end(showMessages(request.responseText) ? "" : form.dataset.failed);
    });
    request.addEventListener("error", () => end(form.dataset.failed));
    request.addEventListener("abort", () => { parts.hidden = true; button.disabled = false; });
    parts.querySelector("[data-stop]").onclick = () => request.abort();
    request.send(new FormData(form));
  });
}

async function pollJobs() {
  if (!document.querySelector("[data-task=open]")) return;
  await new Promise((done) => setTimeout(done, POLL_MS));
  try {
    const reply = await fetch("/books", { headers: { Accept: "text/html" } });
    const page = parsePage(await reply.text());
    for (const ours of document.querySelectorAll("[data-task=open]")) {
      const theirs = page.getElementById(ours.id);
      if (!theirs) continue;
      const isOver = theirs.dataset.task !== "open";
      // When the job has ended, all details of the book may have changed; until then, only its progress does.
      const [from, to] = isOver ? [theirs.closest(".book"), ours.closest(".book")] : [theirs, ours];
      const hadFocus = to.contains(document.activeElement);
      const fresh = document.importNode(from, true);
      to.replaceWith(fresh);
      if (hadFocus) fresh.querySelector("button, a")?.focus();
    }
  } catch {
    // The server may be restarting; the next poll tries again.
  }
  pollJobs();
}

for (const form of document.querySelectorAll("[data-upload]")) upload(form);
pollJobs();

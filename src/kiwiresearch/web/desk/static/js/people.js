// The button that copies a new sign-in link.

import { copyText } from "./copy.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (await copyText(document.getElementById(button.dataset.copy))) button.textContent = button.dataset.done;
  });
}

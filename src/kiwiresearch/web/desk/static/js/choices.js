// Choices that are made with one press and count at once, such as the theme. The server remembers them, as it does
// without a script.

// One request after the other, so that the last choice is the one that is remembered.
let lastRequest = Promise.resolve();

function remember(action, body) {
  // keepalive: a visitor who opens another page at once keeps the choice.
  const send = () => fetch(action, { method: "POST", body, redirect: "manual", keepalive: true }).catch(() => {});
  lastRequest = lastRequest.then(send);
}

/** Forms with this address, whose buttons are the values; `apply` shows the page with the chosen one. */
export function offerChoices(action, apply) {
  const forms = [...document.querySelectorAll(`form[action="${action}"]`)];
  for (const form of forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const { name, value } = event.submitter;
      for (const button of forms.flatMap((one) => [...one.querySelectorAll("button")])) {
        if (button.value === value) button.setAttribute("aria-current", "true");
        else button.removeAttribute("aria-current");
      }
      apply(value);
      remember(action, new URLSearchParams({ [name]: value, back: "/" }));
    });
  }
}

// Choices that are made with one press and count at once, such as the theme. The server remembers them, as it does
// without a script.

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
      fetch(action, { method: "POST", body: new URLSearchParams({ [name]: value, back: "/" }), redirect: "manual" }).catch(() => {});
    });
  }
}

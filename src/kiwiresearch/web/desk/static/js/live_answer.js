// With a script, answers are streamed: this adds the parameter for it to forms and links.

export function askLive(root = document) {
  for (const form of root.querySelectorAll("form[data-live]")) {
    const model = form.elements.model;
    if (model && !new URLSearchParams(location.search).has("q")) model.checked = true;
    addField(form, "live");
    if ("model" in form.dataset) addField(form, "model");
  }
  for (const link of root.querySelectorAll("a[data-live]")) {
    const address = new URL(link.href);
    address.searchParams.set("live", "on");
    if ("model" in link.dataset) address.searchParams.set("model", "on");
    link.href = address;
  }
}

function addField(form, name) {
  if (form.elements[name]) return;
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = name;
  field.value = "on";
  form.append(field);
}

// Copies the text of a field; returns whether that worked.
// Browsers give no clipboard to pages that were loaded over a network without encryption, as in a school.
// Then the text is shown and selected, and copied with the older command.

export async function copyText(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    const details = field.closest("details");
    if (details) details.open = true;
    field.select();
    return document.execCommand("copy");
  }
}

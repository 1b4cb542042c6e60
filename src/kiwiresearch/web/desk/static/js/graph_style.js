// The style of the links of a run: the colours of the page, light or dark.

export function graphStyle() {
  const page = getComputedStyle(document.documentElement);
  const colour = (name) => page.getPropertyValue(`--${name}`).trim();
  return [
    {
      selector: "node",
      style: {
        label: "data(title)", width: "data(size)", height: "data(size)", "background-color": colour("bar"),
        color: colour("ink"), "font-size": 12, "font-family": "system-ui, sans-serif", "text-valign": "bottom",
        "text-margin-y": 3, "text-wrap": "ellipsis", "text-max-width": 150, "min-zoomed-font-size": 7,
        "text-outline-color": colour("paper"), "text-outline-width": 2,
      },
    },
    {
      selector: "node.first",
      style: { "background-color": colour("accent"), "font-weight": "bold", "min-zoomed-font-size": 0 },
    },
    {
      selector: "node.left",
      style: {
        display: "none", "background-color": colour("paper"), "border-width": 1.5, "border-style": "dashed",
        "border-color": colour("edge"), color: colour("quiet"),
      },
    },
    { selector: "node.left.shown", style: { display: "element" } },
    {
      selector: "edge",
      style: { "curve-style": "straight", width: 1, "line-color": colour("edge"), opacity: 0.25, events: "no" },
    },
    { selector: "edge.more", style: { display: "none" } },
    { selector: "edge.more.shown", style: { display: "element" } },
    { selector: "edge.led", style: { "line-color": colour("accent"), opacity: 0.6 } },
    {
      selector: "edge.near",
      style: {
        display: "element", opacity: 1, width: 1.5, "line-color": colour("warn"), "target-arrow-shape": "triangle",
        "target-arrow-color": colour("warn"), "arrow-scale": 0.8,
      },
    },
    {
      selector: "node.chosen",
      style: { "background-color": colour("warn"), "font-weight": "bold", "z-index": 9, "min-zoomed-font-size": 0 },
    },
    { selector: "node.at", style: { "min-zoomed-font-size": 0, "border-width": 4, "border-style": "solid", "border-color": colour("ink") } },
  ];
}

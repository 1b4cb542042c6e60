// Keyboard control of the links of a run: arrows go to the next page in their direction, Enter shows its details.

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOMS = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 };

/* The nearest node in a direction; the further it is to the side, the further away it counts. */
function next(graph, from, [right, down]) {
  const here = from.position();
  let best = null;
  let least = Infinity;
  graph.nodes(":visible").forEach((node) => {
    const { x, y } = node.position();
    const ahead = (x - here.x) * right + (y - here.y) * down;
    const aside = Math.abs((x - here.x) * down) + Math.abs((y - here.y) * right);
    if (node !== from && ahead > 0 && ahead + 2 * aside < least) {
      least = ahead + 2 * aside;
      best = node;
    }
  });
  return best;
}

export function keyboard(canvas, graph, { choose, say }) {
  const first = () => graph.nodes(".chosen").first().nonempty() ? graph.nodes(".chosen").first() : graph.nodes().first();
  let at = null;

  function go(node) {
    at?.removeClass("at");
    at = node;
    at.addClass("at");
    say(at.data("title"));
    const { x, y } = at.renderedPosition();
    if (x < 20 || y < 20 || x > graph.width() - 20 || y > graph.height() - 20) graph.center(at);
  }

  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || graph.destroyed()) return;
    if (DIRECTIONS[event.key]) {
      const there = at && at.visible() ? next(graph, at, DIRECTIONS[event.key]) : first();
      if (there) go(there);
    } else if (event.key === "Enter" && at) {
      choose(at.id(), { focus: true });
    } else if (ZOOMS[event.key]) {
      const middle = { x: graph.width() / 2, y: graph.height() / 2 };
      graph.zoom({ level: graph.zoom() * ZOOMS[event.key], renderedPosition: middle });
    } else if (event.key === "0") {
      graph.fit(undefined, 24);
    } else {
      return;
    }
    event.preventDefault();
  };
}

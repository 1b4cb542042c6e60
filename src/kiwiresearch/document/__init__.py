"""Documents before they are Markdown or HTML, and the elements of SVG pictures in them."""

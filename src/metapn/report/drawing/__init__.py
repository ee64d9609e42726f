"""Charts as SVG, drawn to be read at 380 units of width; colours are those of the page they stand in."""

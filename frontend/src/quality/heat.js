// A square of cells: pairs of people, or what was taken for what. Cells with too few solutions are grey.

import { axisX, axisY, cell, plot, text } from "@observablehq/plot";
import { INK, QUIET, STYLE, clipped, number } from "./look.js";

/** A colour between the page's own two ends, for a value from 0 to 1. */
function shade(value) {
  return `color-mix(in srgb, var(--accent) ${Math.round(12 + 78 * Math.min(1, Math.max(0, value)))}%, var(--sheet))`;
}

export function confusionOrPairs({ rows, names, few, unit, down, across }, width) {
  const left = names.length > 4 ? 110 : 104;
  // Many people on a narrow screen: the plot scrolls within its figure rather than shrinking to nothing.
  const widest = names.length * (names.length > 12 ? 22 : names.length > 4 ? 40 : 110);
  const side = Math.max(Math.min(width - left - 30, widest), names.length * 14);
  const size = side / names.length;
  const known = (row) => row.n >= few && row.value !== null;
  const upright = names.length <= 4;
  return plot({
    width: left + side + (upright ? 0 : 30), height: (upright ? Math.min(side, 190) : side) + (upright ? 34 : 100),
    marginLeft: left, marginTop: upright ? 34 : 100, marginRight: upright ? 0 : 30, marginBottom: 0,
    style: STYLE,
    x: { domain: names, label: null }, y: { domain: names, label: null },
    marks: [
      axisY({ tickSize: 0, tickFormat: (name) => clipped(down ? `${down} ${name}` : name, left), color: INK }),
      axisX({ anchor: "top", tickSize: 0, tickRotate: upright ? 0 : -60, tickFormat: (name) => clipped(across ? `${across} ${name}` : name, upright ? size : 100), color: INK }),
      cell(rows, { x: "column", y: "row", inset: 1, fill: (row) => (known(row) ? shade(row.value) : "var(--sunk)") }),
      size < 34 ? null : text(rows, {
        x: "column", y: "row", text: (row) => (upright ? `${number(row.value, unit)}\n${row.n.toLocaleString("en")}` : known(row) ? number(row.value, unit) : ""),
        fill: (row) => (known(row) && row.value > 0.55 ? "var(--on-accent)" : known(row) ? INK : QUIET),
      }),
    ],
  });
}

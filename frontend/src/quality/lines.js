// A figure along steps or months, with its interval as a band; each line carries its name at its end.

import { areaY, axisX, axisY, dot, gridY, lineY, plot, text } from "@observablehq/plot";
import { INK, MAIN, QUIET, RULE, SECOND, STYLE, number } from "./look.js";

const COLOURS = [MAIN, SECOND];

export function overSteps({ rows, x }, width) {
  const places = [...new Set(rows.map((row) => row.x))];
  const series = [...new Set(rows.map((row) => row.series))];
  const data = rows.map((row) => ({ ...row, low: row.low ?? row.value, high: row.high ?? row.value }));
  const bottom = Math.max(0, Math.floor(10 * Math.min(...data.map(({ low }) => low)) - 0.5) / 10);
  const each = Math.max(1, Math.ceil(places.length / Math.max(3, Math.floor(width / 70))));
  const colour = (row) => COLOURS[series.indexOf(row.series)];
  return plot({
    width, height: 240, marginLeft: 48, marginRight: 14, marginTop: 24, marginBottom: 40,
    style: STYLE,
    x: { type: "point", domain: places, label: null },
    y: { domain: [bottom, 1], label: null },
    marks: [
      gridY({ stroke: RULE, strokeOpacity: 1, ticks: 5 }),
      axisY({ ticks: 5, tickFormat: (value) => number(value), tickSize: 0, color: QUIET }),
      axisX({ ticks: places.filter((_, at) => at % each === 0), tickSize: 3, label: x, labelAnchor: "center", labelArrow: "none", color: QUIET }),
      ...series.flatMap((name) => {
        const mine = data.filter((row) => row.series === name);
        const stroke = colour(mine[0]);
        return [
          areaY(mine, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.14 }),
          lineY(mine, { x: "x", y: "value", stroke, strokeWidth: 2 }),
          dot(mine, { x: "x", y: "value", r: 3, fill: stroke }),
        ];
      }),
      // Lines may lie on each other, so their names stand in one row above, each in its line's colour.
      ...series.filter(Boolean).map((name, at) =>
        text([name], { frameAnchor: "top-left", dy: -20, dx: at * 160, text: (d) => `● ${d}`, fill: COLOURS[at], fontWeight: 600, textAnchor: "start" }),
      ),
      text(data.filter((row) => row.x === places.at(-1)), {
        x: "x", y: "value", dy: -10, textAnchor: "end", text: (row) => number(row.value), fill: INK, fontWeight: 600,
      }),
    ],
  });
}

// One line a figure: its 95 % interval, its value as a dot, and the number at the end.

import { axisX, dot, plot, ruleX, ruleY, text } from "@observablehq/plot";
import { BASE, INK, MAIN, QUIET, RULE, STYLE, clipped, number } from "./look.js";

const ROW = 26;
// Below this width a name stands above its line instead of before it.
const NARROW = 560;

export function intervals({ rows, unit, zero }, width) {
  const narrow = width < NARROW;
  const left = narrow ? 14 : Math.min(290, 0.4 * width);
  const right = narrow ? 52 : 96;
  const row = narrow ? 1.7 * ROW : ROW;
  // Names repeat ("… among people"), so a row is known by its place.
  const data = rows.map((each, at) => ({ ...each, at, low: each.low ?? each.value, high: each.high ?? each.value }));
  const ends = data.flatMap(({ low, high }) => [low, high]);
  const domain = zero
    ? [Math.min(0, ...ends), Math.max(0, ...ends)]
    : [Math.min(0, ...ends), Math.max(1, ...ends)];
  const place = { y: "at" };
  return plot({
    width, height: data.length * row + 32, marginLeft: left, marginRight: right, marginTop: 4, marginBottom: 28,
    style: STYLE,
    x: { domain, nice: Boolean(zero), label: null },
    y: { type: "band", domain: data.map(({ at }) => at), axis: null },
    marks: [
      ruleX(domain[0] < 0 || zero ? [0] : [], { stroke: BASE }),
      axisX({ tickFormat: (value) => number(value, unit), ticks: Math.max(2, Math.floor((width - left - right) / 90)), tickSize: 3, color: QUIET }),
      ruleY(data, { ...place, x1: domain[0], x2: domain[1], stroke: RULE, strokeWidth: 1 }),
      ruleY(data, { ...place, x1: "low", x2: "high", stroke: MAIN, strokeWidth: 3, strokeLinecap: "round" }),
      dot(data, { ...place, x: "value", r: 4.5, fill: MAIN, stroke: "var(--paper)", strokeWidth: 1.5 }),
      text(data, { ...place, frameAnchor: "left", dx: -left, dy: narrow ? -15 : 0, textAnchor: "start", text: (each) => clipped(each.name, narrow ? width : left), fill: INK }),
      text(data, { ...place, frameAnchor: "right", dx: 12, textAnchor: "start", text: (each) => number(each.value, unit), fill: INK, fontWeight: 600 }),
    ],
  });
}

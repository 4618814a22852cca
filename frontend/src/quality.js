// The plots of the quality page, drawn from data attributes. Under each stands its table, for whoever can't see it.

import { confusionOrPairs } from "./quality/heat.js";
import { intervals } from "./quality/intervals.js";
import { overSteps } from "./quality/lines.js";

const KINDS = { intervals, line: overSteps, heat: confusionOrPairs };

function draw(figure) {
  const plot = JSON.parse(figure.dataset.plot);
  const drawn = KINDS[plot.kind](plot, figure.clientWidth);
  // Plot brings a stylesheet along, which the page's policy refuses; css/pages-quality.css holds what it needs.
  for (const style of drawn.querySelectorAll("style")) style.remove();
  // One picture with one name: its groups need none of their own.
  for (const part of drawn.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", figure.dataset.label);
  figure.replaceChildren(drawn);
}

const widths = new WeakMap();
const watching = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (!target.clientWidth || widths.get(target) === target.clientWidth) continue;
    widths.set(target, target.clientWidth);
    draw(target);
  }
});
for (const figure of document.querySelectorAll("[data-plot]")) watching.observe(figure);

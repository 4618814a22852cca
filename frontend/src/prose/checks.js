// Verdicts on equations, beside them: in words and by shape, never by colour alone.

import { regions } from "../mathtext.js";
import { formula, renderProse, textOf } from "./render.js";
import { toUnits } from "./sentences.js";

const FIRST_SIGN = 0xf0000; // a plane that no text uses: one sign stands for one verdict while the text is set
const SIGN = /[\u{F0000}-\u{FFFFD}]/u;

/**
 * Sets an element again with verdicts. checks: [{start, end, verdict}], counted in characters of its text; names:
 * verdict → words.
 */
export function renderWithVerdicts(element, checks, names) {
  const text = textOf(element);
  if (SIGN.test(text)) return;
  const spots = checks.map((check) => {
    const [start, end] = [toUnits(text, check.start), toUnits(text, check.end)];
    return { ...check, at: after(text, end), says: text.slice(start, end) };
  });
  const alone = (spot) => spots.filter((other) => other.at === spot.at).length === 1;
  let marked = text;
  // From the end, so that what is put in moves nothing that is still to come.
  for (const [i, spot] of [...spots.entries()].sort((a, b) => b[1].at - a[1].at || b[0] - a[0])) {
    marked = marked.slice(0, spot.at) + String.fromCodePoint(FIRST_SIGN + i) + marked.slice(spot.at);
  }
  const badge = (value) =>
    value.split(new RegExp(`(${SIGN.source})`, "u")).filter(Boolean).map((part) => {
      const spot = SIGN.test(part) ? spots[part.codePointAt(0) - FIRST_SIGN] : null;
      return spot ? verdict(spot, names[spot.verdict], alone(spot)) : document.createTextNode(part);
    });
  renderProse(element, { text: marked, badge });
}

// A verdict on a part of a formula stands after the whole of it.
function after(text, end) {
  const region = regions(text).find((one) => one.start < end && end <= one.end);
  return region && region.type !== "text" ? region.end : end;
}

const SHAPES = { holds: "#mark-correct", does_not_hold: "#mark-incorrect", not_checked: "#mark-none" };

function verdict(spot, name, alone) {
  const box = document.createElement("span");
  box.className = "verdict";
  box.dataset.verdict = spot.verdict;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "mark");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", SHAPES[spot.verdict] ?? "#mark-none");
  svg.append(use);
  if (!alone) box.append(formula(spot.says, spot.says, false), " ");
  box.append(svg, name);
  return box;
}

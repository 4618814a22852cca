// What folds: the guidelines beside the steps, and the problem above them on a small screen.

import { gettext } from "../i18n.js";
import { renderProse, watchWideFormulas } from "../prose/render.js";

const KEY = "stepmark:guidelines";
const BESIDE = "(min-width: 1180px)";

/** Beside the steps the panel is open unless it was folded; over them it is folded until asked for. */
export function applyPanels(bench) {
  foldProblem(bench, true);
  set(bench, matchMedia(BESIDE).matches && remembered() !== "folded");
}

export function togglePanel(bench) {
  const open = !bench.classList.contains("shows-aside");
  set(bench, open);
  if (matchMedia(BESIDE).matches) remember(open ? "open" : "folded");
  else if (open) bench.querySelector(".aside-close").focus();
  else bench.querySelector("[data-step][data-active]")?.focus({ preventScroll: true });
}

export function toggleProblem(bench) {
  const open = bench.classList.toggle("shows-problem");
  foldProblem(bench, !open);
  renderProse(bench.querySelector(".problem-text"));
  watchWideFormulas(bench);
  const button = bench.querySelector(".problem-more");
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? gettext("Fold") : gettext("Show all");
}

const ONE_COLUMN = matchMedia("(max-width: 860px)");

function foldProblem(bench, folded) {
  bench.querySelector(".problem-text").classList.toggle("clamp", folded && ONE_COLUMN.matches);
}

function set(bench, open) {
  bench.classList.toggle("shows-aside", open);
  document.querySelector(".masthead [data-command=guidelines]")?.setAttribute("aria-expanded", String(open));
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(value) {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Storage is off: it holds for this solution.
  }
}

// Deciding a case: the workbench's keys and rules, with the others' marks beside each step.

import { Keymap } from "./bench/keys.js";
import { BenchState } from "./bench/state.js";
import { LABEL_NAMES, MARKS } from "./bench/words.js";
import { fill, gettext } from "./i18n.js";
import { renderAll, useMacros, watchWideFormulas } from "./prose/render.js";

const LABELS = { correct: 1, neutral: 0, incorrect: -1 };
const TOP = 0.28; // where the active step stands, as a share of the window

const root = document.getElementById("case");
const form = root.querySelector("[data-decision]");
const reason = form.elements.reason;
const bad = form.elements.bad_problem;
const steps = [...root.querySelectorAll("[data-step]")];
const keys = new Keymap(JSON.parse(document.documentElement.dataset.keys ?? "{}"));
const state = new BenchState({
  mode: root.dataset.mode,
  judged: steps.map((step) => "judged" in step.dataset),
  labels: JSON.parse(root.dataset.labels),
});

function draw() {
  steps.forEach((node, i) => {
    const label = state.labels[i];
    node.dataset.label = label ?? "none";
    node.toggleAttribute("data-active", i === state.active);
    node.toggleAttribute("data-closed", state.isClosed(i));
    if (i === state.active) node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
    if (!state.judged[i]) return;
    node.querySelector(".gutter use").setAttribute("href", `#${MARKS[label] ?? "mark-none"}`);
    node.querySelector("[data-said]").textContent = LABEL_NAMES[label] ?? gettext("not judged");
  });
  const takes = state.takesLabel(state.active) && !bad.checked;
  for (const [name, value] of Object.entries(LABELS)) {
    const button = root.querySelector(`.label-key[data-command=${name}]`);
    button.setAttribute("aria-pressed", String(takes && state.labels[state.active] === value));
    button.setAttribute("aria-disabled", String(!takes));
  }
  root.querySelector("[data-command=undo]").disabled = !state.canUndo;
  root.querySelector("[data-command=submit]").toggleAttribute("data-ready", lacks() === "");
  root.querySelector("[data-next]").textContent = lacks() || gettext("Complete. Enter decides and brings the next case.");
  form.elements.labels.value = JSON.stringify(state.labels);
}

/** What keeps the decision from being made, in a sentence; "" when nothing does. */
function lacks() {
  const [open] = state.missing();
  if (open !== undefined && !bad.checked) return fill(gettext("Step %(step)s has no label yet."), { step: open + 1 });
  return reason.value.trim() ? "" : gettext("Say in a sentence why.");
}

function go(to) {
  state.active = to;
  draw();
  show();
}

function show() {
  const node = steps[state.active];
  if (!node) return;
  node.focus({ preventScroll: true });
  const { top } = node.getBoundingClientRect();
  window.scrollBy({ top: top - window.innerHeight * TOP, behavior: "instant" });
}

function decide() {
  const [open] = state.missing();
  if (open !== undefined && !bad.checked) return go(open);
  if (!reason.value.trim()) return reason.focus();
  draw();
  form.requestSubmit();
}

const commands = {
  next: () => go(Math.min(state.active + 1, steps.length - 1)),
  previous: () => go(Math.max(state.active - 1, 0)),
  undo: () => state.undo() && (draw(), show()),
  redo: () => state.redo() && (draw(), show()),
  submit: decide,
  comment: () => reason.focus(),
  bad_problem: () => {
    bad.checked = !bad.checked;
    draw();
  },
};
for (const [name, value] of Object.entries(LABELS)) {
  commands[name] = () => {
    if (bad.checked || !state.label(state.active, value)) return;
    draw();
    show();
  };
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && form.contains(event.target)) return show();
  if (event.target === reason && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    return decide();
  }
  const command = keys.commandFor(event);
  if (!commands[command]) return;
  event.preventDefault();
  commands[command]();
});

root.addEventListener("click", (event) => {
  const button = event.target.closest("[data-command]");
  if (button) return commands[button.dataset.command]?.();
  const step = event.target.closest("[data-step]");
  if (step && !event.target.closest("a, button, summary")) {
    state.active = Number(step.dataset.step);
    draw();
  }
});

form.addEventListener("input", draw);
let resized = null;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => watchWideFormulas(), 150);
});

useMacros(JSON.parse(root.dataset.macros ?? "{}"));
renderAll();
draw();
if (root.querySelector("#decision-error")) reason.focus();
else steps[state.active]?.focus({ preventScroll: true });

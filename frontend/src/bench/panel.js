// What opens inside a step to say more about it: one at a time, with keys of its own, Escape leads back.

let open = null;

/**
 * Opens a panel at the end of a step. children: what it asks with; focus: the child that has the focus first.
 * onKey(key): a key that no field wants; returns whether it meant something. onLeave(): after it closed.
 */
export function openPanel({ step, question, children, focus, onKey = () => false, onLeave }) {
  closePanel();
  const box = make("div", { className: "panel", role: "group", tabIndex: -1 }, make("p", { className: "panel-question", textContent: question }), ...children);
  box.setAttribute("aria-label", question);
  box.dataset.ownKeys = "";
  box.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input");
    if (event.key === "Escape") closePanel();
    else if (typing || !(moveFocus(box, event.key) || onKey(event.key.toLowerCase()))) return;
    event.preventDefault();
    event.stopPropagation();
  });
  step.querySelector(".body").append(box);
  open = { box, onLeave };
  // Not on the first choice: a second Enter would take it.
  (focus ?? box.querySelector("[aria-pressed=true]") ?? box).focus({ preventScroll: true });
  return box;
}

export function closePanel() {
  const was = open;
  open = null;
  was?.box.remove();
  was?.onLeave?.();
}

/** Without leading anywhere: the solution is left. */
export function dropPanel() {
  open?.box.remove();
  open = null;
}

export const panelIn = (step) => open !== null && step.contains(open.box);

/** A button of a panel, with the sign that chooses it. */
export function choice({ text, sign = "", pressed = false, onChoose }) {
  const button = make("button", { type: "button", className: "choice", textContent: text });
  if (sign) button.prepend(make("kbd", { textContent: sign }), " ");
  button.setAttribute("aria-pressed", String(pressed));
  button.addEventListener("click", onChoose);
  return button;
}

export function make(tag, properties, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role") node.setAttribute("role", value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

const FORWARD = new Set(["ArrowDown", "ArrowRight"]);
const BACK = new Set(["ArrowUp", "ArrowLeft"]);

function moveFocus(box, key) {
  if (!FORWARD.has(key) && !BACK.has(key)) return false;
  const buttons = [...box.querySelectorAll("button")];
  const now = buttons.indexOf(document.activeElement);
  const from = now < 0 && BACK.has(key) ? buttons.length : now;
  const to = (from + (FORWARD.has(key) ? 1 : -1) + buttons.length) % buttons.length;
  buttons[to]?.focus({ preventScroll: true });
  buttons[to]?.scrollIntoView({ block: "nearest" });
  return true;
}

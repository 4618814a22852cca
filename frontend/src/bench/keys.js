// Which key means what. A key does nothing while someone types, in a dialog, with modifiers, or in an IME.

const COMMANDS = {
  1: "correct", 2: "neutral", 3: "incorrect",
  j: "next", arrowdown: "next", k: "previous", arrowup: "previous",
  u: "undo", c: "comment", f: "unsure", enter: "submit",
  s: "skip", x: "give_up", b: "bad_problem", g: "guidelines", r: "source", "?": "keys",
};
const REPEATABLE = new Set(["next", "previous"]);
const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
const OWN_ENTER = "a[href], button, summary, [role=button]";
const OWN_ARROWS = "[data-wide], [data-scrolls]";

/** The command a keydown stands for, or null. */
export function commandFor(event) {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return null;
  const target = event.target;
  if (target.closest?.(FIELDS) || document.querySelector("dialog[open]")) return null;
  const key = plainKey(event);
  if (event.ctrlKey || event.metaKey || event.altKey) return travel(event, key);
  if (event.shiftKey && key !== "?") return null;
  const command = COMMANDS[key] ?? null;
  if (event.repeat && !REPEATABLE.has(command)) return null;
  if (key === "enter" && target.closest?.(OWN_ENTER)) return null;
  if (key.startsWith("arrow") && target.closest?.(OWN_ARROWS)) return null;
  return command;
}

function travel(event, key) {
  if (event.altKey || key !== "z") return null;
  return event.shiftKey ? "redo" : "undo";
}

// By the sign on the key; where a layout has no Latin letters, or digits need Shift, by the key's place.
function plainKey(event) {
  const key = event.key.toLowerCase();
  if (key.length > 1 || (/^[a-z0-9?]$/.test(key) && key !== "")) return key;
  const place = /^(?:Key([A-Z])|Digit([1-3]))$/.exec(event.code ?? "");
  if (!place) return key;
  if (place[1]) return /^\p{L}$/u.test(key) && !/^[a-z]$/.test(key) ? place[1].toLowerCase() : key;
  return event.shiftKey ? key : place[2];
}

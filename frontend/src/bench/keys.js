// Which key means what. A key does nothing while someone types, in a dialog or a panel, or in an IME.

const ALWAYS = { ArrowDown: "next", ArrowUp: "previous", ArrowRight: "unfold", ArrowLeft: "fold" };
const WITH_SHIFT = { correct: "through", source: "source_all" };
const REPEATABLE = new Set(["next", "previous"]);
const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false]), [data-own-keys]";
const OWN_ENTER = "a[href], button, summary, [role=button]";
const OWN_ARROWS = "[data-wide], [data-scrolls]";

export class Keymap {
  #commands = new Map();

  /** keys: command → its key, as a person has set them. */
  constructor(keys) {
    for (const [command, key] of Object.entries(keys)) this.#commands.set(fold(key), command);
  }

  /** The command a keydown stands for, or null. */
  commandFor(event) {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return null;
    const target = event.target;
    if (target.closest?.(FIELDS) || document.querySelector("dialog[open]")) return null;
    if (event.ctrlKey || event.metaKey || event.altKey) return travel(event);
    const command = this.#meant(event);
    if (event.repeat && !REPEATABLE.has(command)) return null;
    if (event.key === "Enter" && target.closest?.(OWN_ENTER)) return null;
    if (event.key.startsWith("Arrow") && target.closest?.(OWN_ARROWS)) return null;
    return command;
  }

  // By the sign on the key; where a layout has no Latin letters, or digits need Shift, by the key's place.
  #meant(event) {
    const sign = fold(event.key);
    const plain = /^[a-z0-9]$/.test(sign) || sign.length > 1;
    if (!event.shiftKey || !plain) {
      const command = ALWAYS[event.key] ?? this.#commands.get(sign);
      if (command) return command;
    }
    const place = placeOf(event, sign);
    const command = place && this.#commands.get(place);
    if (!command) return null;
    return event.shiftKey ? (WITH_SHIFT[command] ?? null) : command;
  }
}

const fold = (key) => (key.length === 1 ? key.toLowerCase() : key);

function travel(event) {
  if (event.altKey || event.key.toLowerCase() !== "z") return null;
  return event.shiftKey ? "redo" : "undo";
}

function placeOf(event, sign) {
  if (/^[a-z]$/.test(sign)) return sign;
  const place = /^(?:Key([A-Z])|Digit([0-9]))$/.exec(event.code ?? "");
  if (!place) return null;
  if (place[2]) return place[2];
  return /^\p{L}$/u.test(sign) ? place[1].toLowerCase() : null;
}

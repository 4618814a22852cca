// How a person wants the pages: applied at once, kept by the server, mirrored in this browser for the next first paint.
//
// Other modules listen for "stepmark:preferences" on document; its detail is all that the server keeps. The keys in use
// are at any time JSON in <html data-keys>, command → key.

import { csrfToken } from "./csrf.js";
import { gettext } from "./i18n.js";

const root = document.documentElement;
const LOOKS = ["theme", "contrast", "size"];

/** Puts one of theme, contrast and size on the page and into this browser's memory. */
export function applyLook(name, value) {
  root.dataset[name] = value;
  try {
    localStorage.setItem(`stepmark:${name}`, value);
  } catch {
    // Storage is off: the server remembers.
  }
}

/** Sends changes. Resolves to {kept} or {error}, a sentence. */
export async function savePreferences(url, changes) {
  try {
    const reply = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch" },
      body: JSON.stringify(changes),
    });
    if (reply.ok) return { kept: await reply.json() };
    if (reply.status === 422) return { error: (await reply.json()).error };
    if (reply.status === 401) return { error: gettext("You are signed out. Sign in again to keep this.") };
  } catch {
    // No connection; said below.
  }
  return { error: gettext("That could not be saved. It holds on this page; try again when you are connected.") };
}

class Panel {
  constructor(dialog) {
    this.dialog = dialog;
    this.form = dialog.querySelector("[data-preferences]");
    this.error = dialog.querySelector("[data-error]");
    this.state = dialog.querySelector("[data-state]");
    this.fields = [...dialog.querySelectorAll("[data-key-for]")];
    this.queue = Promise.resolve();
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", (event) => this.#changed(event.target));
    this.form.addEventListener("focusin", (event) => event.target.matches("[data-key-for]") && event.target.select());
    this.form.addEventListener("keydown", (event) => this.#pressed(event));
    // A phone's keyboard sends no key, only what was typed.
    this.form.addEventListener("input", (event) => this.#typed(event));
    dialog.querySelector("[data-keys-reset]").addEventListener("click", () => this.#reset());
    dialog.addEventListener("close", () => this.#forgetRefused());
    this.kept = this.#keys();
    this.#showOwn();
  }

  #changed(input) {
    if (input.type !== "radio") return;
    if (LOOKS.includes(input.name)) applyLook(input.name, input.value);
    const value = input.name === "key_hints" ? input.value === "yes" : input.value;
    if (input.name === "key_hints") root.dataset.keyHints = value ? "on" : "off";
    this.#save({ [input.name]: value });
  }

  #pressed(event) {
    const field = event.target.closest("[data-key-for]");
    if (!field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key;
    if (key !== "Enter" && (key.length > 1 || key === " ")) return; // Tab, arrows, Escape: as everywhere
    event.preventDefault();
    this.#take(field, key === "Enter" ? key : key.toLowerCase());
  }

  #typed(event) {
    const field = event.target.closest("[data-key-for]");
    if (field) this.#take(field, field.value.trim().slice(-1).toLowerCase());
  }

  #take(field, key) {
    field.value = key;
    field.select();
    if (key) this.#saveKeys();
  }

  #reset() {
    for (const field of this.fields) field.value = field.dataset.default;
    this.#saveKeys();
  }

  #keys() {
    return Object.fromEntries(this.fields.map((field) => [field.dataset.keyFor, field.value]));
  }

  #saveKeys() {
    const keys = this.#keys();
    for (const field of this.fields) {
      const shared = this.fields.some((other) => other !== field && other.value === field.value);
      field.toggleAttribute("aria-invalid", shared);
      if (shared) field.setAttribute("aria-invalid", "true");
    }
    this.#showOwn();
    this.#save({ keys }, () => {
      this.kept = keys;
      root.dataset.keys = JSON.stringify(keys);
    });
  }

  #showOwn() {
    for (const field of this.fields) field.classList.toggle("is-own", field.value !== field.dataset.default);
  }

  // A key that was refused is not in use, so it must not stand there the next time.
  #forgetRefused() {
    if (this.error.hidden) return;
    for (const field of this.fields) {
      field.value = this.kept[field.dataset.keyFor];
      field.removeAttribute("aria-invalid");
    }
    this.#showOwn();
    this.error.hidden = true;
  }

  // One after the other, so that the last choice is the one that stays.
  #save(changes, done = () => {}) {
    this.queue = this.queue.then(async () => {
      const { kept, error } = await savePreferences(this.form.dataset.url, changes);
      this.error.hidden = !error;
      this.error.textContent = error ?? "";
      this.state.textContent = error ? gettext("Not saved") : gettext("Saved");
      if (!kept) return;
      done();
      document.dispatchEvent(new CustomEvent("stepmark:preferences", { detail: kept }));
    });
  }
}

/** Wires the panel where the page has one. */
export function preferencesPanel() {
  const dialog = document.getElementById("preferences");
  if (dialog) new Panel(dialog);
}

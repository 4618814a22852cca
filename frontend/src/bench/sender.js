// Sends a submit or a skip once, and keeps trying the very same one until the server has answered.

import { csrfToken } from "../csrf.js";

const FIRST_RETRY = 2000;
const LAST_RETRY = 30_000;
const KEY = "stepmark:client:";
const inMemory = new Map();

/** An id that stays with the assignment, over retries and reloads: the server stores one annotation for it. */
export function clientId(assignment) {
  try {
    const known = sessionStorage.getItem(KEY + assignment);
    if (known) return known;
    const fresh = uuid();
    sessionStorage.setItem(KEY + assignment, fresh);
    return fresh;
  } catch {
    if (!inMemory.has(assignment)) inMemory.set(assignment, uuid());
    return inMemory.get(assignment);
  }
}

// crypto.randomUUID exists on https and localhost only; a server on a local network has neither.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export class Sender {
  #pending = null;
  #timer = null;
  #pause = FIRST_RETRY;
  #inFlight = false;

  /** onTrouble(kind): unsent (it will be retried), signed_out (retried too), refused (it will not). */
  constructor({ source, onTrouble }) {
    this.source = source;
    this.onTrouble = onTrouble;
    this.listeners = {
      "htmx:beforeSwap": (event) => this.#beforeSwap(event),
      "htmx:sendError": () => this.#failed("unsent"),
      "htmx:timeout": () => this.#failed("unsent"),
      "htmx:responseError": (event) => this.#responseError(event.detail.xhr.status),
    };
    for (const [name, handler] of Object.entries(this.listeners)) source.addEventListener(name, handler);
  }

  /** Something is under way, so nothing may change and nothing is sent twice. */
  get busy() {
    return this.#pending !== null;
  }

  /** It could not be sent, and is tried again later. */
  get waiting() {
    return this.busy && !this.#inFlight;
  }

  send(url, values) {
    if (this.busy) return;
    this.#pending = { url, values };
    this.#go();
  }

  /** Tries now what waits for its next try. */
  tryNow() {
    if (this.busy && !this.#inFlight) this.#go();
  }

  leave() {
    clearTimeout(this.#timer);
    for (const [name, handler] of Object.entries(this.listeners)) this.source.removeEventListener(name, handler);
  }

  #go() {
    clearTimeout(this.#timer);
    this.#inFlight = true;
    const { url, values } = this.#pending;
    window.htmx
      .ajax("POST", url, {
        source: this.source,
        target: "#bench",
        swap: "outerHTML settle:0ms show:none",
        values,
        headers: { "X-CSRFToken": csrfToken() },
      })
      .catch(() => {}); // the events above say what went wrong
  }

  // A page that is not the workbench (the login page, above all) must not take its place.
  #beforeSwap(event) {
    const { detail } = event;
    if (!detail.shouldSwap || detail.xhr.responseText.includes('id="bench"')) return;
    detail.shouldSwap = false;
    this.#failed("signed_out");
  }

  #responseError(status) {
    if (status === 401) this.#failed("signed_out");
    else if (status >= 500 || status === 429 || status === 408) this.#failed("unsent");
    else {
      this.#pending = null;
      this.#inFlight = false;
      this.onTrouble("refused");
    }
  }

  #failed(kind) {
    this.#inFlight = false;
    this.onTrouble(kind);
    this.#timer = setTimeout(() => this.tryNow(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LAST_RETRY);
  }
}

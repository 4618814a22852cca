// What was handed in and is not with the server yet, in order. One request at a time; the same one again, with the
// same client_id, until the server has answered. Survives the page in this browser's copies.

import { csrfToken } from "../csrf.js";

const FIRST_RETRY = 2000;
const LAST_RETRY = 30_000;
const PATIENCE = 20_000;
const KEEPALIVE_LIMIT = 50_000;

export class Outbox {
  #entries;
  #inFlight = false;
  #timer = null;
  #pause = FIRST_RETRY;
  #copies;
  #seen = 0;

  /**
   * onSent(entry, html): taken; html is the region that the server answers with.
   * onRefused(entry, status, html): it will not be taken as it is.
   * onTrouble(kind): unsent or signed_out, it is tried again. onChange(): a count changed.
   * renew(): fetches a fresh token; resolves to whether the person is signed in.
   */
  constructor({ copies, onSent, onRefused, onTrouble, onChange, renew, post }) {
    Object.assign(this, { onSent, onRefused, onTrouble, onChange, renew });
    this.post = post ?? ((...request) => fetch(...request));
    this.#copies = copies;
    this.#entries = copies.all("out:");
  }

  /** entry: {assignment, url, values}. */
  add(entry) {
    if (this.has(entry.assignment)) return;
    this.#seen = Math.max(this.#seen + 1, Date.now());
    const kept = { ...entry, at: this.#seen };
    this.#entries.push(kept);
    this.#copies.write(`out:${entry.assignment}`, kept);
    this.onChange();
    void this.#go();
  }

  has(assignment) {
    return this.#entries.some((entry) => entry.assignment === assignment);
  }

  get size() {
    return this.#entries.length;
  }

  /** It could not be sent, and is tried again later. */
  get waiting() {
    return this.size > 0 && !this.#inFlight;
  }

  tryNow() {
    clearTimeout(this.#timer);
    void this.#go();
  }

  async #go() {
    if (this.#inFlight || this.size === 0) return;
    this.#inFlight = true;
    const [entry] = this.#entries;
    let answer;
    try {
      answer = await this.#ask(entry);
    } catch {
      answer = { kind: "unsent" }; // no network, or no answer in time
    }
    this.#inFlight = false;
    if (answer.kind === "unsent" || answer.kind === "signed_out") return this.#later(answer.kind);
    this.#pause = FIRST_RETRY;
    this.#entries.shift();
    this.#copies.forget(`out:${entry.assignment}`);
    this.onChange();
    if (answer.kind === "taken") this.onSent(entry, answer.html);
    else this.onRefused(entry, answer.status, answer.html);
    void this.#go();
  }

  async #ask(entry) {
    let response = await this.#request(entry);
    if (response.status === 403) {
      if (!(await this.renew())) return { kind: "signed_out" };
      response = await this.#request(entry);
    }
    const { status } = response;
    if (status === 401 || response.redirected) return { kind: "signed_out" };
    if (status >= 500 || status === 429 || status === 408) return { kind: "unsent" };
    const html = await response.text();
    if (response.ok) return html.includes('id="bench"') ? { kind: "taken", html } : { kind: "signed_out" };
    return { kind: "refused", status, html };
  }

  #request(entry) {
    const body = new URLSearchParams(entry.values);
    return this.post(entry.url, {
      method: "POST",
      credentials: "same-origin",
      keepalive: body.toString().length < KEEPALIVE_LIMIT,
      headers: { "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch" },
      signal: AbortSignal.timeout(PATIENCE),
      body,
    });
  }

  #later(kind) {
    this.onTrouble(kind);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#go(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LAST_RETRY);
  }
}

/** crypto.randomUUID exists on https and localhost only; a server on a local network has neither. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

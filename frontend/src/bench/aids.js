// Aids that a project offers: opened on purpose, in the problem's zone; the server keeps that they were.

import { csrfToken } from "../csrf.js";
import { renderProse } from "../prose/render.js";
import { renderWithVerdicts } from "../prose/checks.js";
import { words } from "./words.js";

export class AidsPanel {
  constructor(session) {
    Object.assign(this, { session, box: session.bench.querySelector("[data-aids]") });
    this.buttons = [...(this.box?.querySelectorAll("[data-aid]") ?? [])];
  }

  /** The key leads to the buttons; a digit chooses. */
  enter() {
    if (!this.box) return this.session.view.tell(`${words.noAids}.`);
    if (this.box.offsetParent === null) this.session.run("problem");
    this.buttons[0].focus();
  }

  listen() {
    this.box?.addEventListener("click", (event) => {
      const button = event.target.closest("[data-aid]");
      if (!button) return;
      void this.#open(button);
      this.session.view.reveal(this.session.state.active); // keys go on from the step
    });
    this.box?.addEventListener("keydown", (event) => {
      const button = this.buttons[Number(event.key) - 1];
      const leave = event.key === "Escape";
      if (!button && !leave) return;
      event.preventDefault();
      event.stopPropagation();
      if (button) void this.#open(button);
      this.session.view.reveal(this.session.state.active);
    });
  }

  async #open(button) {
    const { view, desk } = this.session;
    let content;
    try {
      const response = await fetch(button.dataset.url, { method: "POST", headers: { "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch" } });
      if (response.status === 401) return desk.trouble("signed_out");
      if (!response.ok) return view.alert((await response.json().catch(() => ({}))).error ?? words.aidFailed);
      ({ content } = await response.json());
    } catch {
      return view.alert(words.aidFailed);
    }
    button.setAttribute("aria-pressed", "true");
    if (button.dataset.aid === "equations") this.#mark(content);
    else this.#show(button, content.text ?? words.unknownHere);
  }

  #show(button, text) {
    const out = this.#out(button);
    out.className = "aid-text prose";
    out.dataset.prose = "";
    out.dir = "auto";
    renderProse(out, { text });
    this.session.view.say(`${button.textContent}: ${text}`);
  }

  #mark(checks) {
    const steps = this.session.view.steps;
    const byStep = Map.groupBy?.(checks, (check) => check.step) ?? group(checks);
    for (const [step, own] of byStep) {
      const text = steps[step]?.querySelector("[data-prose]");
      if (text && !text.classList.contains("is-source")) renderWithVerdicts(text, own, words.verdicts);
    }
    const bad = [...new Set(checks.filter((check) => check.verdict === "does_not_hold").map((check) => check.step + 1))];
    const unchecked = checks.filter((check) => check.verdict === "not_checked").length;
    const said = checks.length === 0 ? words.noEquations : words.equations(checks.length, bad, unchecked);
    this.#out(this.buttons.find((button) => button.dataset.aid === "equations")).textContent = said;
    this.session.view.say(said);
  }

  #out(button) {
    const out = this.box.querySelector(`[data-aid-out=${button.dataset.aid}]`);
    out.hidden = false;
    return out;
  }
}

function group(checks) {
  const groups = new Map();
  for (const check of checks) groups.set(check.step, [...(groups.get(check.step) ?? []), check]);
  return groups;
}

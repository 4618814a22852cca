// The two places where a person types sentences: a comment inside its step, and a reason or a question in the bar.

import { remarkOf } from "./view.js";
import { EXITS, words } from "./words.js";

/** Opens the comment of a step in place. onDone(text) on leaving, by Enter, Escape or a click elsewhere: what was typed is kept. */
export function editComment({ step, number, text, onDone, onLeave }) {
  const box = remarkOf(step);
  if (box.querySelector("textarea")) return box.querySelector("textarea").focus();
  const area = document.createElement("textarea");
  area.value = text ?? "";
  area.maxLength = 4000;
  area.rows = 2;
  area.setAttribute("aria-label", words.commentLabel(number));
  let done = false;
  const close = () => {
    if (done) return;
    done = true;
    const value = area.value;
    area.remove();
    onDone(value);
  };
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const finished = event.key === "Enter" && !event.shiftKey;
    if (!finished && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
    onLeave();
  });
  area.addEventListener("input", () => grow(area));
  area.addEventListener("blur", close);
  box.hidden = false;
  box.replaceChildren(area);
  grow(area);
  area.focus({ preventScroll: true });
}

function grow(area) {
  area.rows = Math.min(8, Math.max(2, area.value.split("\n").length));
}

/** The bar's question for skip, give_up, bad_problem and a question to the lead. onSend(kind, text). */
export class ReasonField {
  constructor(bench, { onSend, onLeave }) {
    this.form = bench.querySelector("[data-reason]");
    this.decide = bench.querySelector("[data-decide]");
    this.next = bench.querySelector("[data-next]");
    this.input = this.form.querySelector("input");
    this.onLeave = onLeave;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const reason = this.input.value.trim();
      if (reason) onSend(this.kind, reason);
      else this.input.focus();
    });
    this.form.querySelector("[data-reason-cancel]").addEventListener("click", () => this.close());
    this.form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.close();
    });
  }

  open(kind, number) {
    const { question, send, hints } = EXITS[kind];
    if (this.kind !== kind) this.input.value = "";
    this.kind = kind;
    this.form.querySelector("[data-reason-label]").textContent = question(number);
    this.form.querySelector("[data-reason-send]").textContent = send;
    this.form.querySelector("[data-reason-hints]").replaceChildren(...hints.map((hint) => this.#hint(hint)));
    this.show(true);
    this.input.focus();
  }

  /** forget: what was typed has arrived. */
  close({ forget = false } = {}) {
    if (forget) this.input.value = "";
    this.show(false);
    this.onLeave();
  }

  show(open) {
    this.form.hidden = !open;
    this.decide.hidden = open;
    this.next.hidden = open;
  }

  #hint(text) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "chip", textContent: text });
    button.addEventListener("click", () => {
      this.input.value = text;
      this.input.focus();
    });
    return button;
  }
}

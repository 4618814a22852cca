// What a person may say beside the labels: doubt, comments, kinds of error, corrections, cuts, questions, and notes
// to themselves. The commands of one session for all of it.

import { AidsPanel } from "./aids.js";
import { askCut, askErrorType, askStepNumber } from "./asking.js";
import { csrfToken } from "../csrf.js";
import { editComment } from "./fields.js";
import { INCORRECT } from "./state.js";
import { words } from "./words.js";

export const DETAIL_COMMANDS = ["unsure", "comment", "error_type", "recovered", "segmentation"];

export class Details {
  #changed;
  #show;

  constructor(session, { changed, show }) {
    Object.assign(this, { session, bench: session.bench });
    this.#changed = changed;
    this.#show = show;
    this.types = JSON.parse(this.bench.dataset.errorTypes ?? "[]");
    this.aids = new AidsPanel(session);
  }

  run(command) {
    if (!(command in this.#commands)) return false;
    this.#commands[command]();
    return true;
  }

  get #state() {
    return this.session.state;
  }

  get #view() {
    return this.session.view;
  }

  #commands = {
    unsure: () => this.#unsure(),
    comment: () => this.#comment(),
    error_type: () => this.#errorType(),
    recovered: () => this.#recovered(),
    segmentation: () => this.#segmentation(),
    question: () => this.session.reason.open("question", this.#state.active + 1),
    aids: () => this.aids.enter(),
    scratch: () => this.#openScratch(),
  };

  listen() {
    this.aids.listen();
    const area = this.#scratch();
    if (!area) return;
    area.value = this.#state.scratch;
    area.addEventListener("input", () => {
      this.#state.scratch = area.value;
      this.session.draft.changed();
    });
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.#back();
    });
  }

  #back = () => this.#view.reveal(this.#state.active);

  #step(index) {
    return { step: this.#view.steps[index], number: index + 1, onLeave: () => this.session.bench.isConnected && this.#back() };
  }

  #unsure() {
    const index = this.#state.active;
    if (!this.#state.toggleUnsure(index)) return this.#view.say(words.takesNone(index + 1, this.#state.isClosed(index)));
    this.#changed();
    this.#view.say(words.flagged(index + 1, this.#state.unsure.has(index)));
  }

  #comment() {
    const index = this.#state.active;
    if (!this.#state.judged[index]) return this.#view.say(words.takesNone(index + 1, false));
    editComment({
      ...this.#step(index),
      text: this.#state.comments[index],
      onDone: (text) => (this.#state.comment(index, text) ? this.#changed() : this.#show()),
    });
    this.#view.reveal(index, { focus: false });
  }

  // Where every step is judged, the frame has moved on by the time a person names the error: it means that one.
  #errorStep() {
    const { active, lastLabelled, labels } = this.#state;
    if (labels[active] === INCORRECT) return active;
    return lastLabelled !== null && labels[lastLabelled] === INCORRECT ? lastLabelled : null;
  }

  #errorType() {
    const index = this.#errorStep();
    if (index === null) return this.#view.tell(`${words.notIncorrect(this.#state.active + 1)}.`);
    const next = this.#state.active;
    this.session.goTo(index);
    askErrorType({
      ...this.#step(index),
      types: this.types,
      chosen: this.#state.errorTypes[index],
      onChoose: (name) => {
        if (!this.#state.errorType(index, name)) return;
        this.#state.active = next;
        this.#changed();
        this.#view.say(words.kindSet(index + 1, name));
      },
    });
    this.#view.reveal(index, { focus: false });
  }

  #recovered() {
    const { active, labels, recoveredAt, mode } = this.#state;
    if (mode !== "all_steps") return this.#view.tell(`${words.onlyAllSteps}.`);
    const set = (index, at) => {
      if (!this.#state.recovered(index, at)) return;
      this.#changed();
      this.#view.say(words.recoveredSet(index + 1, (at ?? -1) + 1));
    };
    if (labels[active] === INCORRECT) {
      askStepNumber({
        ...this.#step(active),
        question: words.whichCorrects(active + 1),
        value: active in recoveredAt ? recoveredAt[active] + 1 : null,
        accept: (n) => (Number.isInteger(n) && n > active + 1 && n <= labels.length ? "" : words.laterStep(active + 2, labels.length)),
        onChoose: (n) => set(active, n === null ? null : n - 1),
      });
    } else {
      const wrong = labels.flatMap((label, i) => (label === INCORRECT && i < active ? [i + 1] : []));
      if (wrong.length === 0) return this.#view.tell(`${words.notIncorrect(active + 1)}.`);
      askStepNumber({
        ...this.#step(active),
        question: words.whichCorrected(active + 1),
        value: wrong.at(-1),
        accept: (n) => (wrong.includes(n) ? "" : words.incorrectStep(wrong.join(", "))),
        onChoose: (n) => n !== null && set(n - 1, active),
      });
    }
    this.#view.reveal(active, { focus: false });
  }

  #segmentation() {
    const index = this.#state.active;
    if (!this.#state.judged[index]) return this.#view.say(words.takesNone(index + 1, false));
    askCut({
      ...this.#step(index),
      chosen: this.#state.cuts[index],
      first: index === 0,
      last: index === this.#state.judged.length - 1,
      onChoose: (cut) => {
        if (!this.#state.cut(index, cut)) return;
        this.#changed();
        this.#view.say(words.cutSaid(index + 1));
      },
    });
    this.#view.reveal(index, { focus: false });
  }

  /** Sends a question to the lead; what was typed stays until it has arrived. */
  async ask(text) {
    const { reason } = this.session;
    try {
      const response = await fetch(this.bench.dataset.askUrl, {
        method: "POST",
        headers: { "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch" },
        body: new URLSearchParams({ text, step: String(this.#state.active) }),
      });
      if (response.status === 401) return this.session.desk.trouble("signed_out");
      if (!response.ok) return this.#view.alert((await response.json().catch(() => ({}))).error ?? words.askedNot);
    } catch {
      return this.#view.alert(words.askedNot);
    }
    this.#view.clearAlert();
    reason.close({ forget: true });
    this.#view.tell(words.asked);
  }

  #scratch() {
    return this.bench.querySelector("[data-scratch] textarea");
  }

  #openScratch() {
    const area = this.#scratch();
    if (!area) return;
    if (!this.bench.classList.contains("shows-problem") && area.offsetParent === null) this.session.run("problem");
    area.closest("details").open = true;
    area.focus();
  }
}

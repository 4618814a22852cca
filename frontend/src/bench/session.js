// One assignment on the workbench: turns commands into changes of state, and changes into page, draft and submit.

import { csrfToken } from "../csrf.js";
import { renderAll, renderProse, showSource, watchWideFormulas } from "../prose/render.js";
import { ActiveClock } from "./clock.js";
import { DraftKeeper } from "./draft.js";
import { editComment, ReasonField } from "./fields.js";
import { applyPanels, togglePanel, toggleProblem } from "./panels.js";
import { Sender, clientId } from "./sender.js";
import { BenchState } from "./state.js";
import { View } from "./view.js";
import { LABEL_NAMES, words } from "./words.js";

const LABELS = { correct: 1, neutral: 0, incorrect: -1 };
const CHANGES = new Set([...Object.keys(LABELS), "undo", "redo", "unsure", "comment", "skip", "give_up", "bad_problem"]);

export class Session {
  constructor(bench, { first = false } = {}) {
    const { assignment, mode, version, seconds, labels, details, draftUrl } = bench.dataset;
    this.bench = bench;
    this.assignment = assignment;
    this.first = first;
    this.view = new View(bench);
    this.state = new BenchState({
      mode,
      judged: this.view.steps.map((node) => "judged" in node.dataset),
      labels: JSON.parse(labels),
      details: JSON.parse(details),
    });
    this.clock = new ActiveClock(Number(seconds));
    this.draft = new DraftKeeper({
      url: draftUrl,
      assignment,
      version: Number(version),
      read: () => this.#payload(),
      csrf: csrfToken,
      onStatus: (status) => this.#draftStatus(status),
      onConflict: (other) => this.#conflict(other),
    });
    this.sender = new Sender({ source: bench, onTrouble: (kind) => this.#trouble(kind) });
    this.reason = new ReasonField(bench, {
      onSend: (kind, reason) => this.#exit(kind, reason),
      onLeave: () => this.view.reveal(this.state.active),
    });
  }

  begin() {
    applyPanels(this.bench);
    renderAll(this.bench);
    this.clock.start();
    this.#listen();
    this.#takeLeftover();
    this.#show();
    if (!this.first) window.scrollTo({ top: 0, behavior: "instant" });
    this.view.reveal(this.state.active);
    this.view.say(this.bench.querySelector("[data-error]")?.textContent ?? words.opened(this.view.steps.length));
    document.fonts?.ready.then(() => watchWideFormulas(this.bench));
  }

  /** Another region took this one's place: what the server has taken needs no copy here. */
  leave({ sameAssignment }) {
    this.clock.stop();
    this.sender.leave();
    this.draft.close({ forget: !sameAssignment });
  }

  flush(how) {
    this.draft.flush(how);
  }

  online() {
    this.draft.flush();
    this.sender.tryNow();
  }

  /** Runs a command. Returns whether it meant something here. */
  run(command, { byKey = false, button = null } = {}) {
    if (this.sender.busy && CHANGES.has(command)) {
      this.view.say(words.sending);
      return true;
    }
    if (button?.closest(".bar-exits")) this.#more(false);
    const own = button?.closest("[data-step]");
    if (own) this.state.active = Number(own.dataset.step);
    if (command in LABELS) this.#label(LABELS[command]);
    else if (command in this.#commands) this.#commands[command](button);
    else return false;
    // After a click the focus goes to the step, so that Enter submits and keys go on from there.
    if (!byKey && command in LABELS) this.view.reveal(this.state.active);
    return true;
  }

  #commands = {
    next: () => this.#move(1),
    previous: () => this.#move(-1),
    undo: () => this.#travel(this.state.undo(), words.undone, words.nothingToUndo),
    redo: () => this.#travel(this.state.redo(), words.redone, words.nothingToRedo),
    unsure: () => this.#unsure(),
    comment: () => this.#comment(),
    submit: () => this.#submit(),
    skip: () => this.reason.open("skip"),
    give_up: () => this.reason.open("give_up"),
    bad_problem: () => this.reason.open("bad_problem"),
    guidelines: () => togglePanel(this.bench),
    problem: () => toggleProblem(this.bench),
    source: () => this.#toggleSource(),
    keys: () => document.getElementById("keys").showModal(),
    more: () => this.#more(!this.bench.classList.contains("shows-more")),
  };

  #label(value) {
    const index = this.state.active;
    if (!this.state.label(index, value)) {
      this.view.say(words.takesNone(index + 1, this.state.isClosed(index)));
      return;
    }
    this.#changed();
    this.view.reveal(this.state.active);
    const left = this.state.missing().length;
    const closes = value === -1 && this.state.mode === "first_error" && left === 0;
    this.view.say(closes ? words.closesRest(index + 1) : words.marked(index + 1, LABEL_NAMES[value], left));
  }

  #move(by) {
    this.state.move(by);
    this.#show();
    this.view.reveal(this.state.active);
  }

  #travel(step, done, nothing) {
    if (step === null) return this.view.say(nothing);
    this.#changed();
    this.view.reveal(step);
    this.view.say(done(step + 1));
  }

  #unsure() {
    const index = this.state.active;
    if (!this.state.toggleUnsure(index)) return this.view.say(words.takesNone(index + 1, this.state.isClosed(index)));
    this.#changed();
    this.view.say(words.flagged(index + 1, this.state.unsure.has(index)));
  }

  #comment() {
    const index = this.state.active;
    if (!this.state.judged[index]) return this.view.say(words.takesNone(index + 1, false));
    editComment({
      step: this.view.steps[index],
      number: index + 1,
      text: this.state.comments[index],
      onDone: (text) => (this.state.comment(index, text) ? this.#changed() : this.#show()),
      onLeave: () => this.view.reveal(index),
    });
    this.view.reveal(index, { focus: false });
  }

  #submit() {
    if (this.sender.busy) return this.sender.tryNow();
    const missing = this.state.missing();
    if (missing.length > 0) {
      this.state.active = missing[0];
      this.#show();
      this.view.reveal(missing[0]);
      return this.view.say(words.missing(missing[0] + 1, missing.length));
    }
    this.#send(this.state.finishReason);
  }

  #exit(kind, reason) {
    if (kind === "skip") {
      this.draft.close();
      this.sender.send(this.bench.dataset.skipUrl, { reason });
    } else {
      this.state.reason = reason;
      this.#send(kind);
    }
    this.#show();
  }

  #send(finishReason) {
    this.draft.close(); // a late draft must not race the submit
    this.sender.send(this.bench.dataset.submitUrl, {
      labels: JSON.stringify(this.state.labels),
      finish_reason: finishReason,
      active_seconds: String(this.clock.seconds()),
      details: JSON.stringify(this.state.details()),
      client_id: clientId(this.assignment),
      draft_version: String(this.draft.version),
    });
    this.bench.setAttribute("aria-busy", "true");
    this.#show();
  }

  #trouble(kind) {
    if (kind === "signed_out") this.#signedOut();
    else if (kind === "unsent") this.view.alert(words.notSent, [[words.tryNow, () => this.sender.tryNow()]]);
    else {
      this.bench.removeAttribute("aria-busy");
      this.draft.reopen();
      this.view.alert(words.refused);
    }
    this.#show();
  }

  #signedOut() {
    this.view.alert(words.signedOut, [[words.signIn, this.bench.dataset.loginUrl], [words.tryNow, () => this.online()]]);
  }

  #draftStatus(status) {
    this.view.saved(status);
    if (status.kind === "signed_out") this.#signedOut();
    if (status.kind === "closed") this.view.alert(words.gone);
    if (status.kind === "saved" && !this.sender.busy) this.view.clearAlert();
  }

  #conflict(other) {
    const settle = (take) => {
      this.view.clearAlert();
      if (take) {
        this.state.replace(other);
        this.draft.accept(other.version);
      } else this.draft.overrule(other.version);
      this.#show();
      this.view.reveal(this.state.active);
    };
    this.view.alert(words.conflict, [[words.loadOther, () => settle(true)], [words.keepMine, () => settle(false)]]);
  }

  // What an earlier visit could not send: taken over where nothing newer exists, else the person chooses.
  #takeLeftover() {
    const left = this.draft.leftover();
    if (!Array.isArray(left?.labels) || left.labels.length !== this.state.labels.length) return;
    const same = JSON.stringify([left.labels, left.details]) === JSON.stringify([this.state.labels, this.state.details()]);
    if (same) return this.draft.accept(this.draft.version);
    const use = () => {
      this.view.clearAlert();
      this.state.replace(left);
      this.#changed();
      this.view.say(words.restored);
    };
    if (left.version === this.draft.version) return use();
    const drop = () => {
      this.view.clearAlert();
      this.draft.accept(this.draft.version);
    };
    this.view.alert(words.leftover, [[words.useLeftover, use], [words.dropLeftover, drop]]);
  }

  #more(open) {
    this.bench.classList.toggle("shows-more", open);
    this.bench.querySelector(".bar-more").setAttribute("aria-expanded", String(open));
  }

  #toggleSource() {
    const on = this.bench.classList.toggle("shows-source");
    for (const node of this.bench.querySelectorAll(".problem [data-prose], .steps [data-prose]")) {
      if (on) showSource(node);
      else renderProse(node);
    }
    watchWideFormulas(this.bench);
    this.view.say(words.source(on));
  }

  #listen() {
    this.bench.querySelector(".steps").addEventListener("click", (event) => {
      const step = event.target.closest("[data-step]");
      if (!step || event.target.closest("button, a, textarea, summary") || !getSelection().isCollapsed) return;
      this.#goTo(Number(step.dataset.step));
    });
    this.bench.querySelector(".strip").addEventListener("click", (event) => {
      const tick = event.target.closest("[data-tick]");
      if (!tick) return;
      event.preventDefault();
      this.#goTo(Number(tick.dataset.tick));
    });
  }

  #goTo(index) {
    this.state.active = index;
    this.#show();
    this.view.reveal(index);
  }

  #payload() {
    return {
      labels: this.state.labels,
      details: this.state.details(),
      finish_reason: this.state.missing().length === 0 ? this.state.finishReason : "",
      active_seconds: this.clock.seconds(),
    };
  }

  #changed() {
    this.draft.changed();
    this.#show();
  }

  #show() {
    const sending = this.sender.busy ? (this.sender.waiting ? words.waiting : words.sending) : "";
    this.view.render(this.state, { sending });
  }
}

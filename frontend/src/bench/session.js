// One assignment on the workbench: turns commands into changes of state, and changes into page, draft and submit.
//
// A session outlives its time in the page: it is prepared before (see desk.js), and kept until the server has taken
// what was handed in.

import { csrfToken } from "../csrf.js";
import { renderProse, showSource, textOf, watchWideFormulas } from "../prose/render.js";
import { Typesetter } from "../prose/typeset.js";
import { ActiveClock } from "./clock.js";
import { DETAIL_COMMANDS, Details } from "./details.js";
import { DraftKeeper } from "./draft.js";
import { ReasonField } from "./fields.js";
import { uuid } from "./outbox.js";
import { afterPaint } from "./paint.js";
import { closePanel, dropPanel, panelIn } from "./panel.js";
import { applyPanels, togglePanel, toggleProblem } from "./panels.js";
import { BenchState } from "./state.js";
import { View } from "./view.js";
import { LABEL_NAMES, words } from "./words.js";

const LABELS = { correct: 1, neutral: 0, incorrect: -1 };
const CHANGES = new Set([...Object.keys(LABELS), "through", "undo", "redo", ...DETAIL_COMMANDS, "skip", "give_up", "bad_problem", "submit"]);
const FONTS_PATIENCE = 600;
const TOO_SOON = 350; // milliseconds in which a second Enter still belongs to the solution before

export class Session {
  #begun = false;
  #shownAt = 0;
  #restsUntil = 0;
  #clientId = uuid();

  constructor(bench, desk) {
    const { assignment, mode, version, seconds, labels, details, draftUrl, needsType, needsComment } = bench.dataset;
    Object.assign(this, { bench, desk, assignment, busy: false, gone: false });
    const kept = JSON.parse(details);
    this.view = new View(bench, { texts: (i) => textOf(this.view.steps[i].querySelector("[data-prose]")), key: desk.key });
    this.state = new BenchState({
      mode,
      judged: this.view.steps.map((node) => "judged" in node.dataset),
      labels: JSON.parse(labels),
      details: kept,
      rules: { errorType: needsType !== undefined, comment: needsComment !== undefined },
    });
    this.clock = new ActiveClock(Number(seconds), { steps: kept.step_seconds });
    this.draft = new DraftKeeper({
      url: draftUrl,
      assignment,
      version: Number(version),
      read: () => this.#payload(),
      csrf: csrfToken,
      renew: desk.renew,
      onStatus: (status) => this.#draftStatus(status),
      onConflict: (other) => this.#conflict(other),
      copies: desk.copies,
    });
    this.reason = new ReasonField(bench, {
      onSend: (kind, text) => (kind === "question" ? this.details.ask(text) : this.#exit(kind, text)),
      onLeave: () => this.view.reveal(this.state.active),
    });
    this.details = new Details(this, { changed: () => this.#changed(), show: () => this.show() });
    this.typesetter = new Typesetter(bench, this.view.steps);
  }

  /** Off-screen: what will be seen first is set before it is asked for. More would make the change itself slower. */
  prepare() {
    applyPanels(this.bench);
    this.typesetter.near(this.state.active);
    this.show();
  }

  /** In the page. said: the announcement. */
  begin({ first = false, said = words.opened(this.view.steps.length) } = {}) {
    applyPanels(this.bench);
    this.typesetter.near(this.state.active);
    if (!this.#begun) this.#beginOnce();
    this.clock.start();
    this.#shownAt = performance.now();
    this.show();
    this.bench.classList.toggle("is-live", !first);
    if (first) this.#appear();
    if (!first) window.scrollTo({ top: 0, behavior: "instant" });
    this.view.reveal(this.state.active);
    this.view.say(this.bench.querySelector("[data-error]")?.textContent ?? said);
    // What is not needed for the first paint comes after it.
    afterPaint(() => {
      if (!this.bench.isConnected) return;
      this.typesetter.rest(this.state.active);
      this.typesetter.watch();
    });
  }

  // The first time with its fonts, where they come soon: a change of font moves every line.
  #appear() {
    void this.bench.offsetHeight; // lays out, and so asks for the fonts
    const late = new Promise((done) => setTimeout(done, FONTS_PATIENCE));
    void Promise.race([document.fonts?.ready, late]).then(() => {
      this.view.reveal(this.state.active, { focus: false });
      this.bench.classList.add("is-live");
      if (document.activeElement === document.body) this.view.reveal(this.state.active);
    });
  }

  #beginOnce() {
    this.#begun = true;
    this.#listen();
    this.#takeLeftover();
    document.fonts?.ready.then(() => this.bench.isConnected && watchWideFormulas(this.bench.querySelector(".problem")));
  }

  /** Out of the page, perhaps to come back. */
  pause() {
    this.clock.stop();
    dropPanel();
    this.typesetter.pause();
    if (!this.busy) this.draft.flush();
  }

  /** For good. forget: the server has it, so that no copy is needed here. */
  end({ forget = false } = {}) {
    this.clock.stop();
    this.typesetter.stop();
    this.draft.close({ forget });
  }

  /** What was handed in came back. again: it can be mended and handed in again. restFor: milliseconds without labels. */
  refused(sentence, { again, restFor = 0 }) {
    this.busy = false;
    this.#restsUntil = performance.now() + restFor;
    this.#clientId = uuid();
    if (again) {
      this.draft.reopen();
      this.view.alert(sentence);
    } else {
      this.#closeFor(sentence);
    }
    this.bench.removeAttribute("aria-busy");
    this.show();
    this.view.say(restFor ? `${words.cameBack}. ${sentence}` : sentence);
  }

  /** Handed in, and nothing to show in its place yet. */
  awaits() {
    this.bench.setAttribute("aria-busy", "true");
    this.show();
  }

  /** Runs a command. Returns whether it meant something here. */
  run(command, { byKey = false, button = null } = {}) {
    if (CHANGES.has(command) && this.#rests(command)) return true;
    if (button?.closest(".bar-exits")) this.#more(false);
    if (command in LABELS) this.#label(LABELS[command]);
    else if (command in this.#commands) {
      if (this.#commands[command](button) === false) return false;
    } else if (!this.details.run(command, button)) return false;
    // After a click the focus goes to the step, so that Enter submits and keys go on from there.
    if (!byKey && command in LABELS) this.view.reveal(this.state.active);
    return true;
  }

  #commands = {
    through: () => this.#through(),
    next: () => this.#move(1),
    previous: () => this.#move(-1),
    unfold: () => this.#fold(true),
    fold: () => this.#fold(false),
    undo: () => this.#travel(this.state.undo(), words.undone, words.nothingToUndo),
    redo: () => this.#travel(this.state.redo(), words.redone, words.nothingToRedo),
    submit: () => this.#submit(),
    skip: () => this.bench.dataset.skipUrl && this.reason.open("skip"),
    give_up: () => this.reason.open("give_up"),
    bad_problem: () => this.reason.open("bad_problem"),
    guidelines: () => togglePanel(this.bench),
    problem: () => toggleProblem(this.bench),
    source: () => this.#toggleSource([this.view.steps[this.state.active]]),
    source_all: () => this.#toggleSource([this.bench.querySelector(".problem"), ...this.view.steps]),
    keys: () => document.getElementById("keys").showModal(),
    more: () => this.#more(!this.bench.classList.contains("shows-more")),
  };

  // Commands that change something rest while it is being sent, once it is gone, and just after it came back unasked.
  #rests(command) {
    if (this.busy) {
      if (command === "submit") this.desk.tryNow();
      this.view.say(words.sending);
      return true;
    }
    if (this.gone) {
      if (command === "submit") this.desk.goOn(this);
      else this.view.say(words.gone);
      return true;
    }
    return performance.now() < this.#restsUntil;
  }

  #label(value) {
    const index = this.state.active;
    if (!this.state.label(index, value)) return this.view.say(words.takesNone(index + 1, this.state.isClosed(index)));
    this.#changed();
    this.view.reveal(this.state.active);
    const left = this.state.missing().length;
    const closes = value === -1 && this.state.mode === "first_error" && left === 0;
    this.view.say(closes ? words.closesRest(index + 1) : words.marked(index + 1, LABEL_NAMES[value], left));
  }

  #through() {
    if (!("through" in this.bench.dataset)) return false;
    const index = this.state.active;
    const n = this.state.correctThrough(index);
    if (n === 0) return this.view.say(words.throughNone(index + 1));
    this.#changed();
    this.view.reveal(this.state.active);
    this.view.say(words.through(index + 1, n));
  }

  #move(by) {
    this.state.move(by);
    this.show();
    this.view.reveal(this.state.active);
  }

  #fold(open) {
    const context = this.view.steps[this.state.active].querySelector("details.context");
    if (!context || context.open === open) return false;
    context.open = open;
  }

  #travel(step, done, nothing) {
    if (step === null) return this.view.say(nothing);
    this.#changed();
    this.view.reveal(step);
    this.view.say(done(step + 1));
  }

  #submit() {
    if (performance.now() - this.#shownAt < TOO_SOON && !this.state.canUndo) return;
    const missing = this.state.missing();
    if (missing.length > 0) {
      this.goTo(missing[0]);
      return this.view.say(words.missing(missing[0] + 1, missing.length));
    }
    const [wants] = this.state.wanting();
    if (!wants) return this.#send(this.state.finishReason);
    this.goTo(wants.step);
    this.view.say(words.wants(wants.step + 1, wants.what));
    this.details.run(wants.what);
  }

  #exit(kind, reason) {
    this.reason.show(false);
    if (kind === "skip") return this.#handIn(this.bench.dataset.skipUrl, { reason });
    this.state.reason = reason;
    this.#send(kind);
  }

  #send(finishReason) {
    this.#handIn(this.bench.dataset.submitUrl, {
      labels: JSON.stringify(this.state.labels),
      finish_reason: finishReason,
      active_seconds: String(this.clock.seconds()),
      details: JSON.stringify(this.#detailsNow()),
      client_id: this.#clientId,
      draft_version: String(this.draft.version),
    });
  }

  #handIn(url, values) {
    this.busy = true;
    closePanel();
    this.draft.close(); // a late draft must not race the submit, which carries everything
    this.view.clearAlert();
    this.desk.handIn(this, { url, values });
  }

  #draftStatus(status) {
    this.view.saved(status);
    if (status.kind === "signed_out") this.desk.trouble("signed_out");
    if (status.kind === "closed") this.#closeFor(words.gone);
    if (status.kind === "saved") this.desk.reached();
  }

  #closeFor(sentence) {
    this.gone = true;
    this.view.alert(sentence, [[words.goOn, () => this.desk.goOn(this)]]);
  }

  #conflict(other) {
    const settle = (take) => {
      this.view.clearAlert();
      if (take) {
        this.state.replace(other);
        this.draft.accept(other.version);
      } else this.draft.overrule(other.version);
      this.show();
      this.view.reveal(this.state.active);
    };
    this.view.alert(words.conflict, [[words.loadOther, () => settle(true)], [words.keepMine, () => settle(false)]]);
  }

  // What an earlier visit could not send: taken over where nothing newer exists, else the person chooses.
  #takeLeftover() {
    const left = this.draft.leftover();
    if (!Array.isArray(left?.labels) || left.labels.length !== this.state.labels.length) return;
    const decided = ({ labels, details: { step_seconds: _, ...rest } = {} }) => JSON.stringify([labels, rest]);
    if (decided(left) === decided({ labels: this.state.labels, details: this.state.details({ draft: true }) })) return this.draft.accept(this.draft.version);
    const use = () => {
      this.view.clearAlert();
      this.state.replace(left);
      this.state.scratch = left.details?.scratch ?? this.state.scratch;
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

  // Of one step, or of everything that can be seen: as it was written when any of it is rendered.
  #toggleSource(roots) {
    const texts = roots.flatMap((root) => [...root.querySelectorAll("[data-prose]")]);
    const on = texts.some((node) => !node.classList.contains("is-source"));
    for (const node of texts) {
      if (on) showSource(node);
      else renderProse(node);
    }
    if (!on) watchWideFormulas(...roots.slice(0, 20));
    this.view.say(words.source(on));
  }

  #listen() {
    const steps = this.bench.querySelector(".steps");
    steps.addEventListener("click", (event) => {
      const step = event.target.closest("[data-step]");
      if (!step || event.target.closest("button, a, textarea, input, summary, .panel") || !getSelection().isCollapsed) return;
      this.goTo(Number(step.dataset.step));
    });
    // Folded context is set when it is unfolded. Toggle events don't bubble.
    steps.addEventListener("toggle", (event) => event.target.open && this.typesetter.near(Number(event.target.closest("[data-step]").dataset.step)), true);
    this.bench.querySelector(".strip").addEventListener("click", (event) => {
      const tick = event.target.closest("[data-tick]");
      if (!tick) return;
      event.preventDefault();
      this.goTo(Number(tick.dataset.tick));
    });
    this.details.listen();
  }

  goTo(index) {
    this.state.active = index;
    this.show();
    this.view.reveal(index);
  }

  #payload() {
    return {
      labels: this.state.labels,
      details: this.#detailsNow({ draft: true }),
      finish_reason: this.state.complete ? this.state.finishReason : "",
      active_seconds: this.clock.seconds(),
    };
  }

  #detailsNow(how) {
    this.state.stepSeconds = this.clock.stepSeconds();
    return this.state.details(how);
  }

  #changed() {
    this.draft.changed();
    this.show();
  }

  show() {
    const { active } = this.state;
    this.clock.on(active);
    if (this.bench.isConnected) {
      this.typesetter.near(active);
      if (this.bench.querySelector(".panel") && !panelIn(this.view.steps[active])) dropPanel();
    }
    const sending = this.busy ? (this.desk.isWaiting ? words.waiting(this.desk.key("submit")) : words.sending) : "";
    this.view.render(this.state, { sending });
  }
}

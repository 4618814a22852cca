// What a person has decided about one solution, with undo over the whole of it. Plain data, no DOM.
//
// Labels are 1 correct, 0 neutral, -1 incorrect, null not judged; indices are 0-based over all steps, context
// included. The rules are those of annotator/core/labels.py and annotator/core/details.py, so that the server never
// has to refuse.

export const CORRECT = 1;
export const INCORRECT = -1;

/** What undo goes over, beside the labels: name here → name in the details. */
const BY_STEP = { comments: "comments", errorTypes: "error_types", recoveredAt: "recovered_at", cuts: "segmentation" };
const SETS = { unsure: "unsure", implied: "implied" };

export class BenchState {
  #past = [];
  #future = [];

  /** judged: one boolean a step; labels: one label a step; rules: {errorType, comment}, what an incorrect step needs. */
  constructor({ mode, judged, labels, details = {}, rules = {} }) {
    Object.assign(this, { mode, judged, rules, labels: [...labels] });
    this.#takeDetails(details);
    this.reason = details.reason ?? "";
    this.scratch = details.scratch ?? "";
    this.stepSeconds = { ...(details.step_seconds ?? {}) };
    this.lastLabelled = null;
    this.active = this.#firstOpen();
  }

  get stop() {
    return this.labels.indexOf(INCORRECT);
  }

  /** In first_error, steps after the first incorrect one take no label. */
  isClosed(index) {
    return this.mode === "first_error" && this.stop >= 0 && index > this.stop;
  }

  takesLabel(index) {
    return Boolean(this.judged[index]) && !this.isClosed(index);
  }

  /** Judged steps that still need a label, in order. */
  missing() {
    const last = this.mode === "first_error" && this.stop >= 0 ? this.stop : this.judged.length - 1;
    const open = [];
    for (let i = 0; i <= last; i += 1) if (this.judged[i] && this.labels[i] === null) open.push(i);
    return open;
  }

  /** Incorrect steps that lack what the project asks for: [{step, what: "error_type" | "comment"}], in order. */
  wanting() {
    const lacks = [];
    this.labels.forEach((label, step) => {
      if (label !== INCORRECT) return;
      if (this.rules.errorType && !this.errorTypes[step]) lacks.push({ step, what: "error_type" });
      if (this.rules.comment && !this.comments[step]) lacks.push({ step, what: "comment" });
    });
    return lacks;
  }

  get complete() {
    return this.missing().length === 0 && this.wanting().length === 0;
  }

  /** How many steps there are to judge, as far as is known now, and how many are done. */
  counts() {
    const end = this.mode === "first_error" && this.stop >= 0 ? this.stop + 1 : this.judged.length;
    let total = 0;
    for (let i = 0; i < end; i += 1) total += this.judged[i] ? 1 : 0;
    return { total, done: total - this.missing().length };
  }

  get finishReason() {
    return this.mode === "first_error" && this.stop >= 0 ? "found_error" : "solution";
  }

  /** Labels a step and moves on. Returns false where the step takes none. */
  label(index, value) {
    if (!this.takesLabel(index)) return false;
    this.#remember();
    this.labels[index] = value;
    this.lastLabelled = index;
    this.implied.delete(index);
    if (value !== INCORRECT) this.#dropErrorOf(index);
    else if (this.mode === "first_error") this.#clearAfter(index);
    this.active = this.#afterLabel(index);
    return true;
  }

  /** Marks every open step up to this one correct, and keeps which were filled that way. Returns how many. */
  correctThrough(index) {
    const open = this.missing().filter((i) => i <= index);
    if (open.length === 0) return 0;
    this.#remember();
    for (const i of open) {
      this.labels[i] = CORRECT;
      this.implied.add(i);
    }
    this.lastLabelled = open.at(-1);
    this.active = this.#afterLabel(index);
    return open.length;
  }

  toggleUnsure(index) {
    if (!this.takesLabel(index)) return false;
    this.#remember();
    if (!this.unsure.delete(index)) this.unsure.add(index);
    return true;
  }

  /** Each returns whether anything changed. An empty value takes back what was said. */
  comment(index, text) {
    return Boolean(this.judged[index]) && this.#say("comments", index, text.trim());
  }

  errorType(index, name) {
    return this.labels[index] === INCORRECT && this.#say("errorTypes", index, name);
  }

  /** at: the later step that corrects this incorrect one. */
  recovered(index, at) {
    return this.labels[index] === INCORRECT && (at === null || at > index) && this.#say("recoveredAt", index, at);
  }

  /** cut: {is: "coarse", at} or {is: "fine", merge}, or null. */
  cut(index, cut) {
    return Boolean(this.judged[index]) && this.#say("cuts", index, cut);
  }

  /** Moves over every step, context too, so that all can be read by keyboard. */
  move(by) {
    const to = Math.min(this.judged.length - 1, Math.max(0, this.active + by));
    const moved = to !== this.active;
    this.active = to;
    return moved;
  }

  undo() {
    return this.#travel(this.#past, this.#future);
  }

  redo() {
    return this.#travel(this.#future, this.#past);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Takes over labels from elsewhere; undo brings the own ones back. */
  replace({ labels, details = {} }) {
    this.#remember();
    this.labels = this.judged.map((_, i) => labels[i] ?? null);
    this.#takeDetails(details);
  }

  /** What goes to the server, without empty parts; the scratchpad stays in the draft. */
  details({ draft = false } = {}) {
    const details = {};
    for (const [here, there] of Object.entries(SETS)) details[there] = [...this[here]].sort((a, b) => a - b);
    for (const [here, there] of Object.entries(BY_STEP)) details[there] = { ...this[here] };
    details.step_seconds = { ...this.stepSeconds };
    details.reason = this.reason;
    if (draft) details.scratch = this.scratch.trim();
    for (const [key, value] of Object.entries(details)) {
      if (value.length === 0 || (typeof value === "object" && Object.keys(value).length === 0)) delete details[key];
    }
    return details;
  }

  #takeDetails(details) {
    for (const [here, there] of Object.entries(SETS)) this[here] = new Set(details[there] ?? []);
    for (const [here, there] of Object.entries(BY_STEP)) this[here] = { ...(details[there] ?? {}) };
  }

  #say(kind, index, value) {
    const empty = value === "" || value === null;
    const before = this[kind][index];
    if (JSON.stringify(before) === JSON.stringify(value) || (empty && before === undefined)) return false;
    this.#remember();
    if (empty) delete this[kind][index];
    else this[kind][index] = value;
    return true;
  }

  #dropErrorOf(index) {
    delete this.errorTypes[index];
    delete this.recoveredAt[index];
  }

  #clearAfter(index) {
    for (let i = index + 1; i < this.labels.length; i += 1) {
      this.labels[i] = null;
      this.unsure.delete(i);
      this.implied.delete(i);
      this.#dropErrorOf(i);
    }
  }

  #firstOpen() {
    const [first] = this.missing();
    return first ?? Math.max(0, this.stop >= 0 ? this.stop : this.judged.indexOf(true));
  }

  #afterLabel(index) {
    for (let i = index + 1; i < this.judged.length; i += 1) if (this.takesLabel(i)) return i;
    return index;
  }

  #snapshot() {
    const then = { labels: [...this.labels], active: this.active, lastLabelled: this.lastLabelled };
    for (const name of Object.keys(SETS)) then[name] = new Set(this[name]);
    for (const name of Object.keys(BY_STEP)) then[name] = { ...this[name] };
    return then;
  }

  #remember() {
    this.#past.push(this.#snapshot());
    this.#future = [];
  }

  // Goes back (or forward) one change and to the step it was made on. Returns that step, or null.
  #travel(from, to) {
    const then = from.pop();
    if (!then) return null;
    to.push({ ...this.#snapshot(), active: then.active });
    Object.assign(this, then);
    return then.active;
  }
}

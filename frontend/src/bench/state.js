// What a person has decided about one solution, with undo over the whole of it. Plain data, no DOM.
//
// Labels are 1 correct, 0 neutral, -1 incorrect, null not judged; indices are 0-based over all steps, context
// included. The rules are those of annotator/core/labels.py, so that the server never has to refuse.

export const INCORRECT = -1;

export class BenchState {
  #past = [];
  #future = [];

  /** judged: one boolean a step; labels: one label a step; details: {unsure, comments, reason}. */
  constructor({ mode, judged, labels, details = {} }) {
    this.mode = mode;
    this.judged = judged;
    this.labels = [...labels];
    this.unsure = new Set(details.unsure ?? []);
    this.comments = { ...(details.comments ?? {}) };
    this.reason = details.reason ?? "";
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
    return this.judged.map((_, i) => i).filter((i) => this.takesLabel(i) && this.labels[i] === null);
  }

  /** How many steps there are to judge, as far as is known now, and how many are done. */
  counts() {
    const total = this.judged.filter((_, i) => this.takesLabel(i)).length;
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
    if (this.mode === "first_error" && value === INCORRECT) this.#clearAfter(index);
    this.active = this.#afterLabel(index);
    return true;
  }

  toggleUnsure(index) {
    if (!this.takesLabel(index)) return false;
    this.#remember();
    if (!this.unsure.delete(index)) this.unsure.add(index);
    return true;
  }

  /** Returns whether anything changed. */
  comment(index, text) {
    const value = text.trim();
    if (!this.judged[index] || value === (this.comments[index] ?? "")) return false;
    this.#remember();
    if (value) this.comments[index] = value;
    else delete this.comments[index];
    return true;
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
    this.unsure = new Set(details.unsure ?? []);
    this.comments = { ...(details.comments ?? {}) };
  }

  details() {
    const details = { unsure: [...this.unsure].sort((a, b) => a - b), comments: this.comments };
    return this.reason ? { ...details, reason: this.reason } : details;
  }

  #clearAfter(index) {
    for (let i = index + 1; i < this.labels.length; i += 1) {
      this.labels[i] = null;
      this.unsure.delete(i);
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
    return {
      labels: [...this.labels],
      unsure: new Set(this.unsure),
      comments: { ...this.comments },
      active: this.active,
    };
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

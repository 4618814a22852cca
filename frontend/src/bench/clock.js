// Seconds a person really spent: while the page is visible and has the focus, and something happened in the last
// minute. Told apart by step.

const IDLE_AFTER = 60_000;
const SIGNS_OF_LIFE = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"];

export class ActiveClock {
  #total;
  #bySteps = new Map();
  #step = null;
  #since = null;
  #lastSign;
  #now;

  /** already: seconds counted before this page; steps: those of each step; now: a clock in milliseconds. */
  constructor(already = 0, { steps = {}, now = () => performance.now() } = {}) {
    this.#total = already * 1000;
    for (const [step, seconds] of Object.entries(steps)) this.#bySteps.set(Number(step), seconds * 1000);
    this.#now = now;
    this.#lastSign = now();
  }

  start(target = document) {
    this.#lastSign = this.#now();
    this.resume();
    const listeners = [
      ...SIGNS_OF_LIFE.map((name) => [target, name, this.sign]),
      [target, "visibilitychange", this.visibility],
      [window, "blur", () => this.pause()],
      [window, "focus", this.sign],
    ];
    for (const [where, name, handler] of listeners) where.addEventListener(name, handler, { passive: true });
    this.stop = () => {
      this.pause();
      for (const [where, name, handler] of listeners) where.removeEventListener(name, handler);
      this.stop = () => {};
    };
  }

  stop() {}

  sign = (event) => {
    // A pointer passing over a window that somebody else's work covers is no work here.
    if (event?.type === "pointermove" && !document.hasFocus()) return;
    if (this.#since !== null) this.#settle();
    this.#lastSign = this.#now();
    this.resume();
  };

  visibility = () => (document.visibilityState === "visible" ? this.sign() : this.pause());

  /** From now on the time is this step's. */
  on(step) {
    this.#settle();
    this.#step = step;
  }

  pause() {
    this.#settle();
    this.#since = null;
  }

  resume() {
    this.#since ??= this.#now();
  }

  /** Seconds so far, to a tenth. */
  seconds() {
    this.#settle();
    return tenths(this.#total);
  }

  /** Seconds by step, those that took any. */
  stepSeconds() {
    this.#settle();
    return Object.fromEntries([...this.#bySteps].map(([step, ms]) => [step, tenths(ms)]).filter(([, s]) => s > 0));
  }

  // Counts up to now, or up to the moment the person fell idle.
  #settle() {
    if (this.#since === null) return;
    const now = this.#now();
    const spent = Math.max(0, Math.min(now, this.#lastSign + IDLE_AFTER) - this.#since);
    this.#total += spent;
    if (this.#step !== null) this.#bySteps.set(this.#step, (this.#bySteps.get(this.#step) ?? 0) + spent);
    this.#since = now;
  }
}

const tenths = (ms) => Math.round(ms / 100) / 10;

// Seconds a person really spent: while the page is visible and something happened in the last minute.

const IDLE_AFTER = 60_000;
const SIGNS_OF_LIFE = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"];

export class ActiveClock {
  #total;
  #since = null;
  #lastSign;
  #now;

  /** already: seconds counted before this page; now: a clock in milliseconds. */
  constructor(already = 0, now = () => performance.now()) {
    this.#total = already * 1000;
    this.#now = now;
    this.#lastSign = now();
  }

  start(target = document) {
    this.resume();
    const listen = (name, handler) => target.addEventListener(name, handler, { passive: true });
    for (const name of SIGNS_OF_LIFE) listen(name, this.sign);
    listen("visibilitychange", this.visibility);
    this.stop = () => {
      this.pause();
      for (const name of SIGNS_OF_LIFE) target.removeEventListener(name, this.sign);
      target.removeEventListener("visibilitychange", this.visibility);
    };
  }

  stop() {}

  sign = () => {
    if (this.#since !== null) this.#settle();
    this.#lastSign = this.#now();
    this.resume();
  };

  visibility = () => (document.visibilityState === "visible" ? this.sign() : this.pause());

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
    return Math.round(this.#total / 100) / 10;
  }

  // Counts up to now, or up to the moment the person fell idle.
  #settle() {
    if (this.#since === null) return;
    const now = this.#now();
    this.#total += Math.max(0, Math.min(now, this.#lastSign + IDLE_AFTER) - this.#since);
    this.#since = now;
  }
}

// Sets a solution's texts: what is in sight at once, the rest when the browser has time, outward from the reader.

import { renderProse, textOf, watchWideFormulas } from "./render.js";

const BUDGET = 10; // milliseconds at a time
const NEAR = 8; // steps set at once around the reader
const LAID_OUT = 3; // and laid out, whether they are in sight or not

const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => BUDGET }), 30));

export class Typesetter {
  #steps;
  #rest = [];
  #near = [];
  #stopped = false;
  #scheduled = false;
  #seen;

  /** steps: the step elements in order. */
  constructor(root, steps) {
    this.root = root;
    this.#steps = steps;
    for (const element of root.querySelectorAll("[data-prose]")) textOf(element);
    this.#seen = new IntersectionObserver((entries) => this.#inSight(entries), { rootMargin: "400px" });
  }

  /** Sets what stands around a step, now. */
  near(index) {
    for (const element of this.root.querySelectorAll(".problem [data-prose]")) this.#set(element);
    for (const step of this.#around(index, NEAR)) this.#setStep(step);
    // So that a step's place is known before it is scrolled to.
    const near = this.#around(index, LAID_OUT);
    for (const step of this.#near) if (!near.includes(step)) step.removeAttribute("data-near");
    for (const step of near) step.setAttribute("data-near", "");
    this.#near = near;
  }

  #around(index, by) {
    return this.#steps.slice(Math.max(0, index - by), index + by + 1);
  }

  /** Sets everything else, in slices. */
  rest(index) {
    const order = this.#steps.map((_, i) => i).sort((a, b) => Math.abs(a - index) - Math.abs(b - index));
    this.#rest = [...this.root.querySelectorAll(".problem [data-prose], .aside [data-prose]"), ...order.flatMap((i) => proseOf(this.#steps[i]))];
    this.#rest.reverse();
    this.#schedule();
  }

  /** The solution is in the page: what comes into sight is looked at for its width. */
  watch() {
    for (const step of this.#steps) this.#seen.observe(step);
    this.#schedule();
  }

  pause() {
    this.#seen.disconnect();
  }

  stop() {
    this.#seen.disconnect();
    this.#rest = [];
    this.#stopped = true;
  }

  #schedule() {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    idle((deadline) => {
      this.#scheduled = false;
      const until = performance.now() + Math.max(4, Math.min(BUDGET, deadline.timeRemaining()));
      while (this.#rest.length > 0 && performance.now() < until) this.#set(this.#rest.pop());
      if (this.#rest.length > 0) this.#schedule();
    }, { timeout: 500 });
  }

  #setStep(step) {
    for (const element of proseOf(step)) this.#set(element);
  }

  #set(element) {
    if (element.classList.contains("is-set") || element.classList.contains("is-source")) return;
    renderProse(element);
  }

  #inSight(entries) {
    const come = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
    for (const step of come) {
      this.#setStep(step);
      this.#seen.unobserve(step); // a change of the window's width looks at all again
    }
    watchWideFormulas(...come);
  }
}

// What is folded waits until it is unfolded.
const proseOf = (step) => [...step.querySelectorAll("[data-prose]")].filter((element) => element.closest("details")?.open ?? true);

// Sets a solution's texts: what is in sight at once, the rest when the browser has time, outward from the reader.

import { renderProse, textOf, watchWideFormulas } from "./render.js";

const BUDGET = 10; // milliseconds at a time
const NEAR = 8;

const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => BUDGET }), 30));

export class Typesetter {
  #steps;
  #rest = [];
  #near = [];
  #stopped = false;
  #scheduled = false;
  #seen;

  /** steps: the step elements in order; onDone(): everything that takes no unfolding is set. */
  constructor(root, steps, { onDone } = {}) {
    Object.assign(this, { root, onDone });
    this.#steps = steps;
    for (const element of root.querySelectorAll("[data-prose]")) textOf(element);
    this.#seen = new IntersectionObserver((entries) => this.#inSight(entries), { rootMargin: "400px" });
  }

  /** Sets what stands around a step, now. */
  near(index) {
    for (const element of this.root.querySelectorAll(".problem [data-prose]")) this.#set(element);
    const near = this.#steps.slice(Math.max(0, index - NEAR), index + NEAR + 1);
    for (const step of near) this.#setStep(step);
    // What is near is laid out whether it is in sight or not, so that its place is known before it is scrolled to.
    for (const step of this.#near) if (!near.includes(step)) step.removeAttribute("data-near");
    for (const step of near) step.setAttribute("data-near", "");
    this.#near = near;
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
      else this.onDone?.();
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
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#setStep(target);
      watchWideFormulas(target);
    }
  }
}

// What is folded waits until it is unfolded.
const proseOf = (step) => [...step.querySelectorAll("[data-prose]")].filter((element) => element.closest("details")?.open ?? true);

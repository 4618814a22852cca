// Shows a BenchState in the page: marks, the active step, the bar. Reads nothing back from the DOM.

import { make } from "./panel.js";
import { INCORRECT } from "./state.js";
import { LABEL_NAMES, MARKS, words } from "./words.js";

export class View {
  #drawn = [];
  #stopLine = null;

  /** texts(i): the source of a step; key(command): the key a person has for it. */
  constructor(bench, { texts, key }) {
    Object.assign(this, { bench, texts, key });
    this.steps = [...bench.querySelectorAll("[data-step]")];
    this.ticks = [...bench.querySelectorAll("[data-tick]")];
    this.tools = bench.querySelector(".step-tools");
    this.find = (selector) => bench.querySelector(selector);
  }

  /** sending: what to say while a submit is under way, or "". */
  render(state, { sending = "" } = {}) {
    for (let i = 0; i < this.steps.length; i += 1) {
      const look = lookOf(state, i);
      if (look === this.#drawn[i]) continue;
      this.#drawn[i] = look;
      this.#renderStep(this.steps[i], state, i);
      this.#renderTick(this.ticks[i], state, i);
    }
    this.#renderTools(state);
    this.#renderStopLine(state);
    const { total, done } = state.counts();
    this.find("[data-count]").textContent = words.count(done, total);
    this.#renderBar(state, sending);
  }

  #renderStep(node, state, i) {
    const label = state.labels[i];
    const active = i === state.active;
    node.toggleAttribute("data-active", active);
    if (active) node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
    node.dataset.label = label ?? "none";
    node.toggleAttribute("data-closed", state.isClosed(i));
    node.toggleAttribute("data-unsure", state.unsure.has(i));
    if (state.unsure.has(i) && state.judged[i]) this.#drawFlag(node);
    node.toggleAttribute("data-implied", state.implied.has(i));
    if (!state.judged[i]) return;
    setMark(node.querySelector(".gutter .mark"), label);
    node.querySelector("[data-said]").textContent = said(state, i);
    this.#renderFacts(node, state, i);
    this.#renderRemark(node, state.comments[i]);
  }

  #drawFlag(node) {
    const flag = node.querySelector(".flag");
    if (flag.childElementCount === 0) flag.append(useOf("#mark-flag"));
  }

  #renderFacts(node, state, i) {
    const facts = [state.errorTypes[i], i in state.recoveredAt && words.correctedIn(state.recoveredAt[i] + 1), this.#cutSaid(state.cuts[i], i)].filter(Boolean);
    const box = node.querySelector(".facts") ?? (facts.length ? make("p", { className: "facts" }) : null);
    if (!box) return;
    box.hidden = facts.length === 0;
    box.replaceChildren(...facts.map((fact) => make("span", { textContent: fact })));
    if (!box.isConnected || !node.contains(box)) node.querySelector("[data-prose]").after(box);
  }

  #cutSaid(cut, i) {
    if (!cut) return "";
    if (cut.is === "fine") return words.tooFine(cut.merge);
    if (cut.at === undefined) return words.coarse;
    const before = Array.from(this.texts(i)).slice(0, cut.at).join("").trim();
    return words.tooCoarse(before.length > 32 ? `…${before.slice(-30)}` : before);
  }

  #renderRemark(node, text) {
    const box = node.querySelector("[data-remark]");
    if (!box || box.querySelector("textarea")) {
      if (box || !text) return; // being written, or nothing to show
    }
    if (!box) return remarkOf(node).append(text);
    box.hidden = !text;
    box.textContent = text ?? "";
  }

  #renderTick(node, state, i) {
    node.dataset.label = state.labels[i] ?? "none";
    node.toggleAttribute("data-active", i === state.active);
    node.toggleAttribute("data-closed", state.isClosed(i));
    setMark(node.querySelector(".mark"), state.labels[i]);
  }

  // One set of tools for all steps: it rides on the active one.
  #renderTools(state) {
    const { active } = state;
    const takes = state.judged[active];
    const body = this.steps[active]?.querySelector(".body");
    if (this.tools.parentElement !== body && takes) body.append(this.tools);
    this.tools.hidden = !takes;
    for (const button of this.bench.querySelectorAll("[data-when-incorrect]")) button.hidden = state.labels[active] !== INCORRECT;
    for (const button of this.bench.querySelectorAll("[data-command=unsure]")) button.setAttribute("aria-pressed", String(state.unsure.has(active)));
  }

  #renderStopLine(state) {
    const at = state.mode === "first_error" && state.stop >= 0 && state.stop < this.steps.length - 1 ? state.stop : null;
    if (at === this.#stopLine?.at) return;
    this.#stopLine?.node.remove();
    this.#stopLine = null;
    if (at === null) return;
    const node = make("li", { className: "stop-line" }, make("span", { textContent: words.closed }));
    node.setAttribute("aria-hidden", "true"); // each closed step says it itself
    this.#stopLine = { at, node };
    this.steps[at].after(node);
  }

  #renderBar(state, sending) {
    const takes = state.takesLabel(state.active) && !sending;
    for (const [name, value] of [["correct", 1], ["neutral", 0], ["incorrect", INCORRECT]]) {
      const button = this.find(`.label-key[data-command=${name}]`);
      button.setAttribute("aria-pressed", String(takes && state.labels[state.active] === value));
      button.setAttribute("aria-disabled", String(!takes));
    }
    const submit = this.find("[data-command=submit]");
    submit.toggleAttribute("data-ready", state.complete && !sending);
    submit.setAttribute("aria-disabled", String(Boolean(sending)));
    for (const button of this.bench.querySelectorAll("[data-command=undo]")) button.disabled = !state.canUndo || Boolean(sending);
    for (const button of this.bench.querySelectorAll("[data-command=redo]")) button.disabled = !state.canRedo || Boolean(sending);
    this.find("[data-next]").replaceChildren(...(sending ? [sending] : this.#nextSentences(state)));
  }

  // Where things stand, and what Enter will do about it; the second is of no use without keys.
  #nextSentences(state) {
    const key = this.key("submit");
    const [missing, wants] = [state.missing(), state.wanting()];
    let enter = words.enterSubmits(key);
    if (missing.length > 0) enter = words.enterGoes(key, missing[0] + 1);
    else if (wants.length > 0) enter = words.enterAsks(key);
    return [standing(state, missing, wants), make("span", { className: "for-keys", textContent: ` ${enter}` })];
  }

  /** Puts the active step into the upper third, without a jump where it already stands well. */
  reveal(index, { focus = true } = {}) {
    const node = this.steps[index];
    if (focus) node.focus({ preventScroll: true });
    const box = node.getBoundingClientRect();
    const top = this.#coveredTop();
    const room = window.innerHeight - top - this.find(".bar").offsetHeight;
    const target = top + Math.min(room * 0.22, Math.max(16, room - box.height - 24));
    const fits = box.top >= top + 12 && box.bottom <= top + room * 0.62;
    if (!fits) window.scrollTo({ top: window.scrollY + box.top - target, behavior: "instant" });
  }

  #coveredTop() {
    const problem = this.find(".problem");
    const overSteps = problem.offsetWidth >= this.bench.clientWidth - 2; // one column: it is pinned above the steps
    const masthead = document.querySelector(".masthead");
    const head = masthead && getComputedStyle(masthead).position === "sticky" ? masthead.offsetHeight : 0;
    return head + (overSteps ? problem.offsetHeight : 0);
  }

  say(sentence) {
    const box = document.getElementById("announcer");
    if (!box) return;
    box.textContent = "";
    // A live region repeats itself only when its text changed.
    setTimeout(() => (box.textContent = sentence), 30);
  }

  /** One sentence in the bar, until the next change: what was just done. */
  tell(sentence) {
    this.find("[data-next]").replaceChildren(sentence);
    this.say(sentence);
  }

  saved({ kind, at, unsent }) {
    const box = this.find("[data-saved]");
    box.dataset.kind = kind;
    if (kind === "saved") box.textContent = words.saved(at);
    else if (kind === "saving") box.textContent = unsent > 1 && box.dataset.was === "unsent" ? words.unsent(unsent) : words.saving;
    else box.textContent = words.unsent(unsent);
    box.dataset.was = kind === "saving" ? box.dataset.was : kind;
  }

  /** How many solutions wait to be sent; 0 says nothing. */
  outbox(n) {
    const box = this.find("[data-outbox]");
    box.hidden = n === 0;
    box.textContent = n === 0 ? "" : words.outbox(n);
  }

  time(seconds) {
    this.find("[data-time]").textContent = seconds < 60 ? "" : words.minutes(Math.floor(seconds / 60));
  }

  /** One clear sentence above the steps with what can be done: actions are [text, handler], or elements. */
  alert(sentence, actions = []) {
    const box = this.find("[data-alert]");
    const row = make("div", { className: "buttons" });
    for (const action of actions) row.append(Array.isArray(action) ? doing(...action) : action);
    box.replaceChildren(make("p", { textContent: sentence }), ...(actions.length ? [row] : []));
    box.hidden = false;
  }

  clearAlert() {
    this.find("[data-alert]").hidden = true;
  }
}

/** The place for a comment, made where there is none yet. */
export function remarkOf(step) {
  const known = step.querySelector("[data-remark]");
  if (known) return known;
  const box = make("div", { className: "remark" });
  box.dataset.remark = "";
  (step.querySelector(".facts") ?? step.querySelector("[data-prose]")).after(box);
  return box;
}

// Everything that a step's look depends on; the same string, the same look.
const lookOf = (state, i) =>
  [state.labels[i], i === state.active, state.isClosed(i), state.unsure.has(i), state.implied.has(i), state.comments[i], state.errorTypes[i], state.recoveredAt[i], JSON.stringify(state.cuts[i])].join("\u0000");

function said(state, i) {
  if (state.isClosed(i)) return words.closed;
  const label = state.implied.has(i) ? words.implied : (LABEL_NAMES[state.labels[i]] ?? words.notJudged);
  return state.unsure.has(i) ? `${label}, ${words.unsure}` : label;
}

function standing(state, missing, wants) {
  if (missing.length > 0) return words.toJudge(missing.length, state.counts().total);
  if (wants.length > 0) return words.wants(wants[0].step + 1, wants[0].what);
  if (state.mode === "all_steps") return words.errors(state.labels.filter((l) => l === INCORRECT).length);
  return state.stop >= 0 ? words.firstError(state.stop + 1) : words.noError;
}

// A drawing only where there is something to draw: hundreds of them cost the first paint dearly.
function setMark(svg, label) {
  const href = label === null ? "" : `#${MARKS[label]}`;
  if ((svg.dataset.mark ?? "") === href) return;
  svg.dataset.mark = href;
  svg.replaceChildren(...(href ? [useOf(href)] : []));
}

function useOf(href) {
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", href);
  return use;
}

function doing(text, handler) {
  const button = make("button", { type: "button", className: "button", textContent: text });
  button.addEventListener("click", handler);
  return button;
}

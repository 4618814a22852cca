// Shows a BenchState in the page: marks, the active step, the bar. Reads nothing back from the DOM.

import { INCORRECT } from "./state.js";
import { LABEL_NAMES, MARKS, words } from "./words.js";

export class View {
  constructor(bench) {
    this.bench = bench;
    this.steps = [...bench.querySelectorAll("[data-step]")];
    this.ticks = [...bench.querySelectorAll("[data-tick]")];
    this.find = (selector) => bench.querySelector(selector);
  }

  /** sending: what to say while a submit is under way, or "". */
  render(state, { sending = "" } = {}) {
    this.steps.forEach((node, i) => this.#renderStep(node, state, i));
    this.ticks.forEach((node, i) => this.#renderTick(node, state, i));
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
    if (!state.judged[i]) return;
    setMark(node.querySelector(".gutter .mark"), label);
    const said = state.isClosed(i) ? words.closed : (LABEL_NAMES[label] ?? words.notJudged);
    node.querySelector("[data-said]").textContent = state.unsure.has(i) ? `${said}, ${words.unsure}` : said;
    node.querySelector("[data-command=unsure]").setAttribute("aria-pressed", String(state.unsure.has(i)));
    this.#renderRemark(node.querySelector("[data-remark]"), state.comments[i]);
  }

  #renderRemark(box, text) {
    if (box.querySelector("textarea")) return; // being written
    box.hidden = !text;
    box.textContent = text ?? "";
  }

  #renderTick(node, state, i) {
    node.dataset.label = state.labels[i] ?? "none";
    node.toggleAttribute("data-active", i === state.active);
    node.toggleAttribute("data-closed", state.isClosed(i));
    setMark(node.querySelector(".mark"), state.labels[i]);
  }

  #renderStopLine(state) {
    const closes = state.mode === "first_error" && state.stop >= 0 && state.stop < this.steps.length - 1;
    this.stopLine?.remove();
    this.stopLine = null;
    if (!closes) return;
    this.stopLine = document.createElement("li");
    this.stopLine.className = "stop-line";
    this.stopLine.setAttribute("aria-hidden", "true"); // each closed step says it itself
    this.stopLine.append(Object.assign(document.createElement("span"), { textContent: words.closed }));
    this.steps[state.stop].after(this.stopLine);
  }

  #renderBar(state, sending) {
    const takes = state.takesLabel(state.active) && !sending;
    for (const [name, value] of [["correct", 1], ["neutral", 0], ["incorrect", INCORRECT]]) {
      const button = this.find(`.label-key[data-command=${name}]`);
      button.setAttribute("aria-pressed", String(takes && state.labels[state.active] === value));
      button.setAttribute("aria-disabled", String(!takes));
    }
    const missing = state.missing();
    const submit = this.find("[data-command=submit]");
    submit.toggleAttribute("data-ready", missing.length === 0);
    submit.setAttribute("aria-disabled", String(Boolean(sending)));
    for (const button of this.bench.querySelectorAll("[data-command=undo]")) button.disabled = !state.canUndo || Boolean(sending);
    for (const button of this.bench.querySelectorAll("[data-command=redo]")) button.disabled = !state.canRedo || Boolean(sending);
    this.find("[data-next]").replaceChildren(...(sending ? [sending] : nextSentences(state, missing)));
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
    const head = getComputedStyle(masthead).position === "sticky" ? masthead.offsetHeight : 0;
    return head + (overSteps ? problem.offsetHeight : 0);
  }

  say(sentence) {
    const box = document.getElementById("announcer");
    box.textContent = "";
    // A live region repeats itself only when its text changed.
    setTimeout(() => (box.textContent = sentence), 30);
  }

  saved({ kind, at, unsent }) {
    const box = this.find("[data-saved]");
    box.dataset.kind = kind;
    if (kind === "saved") box.textContent = words.saved(at);
    else if (kind === "saving") box.textContent = unsent > 1 && box.dataset.was === "unsent" ? words.unsent(unsent) : words.saving;
    else box.textContent = words.unsent(unsent);
    box.dataset.was = kind === "saving" ? box.dataset.was : kind;
  }

  /** One clear sentence above the steps with what can be done: actions are [text, handler or address]. */
  alert(sentence, actions = []) {
    const box = this.find("[data-alert]");
    box.replaceChildren(Object.assign(document.createElement("p"), { textContent: sentence }));
    const row = document.createElement("p");
    row.className = "buttons";
    for (const [text, does] of actions) row.append(typeof does === "string" ? doorTo(text, does) : doing(text, does));
    if (actions.length) box.append(row);
    box.hidden = false;
  }

  clearAlert() {
    this.find("[data-alert]").hidden = true;
  }
}

// Where things stand, and what Enter will do about it; the second is of no use without keys.
function nextSentences(state, missing) {
  const enter = missing.length > 0 ? words.enterGoes(missing[0] + 1) : words.enterSubmits;
  const hint = Object.assign(document.createElement("span"), { className: "for-keys", textContent: ` ${enter}` });
  return [standing(state, missing), hint];
}

function standing(state, missing) {
  if (missing.length > 0) return words.toJudge(missing.length, state.counts().total);
  if (state.mode === "all_steps") return words.errors(state.labels.filter((l) => l === INCORRECT).length);
  return state.stop >= 0 ? words.firstError(state.stop + 1) : words.noError;
}

function setMark(svg, label) {
  const href = `#${MARKS[label] ?? "mark-none"}`;
  const use = svg.querySelector("use");
  if (use.getAttribute("href") !== href) use.setAttribute("href", href);
}

function doing(text, handler) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: text });
  button.addEventListener("click", handler);
  return button;
}

const doorTo = (text, href) =>
  Object.assign(document.createElement("a"), { className: "button", textContent: text, href, target: "_blank", rel: "noopener" });

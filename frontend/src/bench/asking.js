// The three questions about a step: what kind of error, where it was corrected, and whether it is cut well.

import { renderProse, textOf } from "../prose/render.js";
import { cutPlaces, toCharacters } from "../prose/sentences.js";
import { choice, closePanel, make, openPanel } from "./panel.js";
import { words } from "./words.js";

const SIGNS = "123456789abcdefghijklmnopqrstuvwxyz";

/** onChoose(name): "" takes it back. */
export function askErrorType({ step, number, types, chosen, onChoose, onLeave }) {
  const choose = (name) => {
    onChoose(name === chosen ? "" : name);
    closePanel();
  };
  const buttons = types.map((name, i) =>
    choice({ text: name, sign: SIGNS[i] ?? "", pressed: name === chosen, onChoose: () => choose(name) }),
  );
  openPanel({
    step,
    question: words.kindOf(number),
    children: [make("div", { className: "choices-grid" }, ...buttons)],
    onKey: (key) => {
      const at = key.length === 1 ? SIGNS.indexOf(key) : -1;
      if (at < 0 || at >= types.length) return false;
      choose(types[at]);
      return true;
    },
    onLeave,
  });
}

/** accept(number): "" where it can be taken, else what is wrong. onChoose(number or null). */
export function askStepNumber({ step, question, value, accept, onChoose, onLeave }) {
  const input = make("input", { type: "text", inputMode: "numeric", autocomplete: "off", value: value ?? "" });
  input.setAttribute("aria-label", question);
  const said = make("p", { className: "panel-error", role: "alert" });
  const form = make("form", { className: "panel-row" }, input, make("button", { className: "button", textContent: words.save }));
  if (value) {
    const back = make("button", { type: "button", className: "button is-bare", textContent: words.clear });
    back.addEventListener("click", () => {
      onChoose(null);
      closePanel();
    });
    form.append(back);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = input.value.trim();
    const wrong = typed === "" ? "" : accept(Number(typed));
    said.textContent = wrong;
    input.toggleAttribute("aria-invalid", Boolean(wrong));
    if (wrong) return input.select();
    onChoose(typed === "" ? null : Number(typed));
    closePanel();
  });
  openPanel({ step, question, children: [form, said], focus: input, onLeave });
  input.select();
}

/** onChoose(cut): {is: "coarse", at} with at in characters, {is: "fine", merge}, or null. */
export function askCut({ step, number, chosen, first, last, onChoose, onLeave }) {
  const choose = (cut) => {
    onChoose(cut);
    closePanel();
  };
  const text = textOf(step.querySelector("[data-prose]"));
  const places = cutPlaces(text);
  const options = [
    !first && ["p", words.mergePrevious, { is: "fine", merge: "previous" }],
    !last && ["n", words.mergeNext, { is: "fine", merge: "next" }],
    places.length === 0 && ["s", words.oneSentence, { is: "coarse" }],
    chosen && ["0", words.cutNone, null],
  ].filter(Boolean);
  const same = (cut) => JSON.stringify(cut) === JSON.stringify(chosen ?? undefined);
  const row = options.map(([sign, said, cut]) => choice({ text: said, sign, pressed: same(cut), onChoose: () => choose(cut) }));
  const pieces = places.length > 0 ? [make("p", { className: "panel-hint", textContent: words.splitAsk }), cutter(text, places, chosen, choose)] : [];
  openPanel({
    step,
    question: words.cutOf(number),
    children: [make("div", { className: "panel-row" }, ...row), ...pieces],
    focus: step.querySelector(".cut[aria-pressed=true]") ?? undefined,
    onKey: (key) => {
      const option = options.find(([sign]) => sign === key);
      if (option) choose(option[2]);
      return Boolean(option);
    },
    onLeave,
  });
}

// The step in its sentences, with a place to split between each two: to be clicked, or reached by the arrows.
function cutter(text, places, chosen, choose) {
  const box = make("div", { className: "cutter" });
  const ends = [...places, text.length];
  let start = 0;
  for (const end of ends) {
    const piece = make("div", { className: "prose", dir: "auto", textContent: text.slice(start, end).trim() });
    piece.dataset.prose = "";
    renderProse(piece);
    box.append(piece);
    if (end < text.length) {
      const at = toCharacters(text, end);
      const button = choice({ text: words.splitHere, pressed: chosen?.is === "coarse" && chosen.at === at, onChoose: () => choose({ is: "coarse", at }) });
      button.classList.add("cut");
      box.append(button);
    }
    start = end;
  }
  return box;
}

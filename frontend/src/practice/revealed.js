// After a practice solution was handed in: the comparison is set and read, and Enter goes on.

import { savePreferences } from "../preferences.js";
import { renderAll } from "../prose/render.js";

const OWN_ENTER = "a[href], button, summary, input, textarea, select";
const head = document.querySelector("[data-practice]");

function tourSeen() {
  return savePreferences(head.dataset.preferencesUrl, { tour_seen: true });
}

function revealed({ detail: bench }) {
  if (!("revealed" in bench.dataset)) return;
  renderAll(bench);
  window.scrollTo({ top: 0, behavior: "instant" });
  bench.querySelector("[data-outcome]").focus({ preventScroll: true });
  tourSeen();
}

document.addEventListener("stepmark:bench", revealed);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-tour-seen]")) tourSeen();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || event.defaultPrevented || event.isComposing) return;
  if (event.target.closest(OWN_ENTER) || document.querySelector("dialog[open]")) return;
  document.querySelector("[data-practice-next]")?.click();
});

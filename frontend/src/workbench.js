// The workbench page: one session for the solution that is shown, another after each swap.

import { commandFor } from "./bench/keys.js";
import { forgetOldCopies } from "./bench/draft.js";
import { Session } from "./bench/session.js";
import { watchWideFormulas } from "./prose/render.js";

let session = null;

function mount({ first = false } = {}) {
  const bench = document.getElementById("bench");
  const before = session;
  session = bench?.dataset.assignment ? new Session(bench, { first }) : null;
  before?.leave({ sameAssignment: before.assignment === session?.assignment });
  if (session) session.begin();
  else if (!first) {
    document.querySelector("[data-command=guidelines]")?.remove();
    bench?.focus();
  }
}

document.addEventListener("keydown", (event) => {
  const command = session && commandFor(event);
  if (command && session.run(command, { byKey: true })) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-command]");
  if (button && session) session.run(button.dataset.command, { button, byKey: event.detail === 0 });
});

// After settling, not after swapping: until then htmx puts the old element's classes on the new one.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "bench") mount();
});

window.addEventListener("pagehide", () => session?.flush({ leaving: true }));
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") session?.flush({ leaving: true });
});
window.addEventListener("online", () => session?.online());
window.addEventListener("resize", () => watchWideFormulas());

forgetOldCopies();
mount({ first: true });

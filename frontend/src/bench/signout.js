// Signing out forgets what this browser keeps, so what is not sent yet is sent first, or the person decides.

import { SIGN_OUT } from "./copies.js";
import { words } from "./words.js";

const PATIENCE = 3000;
const LOOK_EVERY = 100;

export function guardSignOut(desk) {
  let leaving = false;
  // In the capture phase: before the page's own handler, which wipes.
  document.addEventListener("submit", (event) => {
    const form = event.target.closest(SIGN_OUT);
    if (!form || leaving || desk.unsent === 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    desk.tryNow();
    const out = () => {
      leaving = true;
      form.requestSubmit();
    };
    const until = Date.now() + PATIENCE;
    const look = setInterval(() => {
      if (desk.unsent === 0) out();
      else if (Date.now() > until) desk.alert(words.unsentAtSignOut(desk.unsent), [[words.signOutAnyway, out]]);
      else return;
      clearInterval(look);
    }, LOOK_EVERY);
  }, { capture: true });
}

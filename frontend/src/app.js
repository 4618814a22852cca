// Every page: htmx with the CSRF token, menus and dialogs that close, preferences, times in the reader's own zone.

import htmx from "htmx.org";
import { wipeAtSignOut } from "./bench/copies.js";
import { csrfToken } from "./csrf.js";
import { keepInLiveParts, openDialog } from "./focus.js";
import { applyLook, preferencesPanel } from "./preferences.js";

window.htmx = htmx;

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = csrfToken();
});

function showTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === now));
  }
}

function closeMenus(except = null) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!except || !menu.contains(except)) menu.open = false;
  }
}

document.addEventListener("click", (event) => {
  const choice = event.target.closest("[data-theme-choice]");
  if (choice) {
    applyLook("theme", choice.dataset.themeChoice);
    showTheme();
  }
  const opener = event.target.closest("[data-open-dialog]");
  if (opener) {
    closeMenus();
    openDialog(document.getElementById(opener.dataset.openDialog), opener);
    return;
  }
  event.target.closest("[data-close-dialog]")?.closest("dialog").close();
  closeMenus(event.target);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});

const ownZone = new Intl.DateTimeFormat(document.documentElement.lang, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});
htmx.onLoad((part) => { // the page first, then each part that is swapped in
  for (const time of part.querySelectorAll("time[data-local]")) time.textContent = ownZone.format(new Date(time.dateTime));
});

document.querySelector("[data-focus]")?.focus();
showTheme();
keepInLiveParts();
preferencesPanel();
wipeAtSignOut();

// Every page: htmx with the CSRF token, menus that close, and the choice of theme.

import htmx from "htmx.org";
import { csrfToken } from "./csrf.js";

window.htmx = htmx;

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = csrfToken();
});

function chooseTheme(choice) {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  try {
    if (choice === "system") localStorage.removeItem("stepmark:theme");
    else localStorage.setItem("stepmark:theme", choice);
  } catch {
    // Storage is off: the choice holds for this page.
  }
  showTheme();
}

function showTheme() {
  const now = document.documentElement.dataset.theme ?? "system";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === now));
  }
}

document.addEventListener("click", (event) => {
  const choice = event.target.closest("[data-theme-choice]");
  if (choice) chooseTheme(choice.dataset.themeChoice);
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
  }
});

showTheme();

// Signing in where one is: the sign-in page is fetched for a fresh token and its form posted from here.

import { words } from "./words.js";

/** A small form for the alert. onDone() once the session is back. */
export function signInForm({ url, name, onDone }) {
  const form = document.createElement("form");
  form.className = "sign-in";
  form.dataset.signIn = "";
  const user = field("text", "username", name);
  user.readOnly = true;
  user.className = "visually-hidden";
  user.tabIndex = -1;
  user.setAttribute("aria-hidden", "true");
  const label = Object.assign(document.createElement("label"), { textContent: words.passwordOf(name) });
  const password = field("password", "current-password", "");
  label.append(password);
  const button = Object.assign(document.createElement("button"), { className: "button is-primary", textContent: words.signIn });
  const other = Object.assign(document.createElement("a"), { className: "button", href: url, target: "_blank", rel: "noopener", textContent: words.signInOther });
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  form.append(user, label, button, other, said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const trouble = await signIn(url, name, password.value).catch(() => words.signInOffline);
    button.disabled = false;
    said.textContent = trouble;
    if (trouble) password.select();
    else onDone();
  });
  return form;
}

function field(type, autocomplete, value) {
  return Object.assign(document.createElement("input"), { type, autocomplete, value, required: true });
}

// "" when signed in, else what went wrong. Raises where there is no network.
async function signIn(url, username, password) {
  const page = await fetch(url, { credentials: "same-origin" });
  if (page.redirected) return ""; // another tab has done it
  const token = parse(await page.text()).querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
  const answer = await fetch(url, {
    method: "POST",
    credentials: "same-origin",
    body: new URLSearchParams({ username, password, csrfmiddlewaretoken: token }),
  });
  const html = parse(await answer.text());
  if (answer.ok && !html.getElementById("id_password")) return "";
  return html.querySelector("[role=alert]")?.textContent.trim() || words.signInFailed;
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

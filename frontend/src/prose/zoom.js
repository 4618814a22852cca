// A picture of the problem, large: in a dialog, fitted, or in its own size to be moved about.

import { gettext } from "../i18n.js";

let dialog = null;

/** Opens the picture of a [data-zoom] button. */
export function zoom(button) {
  dialog ??= build();
  const picture = button.querySelector("img");
  const large = dialog.querySelector("img");
  large.src = picture.src;
  large.alt = picture.alt;
  dialog.querySelector("[data-caption]").textContent = picture.alt;
  setLarge(false);
  dialog.showModal();
}

function build() {
  const box = document.createElement("dialog");
  box.className = "dialog zoom";
  box.setAttribute("aria-label", gettext("Picture"));
  const form = Object.assign(document.createElement("form"), { method: "dialog", className: "dialog-head" });
  const caption = Object.assign(document.createElement("p"), { className: "quiet" });
  caption.dataset.caption = "";
  const size = Object.assign(document.createElement("button"), { type: "button", className: "button is-bare" });
  size.dataset.size = "";
  const close = Object.assign(document.createElement("button"), { className: "button is-bare", textContent: gettext("Close"), autofocus: true });
  form.append(caption, size, close);
  const frame = Object.assign(document.createElement("div"), { className: "zoom-frame", tabIndex: 0 });
  frame.append(document.createElement("img"));
  box.append(form, frame);
  size.addEventListener("click", () => setLarge(!box.classList.contains("is-large")));
  frame.addEventListener("click", () => setLarge(!box.classList.contains("is-large")));
  document.body.append(box);
  return box;
}

function setLarge(large) {
  dialog.classList.toggle("is-large", large);
  dialog.querySelector("[data-size]").textContent = large ? gettext("Fit") : gettext("Own size");
}

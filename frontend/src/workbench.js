// The workbench page: keys and clicks go to the desk, which holds the solutions.

import { Desk } from "./bench/desk.js";
import { guardSignOut } from "./bench/signout.js";
import { copyAsSource } from "./prose/copy.js";
import { useMacros, watchWideFormulas } from "./prose/render.js";
import { zoom } from "./prose/zoom.js";

const bench = document.getElementById("bench");
useMacros(JSON.parse(bench.dataset.macros ?? "{}"));
const desk = new Desk(bench);

document.addEventListener("keydown", (event) => desk.onKey(event));

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-command]");
  if (button) desk.onClick(button, event.detail === 0);
  const picture = event.target.closest("[data-zoom]");
  if (picture) zoom(picture);
});

document.addEventListener("stepmark:preferences", () => desk.readKeys());
window.addEventListener("pagehide", () => desk.flush({ leaving: true }));
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") desk.flush({ leaving: true });
});
window.addEventListener("online", () => desk.tryNow());

let resized = null;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => watchWideFormulas(), 150);
});

guardSignOut(desk);
copyAsSource();

// Pages that only read: sets the mathematics of every [data-prose]; a [data-preview-of] follows its field.

import { renderAll, renderProse, watchWideFormulas } from "./prose/render.js";

const PAUSE = 150;

function follow(preview) {
  const field = document.getElementById(preview.dataset.previewOf);
  let shown = preview;
  let timer = null;
  const show = () => {
    // A fresh element each time: one that was rendered keeps the text it arrived with.
    const fresh = shown.cloneNode(false);
    fresh.textContent = field.value;
    renderProse(fresh);
    const { scrollTop } = shown;
    shown.replaceWith(fresh);
    fresh.scrollTop = scrollTop;
    shown = fresh;
    watchWideFormulas(fresh);
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, PAUSE);
  });
}

renderAll();
for (const preview of document.querySelectorAll("[data-preview-of]")) follow(preview);
window.addEventListener("resize", () => watchWideFormulas());

// Pages that only read: sets the mathematics of every [data-prose].

import { renderAll, watchWideFormulas } from "./prose/render.js";

renderAll();
window.addEventListener("resize", () => watchWideFormulas());

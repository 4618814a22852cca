// Copying mathematics gives its source, with the delimiters it was written in.

/** From now on, what is copied out of a rendered text is what was written there. */
export function copyAsSource(target = document) {
  target.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
    const range = selection.getRangeAt(0).cloneRange();
    widen(range);
    const copied = range.cloneContents();
    const formulas = copied.querySelectorAll("[data-tex]");
    if (formulas.length === 0) return;
    for (const formula of formulas) formula.replaceWith(formula.dataset.tex);
    event.clipboardData.setData("text/plain", asText(copied));
    event.preventDefault();
  });
}

// Half a formula has no source: one that is touched is copied whole.
function widen(range) {
  const of = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("[data-tex]");
  const [first, last] = [of(range.startContainer), of(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
}

function asText(fragment) {
  const box = document.createElement("div");
  box.append(fragment);
  for (const block of box.querySelectorAll("p, li, pre, .display-math, tr")) block.append("\n");
  for (const cell of box.querySelectorAll("td, th")) cell.append("\t");
  return box.textContent.replace(/\t\n/g, "\n").trimEnd();
}

// Colours for code: the highlighter comes when the first code does, from an address that the page names.

let waiting = [];
let asked = false;

/** Colours a <code>, now or when the highlighter is there. Without one it stays as it is. */
export function colourCode(code, lang) {
  if (globalThis.stepmarkHighlight) return globalThis.stepmarkHighlight(code, lang);
  waiting.push([code, lang]);
  if (!asked) ask();
}

function ask() {
  const url = document.querySelector("[data-highlighter]")?.dataset.highlighter;
  asked = true;
  if (!url) return;
  const script = document.createElement("script");
  script.src = url;
  script.addEventListener("load", () => {
    for (const [code, lang] of waiting) globalThis.stepmarkHighlight(code, lang);
    waiting = [];
  });
  document.head.append(script);
}
